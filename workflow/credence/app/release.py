"""``credence release``: the record of a release, and what is published of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from credence.app.shared import out_option

if TYPE_CHECKING:
    from credence.findings import InputFile
    from credence.releases.chain import ReleaseCounts


@click.command(
    epilog="Example: credence release base --samples demo/calibration.csv --groups groups.tsv "
    "--calibration c.json --out releases/00-base/release.json"
)
@click.argument("name")
@click.option("--number", type=click.IntRange(0), default=0, show_default=True)
@click.option("--date", help="When its trove arrived; never the date of today.")
@click.option("--parent", help="release.json of the release before.")
@click.option("--samples", required=True, help="Labelled table of the release.")
@click.option("--samples-format", help="Its format.")
@click.option("--groups", required=True, help="Table of its groups.")
@click.option("--calibration", required=True, help="Its calibration.")
@click.option("--check", "summary", help="What credence check wrote of the base.")
@click.option("--attached", help="attach.json of its trove.")
@click.option("--publish", help="Folder for people: calibration, groups, record, attach.tsv.")
@out_option("The record, release.json.")
def command(
    name: str,
    number: int,
    date: str | None,
    parent: str | None,
    samples: str,
    samples_format: str | None,
    groups: str,
    calibration: str,
    summary: str | None,
    attached: str | None,
    publish: str | None,
    out: str,
) -> None:
    """Write the record of release NAME: what it rests on, and its parent.

    Digests make a chain of releases: that of each covers its inputs, its set
    and its parent's.
    """
    from credence.releases.chain import Release, read_release, set_digest, write_release
    from credence.releases.trove_tables import read_attach_summary
    from credence.stages.check import read_summary
    from credence.stages.reading import require_other
    from credence.tables.digests import sha256_of

    require_other(out, [parent, samples, groups, calibration, summary, attached])
    inputs: tuple[InputFile, ...] = ()
    counts = None
    if summary is not None:
        inputs = read_summary(Path(summary)).inputs
    if attached is not None:
        found = read_attach_summary(Path(attached))
        inputs, counts = (*inputs, *found.inputs), found.counts
    release = Release(
        name=name,
        number=number,
        date=date,
        parent=None if parent is None else read_release(Path(parent)).digest,
        set=set_digest(Path(samples), Path(groups)),
        inputs=inputs,
        counts=_counts(samples, samples_format, groups),
        attach=counts,
        calibrations={Path(calibration).stem: sha256_of(Path(calibration))},
    )
    write_release(Path(out), release)
    if publish is not None:
        _publish(Path(publish), Path(out), Path(calibration), Path(groups), attached)
    click.echo(f"Wrote {out}: {release.counts.n_calibration} proteins calibrate.", err=True)


def _counts(samples: str, format_: str | None, groups: str) -> ReleaseCounts:
    import numpy as np

    from credence.relatives.pack import CALIBRATION, SET_ASIDE
    from credence.releases.chain import ReleaseCounts, counts_by_class
    from credence.stages.reading import read_set, require_labels, rows_of, table_spec
    from credence.tables.contract import read_groups

    read = read_set((samples,), table_spec((samples,), format_, {}))
    require_labels(read, samples)
    assert read.true_class is not None
    table = read_groups(Path(groups))
    rows = rows_of(read.predictions.ids, samples, table.ids, groups)
    role, calibrates = table.role[rows], np.flatnonzero(table.role[rows] == CALIBRATION)
    return ReleaseCounts(
        n_proteins=read.n_samples,
        n_calibration=len(calibrates),
        n_clusters=len(set(table.cluster[rows][calibrates])),
        n_set_aside=int((role == SET_ASIDE).sum()),
        by_class=dict(
            counts_by_class(read.predictions.class_names, read.true_class[calibrates].tolist())
        ),
    )


def _publish(
    folder: Path, record: Path, calibration: Path, groups: Path, attached: str | None
) -> None:
    """Write what is of use to people, tables safe for a spreadsheet."""
    from credence.releases.trove_tables import read_attached, write_attached
    from credence.tables.contract import read_groups, write_contract
    from credence.tables.writing import open_output

    write_contract(folder / "groups.tsv", read_groups(groups), spreadsheet_safe=True)
    if attached is not None:
        table = read_attached(Path(attached).parent / "attach.tsv")
        write_attached(folder / "attach.tsv", table, spreadsheet_safe=True)
    for source, name in ((calibration, "calibration.json"), (record, "release.json")):
        with open_output(folder / name) as handle:
            handle.write(source.read_bytes())
