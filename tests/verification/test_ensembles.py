"""The study of the paper's appendix: its pieces on numbers that can be counted."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from verification.ensembles import (
    both_sets,
    figures_of,
    figures_of_sets,
    pooled,
    read_idx,
    table_of,
)


def test_an_idx_file_is_read_as_rows_or_as_labels(tmp_path: Path) -> None:
    images = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 7, 8, 9, 10])
    labels = bytes([0, 0, 8, 1, 0, 0, 0, 2, 3, 4])
    for name, content, found in (
        ("images", images, [[7, 8], [9, 10]]),
        ("labels", labels, [3, 4]),
    ):
        (tmp_path / name).write_bytes(gzip.compress(content))
        assert read_idx(tmp_path / name).tolist() == found


def test_an_ensemble_is_the_softmax_of_summed_logs() -> None:
    logs = np.log([[[0.8, 0.2]], [[0.5, 0.5]], [[0.2, 0.8]], [[0.8, 0.2]]])
    scores = pooled(logs, np.array([0])).predictions.scores
    # 0.8·0.5·0.2·0.8 = 0.064 against 0.2·0.5·0.8·0.2 = 0.016
    assert scores == pytest.approx(np.array([[0.8, 0.2]]))


def test_what_is_tuned_on_the_first_set_is_measured_on_both_and_drawn() -> None:
    rng = np.random.default_rng(0)
    digits = rng.integers(0, 3, 300)
    logits = rng.normal(size=(1, 300, 3))
    logits[0, np.arange(300), digits] += 1.0
    logs = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    one = pooled(logs, digits)
    methods = {"Conf1": "class_only", "STS": "sts"}
    found = both_sets(one.take(np.arange(150)), one.take(np.arange(150, 300)), methods)
    assert found.shape == (2, 2, 16)  # methods, sets, four numbers of three classes and of all
    table = table_of(found[None], methods, ["0", "1", "2", "all"])
    own = table[(table["method"] == "STS") & (table["metric"] == "NLL")].set_index("class")
    assert own.loc["all", "difference"] == pytest.approx(
        own.loc["all", "set_2"] - own.loc["all", "set_1"]
    )
    assert own.loc["all", "sampling_error"] > 0.0
    records = figures_of(table, "A1", methods, "Medians.")
    assert [record.stem for record in records] == [
        "A1a-temperatures-nll",
        "A1b-temperatures-ece1",
        "A1c-temperatures-ece2",
    ]
    for record, metric in zip(records, ("NLL", "ECE1", "ECE2"), strict=True):
        (panel,) = record.panels  # so that methods can be compared digit by digit
        names = [series.name for series in panel.series]
        assert names == ["Conf1, set 1", "Conf1, set 2", "STS, set 1", "STS, set 2"]
        rows = table[(table["method"] == "STS") & (table["metric"] == metric)]
        assert panel.series[3].y == tuple(rows["set_2"][:3])
        assert record.ticks == ("0", "1", "2")
        assert "After Fig. A1 of Salamon et al. 2023" in record.caption
    sets = (one.take(np.arange(150)), one.take(np.arange(150, 300)))
    (halves,) = figures_of_sets(sets, ("04",), "Digits.")
    assert [series.name for series in halves.panels[0].series] == ["first set", "second set"]
    assert halves.caption.endswith("Digits.")
    sure = pooled(logits * 4000.0, digits)  # a tool trained to the end
    counts, *_ = figures_of_sets((sure.take(np.arange(150)), sure), ("16a",), "Digits.")
    assert counts.key == "digits" and "proteins" not in counts.caption
