"""The stages `train` and `predict`: labelled proteins to networks, proteins to scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from credence.calibrators.crossfit import NOTHING_KNOWN
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.classifier import networks
from credence.classifier.features import Singles, feature_set, unknown_residues
from credence.draws import encode_clusters
from credence.findings import ClassifierFinding, RetrainingFinding
from credence.metrics.metric import negative_log_likelihood
from credence.predictions import (
    Floats,
    Integers,
    Labelled,
    Predictions,
    Strings,
    from_scores,
    label,
)
from credence.problems import Problem, gathering, raise_any, refuse
from credence.progress import Progress, echo
from credence.proteins import Proteins, join
from credence.relatives.all_engines import build_engine
from credence.relatives.pack import NO_GROUP, SET_ASIDE, TEST
from credence.stages import reading
from credence.stages import split as splitting
from credence.stages.settings import Settings
from credence.tables.classifier_file import read_classifier, write_classifier, write_scores
from credence.tables.contract import Groups, read_clusters, read_groups, write_contract
from credence.tables.digests import sha256_of
from credence.tables.fasta import Fasta
from credence.tables.formats import TableSpec
from credence.tables.labels import Labels, attach_labels
from credence.tables.npz import read_vectors
from credence.tables.samples import Samples
from credence.tables.writing import write_record, write_text

APART = -2  # the group of proteins that are set aside
ROWS_AT_ONCE = 4_096
NOT_JUDGED = "{}: what learning from it changes is not judged: {}."
RESOLUTION = 1e-6
JUDGE = "beta"  # what confidences are made by to see whether retraining is worth it


@dataclass(frozen=True, eq=False)
class FastaSet:
    """Proteins of FASTA files."""

    proteins: Proteins
    where: Strings  # File of each protein
    lines: Integers  # and its line there

    def problem(self, row: int, what: str, remedy: str) -> Problem:
        """Return what is wrong with a protein."""
        return Problem(str(self.where[row]), what, remedy, int(self.lines[row]))


@dataclass(frozen=True, eq=False)
class TrainSet(FastaSet):
    """Proteins of known class."""

    class_names: tuple[str, ...]
    true_class: Integers


def read_all(paths: Sequence[str], match: str) -> FastaSet:
    """Return the proteins of FASTA files; no id stands twice."""
    read: list[Fasta] = []
    problems: list[Problem] = []
    for path in paths:
        with gathering(problems):
            read.append(reading.read_proteins(path, match))
    raise_any(problems)
    found = FastaSet(
        join([Proteins(one.ids, one.sequences) for one in read]),
        np.repeat(np.array(paths, dtype=object), [fasta.n_proteins for fasta in read]),
        np.concatenate([fasta.lines for fasta in read]),
    )
    first: dict[str, int] = {}
    for row, id_ in enumerate(found.proteins.ids):
        before = first.setdefault(id_, row)
        if before != row:
            there = f"{found.where[before]}, line {found.lines[before]}"
            remedy = "Give one of them another id, or remove it."
            problems.append(found.problem(row, f"the id {id_!r} stands in {there}, too.", remedy))
    raise_any(problems)
    return found


def read_given(
    paths: Sequence[str], match: str, labels: str | None, synonyms: Mapping[str, str]
) -> TrainSet:
    """Return proteins and their classes; without labels each file is a class, named after it."""
    found = read_all(paths, match)
    if labels is None:
        stems = {path: Path(path).name.split(".")[0] for path in paths}
        text = np.array([stems[path] for path in found.where], dtype=object)
        class_names, true_class = np.unique(text.astype(str), return_inverse=True)
        names = tuple(map(str, class_names))
        given = TrainSet(**vars(found), class_names=names, true_class=true_class.astype(np.int64))
    else:
        given = labelled_as(found, match, labels, synonyms)
    if len(given.class_names) < 2:
        what = f"all proteins are of one class, {given.class_names[0]!r}."
        remedy = "Give proteins of two classes or more: labels, or a FASTA file for each class."
        raise refuse(labels if labels is not None else paths[0], what, remedy)
    return given


def labelled_as(read: FastaSet, match: str, labels: str, synonyms: Mapping[str, str]) -> TrainSet:
    """Return proteins with the classes that labels, a table or JSON, give them."""
    found, fasta = _labels_of(read, match, labels), str(read.where[0])
    texts = {text.strip() for text in found.texts} - {""}
    names = tuple(sorted({synonyms.get(text, text) for text in texts})) or ("",)
    n_alike = Counter(map(str.casefold, names))
    if alike := [name for name in names if n_alike[name.casefold()] > 1]:
        what = f"classes differ in capital letters alone: {', '.join(alike)}."
        raise refuse(found.where, what, "Write each class in one way.")
    samples = _with_labels(read, found, names, synonyms)
    true_class = reading.require_labels(samples, fasta)
    return TrainSet(**vars(read), class_names=names, true_class=true_class)


def require_classes(
    read: FastaSet,
    match: str,
    labels: str,
    synonyms: Mapping[str, str],
    class_names: tuple[str, ...],
) -> None:
    """Refuse labels of classes that networks do not learn; a protein may lack its own."""
    _with_labels(read, _labels_of(read, match, labels), class_names, synonyms, may_lack=True)


def _labels_of(read: FastaSet, match: str, labels: str) -> Labels:
    stated: Mapping[str, Any] = {"table": labels}
    if labels.startswith("{"):
        stated = reading.json_settings(labels, "--labels")
    if stated.get("pattern") is not None and len(set(read.where)) > 1:
        raise refuse("--labels", "a pattern is for one FASTA file.", "Give a table of labels.")
    return reading.labels_as_stated(stated, str(read.where[0]), match)


def _with_labels(
    read: FastaSet,
    labels: Labels,
    names: tuple[str, ...],
    synonyms: Mapping[str, str],
    *,
    may_lack: bool = False,
) -> Samples:
    nothing = from_scores(
        read.proteins.ids, names, np.zeros((len(read.lines), len(names))), 1.0, 1.0
    )
    spec = TableSpec(format="wide", synonyms=synonyms)
    unlabelled = Samples(nothing, None, read.lines)
    return attach_labels(unlabelled, labels, spec, str(read.where[0]), may_lack=may_lack)


def inputs_of(read: FastaSet, name: str, vectors: str | None, *, is_training: bool) -> Singles:
    """Return the features of proteins; refuse proteins without a vector, or too short to learn."""
    if vectors is not None:
        known, remedy = read_vectors(Path(vectors)), "Add its vector there, or remove the protein."
        raise_any(
            read.problem(row, f"{id_!r} has no vector in {vectors}.", remedy)
            for row, id_ in enumerate(read.proteins.ids)
            if id_ not in known.row_of
        )
        return known.of(read.proteins.ids).astype(np.float32)
    chosen = feature_set(name, "--features")
    proteins, where, longest = read.proteins, read.where, chosen.longest_word
    n_unknown = unknown_residues(proteins.sequences)
    is_short = proteins.lengths - n_unknown < longest
    if is_training:
        what = f"{{!r}} has {{}} known residues, and words of {longest} are counted."
        remedy = "Remove it, or choose features of shorter words."
        n_known = proteins.lengths - n_unknown
        raise_any(
            read.problem(row, what.format(proteins.ids[row], n_known[row]), remedy)
            for row in np.flatnonzero(is_short).tolist()
        )
    if is_short.any():
        echo(
            f"{where[0]}: {is_short.sum()} proteins have fewer than {longest} known residues; "
            "their scores rest on their properties alone."
        )
    if n_unknown.any():
        echo(
            f"{where[0]}: {(n_unknown > 0).sum()} proteins have letters that are none of the "
            f"twenty residues, {n_unknown.sum()} in all; words with them count for none."
        )
    return chosen.of(read.proteins.sequences)


def with_troves(
    given: TrainSet, troves: Sequence[tuple[str, str, str]], synonyms: Mapping[str, str]
) -> TrainSet:
    """Return proteins with those of troves behind them, but for sequences that are known.

    A sequence that comes again, with its class or another one, says nothing new or is in doubt.
    """
    parts = [given]
    problems: list[Problem] = []
    for path, labels, match in troves:
        with gathering(problems):
            parts.append(labelled_as(read_all([path], match), match, labels, synonyms))
    raise_any(problems)
    names = tuple(sorted({name for part in parts for name in part.class_names}))
    place = {name: code for code, name in enumerate(names)}
    codes = [np.array([place[one] for one in part.class_names])[part.true_class] for part in parts]
    known, ids = set[str](), set[str]()
    for number, part in enumerate(parts):
        sequences = part.proteins.sequences.tolist()
        is_new = np.array([number == 0 or text not in known for text in sequences], dtype=np.bool_)
        known.update(sequences)
        for row in np.flatnonzero(is_new).tolist():
            if part.proteins.ids[row] in ids:
                what = f"the id {part.proteins.ids[row]!r} is taken by another protein."
                remedy = "Give the new one another id."
                problems.append(part.problem(row, what, remedy))
        ids.update(part.proteins.ids[is_new])
        if not is_new.all():
            n = int((~is_new).sum())
            echo(f"{part.where[0]}: {n} proteins are known already, and left out.")
        kept = (part.proteins.take(is_new), part.where[is_new], part.lines[is_new])
        parts[number] = TrainSet(*kept, names, codes[number][is_new])
    raise_any(problems)
    return TrainSet(
        join([part.proteins for part in parts]),
        np.concatenate([part.where for part in parts]),
        np.concatenate([part.lines for part in parts]),
        names,
        np.concatenate([part.true_class for part in parts]),
    )


def train_classifier(
    fasta: Sequence[str],
    out: str,
    settings: Settings,
    labels: str | None,
    troves: Sequence[tuple[str, str, str]],
    match: str,
    spec_json: str,
    vectors: str | None,
    clusters: str | None,
    groups: str | None,
    scores: str | None,
    proteins: str | None,
    training: str | None,
    groups_out: str | None,
    summary: str | None,
    threads: int,
) -> None:
    """Write a classifier, and the scores of proteins that its networks did not see."""
    inputs = [*fasta, *(path for path, _, _ in troves), vectors, clusters, groups]
    tables = dict.fromkeys([labels, *(table for _, table, _ in troves)])
    inputs += [path for path in tables if path is not None and not path.startswith("{")]
    reading.require_other((out, scores, proteins, training, groups_out, summary), inputs)
    chosen = settings.classifier
    if vectors is None:
        feature_set(chosen.features, "--features")
    synonyms = reading.json_settings(spec_json, "--spec").get("synonyms") or {}
    first = read_given(fasta, match, labels, synonyms)
    given = with_troves(first, troves, synonyms)
    values = inputs_of(given, chosen.features, vectors, is_training=True)
    table = group_of_each(given, settings, clusters, groups, threads)
    numbers = numbers_of(table)
    n_groups = int(numbers.max()) + 1
    left_out = networks.left_out_by(n_groups, chosen.calibrate)
    require_every_class(given, numbers, n_groups, chosen.calibrate, fasta[0])
    recipe = networks.Recipe(
        chosen.width, chosen.penalty, chosen.rate, chosen.epochs, chosen.patience
    )
    is_old = np.arange(len(numbers)) < first.proteins.n_proteins
    before = np.where(is_old, numbers, APART)
    is_judged = not is_old.all() and not unseen_classes(
        given, before, n_groups, chosen.calibrate, fasta[0]
    )
    if is_judged != bool(troves):
        why = "it has no new protein" if is_old.all() else "a class has too few other proteins"
        echo(NOT_JUDGED.format(troves[0][0], why))
    ways = [numbers, before] if is_judged else [numbers]
    with Progress("Training", "networks", len(ways) * len(left_out)) as progress:
        trained, *without = (
            networks.train_networks(
                values, given.true_class, table.cluster, seen, left_out, recipe,
                threads, progress.add,
            )
            for seen in ways
        )  # fmt: skip
    about = networks.About(
        class_names=given.class_names,
        features=chosen.features if vectors is None else networks.VECTORS,
        n_features=values.shape[1],
        scores=chosen.calibrate,
        n_groups=n_groups,
        left_out=tuple(left_out),
        published=tuple(networks.published_of(left_out)),
        inputs={Path(path).name: sha256_of(Path(path)) for path in filter(None, inputs)},
    )
    model = networks.Classifier(about, tuple(trained))
    write_classifier(Path(out), model)
    rows = np.flatnonzero(
        numbers == -1 if chosen.calibrate == networks.TEST_GROUP else numbers > APART
    )
    found = model.held_out(values[rows], numbers[rows])
    ids, truth = given.proteins.ids[rows], given.true_class[rows]
    if scores is not None:
        write_scores(Path(scores), ids, given.class_names, found, truth)
    kept = np.flatnonzero(numbers >= 0) if chosen.calibrate == networks.TEST_GROUP else rows[:0]
    for path, chosen_rows in ((proteins, rows), (training, kept)):
        if path is not None:
            part = given.proteins.take(chosen_rows)
            pairs = zip(part.ids, part.sequences, strict=True)
            write_text(Path(path), "".join(f">{id_}\n{sequence}\n" for id_, sequence in pairs))
    if groups_out is not None:
        write_contract(Path(groups_out), table)
    finding = _finding(model, given, values, table, numbers, rows, found)
    if without:
        old = networks.Classifier(about, tuple(without[0])).held_out(values[rows], numbers[rows])
        known = label(_predictions(ids, given, found), truth, cluster=table.cluster[rows])
        worth = worth_of(known, _predictions(ids, given, old), int((~is_old[rows]).sum()))
        finding = replace(finding, worth=worth)
    write_record(summary, finding)
    echo(
        f"Wrote {out}: {len(trained)} networks, {finding.n_published} for new proteins; "
        f"{len(rows)} proteins held out are right in {100.0 * finding.accuracy:.1f} %."
    )


def _predictions(ids: Strings, given: TrainSet, scores: Floats) -> Predictions:
    return from_scores(ids, given.class_names, scores, networks.SCALE, RESOLUTION)


def worth_of(new: Labelled, old: Predictions, n_new: int) -> RetrainingFinding:
    """Return what learning from new proteins changes, families as units."""
    before = label(old, new.true_class, cluster=new.cluster)
    after_right, right = new.is_correct.astype(float), before.is_correct.astype(float)
    return RetrainingFinding(
        n=new.n_samples,
        n_new=n_new,
        before=float(right.mean()),
        right=paired(after_right - right, new.cluster),
        nll=paired(held_out_loss(new) - held_out_loss(before), new.cluster),
    )


def held_out_loss(labelled: Labelled) -> Floats:
    """Return the loss of each protein's confidence, by a fit without its cluster."""
    method = parse_method(JUDGE, "method")
    _, value = method.fit_and_hold_out(labelled, FitOptions(n_draws=0))
    return negative_log_likelihood(np.nan_to_num(value, nan=NOTHING_KNOWN), labelled.is_correct)


