"""The stage `attach`: the files of a trove, and the set that it joins."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from credence.findings import EXACT_REPEAT, InputFile, JoinedAudit
from credence.predictions import Integers, Predictions, Strings
from credence.problems import Problem, gathering, raise_any, refuse
from credence.progress import echo
from credence.proteins import Proteins
from credence.relatives.all_engines import FINDERS
from credence.relatives.audit import compare, in_hash_order, judged
from credence.relatives.pack import CALIBRATION
from credence.releases import attaching
from credence.releases.files import AttachSummary, attached_proteins, counts_by_class
from credence.report.release_words import rescored_sentence
from credence.stages import reading
from credence.stages.check import read_checked
from credence.stages.settings import Settings, Trove
from credence.stages.split import cells_of, read_training, relatives_from
from credence.tables.contract import Groups, read_clusters, read_groups, write_contract
from credence.tables.digests import sha256_of
from credence.tables.formats import taken_as_one
from credence.tables.joining import concatenate
from credence.tables.samples import Samples, write_samples
from credence.tables.writing import open_output, write_record, write_table, write_text

RESTORE = (
    "Put the file back as it was; or, where the change is meant, take its line out of sha256, "
    "and the releases from this trove on are derived anew."
)
# By so many steps of the table rounding may move a score; and what floating point adds.
ROUNDING_STEPS, ROUNDING_SLACK = 1.0, 1e-9


def digest_problems(sha256: Mapping[str, str]) -> list[Problem]:
    """Return a problem for each file that is not what it was."""
    problems: list[Problem] = []
    for path, was in sha256.items():
        with gathering(problems):
            now = sha256_of(Path(path))
            if now != was:
                fault = f"its SHA-256 begins with {now[:8]}, and with {was[:8]} when it was added."
                problems.append(Problem(where=path, what=fault, remedy=RESTORE))
    return problems


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadTrove:
    """The files of a trove, read and checked."""

    samples: Samples
    proteins: attaching.NewSet  # Some of `UNKNOWN_CLASS`
    inputs: tuple[InputFile, ...]


def read_trove(trove: Trove, known: Predictions) -> ReadTrove:
    """Return a trove's scores, proteins and files, or raise all that is wrong with them."""
    raise_any(digest_problems(trove.sha256))
    spec = reading.table_spec(trove.scores, None, trove.spec)
    spec = reading.as_calibrated(spec, known.class_names, known.scale)
    samples, inputs = read_checked(
        trove.scores, spec, trove.labels, trove.fasta, trove.match, labelled=False, may_lack=True
    )
    if samples.true_class is None:
        fault = "the table has no true classes, and only labelled proteins can calibrate."
        remedy = "Give labels: a table of id and label, or a pattern for FASTA headers."
        raise refuse(trove.scores[0], fault, remedy)
    if samples.recased:
        echo(f"{trove.scores[0]}: {taken_as_one(samples.recased)}.")
    nothing = np.empty(0, dtype=np.int64)
    like_known = Samples(predictions=known.take(nothing), true_class=nothing, lines=nothing)
    concatenate([(Path("the calibration set"), like_known), (Path(trove.scores[0]), samples)])
    files = [] if trove.fasta is None else [(trove.fasta, trove.match)]
    ids = samples.predictions.ids
    proteins = attaching.NewSet(
        ids=ids, sequences=_sequences(ids, files), class_=samples.true_class
    )
    return ReadTrove(samples=samples, proteins=proteins, inputs=inputs)


@dataclass(frozen=True, kw_only=True, eq=False)
class TroveBesideSet:
    """A trove and the set that it is to join, read."""

    trove: ReadTrove
    samples: Samples  # Of the set
    groups: Groups
    known: attaching.KnownSet
    training: Proteins
    clusters: attaching.TableSearch | None = None  # Where clusters are given


