"""``credence attach``: a trove joins a set whose proteins stay as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import both_sides_option, chance_option, match_option
from credence.problems import refuse

if TYPE_CHECKING:
    from credence.predictions import Integers, Strings
    from credence.relatives.graph import Finder
    from credence.releases.attaching import Attachment, KnownSet, NewSet, Search, TrainingSet
    from credence.releases.trove_tables import AttachedProteins, AttachSummary
    from credence.stages.troves import TroveFiles
    from credence.tables.contract import Groups
    from credence.tables.samples import Samples

UNSCORED, EXACT_REPEAT = "unscored", "exact_repeat"
STEPS = 1.0  # of the table, by which rounding may move a score
SLACK = 1e-9
SHARE = click.FloatRange(0.0, 1.0, min_open=True)


@click.command(
    epilog="Example: credence attach demo/trove_htj.csv --name htj --fasta demo/trove_htj.fasta "
    "--samples demo/calibration.csv --groups groups.tsv --proteins demo/proteins.fasta "
    "--training demo/training.fasta --out releases/01-htj"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option("--name", required=True, help="Name of the trove.")
@click.option("--spec", "spec_json", default="{}", help="How TABLE is read, as JSON.")
@click.option("--labels", "labels_json", default="null", help="Where its labels are, as JSON.")
@click.option("--fasta", help="FASTA file of its proteins.")
@match_option
@click.option("--sha256", "sha256_json", default="{}", help="Digests of its files, as JSON.")
@click.option("--samples", "samples_file", required=True, help="Labelled table of the set.")
@click.option("--samples-format", help="Its format.")
@click.option("--groups", "groups_file", required=True, help="Table of its groups.")
@click.option("--proteins", help="FASTA file of the set, without earlier troves.")
@click.option("--proteins-match", default="first_word", help="How its ids meet its headers.")
@click.option("--added", multiple=True, help="What an earlier trove added: added.fasta.")
@click.option("--training", help="FASTA file of the classifier's training set.")
@click.option("--clusters", multiple=True, help="Table of given clusters; then nobody searches.")
@click.option("--trove-clusters", help="The same of the trove.")
@click.option("--engine", default="mmseqs", show_default=True, help="What finds relatives.")
@click.option("--identity", type=SHARE, default=0.4, show_default=True)
@click.option("--coverage", type=SHARE, default=0.8, show_default=True)
@chance_option
@both_sides_option
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--out", "out", required=True, help="Folder of the release.")
def command(tables: tuple[str, ...], name: str, out: str, **given: Any) -> None:
    """Attach the proteins of TABLE to a set: each joins a cluster or founds one.

    Writes samples.parquet, groups.tsv, attach.tsv, attach.json and added.fasta into
    the folder. Repeats, conflicts of labels, relatives of training and bridges
    between groups are not added; attach.tsv says of each why.
    """
    from credence.releases.attaching import attach_trove
    from credence.stages.reading import json_settings, read_set, require_labels, table_spec
    from credence.stages.troves import read_trove
    from credence.tables.contract import read_groups

    samples_file = given["samples_file"]
    base = read_set((samples_file,), table_spec((samples_file,), given["samples_format"], {}))
    require_labels(base, samples_file)
    trove = read_trove(
        tables,
        json_settings(given["spec_json"], "--spec"),
        json_settings(given["labels_json"], "--labels") or None,
        given["fasta"],
        given["match"],
        base.predictions,
        {
            file: str(value)
            for file, value in json_settings(given["sha256_json"], "--sha256").items()
        },
    )
    groups = read_groups(Path(given["groups_file"]))
    known, training = _known(base, groups, given)
    new = _new(trove)
    search = _search(known, training, new.ids, given)
    found = attach_trove(known, training, new, search, base.predictions.class_names)
    _write(Path(out), name, base, groups, trove, found, given)


def _known(
    base: Samples, groups: Groups, given: Mapping[str, Any]
) -> tuple[KnownSet, TrainingSet]:
    """Return the set so far, and what the classifier learnt from."""
    import numpy as np

    from credence.releases.attaching import KnownSet, TrainingSet
    from credence.stages.reading import rows_of

    ids = base.predictions.ids
    rows = rows_of(ids, given["samples_file"], groups.ids, given["groups_file"])
    assert base.true_class is not None
    known = KnownSet(
        ids,
        _sequences(ids, given),
        base.true_class,
        groups.cluster[rows],
        groups.group[rows],
        groups.role[rows],
    )
    if given["training"] is None:
        nothing = np.empty(0, dtype=object)
        return known, TrainingSet(nothing, nothing)
    from credence.stages.reading import read_proteins, training_ids

    learnt = read_proteins(given["training"], given["proteins_match"])
    return known, TrainingSet(training_ids(learnt.ids, ids), learnt.sequences)


def _sequences(ids: Strings, given: Mapping[str, Any]) -> Strings:
    """Return the sequences of the set: of its own file, and of what troves added."""
    import numpy as np

    from credence.problems import InputError, Problem
    from credence.stages.reading import read_proteins

    sequences = np.full(len(ids), "", dtype=object)
    if given["proteins"] is None:
        return sequences
    residues: dict[str, str] = {}
    for path, match in (
        (given["proteins"], given["proteins_match"]),
        *((path, "full") for path in given["added"]),
    ):
        fasta = read_proteins(path, match)
        residues.update(zip(fasta.ids, fasta.sequences, strict=True))
    problems = [
        Problem(given["proteins"], f"there is no protein {id_!r}.", "Add it.")
        for id_ in ids
        if id_ not in residues
    ]
    if problems:
        raise InputError(problems)
    sequences[:] = [residues[id_] for id_ in ids]
    return sequences


def _new(trove: TroveFiles) -> NewSet:
    from credence.releases.attaching import NewSet

    assert trove.samples.true_class is not None
    return NewSet(trove.samples.predictions.ids, trove.sequences, trove.samples.true_class)


def _search(
    known: KnownSet, training: TrainingSet, new: Strings, given: Mapping[str, Any]
) -> Search:
    """Return what finds relatives: a table, an engine, or nothing."""
    import numpy as np

    from credence.relatives.pairs import Thresholds
    from credence.releases.attaching import NoSearch, SequenceSearch, TableSearch

    if given["clusters"]:
        if given["trove_clusters"] is None:
            raise refuse(
                "--trove-clusters",
                "clusters are given, and none of the trove.",
                "Give its table: id and cluster.",
            )
        every = np.concatenate([known.ids, training.ids])
        old = _clusters(given["clusters"], every, given["samples_file"])
        return TableSearch(old, _clusters([given["trove_clusters"]], new, "the trove"))
    if given["proteins"] is None:
        return NoSearch()
    finder = _finder(given["engine"], given["identity"], given["coverage"], given["threads"])
    thresholds = Thresholds(
        given["identity"], given["coverage"], given["both_sides"], given["chance"]
    )
    return SequenceSearch(finder, thresholds, given["threads"])


def _clusters(tables: Sequence[str], ids: Strings, where: str) -> dict[str, str]:
    """Return the cluster of each id; the first table that has it counts."""
    import numpy as np

    from credence.stages.reading import rows_of
    from credence.tables.contract import read_clusters

    home: dict[str, str] = {}
    for table in tables:
        read = read_clusters(Path(table))
        for id_, cluster in zip(read.ids, read.cluster, strict=True):
            home.setdefault(id_, cluster)
    names = np.empty(len(home), dtype=object)
    names[:] = list(home)
    rows_of(ids, where, names, tables[-1])
    return home


def _finder(name: str, identity: float, coverage: float, threads: int) -> Finder:
    """Return what finds alike sequences for an engine.

    An engine that only clusters has none; its candidates share words, and exact
    alignment decides, as for every engine.
    """
    from credence.relatives.engines import FINDERS
    from credence.relatives.exact import ExactFinder

    return FINDERS[name](threads, None) if name in FINDERS else ExactFinder(threads, 0.0)


def _write(
    folder: Path,
    name: str,
    base: Samples,
    groups: Groups,
    trove: TroveFiles,
    found: Attachment,
    given: Mapping[str, Any],
) -> None:
    """Write the release's tables, and what became of the trove; the counts last."""
    import numpy as np

    from credence.releases.chain import counts_by_class
    from credence.releases.trove_tables import AttachSummary, write_attach_summary, write_attached
    from credence.tables.writing import write_text

    ids = trove.samples.predictions.ids
    added = np.array(
        [row for row in np.argsort(ids.astype(str), kind="stable") if found.is_added[row]],
        dtype=np.int64,
    )
    _write_set(folder, base, groups, trove, found, added, given)
    if given["fasta"] is not None:
        text = "".join(f">{ids[row]}\n{trove.sequences[row]}\n" for row in added)
        write_text(folder / "added.fasta", text)
    class_names = base.predictions.class_names
    write_attached(folder / "attach.tsv", _table(trove, found, class_names))
    clusters = set(found.cluster[added])
    founded = clusters - set(groups.cluster)
    n_unscored = len(trove.samples.unscored_ids)
    assert trove.samples.true_class is not None
    summary = AttachSummary(
        name=name,
        class_names=class_names,
        counts=found.counts() | {UNSCORED: n_unscored},
        n_joined=int(np.isin(found.cluster[added].astype(str), list(groups.cluster)).sum()),
        n_founded=len(founded),
        n_rescored=_rescored(base, trove, found),
        added_by_class=dict(
            counts_by_class(class_names, trove.samples.true_class[added].tolist())
        ),
        inputs=tuple(replace(entry, role=f"trove {name}: {entry.role}") for entry in trove.inputs),
    )
    write_attach_summary(folder / "attach.json", summary)
    _notify(folder, summary)


