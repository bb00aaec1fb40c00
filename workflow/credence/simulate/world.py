"""The demo world: proteins, scores and troves, with all that is true of them, and its files."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from credence.predictions import Floats, Integers, Labelled, Strings
from credence.simulate.law import (
    CLASS_NAMES,
    N_CLASSES,
    QUERY_PREVALENCE,
    WorldSettings,
    score_law,
)
from credence.simulate.scores import as_labelled, draw_scores
from credence.simulate.sequences import Families, draw_families, evolve, relative

NOTICE = (
    "Simulated data: these proteins, scores and labels were made by a computer program "
    "and say nothing about any real protein."
)
TROVE_CLASS = "HTJ"
PARTS = ("calibration", "use", "training", "relatives", "trove", "mixed")
Streams = Mapping[str, np.random.Generator]  # of numbers, by part
NEW_PER_DEFECT = 3  # sound new proteins in the second trove, for each protein of one defect
LONGEST_BRIDGED = 600  # residues; two of them stay within the longest protein
# PhANNs' own spellings in the row names of its labelled tables.
LABELS = (
    *("major_capsid", "minor_capsid", "baseplate", "major_tail", "minor_tail", "portal"),
    *("tail_fiber", "shaft", "collar", "HTJ", "other"),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedSet:
    """Labelled proteins with scores and sequences, in the order of their table."""

    # Rounded scores with the networks' own; true classes as labelled; the cluster is the true
    # family.
    labelled: Labelled
    sequences: Strings  # A sequence per protein
    unrounded_scores: Floats  # The sums of ten softmaxes before they were rounded

    @property
    def ids(self) -> Strings:
        """Names of the proteins."""
        return self.labelled.predictions.ids

    @property
    def true_class(self) -> Integers:
        """Their classes as labelled."""
        return self.labelled.true_class

    @property
    def family(self) -> Strings:
        """Their true families."""
        return self.labelled.cluster

    @property
    def networks(self) -> Floats:
        """The networks' own scores."""
        return self.labelled.predictions.required_network_scores


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedTraining:
    """Proteins that the simulated classifier saw in training."""

    ids: Strings  # Names, sequences and true families
    sequences: Strings
    true_class: Integers  # Index into the class names
    family: Strings


@dataclass(frozen=True, kw_only=True)
class Planted:
    """One thing planted in the world for a stage of the pipeline to find."""

    id: str  # The protein
    kind: str  # One of `KINDS_OF_DEFECT`
    sources: tuple[str, ...]  # The proteins that it repeats or descends from


KINDS_OF_DEFECT: Mapping[str, str] = {
    "relative_in_training": "a calibration protein with a close relative in the training set",
    "family_in_training": "a calibration protein whose family has a relative in the training set",
    "exact_repeat": "the same sequence and label as a calibration protein",
    "label_conflict": "the sequence of a calibration protein with another label",
    "repeat_within": "the same sequence as a protein of the same trove",
    "relative_of_training": "a close relative of a training protein",
    "joins_family": "a close relative of a calibration protein: welcome, joins its cluster",
    "bridge": "two calibration proteins of different families in one chain",
}


def labelled_ids(true_class: Integers, counts: Integers) -> Strings:
    """Return names that carry the label, as PhANNs' labelled tables have them."""
    ids = np.empty(len(true_class), dtype=object)
    for row, class_ in enumerate(true_class):
        counts[class_] += 1
        ids[row] = f"{LABELS[class_]}_{counts[class_]}"
    return ids


def one_per_family(family: Strings, n_wanted: int, rng: np.random.Generator) -> Integers:
    """Return the first rows of families drawn at random, in the order of the rows."""
    _, first = np.unique(family, return_index=True)
    return np.sort(rng.permutation(first)[:n_wanted]).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class World:
    """A simulated world and its truth."""

    settings: WorldSettings  # What made it
    # Labelled proteins never seen in training; proteins of another composition, whose true classes
    # a table must not show.
    calibration: SimulatedSet
    use: SimulatedSet
    training: SimulatedTraining  # What the classifier saw
    trove: SimulatedSet  # New clean HTJ proteins; new proteins of all classes with defects
    mixed_trove: SimulatedSet
    planted: tuple[Planted, ...]  # All that was planted, of every set


