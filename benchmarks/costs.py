"""What rows and jobs cost, and the tables of the documentation that plan with it.

    .venv/bin/python -m benchmarks.costs            # the tables anew, from the numbers kept
    .venv/bin/python -m benchmarks.costs rows       # measure rows, keep the numbers, the tables
    .venv/bin/python -m benchmarks.costs jobs       # the same for the jobs of `make demo`

Numbers are kept in `benchmarks/costs.json`. A table stands between two comments of its
page, ``<!-- costs: NAME -->`` and ``<!-- end of costs -->``; whatever it says is calculated here.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KEPT = HERE / "costs.json"
DOCS = HERE.parent / "docs"
PAGES = ("operations.md", "large-tables.md")
MARKED = re.compile(r"(<!-- costs: ([\w-]+) -->\n)(.*?)(<!-- end of costs -->)", re.S)

METHODS = ("auto", "kernel")  # The default, and the one for large tables
N_CALIBRATION = 3000
FEW_ROWS = 20_000  # More than are compared with the scores of calibration, as many are then
MANY_ROWS = {"auto": 100_000, "kernel": 420_000}
SCALE = 10.0
SIZES = (10**6, 10**8, 10**9, 2 * 10**9)

Numbers = Mapping[str, Any]


# Measuring


def _words(method: str, step: str) -> list[str]:
    """Return the command of a step, of the files in a folder of measurements."""
    wide = ["--format", "wide", "--spec", json.dumps({"scale": SCALE})]
    known = ["--samples", "known.tsv", "--samples-format", "credence", "--samples-spec"]
    fitted = ["--calibration", f"{method}.json"]
    corrected = [*fitted, "--shift", "shift.json"]
    annotate = ["annotate", "use.parquet", *wide, *corrected]
    return {
        "check": ["check", "use.parquet", *wide, "--out", "check.json"],
        "shift": ["shift", "use.parquet", *wide, *known, json.dumps({"scale": SCALE}), *fitted,
                  "--out", "class_proportions.tsv", "--record", "shift.json"],
        "annotate": [*annotate, "--out", "whole.tsv", "--also", "whole.parquet"],
        "folder": ["annotate", "shards", *wide, *fitted, "--out", "out"],
        "ids": ["annotate", "shards", *wide, *fitted, "--out", "out", "--ids-across"],
    }[step]  # fmt: skip


STEPS = ("check", "shift", "annotate", "folder", "ids")


def measure_rows() -> dict[str, Any]:
    """Return what a row costs in each step, by method: processor seconds of two sizes compared."""
    return {
        "machine": _machine(),
        "n_calibration": N_CALIBRATION,
        "few_rows": FEW_ROWS,
        "many_rows": MANY_ROWS,
        "methods": {method: _steps_of(method) for method in reversed(METHODS)},
    }


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()}, {datetime.date.today()}"


def _steps_of(method: str) -> dict[str, Any]:
    from benchmarks.streams import apart, write_known, write_query_set, write_shards

    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        apart(write_known, folder, N_CALIBRATION)
        fit = ["fit", "known.tsv", "--format", "credence", "--scale", f"{SCALE:g}", "--method"]
        fitted, _ = _run([*fit, method, "--out", f"{method}.json"], folder)
        for n_rows in (FEW_ROWS, MANY_ROWS[method]):
            for path in ("shards", "out"):
                if (folder / path).exists():
                    (folder / path).rename(folder / f"{path} of {FEW_ROWS}")
            apart(write_query_set, folder / "use.parquet", n_rows)
            apart(write_shards, folder / "shards", n_rows, 2)
            highest = 0.0
            for step in STEPS:
                spent, gigabytes = _run(_words(method, step), folder)
                seconds.setdefault(step, []).append(spent)
                highest = max(highest, gigabytes)
        bytes_of = {"given": "use.parquet", "text": "whole.tsv", "parquet": "whole.parquet"}
        sizes = {key: (folder / path).stat().st_size for key, path in bytes_of.items()}
    found: dict[str, Any] = {"fit": fitted, "gigabytes": round(highest, 2)}
    found["bytes"] = {key: round(size / MANY_ROWS[method]) for key, size in sizes.items()}
    found["seconds"] = {
        step: [round(spent, 2) for spent in both] for step, both in seconds.items()
    }
    return found


def _run(words: Sequence[str], folder: Path) -> tuple[float, float]:
    """Return processor seconds and GiB of a command."""
    from benchmarks.streams import run_measured

    seconds, gigabytes = run_measured(list(words), folder, decimals=2)
    if not seconds:
        raise RuntimeError(f"{words}: {gigabytes}")
    print(*words[:2], seconds, gigabytes, flush=True)
    return float(seconds), float(gigabytes)


def measure_jobs(root: Path) -> dict[str, Any]:
    """Return memory and processor seconds of the demo's rules."""
    benchmarks = sorted((root / "results/demo/benchmarks").glob("*.tsv"))
    rules: dict[str, list[float]] = {}
    for path in benchmarks:
        header, values = (line.split("\t") for line in path.read_text().splitlines()[:2])
        cells = dict(zip(header, values, strict=True))
        rule = _rule_of(path.stem)
        megabytes, spent = float(cells["max_rss"]), float(cells["cpu_time"])
        most = rules.setdefault(rule, [0.0, 0.0, 0.0])
        rules[rule] = [max(most[0], megabytes), max(most[1], spent), round(most[2] + spent, 2)]
    return {"machine": _machine(), "rules": rules}