def _write_set(
    folder: Path,
    base: Samples,
    groups: Groups,
    trove: TroveFiles,
    found: Attachment,
    added: Integers,
    given: Mapping[str, Any],
) -> None:
    """Write samples and groups; those of the set before, byte for byte, if nothing is added."""
    import numpy as np

    from credence.relatives.pack import CALIBRATION
    from credence.tables.contract import Groups, write_contract
    from credence.tables.joining import concatenate
    from credence.tables.samples import Samples, write_samples

    samples_out, groups_out = folder / "samples.parquet", folder / "groups.tsv"
    if len(added) == 0 and Path(given["samples_file"]).suffix == samples_out.suffix:
        _copy(Path(given["samples_file"]), samples_out)
        _copy(Path(given["groups_file"]), groups_out)
        return
    scored = trove.samples
    assert scored.true_class is not None
    part = Samples(scored.predictions.take(added), scored.true_class[added], scored.lines[added])
    parts = [(Path("the set"), base), *([(Path("the trove"), part)] if len(added) else [])]
    write_samples(samples_out, concatenate(parts))
    none = np.full(len(added), "", dtype=object)
    more = Groups(
        scored.predictions.ids[added],
        found.cluster[added],
        found.group[added],
        np.full(len(added), CALIBRATION, dtype=object),
        none,
    )
    write_contract(
        groups_out,
        Groups(
            *(
                np.concatenate([old, new])
                for old, new in zip(vars(groups).values(), vars(more).values(), strict=True)
            )
        ),
    )