def make_world(settings: WorldSettings) -> World:
    """Return the world of these settings, the same one every time."""
    rng = dict(zip(PARTS, np.random.default_rng(settings.seed).spawn(len(PARTS)), strict=True))
    counts = np.zeros(N_CLASSES, dtype=np.int64)
    prevalence = score_law().prevalence
    only_htj = np.eye(N_CLASSES)[CLASS_NAMES.index(TROVE_CLASS)]

    def draw(part: str, n_members: int, shares: Floats) -> SimulatedSet:
        families = draw_families(settings, n_members, shares, rng[part])
        if part == "trove":
            families = families.without_duplicates()
        scores, networks = draw_scores(families, rng[part])
        sequences = evolve(families, rng[part], settings.length)
        prefix = "simulated" if part == "calibration" else f"simulated_{part}"
        names, rows = families.names(f"{prefix}_family"), np.arange(n_members)
        if part == "use":
            # The order of a query set must not give the classes away.
            ids, rows = numbered("simulated_phage", n_members), rng[part].permutation(n_members)
        else:
            ids = labelled_ids(families.member_class, counts)
        truth = (families.member_class[rows], names[rows])
        labelled = as_labelled(ids, *truth, scores[rows], networks[rows])
        return SimulatedSet(
            labelled=labelled, sequences=sequences[rows], unrounded_scores=scores[rows]
        )

    calibration = draw("calibration", settings.n_calibration, prevalence)
    use = draw("use", settings.n_query, np.array(QUERY_PREVALENCE))
    training, planted = _training(settings, prevalence, calibration, rng)
    trove = draw("trove", settings.n_trove, only_htj)
    rows = _mixed_trove(settings, calibration, training, planted, rng["mixed"])
    classes = np.array([row.class_ for row in rows], dtype=np.int64)
    family = np.array([row.family for row in rows], dtype=object)
    scores = np.array([row.scores for row in rows]).reshape(-1, N_CLASSES)
    networks = np.array([row.networks for row in rows]) if rows else None
    labelled = as_labelled(labelled_ids(classes, counts), classes, family, scores, networks)
    sequences = np.array([row.sequence for row in rows], dtype=object)
    mixed = SimulatedSet(labelled=labelled, sequences=sequences, unrounded_scores=scores)
    defects = tuple(
        Planted(
            id=id_,
            kind=row.kind,
            sources=tuple(mixed.ids[at] for at in row.repeats) or row.sources,
        )
        for id_, row in zip(mixed.ids, rows, strict=True)
        if row.kind
    )
    return World(
        settings=settings,
        calibration=calibration,
        use=use,
        training=training,
        trove=trove,
        mixed_trove=mixed,
        planted=planted + defects,
    )


def numbered(prefix: str, n_wanted: int) -> Strings:
    """Return names that differ by a number, from 1 on."""
    return np.array([f"{prefix}_{i + 1:06d}" for i in range(n_wanted)], dtype=object)


def _training(
    settings: WorldSettings, prevalence: Floats, calibration: SimulatedSet, rng: Streams
) -> tuple[SimulatedTraining, tuple[Planted, ...]]:
    families = draw_families(settings, settings.n_training, prevalence, rng["training"])
    sequences = evolve(families, rng["training"], settings.length)
    family = calibration.family
    sources = one_per_family(family, settings.n_training_relatives, rng["relatives"])
    relatives = [relative(calibration.sequences[row], rng["relatives"]) for row in sources]
    training = SimulatedTraining(
        ids=numbered("simulated_training", settings.n_training + len(sources)),
        sequences=np.concatenate([sequences, np.array(relatives, dtype=object)]),
        true_class=np.concatenate([families.member_class, calibration.true_class[sources]]),
        family=np.concatenate([families.names("simulated_training_family"), family[sources]]),
    )
    planted = []
    for row, training_id in zip(sources, training.ids[settings.n_training :], strict=True):
        for member in np.flatnonzero(family == family[row]):
            is_same = calibration.sequences[member] == calibration.sequences[row]
            kind = "relative_in_training" if is_same else "family_in_training"
            planted.append(Planted(id=calibration.ids[member], kind=kind, sources=(training_id,)))
    return training, tuple(planted)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Row:
    """A protein of the second trove, and what it was planted for."""

    sequence: str
    class_: int
    family: str
    scores: Floats
    networks: Floats
    kind: str = ""  # One of `KINDS_OF_DEFECT`; '' for a sound one
    sources: tuple[str, ...] = ()
    repeats: tuple[int, ...] = ()  # Rows of the trove that are its source