def group_of_each(
    given: TrainSet, settings: Settings, clusters: str | None, groups: str | None, threads: int
) -> Groups:
    """Return the group of each protein: of a table, or of whole clusters packed here."""
    ids, where = given.proteins.ids, str(given.where[0])
    has_test = settings.classifier.calibrate != networks.EVERY_GROUP
    if groups is not None:
        read = read_groups(Path(groups))
        rows = reading.rows_by_id(ids, where, read.ids, groups)
        columns = (read.cluster, read.group, read.role, read.reason)
        found = Groups(ids, *(column[rows] for column in columns))
        if has_test and not (found.role == TEST).any():
            what = "no protein has the role test."
            raise refuse(groups, what, "Give it to one group, or choose --calibrate every_group.")
        return found
    if clusters is not None:
        known = read_clusters(Path(clusters))
        cluster = known.cluster[reading.rows_by_id(ids, where, known.ids, clusters)]
    else:
        engine = build_engine(
            settings.clustering.engine, splitting.relatives_from(settings), threads, None
        )
        cluster = engine.cluster(given.proteins).cluster
    n_groups = settings.classifier.groups + has_test
    split = replace(settings.split, groups=n_groups, test_group=has_test, recipe="balanced")
    found, finding = splitting.split_proteins(
        given.proteins, join([]), cluster, given.true_class, given.class_names,
        replace(settings, split=split), "aligned", threads=threads,
    )  # fmt: skip
    for line in splitting.split_messages(finding, split):
        echo(line)
    return found


