"""Records of the figures of the calibration paper, of a table or of counts, without a run.

    PYTHONPATH=. python verification/figure_records.py demo/calibration.csv \\
        --format phanns-labelled --out records.json
    credence figures --records records.json --out figures

--format counts takes counts of right and wrong predictions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from verification.two_sets import add_tables, calibrating, tables_of

from credence.evaluation.paper_figures import FIGURES, FigureSource, make_figures
from credence.findings import FiguresRecord
from credence.tables.counts import FORMAT as COUNTS
from credence.tables.counts import read_counts
from credence.tables.writing import write_record


def main(words: Sequence[str] | None = None) -> None:
    """Write the records of all figures that a table allows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_tables(parser)
    parser.add_argument("--out", required=True)
    asked = parser.parse_args(words)
    given = tables_of(asked)
    if given.format_ == COUNTS:
        labelled = read_counts(Path(given.tables[0]), given.scale, 1.0).labelled
    else:
        labelled = calibrating(given.open(), asked.weights)
    write_record(
        asked.out,
        FiguresRecord(figures=tuple(make_figures(FigureSource(labelled=labelled), FIGURES))),
    )
    print(f"Wrote {asked.out}. Draw it: credence figures --records {asked.out} --out figures")


if __name__ == "__main__":
    main()