def _mixed_trove(
    settings: WorldSettings,
    calibration: SimulatedSet,
    training: SimulatedTraining,
    planted: tuple[Planted, ...],
    rng: np.random.Generator,
) -> list[_Row]:
    n, ids, family = settings.n_defects, calibration.ids, calibration.family
    classes, sequences = calibration.true_class.tolist(), calibration.sequences
    tied_to_training = {entry.id for entry in planted}
    untied = [row for row, id_ in enumerate(ids) if id_ not in tied_to_training]
    free = np.array(untied, dtype=np.int64)
    free = rng.permutation(free[one_per_family(family[free], len(free), rng)])
    repeated, relabelled, joining, bridged = np.split(free, [n, 2 * n, 3 * n])

    def new_scores(class_: int) -> tuple[Floats, Floats]:
        lone = Families(
            class_=np.array([class_]), size=np.array([1]), is_duplicate=np.array([False])
        )
        scores, networks = draw_scores(lone, rng)
        return scores[0], networks[0]

    families = draw_families(settings, NEW_PER_DEFECT * n, score_law().prevalence, rng)
    new = families.without_duplicates()
    scores, networks = draw_scores(new, rng)
    names = new.names("simulated_mixed_family")
    texts = evolve(new, rng, settings.length)
    rows = [
        _Row(sequence=text, class_=class_, family=name, scores=score, networks=of_networks)
        for text, class_, name, score, of_networks in zip(
            texts, new.member_class.tolist(), names, scores, networks, strict=True
        )
    ]
    for kind, copied in (("exact_repeat", repeated), ("label_conflict", relabelled)):
        for row in copied:
            shift = 0 if kind == "exact_repeat" else int(rng.integers(1, N_CLASSES))
            class_ = (classes[row] + shift) % N_CLASSES
            rows.append(
                _Row(
                    sequence=sequences[row],
                    class_=class_,
                    family=family[row],
                    scores=calibration.unrounded_scores[row],
                    networks=calibration.networks[row],
                    kind=kind,
                    sources=(ids[row],),
                )
            )
    originals = rng.permutation(NEW_PER_DEFECT * n)[:n].tolist()
    rows += [replace(rows[row], kind="repeat_within", repeats=(row,)) for row in originals]
    strangers = np.flatnonzero(~np.isin(training.family.astype(str), family.astype(str)))
    strangers = strangers[one_per_family(training.family[strangers], n, rng)]
    for kind, known, chosen in (
        ("relative_of_training", training, strangers),
        ("joins_family", calibration, joining),
    ):
        for row in chosen:
            class_, sequence = int(known.true_class[row]), relative(known.sequences[row], rng)
            scores_drawn, networks_drawn = new_scores(class_)
            rows.append(
                _Row(
                    sequence=sequence,
                    class_=class_,
                    family=known.family[row],
                    scores=scores_drawn,
                    networks=networks_drawn,
                    kind=kind,
                    sources=(known.ids[row],),
                )
            )
    short = [row for row in bridged if len(sequences[row]) <= LONGEST_BRIDGED]
    for first, second in list(zip(short[0::2], short[1::2], strict=False))[:n]:
        scores_drawn, networks_drawn = new_scores(classes[first])
        rows.append(
            _Row(
                sequence=sequences[first] + sequences[second],
                class_=classes[first],
                family=f"{family[first]}+{family[second]}",
                scores=scores_drawn,
                networks=networks_drawn,
                kind="bridge",
                sources=(ids[first], ids[second]),
            )
        )
    return rows


FASTA_WIDTH = 60
PROTEINS_OF_GENOME = 20
BASES_BETWEEN = 30  # two genes
NETWORK_DECIMALS = 4  # as PhANNs' own arrays are stored

README = f"""{NOTICE}

calibration.csv            scores of proteins with known classes, PhANNs' labelled layout
proteins.fasta             their sequences (ids are the first word of a header)
labels.tsv                 their classes once more, for networks to learn from
calibration_networks.npz   the ten networks' own scores: softmax (protein, network, class)
training.fasta             what the simulated classifier was trained on
my_phages.csv, .fasta      proteins to annotate, PhANNs' web layout, other class proportions
my_phages.gff3             where their genes lie; my_phages_genomes.tsv: the genome of each
trove_htj.csv, .fasta      new HTJ proteins, labelled
trove_mixed.csv, .fasta    new proteins of all classes, with repeats, conflicts and relatives
truth/families.tsv         the true family and class of every protein
truth/planted.tsv          everything planted for a stage to find

Seed: {{seed}}. Kinds in truth/planted.tsv:
{{kinds}}
"""


def _genomes(n_proteins: int) -> list[str]:
    """Return the genome of each protein: so many that follow each other are of one."""
    return [f"simulated_genome_{row // PROTEINS_OF_GENOME + 1}" for row in range(n_proteins)]


def _gff3(proteins: SimulatedSet) -> str:
    """Return the genes of proteins, one after the other along each genome."""
    lines, end, before = ["##gff-version 3"], 0, ""
    named = zip(proteins.ids, proteins.sequences, _genomes(len(proteins.ids)), strict=True)
    for id_, sequence, genome in named:
        start = BASES_BETWEEN + (end if genome == before else 0) + 1
        end, before = start + 3 * len(sequence) - 1, genome
        lines.append(f"{genome}\tsimulated\tCDS\t{start}\t{end}\t.\t+\t0\tID={id_}")
    return "\n".join(lines) + "\n"