def numbers_of(table: Groups) -> Integers:
    """Return the number of each protein's group: -1 of the test group, `APART` set aside."""
    is_apart = (table.role == SET_ASIDE) | (table.group == NO_GROUP)
    is_test = table.role == TEST
    _, numbers = np.unique(table.group[~is_apart & ~is_test].astype(str), return_inverse=True)
    found = np.full(len(table.ids), APART, dtype=np.int64)
    found[is_test & ~is_apart] = -1
    found[~is_apart & ~is_test] = numbers
    return found


def require_every_class(
    given: TrainSet, numbers: Integers, n_groups: int, scores: str, where: str
) -> None:
    """Refuse classes that some network would not see."""
    n_without = len(networks.left_out_by(n_groups, scores)[0]) if n_groups > 1 else 0
    if n_groups <= n_without or not n_without:
        what = f"there are {n_groups} groups of whole clusters to learn from."
        raise refuse(where, what, "Give proteins of more families.")
    raise_any(unseen_classes(given, numbers, n_groups, scores, where))


def unseen_classes(
    given: TrainSet, numbers: Integers, n_groups: int, scores: str, where: str
) -> list[Problem]:
    """Return a problem for each class that some network would not see."""
    n_without = len(networks.left_out_by(n_groups, scores)[0])
    problems = []
    for code, name in enumerate(given.class_names):
        own = given.true_class == code
        held = set(numbers[own & (numbers >= 0)].tolist())
        if len(held) > n_without:
            continue
        what = (
            f"class {name!r} ({own.sum()} proteins) stands in {len(held)} of {n_groups} groups of "
            f"whole clusters, and networks leave out {n_without}: one would not see it."
        )
        more = n_without + 1 - len(held)
        remedy = f"Give proteins of {more} more families of it, or leave it out."
        line = int(given.lines[np.flatnonzero(own)[0]])
        problems.append(Problem(where, what, remedy, line))
    return problems


