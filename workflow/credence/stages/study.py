"""The study of two sets: how much numbers of the fitted proteins flatter, on one's own table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.notices import plural
from credence.evaluation.two_sets import measure_halves, summarise_draws
from credence.problems import raise_any, refuse
from credence.progress import Progress
from credence.stages.reading import LabelledTables, in_order_of_ids, require_other
from credence.stages.settings import Settings
from credence.tables.stage_files import need_problems
from credence.tables.writing import check_table_ending, write_table

LEAST_CLUSTERS = 2  # one for each half


def study_two_sets(
    given: LabelledTables, out: str, settings: Settings, methods: Sequence[str], draws: int
) -> None:
    """Fit methods on one half and measure them on both, many times; write the medians."""
    require_other((out,), given.files)
    check_table_ending(Path(out))
    samples, table = given.samples(), given.tables[0]
    specifications = {
        entry.text: entry for entry in (parse_method(m, "--method") for m in methods)
    }
    raise_any(
        problem
        for text, entry in specifications.items()
        for problem in need_problems(text, entry.needs, samples.predictions, table)
    )
    labelled = in_order_of_ids(given.calibrating(samples, settings.calibration.weights).labelled)
    if len(set(labelled.cluster.tolist())) < LEAST_CLUSTERS:
        what = "all proteins are of one cluster, and no cluster is divided."
        where = given.clusters or given.groups or table
        raise refuse(where, what, "Give proteins of at least two.")
    options = FitOptions(settings.calibration.min_positives, n_draws=0)
    calibrators = {text: entry.build(options) for text, entry in specifications.items()}
    found = []
    with Progress("study", "draws", draws) as progress:
        for draw in range(draws):
            found.append(measure_halves(labelled, calibrators, draw))
            progress.add()
    rows = summarise_draws(found)
    columns: dict[str, list[Any]] = {
        "method": [row.method for row in rows],
        "class": ["all" if row.class_name is None else row.class_name for row in rows],
    }
    for name in ("metric", "in_sample", "held_out", "flattery", "lower", "upper", "n_draws"):
        word = "difference" if name == "flattery" else name
        columns[word] = [getattr(row, name) for row in rows]
    write_table(Path(out), columns)
    counts = f"{plural(len(calibrators), 'method')}, {plural(draws, 'draw')}"
    click.echo(f"Wrote {out}: {counts}.", err=True)