def render_files(world: World) -> dict[str, str | bytes]:
    """Return the content of each file of a world, by its path."""
    calibration = world.calibration
    kinds = "\n".join(f"  {kind}: {text}" for kind, text in KINDS_OF_DEFECT.items())
    planted = ((entry.id, entry.kind, ",".join(entry.sources)) for entry in world.planted)
    labels = ((row[0], row[3]) for row in true_rows(world) if row[1] == "calibration")
    predicted = world.use.labelled.predictions.predicted_class
    confidence = precision_at(
        calibration, predicted, world.use.labelled.predictions.required_top_score
    )
    last = ["Confidence", *(f"{value:.2f}" for value in confidence)]
    lines = zip(_score_lines(world.use), last, strict=True)
    names = np.array(CLASS_NAMES)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        softmax=np.round(calibration.networks, NETWORK_DECIMALS).astype(np.float32),
        class_names=names,
        true_class=names[calibration.true_class],
        id=calibration.ids.astype(str),
    )
    return {
        "README.txt": README.format(seed=world.settings.seed, kinds=kinds),
        "calibration.csv": labelled_csv(calibration),
        "proteins.fasta": fasta(calibration.ids, calibration.sequences),
        "labels.tsv": tsv(("id", "true_class"), *labels),
        "calibration_networks.npz": buffer.getvalue(),
        "training.fasta": fasta(world.training.ids, world.training.sequences),
        "my_phages.csv": "\n".join(f"{line},{value}" for line, value in lines) + "\n",
        "my_phages.fasta": fasta(world.use.ids, world.use.sequences),
        "my_phages.gff3": _gff3(world.use),
        "my_phages_genomes.tsv": tsv(
            ("id", "genome"), *zip(world.use.ids, _genomes(len(world.use.ids)), strict=True)
        ),
        "trove_htj.csv": labelled_csv(world.trove),
        "trove_htj.fasta": fasta(world.trove.ids, world.trove.sequences),
        "trove_mixed.csv": labelled_csv(world.mixed_trove),
        "trove_mixed.fasta": fasta(world.mixed_trove.ids, world.mixed_trove.sequences),
        "truth/families.tsv": tsv(("id", "set", "family", "true_class"), *true_rows(world)),
        "truth/planted.tsv": tsv(("id", "kind", "sources"), *planted),
    }


def fasta(ids: Strings, sequences: Strings) -> str:
    """Return FASTA text whose headers say that the proteins are simulated."""
    lines = []
    for name, sequence in zip(ids, sequences, strict=True):
        lines.append(f">{name} simulated")
        lines += [sequence[i : i + FASTA_WIDTH] for i in range(0, len(sequence), FASTA_WIDTH)]
    return "\n".join(lines) + "\n"


def labelled_csv(simulated: SimulatedSet) -> str:
    """Return scores in PhANNs' labelled layout: the row's name carries the label."""
    return "\n".join(_score_lines(simulated)) + "\n"


def precision_at(calibration: SimulatedSet, predicted_class: Integers, score: Floats) -> Floats:
    """Return the share of right predictions of a class with at least this score."""
    values = np.zeros(len(score))
    labelled = calibration.labelled
    for class_ in range(len(CLASS_NAMES)):
        rows = labelled.predictions.predicted_class == class_
        asked = predicted_class == class_
        if not rows.any() or not asked.any():
            continue
        negative = -calibration.labelled.predictions.required_top_score[rows]
        order = np.argsort(negative, kind="stable")
        descending = negative[order]
        right = np.cumsum(labelled.is_correct[rows][order])
        n_above = np.maximum(np.searchsorted(descending, -score[asked], "right"), 1)
        values[asked] = right[n_above - 1] / n_above
    return values


def tsv(*rows: tuple[str, ...]) -> str:
    """Return a table of texts, the first row its header."""
    return "".join("\t".join(row) + "\n" for row in rows)


def true_rows(world: World) -> Iterator[tuple[str, ...]]:
    """Yield the id, true set, family and class of every protein."""
    for name, part in (
        ("calibration", world.calibration),
        ("my_phages", world.use),
        ("trove_htj", world.trove),
        ("trove_mixed", world.mixed_trove),
        ("training", world.training),
    ):
        for id_, family, class_ in zip(part.ids, part.family, part.true_class, strict=True):
            yield id_, name, family, CLASS_NAMES[class_]


def _score_lines(simulated: SimulatedSet) -> list[str]:
    scores = simulated.labelled.predictions.required_scores
    rows = zip(simulated.ids, scores, strict=True)
    lines = [f"{name}," + ",".join(f"{value:.2f}" for value in row) for name, row in rows]
    return ["," + ",".join(CLASS_NAMES), *lines]