def _finding(
    model: networks.Classifier,
    given: TrainSet,
    described: Singles,
    table: Groups,
    numbers: Integers,
    rows: Integers,
    scores: Floats,
) -> ClassifierFinding:
    """Return what the page says of the classifier."""
    about = model.about
    right = scores.argmax(axis=1) == given.true_class[rows]
    surer: tuple[float, float, float] | None = None
    if about.scores == networks.BOTH:
        test = np.flatnonzero(numbers == -1)
        values = described[test]
        new = model.of_new(values).max(axis=1)
        turns = [model.without(group, values).max(axis=1) for group in range(about.n_groups)]
        surer = paired(new - np.mean(turns, axis=0), table.cluster[test])
    return ClassifierFinding(
        features=about.features,
        n_features=about.n_features,
        scores=about.scores,
        n_groups=about.n_groups,
        n_networks=len(model.networks),
        n_published=len(about.published),
        n_learnt=int((numbers >= 0).sum()),
        n_calibrating=len(rows),
        n_apart=int((numbers == APART).sum()),
        n_families=len(set(table.cluster[rows])),
        accuracy=float(right.mean()),
        n_test=int((numbers == -1).sum()),
        surer=surer,
    )


def paired(difference: Floats, cluster: Strings) -> tuple[float, float, float]:
    """Return the mean of differences with its interval at 95 %, families as units."""
    codes, _ = encode_clusters(cluster)
    mean = float(difference.mean())
    of_family = np.bincount(codes, weights=difference - mean)
    n = len(of_family)
    half = float("nan")
    if n > 1:
        error = np.sqrt((of_family**2).sum() * n / (n - 1)) / len(difference)
        half = float(error * special.stdtrit(n - 1, 0.975))
    return mean, mean - half, mean + half


