"""Put the coverage of all methods on one page, from the folders that hold worlds.

    python verification/coverage_page.py verification/out/*/coverage_4680_300

Where two folders hold the same method, the one that comes later counts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from coverage import plot, summarise

from report import write_section

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
LEVEL = 0.95
TOLERANCE = 0.03
TEXT = (
    "Simulated worlds of 4,680 proteins in heavy-tailed families (up to 300), intervals of 95 % "
    "from 200 draws. In each world it is asked, at the scores of each class's positives, whether "
    "the interval holds the method's own large-sample limit and the true probability of being "
    "right; shares are averaged over classes with at least 40 clusters, then over worlds "
    "(± their standard error). A method aims at the truth given class and score only if it sees "
    "no more and bends enough: `class_only`, `platt` or `cumulative` have another limit, by "
    "construction. `auto` (the mean of its members that see the score alone) has no limit here: "
    "its weights come from held-out clusters, and a population has none. Its line is of before "
    "its misfit was stated (decision 0006): 6 of these worlds since had 0.966 hold it at a width "
    "of 0.204, by class 0.87 (Tail fiber) to 1.00. Small and lopsided worlds are in decision 0041 "
    "(`verification/world_kinds.py`); on halves of a real table see `verification/halves.py`.\n\n"
    "![Coverage by method: red all classes, blue each class](verification-coverage.svg)"
)


def collected(folders: Iterable[Path]) -> list[dict[str, object]]:
    found: dict[str, list[dict[str, object]]] = {}
    for folder in folders:
        paths = sorted(folder.glob("world_*.tsv"))
        for row in summarise(paths, folder, LEVEL):
            row["worlds"] = len(paths)
            found.setdefault(str(row["method"]), []).append(row)
    return [row for rows in found.values() for row in latest(rows)]


def latest(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the rows from the last time the method is summarised."""
    last = max(place for place, row in enumerate(rows) if row["class"] == rows[0]["class"])
    return rows[last:]


def line(row: dict[str, object]) -> dict[str, object]:
    def share(name: str) -> str:
        value, error = float(str(row[name])), float(str(row[f"{name}_se"]))
        return "" if value != value else f"{value:.3f} ± {error:.3f}"

    limit = float(str(row["limit"]))
    is_within = "" if limit != limit else "yes" if abs(limit - LEVEL) <= TOLERANCE else "no"
    return {
        "method": f"`{row['method']}`",
        "worlds": row["worlds"],
        "holds its limit": share("limit"),
        "holds the truth": share("truth"),
        "mean width": float(str(row["width"])),
        "limit within ± 3 percentage points": is_within,
    }


def main() -> None:
    table = collected(Path(argument) for argument in sys.argv[1:])
    plot(table, DOCS / "verification-coverage.svg", LEVEL)
    over_all = [line(row) for row in table if row["class"] == "all classes"]
    write_section(DOCS / "verification.md", "Do intervals cover?", TEXT, over_all)


if __name__ == "__main__":
    main()
