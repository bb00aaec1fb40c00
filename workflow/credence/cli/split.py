"""``credence split``: whole clusters into groups, each protein with a role."""

from __future__ import annotations

from pathlib import Path

import click

from credence.cli.shared import match_option, out_option, table_options


@click.command(
    epilog="Example: credence split demo/calibration.csv --format phanns-labelled "
    "--clusters clusters.tsv --training demo/training.fasta --out groups.tsv"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option("--clusters", help="Table of clusters; without it each protein is its own.")
@click.option("--training", help="FASTA file of the classifier's training set.")
@match_option
@click.option(
    "--groups",
    type=click.IntRange(2),
    default=12,
    show_default=True,
    help="Number of groups.",
)
@click.option("--test-group", is_flag=True, help="Keep one group out of calibration, to judge.")
@out_option("The groups: id, cluster, group, role, reason.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    clusters: str | None,
    training: str | None,
    match: str,
    groups: int,
    test_group: bool,
    out: str,
) -> None:
    """Put whole clusters into groups, with every class's share alike.

    Proteins of TABLE calibrate, but for relatives of training proteins, which
    are set aside with their reason.
    """
    import numpy as np

    from credence.cli.proteins import read_proteins, training_ids
    from credence.cli.tables import read_set, require_labels, rows_of, table_spec
    from credence.cli.values import json_settings
    from credence.predictions import UNKNOWN_CLASS
    from credence.splits.pack import NO_GROUP, TRAINING, pack
    from credence.tables.contract import Groups, read_clusters, write_contract

    spec = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    samples = read_set(tables, spec)
    require_labels(samples, tables[0])
    ids, true_class = samples.predictions.ids, samples.true_class
    assert true_class is not None
    is_training = np.zeros(len(ids), dtype=np.bool_)
    if training is not None:
        learnt = training_ids(read_proteins(training, match).ids, ids)
        is_training = np.repeat([False, True], [len(ids), len(learnt)])
        true_class = np.concatenate([true_class, np.full(len(learnt), UNKNOWN_CLASS)])
        ids = np.concatenate([ids, learnt])
    cluster = ids
    if clusters is not None:
        known = read_clusters(Path(clusters))
        cluster = known.cluster[rows_of(ids, training or tables[0], known.ids, clusters)]
    packing = pack(
        ids, cluster, true_class, groups, is_training=is_training, test_group=test_group
    )
    # A table of groups names one for every protein that is not set aside.
    group = np.where(is_training & (packing.group == NO_GROUP), TRAINING, packing.group)
    write_contract(Path(out), Groups(ids, cluster, group, packing.role, packing.reason))
    for class_, count in packing.scarce.items():
        name = samples.predictions.class_names[class_]
        click.echo(
            f"{name}: {count} clusters for {groups} groups; some have none of it.", err=True
        )
    roles, counts = np.unique(packing.role.astype(str), return_counts=True)
    told = ", ".join(f"{count} {role}" for role, count in zip(roles, counts, strict=True))
    click.echo(f"Wrote {out}: {told}.", err=True)
