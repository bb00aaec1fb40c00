"""What docs/paper.md says of the paper's test set holds of the recovered counts."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from benchmarks.data import REAL_TABLE
from verification.paper import TOTAL, beside, half_as_trove, recovered

from credence.evaluation.paper_figures import FIGURES, FigureSource, make_figures
from credence.tables.counts import read_counts

DATA = REAL_TABLE.parent
needs_data = pytest.mark.skipif(
    not (DATA / "phanns_web_histogram.csv").is_file(), reason="needs ../shared/data"
)


@needs_data
def test_the_recovered_counts_sum_to_the_papers_test_set_and_every_diagonal_agrees() -> None:
    labelled = read_counts(DATA / "phanns_web_histogram.csv", 10.0, 1.0).labelled
    assert labelled.n_samples == TOTAL == 46_801
    figures = [one for one in FIGURES if one.number in ("01a", "01c")]
    counts, shares = (
        np.diag(one.matrix) for one in make_figures(FigureSource(labelled=labelled), figures)
    )
    with (DATA / "phanns_web_counts.csv").open(newline="") as handle:
        known = {row["class"]: row for row in csv.DictReader(handle)}
    names = labelled.predictions.class_names
    assert counts.tolist() == [int(known[name]["TP"]) for name in names]
    assert shares == pytest.approx([float(known[name]["conf1"]) for name in names])
    assert shares[names.index("Minor capsid")] == pytest.approx(0.07, abs=0.005)


@pytest.mark.long
@needs_data
def test_each_number_stands_beside_the_papers_and_agrees() -> None:
    rows = beside(recovered(DATA), half_as_trove(DATA), DATA)
    assert len(rows) == 2 + 2 * 11 + 5 + 3
    for row in rows:
        if isinstance(row["paper"], float):
            assert row["here"] == pytest.approx(row["paper"], abs=5e-4), row["number"]
    stated = {str(row["number"]): row["here"] for row in rows}
    assert stated["proteins of the test set"] == "46,801"
    assert stated["classes in which b_opt bends most (Fig. 13)"] == "HTJ, Major capsid"
    nearest = "classes whose raw score is nearest to the kernel (Fig. 7)"
    assert stated[nearest] == "Minor tail, Portal"
    assert stated["wrong predictions that the trove moves"] == "none"
    halves = "distance of two halves' histograms over that of chance (Fig. 4)"
    assert 0.9 < float(str(stated[halves])) < 1.2
    counted = "change of the confidence if proteins predicted otherwise counted (Fig. 6)"
    assert stated[counted] == "-0.81 to +0.00"


@pytest.mark.long
@needs_data
def test_a_trove_of_htj_raises_its_confidence_at_every_score_and_moves_nothing_else() -> None:
    found = half_as_trove(DATA)
    assert found.wrong_moved == 0.0
    assert found.least_rise >= 0.0
    assert found.others <= 1e-12