def _copy(source: Path, target: Path) -> None:
    from credence.tables.writing import open_output

    with open_output(target) as handle:
        handle.write(source.read_bytes())


def _table(trove: TroveFiles, found: Attachment, class_names: tuple[str, ...]) -> AttachedProteins:
    """Return the rows of every protein of the trove by id, also of those without scores."""
    import numpy as np

    from credence.releases.attaching import OUTCOMES
    from credence.releases.trove_tables import AttachedProteins, attached_proteins

    assert trove.samples.true_class is not None
    scored = attached_proteins(
        trove.samples.predictions.ids, trove.samples.true_class, found, class_names
    )
    ids = trove.samples.unscored_ids
    blank, unknown = np.full(len(ids), "", dtype=object), np.full(len(ids), np.nan)
    outcome = np.full(len(ids), UNSCORED, dtype=object)
    reason = np.full(len(ids), OUTCOMES[UNSCORED], dtype=object)
    unscored = AttachedProteins(
        ids,
        blank,
        outcome,
        cluster=blank,
        group=blank,
        relative=blank,
        relative_class=blank,
        identity=unknown,
        coverage=unknown,
        reason=reason,
    )
    columns = [
        np.concatenate(pair)
        for pair in zip(vars(scored).values(), vars(unscored).values(), strict=True)
    ]
    order = np.argsort(columns[0].astype(str), kind="stable")
    return AttachedProteins(*(column[order] for column in columns))


def _rescored(base: Samples, trove: TroveFiles, found: Attachment) -> int:
    """Return how many exact repeats have other scores than the set has for them."""
    import numpy as np

    old, new = base.predictions, trove.samples.predictions
    if old.top_score is None or new.top_score is None:
        return 0
    row_of = {id_: row for row, id_ in enumerate(old.ids)}
    rows = np.flatnonzero(found.outcome == EXACT_REPEAT)
    before = old.top_score[[row_of[id_] for id_ in found.relative[rows]]] if len(rows) else rows
    step = max(old.resolution, new.resolution)
    return int((np.abs(new.top_score[rows] - before) > STEPS * step + SLACK).sum())


def _notify(folder: Path, summary: AttachSummary) -> None:
    counts = ", ".join(f"{n} {outcome}" for outcome, n in summary.counts.items() if n)
    click.echo(f"Wrote {folder}: {counts or 'no proteins'}.", err=True)
    if summary.n_rescored:
        click.echo(
            f"{summary.name}: {summary.n_rescored} of {summary.counts[EXACT_REPEAT]} exact "
            "repeats have other scores than before. One classifier gives one protein one score: "
            "see whether the table is of the version that is calibrated.",
            err=True,
        )