def predict_scores(
    fasta: Sequence[str],
    out: str,
    settings: Settings,
    classifier: str,
    vectors: str | None,
    learnt: str | None,
    groups: str | None,
    match: str,
    threads: int,
) -> None:
    """Write the scores of proteins by a trained classifier.

    Relatives of what it learnt from are scored as those are, by networks that saw neither.
    """
    reading.require_other((out,), [*fasta, classifier, vectors, learnt, groups])
    if (learnt is None) != (groups is None):
        what = "--learnt and --groups say together what each network saw."
        raise refuse("--learnt", what, "Give both, or none.")
    model = read_classifier(Path(classifier))
    about = model.about
    if (about.features == networks.VECTORS) != (vectors is not None):
        what = "it was trained on vectors." if vectors is None else "it was trained on sequences."
        raise refuse(classifier, what, f"{'Give' if vectors is None else 'Leave out'} --vectors.")
    read = read_all(fasta, match)
    proteins = read.proteins
    group = np.full(proteins.n_proteins, -1, dtype=np.int64)
    if learnt is not None and groups is not None:
        table = read_groups(Path(groups))
        number = dict(zip(table.ids, numbers_of(table), strict=True))
        known = splitting.read_training(learnt, match, proteins)
        engine = build_engine(
            settings.clustering.engine, splitting.relatives_from(settings), threads, None
        )
        found = splitting.training_relatives(proteins, known, engine, settings, threads)
        # That of the closest relative among those learnt from.
        group_of = {
            id_: max(-1, number.get(other.removeprefix(reading.TRAINING_PREFIX), -1))
            for id_, other in zip(found.ids, found.relative, strict=True)
        }
        group = np.array([group_of.get(id_, -1) for id_ in proteins.ids], dtype=np.int64)
    scores = np.empty((proteins.n_proteins, len(about.class_names)))
    values = inputs_of(read, about.features, vectors, is_training=False)
    if values.shape[1] != about.n_features:
        what = f"its vectors have {values.shape[1]} numbers, the classifier {about.n_features}."
        raise refuse(vectors or classifier, what, "Give vectors of the same kind.")
    with Progress("Scoring", "proteins", proteins.n_proteins) as progress:
        for start in range(0, proteins.n_proteins, ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            scores[rows] = model.held_out(values[rows], group[rows])
            progress.add(len(values[rows]))
    write_scores(Path(out), proteins.ids, about.class_names, scores)
    n_related = int((group >= 0).sum())
    related = f", {n_related} of them relatives of what it learnt from" if learnt else ""
    echo(f"Wrote {out}: {proteins.n_proteins} proteins{related}.")
