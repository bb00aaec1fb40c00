"""``credence split``: whole clusters into groups, each protein with a role."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import (
    both_sides_option,
    chance_option,
    match_option,
    out_option,
    table_options,
)

if TYPE_CHECKING:
    from credence.predictions import Strings
    from credence.relatives.strict import Split

AUDITS = ("none", "sample", "exhaustive")
RECIPES = ("balanced", "phanns")


@click.command(
    epilog="Example: credence split demo/calibration.csv --format phanns-labelled "
    "--clusters clusters.tsv --training demo/training.fasta --proteins demo/proteins.fasta "
    "--audit --out groups.tsv"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option("--clusters", help="Table of clusters; without it each protein is its own.")
@click.option("--training", help="FASTA file of the classifier's training set.")
@click.option("--relatives", help="Table of training relatives, from credence cluster.")
@click.option("--proteins", help="FASTA file of the table's proteins, for the audit.")
@match_option
@click.option(
    "--groups",
    "n_groups",
    type=click.IntRange(2),
    default=12,
    show_default=True,
    help="Number of groups.",
)
@click.option("--test-group", is_flag=True, help="Keep one group out of calibration, to judge.")
@click.option(
    "--recipe",
    type=click.Choice(RECIPES),
    default="balanced",
    show_default=True,
    help="phanns: CD-HIT in each class, clusters dealt in turn, for reproduction.",
)
@click.option(
    "--weigh",
    type=click.Choice(["proteins", "clusters"]),
    default="proteins",
    show_default=True,
    help="What is counted to balance the groups.",
)
@click.option(
    "--audit",
    is_flag=False,
    flag_value="sample",
    default="none",
    show_default=True,
    type=click.Choice(AUDITS),
    help="Align exactly: the test group and a sample, or everyone.",
)
@click.option(
    "--audit-sample",
    type=click.IntRange(1),
    default=300,
    show_default=True,
    help="Size of the sample.",
)
@click.option(
    "--strict",
    type=click.Choice(["report", "join", "set_aside"]),
    default="report",
    show_default=True,
    help="What is done about relatives in two groups that the audit finds.",
)
@click.option("--identity", type=click.FloatRange(0.0, 1.0), default=0.4, show_default=True)
@click.option("--coverage", type=click.FloatRange(0.0, 1.0), default=0.8, show_default=True)
@chance_option
@both_sides_option
@click.option(
    "--cut",
    type=click.Choice(["auto", "never"]),
    default="auto",
    show_default=True,
    help="Cut clusters larger than a group where few proteins hold them together.",
)
@click.option(
    "--cut-limit",
    type=click.FloatRange(0.0, 1.0),
    default=0.02,
    show_default=True,
    help="Share of the proteins that cutting may set aside.",
)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--summary", help="Also write what the page says of the split, as JSON.")
@out_option("The groups: id, cluster, group, role, reason.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    clusters: str | None,
    training: str | None,
    relatives: str | None,
    proteins: str | None,
    match: str,
    **options: Any,
) -> None:
    """Put whole clusters into groups, with every class's share alike.

    Proteins of TABLE calibrate, but for relatives of training proteins, which
    are set aside with their reason. An audit says who has a relative in
    another group.
    """
    import numpy as np

    from credence.predictions import UNKNOWN_CLASS
    from credence.problems import refuse
    from credence.proteins import Proteins
    from credence.stages.reading import (
        json_settings,
        read_proteins,
        read_set,
        require_labels,
        require_other,
        rows_of,
        table_spec,
        training_ids,
    )
    from credence.tables.contract import read_clusters

    require_other(options["out"], [*tables, clusters, training, relatives, proteins])
    _require_recipe(options, clusters, proteins)
    is_audited = _is_audited(options)
    if is_audited and proteins is None:
        raise refuse("--audit", "sequences are needed to align.", "Give --proteins.")
    spec = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    samples = read_set(tables, spec)
    require_labels(samples, tables[0])
    ids, class_ = samples.predictions.ids, samples.true_class
    assert class_ is not None
    sequences = _sequences(ids, proteins, match, tables[0])
    is_training = np.zeros(len(ids), dtype=np.bool_)
    reasons = _reasons(ids, relatives)
    if training is not None:
        learnt = read_proteins(training, match)
        names = training_ids(learnt.ids, ids)
        is_training = np.repeat([False, True], [len(ids), len(names)])
        class_ = np.concatenate([class_, np.full(len(names), UNKNOWN_CLASS)])
        if reasons is not None:
            reasons = np.concatenate([reasons, np.full(len(names), "", dtype=object)])
        ids = np.concatenate([ids, names])
        sequences = np.concatenate([sequences, learnt.sequences])
    cluster = ids
    if clusters is not None:
        known = read_clusters(Path(clusters))
        cluster = known.cluster[rows_of(ids, training or tables[0], known.ids, clusters)]
    found = _split(Proteins(ids, sequences), cluster, class_, is_training, reasons, options)
    _require_test_group(found, options)
    _write(ids, found, is_training, options["out"])
    _summarise(ids, class_, samples.predictions.class_names, found, options)


def _is_audited(options: dict[str, Any]) -> bool:
    """Return whether anything is aligned; what PhANNs' recipe leaks is always told."""
    is_asked = options["audit"] != "none" or options["strict"] != "report"
    return bool(is_asked or options["recipe"] == "phanns")