def _rule_of(name: str) -> str:
    """Return the rule of a job's name.

    Examples
    --------
    >>> _rule_of("fit-02-mixed-tswa"), _rule_of("check-use"), _rule_of("check")
    ('fit', 'check_query_set', 'check')
    """
    rule, _, rest = name.partition("-")
    return "check_query_set" if rule == "check" and rest else rule


# Calculating


def per_row(rows: Numbers, method: str, *steps: str) -> float:
    """Return the microseconds that a row more costs in some steps together."""
    n_more = rows["many_rows"][method] - rows["few_rows"]
    seconds = rows["methods"][method]["seconds"]
    return float(sum(1e6 * (seconds[step][1] - seconds[step][0]) / n_more for step in steps))


def start_of(rows: Numbers, method: str, step: str) -> float:
    """Return the seconds that a step costs before its first row."""
    few = rows["methods"][method]["seconds"][step][0]
    return max(0.0, float(few - per_row(rows, method, step) * rows["few_rows"] / 1e6))


def time_of(seconds: float) -> str:
    """Return a time as a page writes it.

    Examples
    --------
    >>> time_of(4.2), time_of(80), time_of(780), time_of(12300)
    ('4 s', '80 s', '13 min', '3.4 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2g}" if n_bytes < 1e10 else f"{n_bytes / 1e9:.0f}"


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    from benchmarks.run import table

    return table(list(header), [list(line) for line in lines])


def _note(numbers: Numbers, how: str) -> str:
    return f"Measured by `python -m benchmarks.costs {how}` ({numbers['machine']}).\n\n"


def rows_table(kept: Numbers) -> str:
    """Return what 100 million and 1,000 million rows cost, with each method."""
    rows = kept["rows"]
    lines = []
    for method in METHODS:
        check, shift, annotate = (
            per_row(rows, method, step) for step in ("check", "shift", "annotate")
        )
        once = {
            "check, once": check,
            "estimate of class proportions, once": shift,
            "annotating": annotate,
        }
        lines += [
            [f"`{method}`: {name}", f"{cost:.1f}", *(time_of(n * cost / 1e6) for n in SIZES[1:3])]
            for name, cost in once.items()
        ]
        whole = check + shift + annotate
        lines.append(
            [f"`{method}`: **all**", f"{whole:.1f}"]
            + [time_of(n * whole / 1e6) for n in SIZES[1:3]]
        )
        text = rows["methods"][method]["bytes"]["text"]
        lines.append(
            [f"`{method}`: confidences as text, {text} bytes a row", ""]
            + [f"{_size(n * text)} GB" for n in SIZES[1:3]]
        )
    return _note(rows, "rows") + _table(
        ["", "µs a row", "100 million rows", "1,000 million rows"], lines
    )


def shards_table(kept: Numbers) -> str:
    """Return what folders of tables cost, by method."""
    rows, sizes = kept["rows"], (SIZES[0], SIZES[1], SIZES[3])
    lines = []
    for method in METHODS:
        row, ids = per_row(rows, method, "folder"), per_row(rows, method, "ids")
        start = start_of(rows, method, "folder")
        facts = rows["methods"][method]
        for name, n_jobs in (("one core", 1), ("8 cores", 8), ("100 jobs", 100)):
            lines.append(
                [f"`{method}`, {name}", f"{row:.1f}" if n_jobs == 1 else ""]
                + [time_of(start + row * n / n_jobs / 1e6) for n in sizes]
            )
        lines.append(
            [f"`{method}`, `--ids-across` besides, one core", f"{ids:.1f}"]
            + [time_of(ids * n / 1e6) for n in sizes]
        )
        in_, out = facts["bytes"]["given"], facts["bytes"]["parquet"]
        lines.append(
            [f"`{method}`, GB: tables in, confidences out (Parquet)", ""]
            + [f"{_size(in_ * n)}, {_size(out * n)}" for n in sizes]
        )
        lines.append([f"`{method}`, GiB of memory of each job, at most", ""])
        lines[-1] += [f"{facts['gigabytes']:.1f}"] * len(sizes)
    return _note(rows, "rows") + _table(
        ["", "µs a row", "10⁶ rows", "10⁸ rows", "2·10⁹ rows"], lines
    )


def rules_table(kept: Numbers) -> str:
    """Return what each rule of the demo took, the largest of its jobs."""
    jobs = kept["jobs"]
    lines = [
        [f"`{rule}`", f"{megabytes:.0f}", f"{most:.1f}", f"{total:.1f}"]
        for rule, (megabytes, most, total) in sorted(jobs["rules"].items())
    ]
    total = sum(entry[2] for entry in jobs["rules"].values())
    lines.append(["all", "", "", f"{total:.0f}"])
    return _note(jobs, "jobs") + _table(
        ["jobs of", "MB", "processor seconds, the largest", "processor seconds, all"], lines
    )


TABLES: dict[str, Callable[[Numbers], str]] = {
    "rows": rows_table,
    "shards": shards_table,
    "rules": rules_table,
}


def page_with_tables(page: str, kept: Numbers) -> str:
    """Return a page whose tables say what the numbers kept say."""
    return MARKED.sub(lambda match: f"{match[1]}\n{TABLES[match[2]](kept)}\n{match[4]}", page)


def main() -> int:
    """Measure what is asked for, keep it, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measured", nargs="*", metavar="rows|jobs")
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if "rows" in options.measured:
        kept["rows"] = measure_rows()
    if "jobs" in options.measured:
        kept["jobs"] = measure_jobs(HERE.parent)
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for name in PAGES:
        page = (DOCS / name).read_text("utf-8")
        (DOCS / name).write_text(page_with_tables(page, kept), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
