"""The stage `attach`: the files of a trove, and the set that it joins."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from credence.findings import InputFile
from credence.predictions import Predictions, Strings
from credence.problems import Problem, gathering, raise_any, refuse
from credence.progress import echo
from credence.relatives.all_engines import FINDERS
from credence.relatives.pack import CALIBRATION
from credence.releases import attaching
from credence.releases.files import AttachSummary, attached_proteins, counts_by_class
from credence.stages import reading
from credence.stages.check import read_checked
from credence.stages.settings import Settings, Trove
from credence.stages.split import read_training, relatives_from
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
STEPS = 1.0  # of the table, by which rounding may move a score
SLACK = 1e-9


def digest_problems(sha256: Mapping[str, str]) -> list[Problem]:
    """Return a problem for each file that is not what it was."""
    problems: list[Problem] = []
    for path, was in sha256.items():
        with gathering(problems):
            now = sha256_of(Path(path))
            if now != was:
                what = f"its SHA-256 begins with {now[:8]}, and with {was[:8]} when it was added."
                problems.append(Problem(where=path, what=what, remedy=RESTORE))
    return problems


def read_trove(
    trove: Trove, known: Predictions
) -> tuple[Samples, attaching.NewSet, tuple[InputFile, ...]]:
    """Return a trove's scores, proteins (some of `UNKNOWN_CLASS`) and files, or raise all."""
    raise_any(digest_problems(trove.sha256))
    spec = reading.table_spec(trove.scores, None, trove.spec)
    spec = reading.as_calibrated(spec, known.class_names, known.scale)
    samples, inputs = read_checked(
        trove.scores, spec, trove.labels, trove.fasta, trove.match, labelled=False, may_lack=True
    )
    if samples.true_class is None:
        what = "the table has no true classes, and only labelled proteins can calibrate."
        remedy = "Give labels: a table of id and label, or a pattern for FASTA headers."
        raise refuse(trove.scores[0], what, remedy)
    if samples.recased:
        echo(f"{trove.scores[0]}: {taken_as_one(samples.recased)}.")
    nothing = np.empty(0, dtype=np.int64)
    like_known = Samples(predictions=known.take(nothing), true_class=nothing, lines=nothing)
    concatenate([(Path("the calibration set"), like_known), (Path(trove.scores[0]), samples)])
    files = [] if trove.fasta is None else [(trove.fasta, trove.match)]
    ids = samples.predictions.ids
    return samples, attaching.NewSet(ids, _sequences(ids, files), samples.true_class), inputs


def attach_tables(
    tables: Sequence[str],
    name: str,
    out: str,
    settings: Settings,
    samples_file: str,
    groups_file: str,
    spec_json: str,
    labels_json: str,
    fasta: str | None,
    match: str,
    sha256_json: str,
    samples_format: str | None,
    proteins: str | None,
    proteins_match: str,
    added: Sequence[str],
    training: str | None,
    clusters: Sequence[str],
    trove_clusters: str | None,
    threads: int,
    samples_as: str,
) -> None:
    """Attach a trove to a set whose proteins stay as they are, and write the release's tables."""
    base = reading.read_set(
        (samples_file,), reading.table_spec((samples_file,), samples_format, {})
    )
    true_class = reading.require_labels(base, samples_file)
    entry = Trove(
        name=name,
        scores=tuple(tables),
        spec=reading.json_settings(spec_json, "--spec"),
        fasta=fasta,
        labels=reading.json_settings(labels_json, "--labels") or None,
        match=match,
        sha256={
            file: str(was) for file, was in reading.json_settings(sha256_json, "--sha256").items()
        },
    )
    trove = read_trove(entry, base.predictions)
    new = trove[1]
    groups = read_groups(Path(groups_file))
    ids = base.predictions.ids
    rows = reading.rows_by_id(ids, samples_file, groups.ids, groups_file)
    files: list[tuple[str, str]] = []
    if proteins is not None:
        # What a trove added of which no protein joined is an empty file.
        joined = [(path, "full") for path in added if Path(path).stat().st_size > 0]
        files = [(proteins, proteins_match), *joined]
    places = (groups.cluster[rows], groups.group[rows], groups.role[rows])
    known = attaching.KnownSet(ids, _sequences(ids, files), true_class, *places)
    learnt = read_training(training, proteins_match, known)
    search = attaching.TroveSearch()
    if clusters:
        if trove_clusters is None:
            what = "clusters are given, and none of the trove."
            raise refuse("--trove-clusters", what, "Give its table: id and cluster.")
        old = _clusters(clusters, np.concatenate([ids, learnt.ids]), samples_file)
        search = attaching.TableSearch(
            old=old, new=_clusters([trove_clusters], new.ids, "the trove")
        )
    elif proteins is not None:
        finder = FINDERS[settings.clustering.engine](threads, None)
        search = attaching.SequenceSearch(
            finder=finder, thresholds=relatives_from(settings), threads=threads
        )
    found = attaching.attach_trove(known, learnt, new, search, base.predictions.class_names)
    pairs = (samples_file, samples_as), (groups_file, "groups.tsv")
    summary = _write(Path(out), entry, base, groups, trove, found, pairs)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in summary.counts.items() if n)
    nothing = "" if summary.counts[attaching.ADDED] else f" Trove {name!r} adds nothing."
    echo(f"Wrote {out}: {counts or 'no proteins'}.{nothing}")
    if summary.n_rescored:
        echo(
            f"{name}: {summary.n_rescored} of {summary.counts[attaching.EXACT_REPEAT]} exact "
            "repeats have other scores than before. One classifier gives one protein one score: "
            "see whether the table is of the version that is calibrated."
        )


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