@dataclass(frozen=True, kw_only=True)
class TroveFiles:
    """The files of a trove and of the set that it joins, as the command is given them."""

    tables: Sequence[str]
    name: str
    spec_json: str
    labels_json: str
    fasta: str | None
    match: str
    sha256_json: str
    samples_file: str
    samples_format: str | None
    groups_file: str
    proteins: str | None  # Of the set, without earlier troves
    proteins_match: str
    added: Sequence[str]  # What earlier troves added to them
    training: str | None
    clusters: Sequence[str]
    trove_clusters: str | None

    def trove(self) -> Trove:
        """Return the trove as a configuration states it."""
        digests = reading.json_settings(self.sha256_json, "--sha256")
        return Trove(
            name=self.name,
            scores=tuple(self.tables),
            spec=reading.json_settings(self.spec_json, "--spec"),
            fasta=self.fasta,
            labels=reading.json_settings(self.labels_json, "--labels") or None,
            match=self.match,
            sha256={file: str(digest) for file, digest in digests.items()},
        )

    def open(self) -> TroveBesideSet:
        """Return all that the files hold."""
        spec = reading.table_spec((self.samples_file,), self.samples_format, {})
        samples = reading.read_set((self.samples_file,), spec)
        true_class = reading.require_labels(samples, self.samples_file)
        trove = read_trove(self.trove(), samples.predictions)
        groups = read_groups(Path(self.groups_file))
        ids = samples.predictions.ids
        rows = reading.rows_by_id(ids, self.samples_file, groups.ids, self.groups_file)
        files: list[tuple[str, str]] = []
        if self.proteins is not None:
            # What a trove added of which no protein joined is an empty file.
            joined = [(path, "full") for path in self.added if Path(path).stat().st_size > 0]
            files = [(self.proteins, self.proteins_match), *joined]
        known = attaching.KnownSet(
            ids=ids,
            sequences=_sequences(ids, files),
            class_=true_class,
            cluster=groups.cluster[rows],
            group=groups.group[rows],
            role=groups.role[rows],
        )
        training = read_training(self.training, self.proteins_match, known)
        clusters = None
        if self.clusters:
            if self.trove_clusters is None:
                fault = "the calibration set has a table of clusters, and this trove has none."
                raise refuse("--trove-clusters", fault, "Give its table: id and cluster.")
            old_ids = np.concatenate([ids, training.ids])
            clusters = attaching.TableSearch(
                old=_clusters(self.clusters, old_ids, self.samples_file),
                new=_clusters([self.trove_clusters], trove.proteins.ids, "the trove"),
            )
        return TroveBesideSet(
            trove=trove,
            samples=samples,
            groups=groups,
            known=known,
            training=training,
            clusters=clusters,
        )


def attach_files(
    given: TroveFiles, out: str, settings: Settings, threads: int, samples_as: str
) -> None:
    """Attach a trove to a set whose proteins stay as they are, and write the release's tables."""
    opened = given.open()
    search = opened.clusters or attaching.TroveSearch()
    if opened.clusters is None and given.proteins is not None:
        search = attaching.SequenceSearch(
            finder=FINDERS[settings.clustering.engine](threads, None),
            thresholds=relatives_from(settings),
            threads=threads,
        )
    attachment = attaching.attach_trove(
        opened.known,
        opened.training,
        opened.trove.proteins,
        search,
        opened.samples.predictions.class_names,
    )
    folder = Path(out)
    _write_tables(folder, given, opened, attachment, samples_as)
    audit = _audited(opened, attachment, settings, threads)
    summary = _summary(given.name, opened, attachment, audit)
    write_record(folder / "attach.json", summary)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in summary.counts.items() if n)
    nothing = "" if summary.counts[attaching.ADDED] else f" Trove {given.name!r} adds nothing."
    echo(f"Wrote {out}: {counts or 'no proteins'}.{nothing}")
    if rescored := rescored_in_words(summary):
        echo(rescored)


def rescored_in_words(summary: AttachSummary) -> str:
    """Return that repeats of an attached trove have other scores; '' where none has."""
    n_repeats = summary.counts[EXACT_REPEAT]
    return rescored_sentence(summary.name, summary.n_rescored, n_repeats)


def _sequences(ids: Strings, files: Sequence[tuple[str, str]]) -> Strings:
    """Return the sequence of each protein from some files; '' where there is no file."""
    residues: dict[str, str] = {}
    for path, match in files:
        residues |= reading.read_sequences([path], match)
    missing = [id_ for id_ in ids if id_ not in residues] if files else []
    raise_any(
        Problem(where=files[0][0], what=f"there is no protein {id_!r}.", remedy="Add it.")
        for id_ in missing
    )
    return np.array([residues.get(id_, "") for id_ in ids], dtype=object)


def _clusters(tables: Sequence[str], ids: Strings, where: str) -> dict[str, str]:
    """Return the cluster of each id; the first table that has it counts."""
    home: dict[str, str] = {}
    for table in tables:
        read = read_clusters(Path(table))
        for id_, cluster in zip(read.ids, read.cluster, strict=True):
            home.setdefault(id_, cluster)
    reading.rows_by_id(ids, where, np.array(list(home), dtype=object), tables[-1])
    return home


def _added(opened: TroveBesideSet, attachment: attaching.Attachment) -> Integers:
    """Return the rows of the trove that join, in the order of their ids."""
    by_id = np.argsort(opened.trove.proteins.ids.astype(str), kind="stable")
    return by_id[attachment.is_added[by_id]]


