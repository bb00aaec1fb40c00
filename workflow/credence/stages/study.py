"""Studies: how much numbers of the fitted proteins flatter; those that are in a clone alone."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.two_sets import measure_halves, measure_sets, summarise_draws
from credence.problems import plural, raise_any, refuse
from credence.progress import Progress, echo
from credence.stages.reading import LabelledTables, in_order_of_ids, require_other
from credence.stages.settings import Settings, workflow_folder
from credence.tables.stage_files import need_problems
from credence.tables.writing import check_table_ending, write_table

LEAST_CLUSTERS = 2  # one for each half


def study_two_sets(
    given: LabelledTables,
    out: str,
    settings: Settings,
    methods: Sequence[str],
    draws: int,
    second: str | None,
) -> None:
    """Fit methods on one half, or set, and measure them on both, many times; write the medians."""
    require_other((out,), [*given.files, second])
    check_table_ending(Path(out))
    samples, table = given.samples(), given.tables[0]
    specifications = {one.text: one for one in (parse_method(m, "--method") for m in methods)}
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
    measure = partial(measure_halves, labelled)
    if second is not None:
        other = replace(given, tables=[second], groups=None)
        read = other.samples()
        if read.predictions.class_names != samples.predictions.class_names:
            what = f"its classes are not those of {table}."
            raise refuse(second, what, "Give two tables of one classifier.")
        rest = in_order_of_ids(other.calibrating(read, settings.calibration.weights).labelled)
        measure = partial(measure_sets, (labelled, rest))
    found = []
    with Progress("study", "draws", draws) as progress:
        for draw in range(draws):
            found.append(measure(calibrators, draw))
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
    echo(f"Wrote {out}: {counts}.")


def run_script(name: str, words: Sequence[str]) -> int:
    """Return the exit code of a study that is a script beside the package, in a clone."""
    root = workflow_folder().parent
    script = root / "verification" / name
    if not script.is_file():
        what = "this study is in a clone of the project, not in the package."
        raise refuse(name, what, "Run it in a clone: git clone, then make.")
    paths = os.pathsep.join([str(root), str(root / "workflow"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.run([sys.executable, str(script), *words], env=environment).returncode