def _require_recipe(options: dict[str, Any], clusters: str | None, proteins: str | None) -> None:
    from credence.problems import InputError, Problem

    if options["recipe"] != "phanns":
        return
    problems = []
    if proteins is None:
        problems.append(
            Problem("--recipe", "PhANNs' recipe clusters by itself.", "Give --proteins.")
        )
    if clusters is not None:
        problems.append(
            Problem("--clusters", "PhANNs' recipe makes its own.", "Leave --clusters out.")
        )
    if options["strict"] != "report":
        problems.append(
            Problem(
                "--strict",
                "PhANNs' recipe is reproduced as it is, with what crosses.",
                "Leave --strict out, or choose --recipe balanced.",
            )
        )
    if problems:
        raise InputError(problems)


def _sequences(ids: Strings, proteins: str | None, match: str, table: str) -> Strings:
    """Return the sequence of each id; empty where there is no FASTA file."""
    import numpy as np

    from credence.stages.reading import read_proteins
    from credence.tables.fasta import match_ids

    if proteins is None:
        return np.full(len(ids), "", dtype=object)
    fasta = read_proteins(proteins, match)
    rows = match_ids(
        ids, fasta, "full" if match == "full" else "first_word", table=table, proteins=proteins
    )
    return fasta.sequences[rows]


def _reasons(ids: Strings, relatives: str | None) -> Strings | None:
    import numpy as np

    from credence.tables.contract import read_relatives

    if relatives is None:
        return None
    table = read_relatives(Path(relatives))
    message = {
        id_: f"relative of training protein {str(other)!r} (identity {identity:.2f})"
        for id_, other, identity in zip(table.ids, table.relative, table.identity, strict=True)
    }
    reasons = np.empty(len(ids), dtype=object)
    reasons[:] = [message.get(id_, "") for id_ in ids]
    return reasons


def _settings(options: dict[str, Any]) -> Any:
    from credence.relatives.pairs import Thresholds
    from credence.relatives.strict import SplitSettings

    return SplitSettings(
        n_groups=options["n_groups"],
        test_group=options["test_group"],
        by_cluster=options["weigh"] == "clusters",
        thresholds=Thresholds(
            options["identity"], options["coverage"], options["both_sides"], options["chance"]
        ),
        strict=options["strict"],
        n_sampled=None if options["audit"] == "exhaustive" else options["audit_sample"],
        threads=options["threads"],
        cut=options["cut"],
        most_apart=options["cut_limit"],
    )


def _split(
    proteins: Any, cluster: Any, class_: Any, is_training: Any, reasons: Any, options: Any
) -> Split:
    from credence.relatives.strict import split, split_unaudited

    settings = _settings(options)
    if options["recipe"] == "phanns":
        from credence.relatives.cdhit import phanns_groups
        from credence.relatives.strict import split_by_recipe

        return split_by_recipe(proteins, phanns_groups, class_, settings, is_training, reasons)
    if not _is_audited(options):
        return split_unaudited(proteins, cluster, class_, settings, is_training, reasons)
    return split(proteins, cluster, class_, settings, is_training, reasons)


def _require_test_group(found: Split, options: dict[str, Any]) -> None:
    import numpy as np

    from credence.problems import refuse
    from credence.relatives.pack import CALIBRATION, TEST

    if not options["test_group"] or (found.packing.role == TEST).any():
        return
    n_clusters = len(np.unique(found.cluster[found.packing.role == CALIBRATION].astype(str)))
    what = (
        f"The test group would be empty: {n_clusters} clusters for {options['n_groups']} groups."
    )
    remedy = f"Give --groups of at most {n_clusters}, or leave --test-group out."
    raise refuse("--test-group", what, remedy if n_clusters > 1 else "Leave --test-group out.")


def _write(ids: Strings, found: Split, is_training: Any, out: str) -> None:
    import numpy as np

    from credence.tables.contract import Groups, write_contract

    packing = found.packing
    # A cluster whose training proteins and others are in two groups is two
    # clusters: what the classifier learnt from is never counted with the rest.
    cluster = np.where(is_training, "training:" + found.cluster, found.cluster)
    write_contract(Path(out), Groups(ids, cluster, packing.group, packing.role, packing.reason))


def _summarise(
    ids: Strings, class_: Any, class_names: tuple[str, ...], found: Split, options: dict[str, Any]
) -> None:
    """Tell what the split is like, and write it where a file is named."""
    import numpy as np

    from credence.evaluation.split_findings import describe_split
    from credence.stages.split import split_messages
    from credence.tables.writing import write_json

    settings = _settings(options)
    finding = describe_split(ids, class_, class_names, found, settings, _is_audited(options))
    if options["summary"] is not None:
        write_json(Path(options["summary"]), finding)
    if options["recipe"] == "phanns":
        click.echo("PhANNs' recipe: CD-HIT in each class, clusters dealt in turn.", err=True)
    for line in split_messages(finding, settings.n_groups, options["recipe"] == "phanns"):
        click.echo(line, err=True)
    roles, counts = np.unique(found.packing.role.astype(str), return_counts=True)
    message = ", ".join(f"{count} {role}" for role, count in zip(roles, counts, strict=True))
    click.echo(f"Wrote {options['out']}: {message}.", err=True)