def _write_tables(
    folder: Path,
    given: TroveFiles,
    opened: TroveBesideSet,
    attachment: attaching.Attachment,
    samples_as: str,
) -> None:
    """Write the release's tables, and what became of each protein of the trove."""
    scored, new = opened.trove.samples, opened.trove.proteins
    samples_out, groups_out = folder / samples_as, folder / "groups.tsv"
    added = _added(opened, attachment)
    if len(added) == 0 and Path(given.samples_file).suffix == samples_out.suffix:
        # Nothing is added: those of the set before, byte for byte.
        before = ((given.samples_file, samples_out), (given.groups_file, groups_out))
        for source, target in before:
            with open_output(target) as handle:
                handle.write(Path(source).read_bytes())
    else:
        parts = [(Path("the set"), opened.samples)]
        if len(added):
            joining = Samples(
                predictions=scored.predictions.take(added),
                true_class=new.class_[added],
                lines=scored.lines[added],
            )
            parts.append((Path("the trove"), joining))
        write_samples(samples_out, concatenate(parts))
        entries = Groups(
            ids=new.ids[added],
            cluster=attachment.cluster[added],
            group=attachment.group[added],
            role=np.full(len(added), CALIBRATION, dtype=object),
            reason=np.full(len(added), "", dtype=object),
            class_name=np.array(opened.samples.predictions.class_names, dtype=object)[
                new.class_[added]
            ],
        )
        columns = {
            name: np.concatenate([values, getattr(entries, name)])
            for name, values in vars(opened.groups).items()
        }
        write_contract(groups_out, Groups(**columns))
    if given.fasta is not None:
        text = "".join(f">{new.ids[row]}\n{new.sequences[row]}\n" for row in added)
        write_text(folder / "added.fasta", text)
    class_names = opened.samples.predictions.class_names
    rows = attached_proteins(new, attachment, class_names, scored.unscored_ids)
    write_table(folder / "attach.tsv", rows)


def _audited(
    opened: TroveBesideSet, attachment: attaching.Attachment, settings: Settings, threads: int
) -> JoinedAudit:
    """Return whether those that join have relatives in other groups, by exact alignment."""
    added, known = _added(opened, attachment), opened.known
    proteins = Proteins(
        ids=np.concatenate([known.ids, opened.trove.proteins.ids[added]]),
        sequences=np.concatenate([known.sequences, opened.trove.proteins.sequences[added]]),
    )
    nobody = JoinedAudit(n=len(added), n_examined=0, n_crossing=0)
    if len(added) == 0 or settings.split.audit == "none" or not all(proteins.sequences):
        return nobody
    group = np.concatenate([known.group, attachment.group[added]])
    is_new = np.arange(proteins.n_proteins) >= known.n_proteins
    cells = cells_of(settings.split.audit)
    thresholds = relatives_from(settings)
    compared = compare(
        proteins,
        group,
        thresholds,
        in_hash_order(proteins.ids, is_new),
        threads,
        math.inf if cells is None else cells,
    )
    audit = judged(compared, group, thresholds)
    examined = audit.is_examined & is_new
    return replace(
        nobody,
        n_examined=int(examined.sum()),
        n_crossing=int((examined & audit.is_crossing).sum()),
    )


def _summary(
    name: str, opened: TroveBesideSet, attachment: attaching.Attachment, audit: JoinedAudit
) -> AttachSummary:
    """Return in numbers what became of the trove."""
    scored, new = opened.trove.samples, opened.trove.proteins
    class_names = opened.samples.predictions.class_names
    added = _added(opened, attachment)
    clusters, before = attachment.cluster[added], set(opened.groups.cluster)
    inputs = (replace(file, role=f"trove {name}: {file.role}") for file in opened.trove.inputs)
    return AttachSummary(
        name=name,
        class_names=class_names,
        counts=attachment.counts() | {attaching.UNSCORED: len(scored.unscored_ids)},
        n_joined=sum(cluster in before for cluster in clusters),
        n_founded=len(set(clusters) - before),
        n_rescored=_rescored(opened.samples.predictions, scored.predictions, attachment),
        added_by_class=dict(counts_by_class(class_names, new.class_[added].tolist())),
        inputs=tuple(inputs),
        audit=audit,
    )


def _rescored(old: Predictions, new: Predictions, attachment: attaching.Attachment) -> int:
    """Return how many exact repeats have other scores than the set has for them."""
    if old.top_score is None or new.top_score is None:
        return 0
    row_of = {id_: row for row, id_ in enumerate(old.ids)}
    rows = np.flatnonzero(attachment.outcome == EXACT_REPEAT)
    before = (
        old.top_score[[row_of[id_] for id_ in attachment.relative[rows]]] if len(rows) else rows
    )
    step = max(old.resolution, new.resolution)
    return int(
        (np.abs(new.top_score[rows] - before) > ROUNDING_STEPS * step + ROUNDING_SLACK).sum()
    )