def _write(
    folder: Path,
    entry: Trove,
    base: Samples,
    groups: Groups,
    trove: tuple[Samples, attaching.NewSet, tuple[InputFile, ...]],
    found: attaching.Attachment,
    pairs: Sequence[tuple[str, str]],
) -> AttachSummary:
    """Write the release's tables, and what became of the trove; the counts last."""
    (scored, new, inputs), class_names = trove, base.predictions.class_names
    by_id = np.argsort(new.ids.astype(str), kind="stable")
    added = by_id[found.is_added[by_id]]
    sources, targets = zip(*((source, folder / target) for source, target in pairs), strict=True)
    if len(added) == 0 and Path(sources[0]).suffix == targets[0].suffix:
        # Nothing is added: those of the set before, byte for byte.
        for source, target in zip(sources, targets, strict=True):
            with open_output(target) as handle:
                handle.write(Path(source).read_bytes())
    else:
        part = Samples(
            predictions=scored.predictions.take(added),
            true_class=new.class_[added],
            lines=scored.lines[added],
        )
        parts = [(Path("the set"), base), *([(Path("the trove"), part)] if len(added) else [])]
        write_samples(targets[0], concatenate(parts))
        role, reason = (np.full(len(added), text, dtype=object) for text in (CALIBRATION, ""))
        more = (new.ids[added], found.cluster[added], found.group[added], role, reason)
        columns = zip(vars(groups).values(), more, strict=True)
        write_contract(targets[1], Groups(*(np.concatenate(pair) for pair in columns)))
    if entry.fasta is not None:
        text = "".join(f">{new.ids[row]}\n{new.sequences[row]}\n" for row in added)
        write_text(folder / "added.fasta", text)
    unscored = scored.unscored_ids
    write_table(folder / "attach.tsv", attached_proteins(new, found, class_names, unscored))
    clusters, before = set(found.cluster[added]), set(groups.cluster)
    summary = AttachSummary(
        name=entry.name,
        class_names=class_names,
        counts=found.counts() | {attaching.UNSCORED: len(unscored)},
        n_joined=sum(cluster in before for cluster in found.cluster[added]),
        n_founded=len(clusters - before),
        n_rescored=_rescored(base.predictions, scored.predictions, found),
        added_by_class=dict(counts_by_class(class_names, new.class_[added].tolist())),
        inputs=tuple(replace(file, role=f"trove {entry.name}: {file.role}") for file in inputs),
    )
    write_record(folder / "attach.json", summary)
    return summary


def _rescored(old: Predictions, new: Predictions, found: attaching.Attachment) -> int:
    """Return how many exact repeats have other scores than the set has for them."""
    if old.top_score is None or new.top_score is None:
        return 0
    row_of = {id_: row for row, id_ in enumerate(old.ids)}
    rows = np.flatnonzero(found.outcome == attaching.EXACT_REPEAT)
    before = old.top_score[[row_of[id_] for id_ in found.relative[rows]]] if len(rows) else rows
    step = max(old.resolution, new.resolution)
    return int((np.abs(new.top_score[rows] - before) > STEPS * step + SLACK).sum())
