"""What lies beside the page: tables, the calibration, an archive, the index of runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from credence.findings import Findings
from credence.report import citation, readme, render_index
from credence.report.wording import slug
from credence.tables.archive import write_archive
from credence.tables.contract import read_metrics, write_contract
from credence.tables.json_text import json_text
from credence.tables.writing import open_output, write_text

RECORD = "report.json"


def publish_metrics(source: str | None, folder: Path) -> None:
    """Write the metrics again: as TSV, safe for a spreadsheet, and as Parquet.

    Parameters
    ----------
    source : str, optional
        The table that was evaluated; nothing is written without it.
    folder : Path
        Where they are to be.
    """
    if source is None or Path(source).resolve() == (folder / "metrics.tsv").resolve():
        return
    metrics = read_metrics(Path(source))
    write_contract(folder / "metrics.tsv", metrics, spreadsheet_safe=True)
    write_contract(folder / "metrics.parquet", metrics)


def copy_file(source: str | None, target: Path) -> None:
    """Copy a file, unless it is there already.

    Parameters
    ----------
    source : str, optional
        What to copy; nothing is written without it.
    target : Path
        Where it is to be.
    """
    if source is not None and Path(source).resolve() != target.resolve():
        with open_output(target) as handle:
            handle.write(Path(source).read_bytes())


def publish_archive(
    path: Path,
    findings: Findings,
    page: Path,
    metrics: str | None,
    calibration: str | None,
    further: Iterable[str],
) -> None:
    """Write an archive of the page and of what it rests on.

    Parameters
    ----------
    path : Path
        Where it is to be; ends in .zip.
    findings : Findings
        What the page shows.
    page : Path
        The page, written already.
    metrics, calibration : str, optional
        Whether there are files beside the page that go by these names.
    further : iterable of str
        Tables and other files: in their folder where it lies beside the page.
    """
    members: dict[str, str | Path] = {
        "index.html": page,
        RECORD: page.parent / RECORD,
        "findings.json": json_text(findings.to_record()),
        "README.md": readme(findings),
        "CITATION.cff": citation(findings),
    }
    if metrics is not None:
        members |= {name: page.parent / name for name in ("metrics.tsv", "metrics.parquet")}
    if calibration is not None:
        members["calibration.json"] = page.parent / "calibration.json"
    home = page.parent.resolve()
    for text in further:
        file = Path(text).resolve()
        is_beside = file.is_relative_to(home)
        members[file.relative_to(home).as_posix() if is_beside else file.name] = file
    name = slug(findings.provenance.run, 0).partition("-")[2] or "run"
    write_archive(path, f"credence-{name}", members)


def publish_index(path: Path) -> None:
    """Write a page over every run whose folder lies beside it.

    Parameters
    ----------
    path : Path
        Where it is to be.
    """
    records = {}
    for file in sorted(path.parent.glob(f"*/{RECORD}")):
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue  # not a finished run
        if isinstance(record, dict):
            records[file.parent.name] = record
    write_text(path, render_index(records))
