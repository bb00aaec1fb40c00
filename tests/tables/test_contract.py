from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from credence.confidence import Confidence, Note
from credence.predictions import Predictions
from credence.tables import contract
from credence.tables.contract import (
    CONFIDENCE_NAMES,
    Clusters,
    Confidences,
    Groups,
    Metrics,
    confidence_columns,
    read_clusters,
    read_confidences,
    read_groups,
    read_metrics,
    write_contract,
)
from credence.tables.writing import TableWriter
from refusals import refusal

CORPUS = Path(__file__).resolve().parents[1] / "data" / "invalid" / "contract"
ENDINGS = [".tsv", ".tsv.gz", ".tsv.zst", ".parquet"]
NAN = np.nan
AWKWARD = np.array([0.1 + 0.2, 5e-324, NAN])


def texts(*values: str) -> Any:
    return np.array(values, dtype=object)


EXAMPLES: list[tuple[Any, Any]] = [
    (
        read_clusters,
        Clusters(
            ids=texts("p1", "p 2", 'p"3\t'),
            cluster=texts("p1", "p1", 'p"3\t'),
            representative=texts("p1", "p1", 'p"3\t'),
            identity=np.array([1.0, 1 / 3, NAN]), coverage=AWKWARD,
        ),
    ),
    (
        read_groups,
        Groups(
            ids=texts("p1", "p2", "p3"), cluster=texts("c", "c", "d"), group=texts("1", "1", ""),
            role=texts("calibration", "calibration", "set_aside"),
            reason=texts("", "", "relative of 'q'"),
            class_name=texts("HTJ", "HTJ", ""),
        ),
    ),
    (
        lambda path: read_confidences(path).fill(Confidences),
        Confidences(
            ids=texts("p1", "p2", "p3"), predicted_class=texts("HTJ", "HTJ", "Köpfe"),
            confidence=AWKWARD, lower=np.array([0.1, 0.0, NAN]), upper=np.array([1.0, 0.5, NAN]),
            decision=texts("accept", "check", "insufficient data"), note=texts("", "a; b", "=1+1"),
            score=np.array([9.99, NAN, 1e22]), support=np.array([3.5, 0, 1e3]),
            method=texts("kernel", "kernel", "kernel"),
        ),
    ),
    (
        read_metrics,
        Metrics(
            method=texts("kernel", "kernel"),
            class_=texts("all", "HTJ"),
            sample=texts("in_sample", "held_out"),
            metric=texts("nll", "nll"),
            value=np.array([0.3, NAN]),
            lower=np.array([-0.2, NAN]),
            upper=np.array([0.4, NAN]),
            n=np.array([1000, 0]),
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("read", "table"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_a_table_comes_back_bit_for_bit(
    tmp_path: Path, read: Any, table: Any, ending: str
) -> None:
    path = tmp_path / f"table{ending}"
    write_contract(path, table)
    for name, values in vars(read(path)).items():
        expected = getattr(table, name)
        assert values.dtype == expected.dtype, name
        np.testing.assert_array_equal(values, expected, err_msg=name)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.tsv")), ids=lambda path: path.name)
def test_each_defect_is_refused_with_its_whole_message(path: Path) -> None:
    read = getattr(contract, f"read_{path.name.split('_')[0]}")
    found = refusal(read, path).replace(f"{path.parent}/", "")
    assert found + "\n" == path.with_suffix(".txt").read_text()


def test_a_cluster_table_of_ones_own_needs_two_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("cluster,id\nb,p2\na,p1\nb,p3\n")
    clusters = read_clusters(path)
    assert clusters.ids.tolist() == ["p2", "p1", "p3"]
    assert clusters.representative.tolist() == ["p2", "p1", "p2"]
    assert np.isnan(clusters.identity).all()


def test_all_defects_of_a_table_come_together(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(
        "method\tclass\tsample\tmetric\tvalue\tlower\tupper\tn\n"
        "kernel\tall\theld_out\tnll\tx\t\t\t-1\n\t\theld_out\tnll\t\t\t\t3\n"
    )
    assert refusal(read_metrics, path).replace(f"{tmp_path}/", "").split("\n") == [
        "m.tsv, line 2, column 'value': 'x' is not a number. Give a number or nothing.",
        "m.tsv, line 2, column 'n': -1 is out of range. Give a whole number of at least 0.",
        "m.tsv, line 3, column 'method': the cell is empty. Fill it in.",
        "m.tsv, line 3, column 'class': the cell is empty. Fill it in.",
    ]


def test_confidences_are_written_chunk_by_chunk(tmp_path: Path) -> None:
    predictions = Predictions(
        ids=texts("p1", "p2"),
        class_names=("HTJ", "Other"),
        scale=10.0,
        resolution=0.01,
        predicted_class=np.array([1, 0]),
        top_score=np.array([9.5, 3.25]),
    )
    answer = Confidence(
        value=np.array([0.75, NAN]), lower=np.array([0.5, NAN]), upper=np.array([0.875, NAN]),
        support=np.array([12.5, 0.0]),
        note=np.array([int(Note.NONE), int(Note.UNSEEN_CLASS)]),
    )  # fmt: skip
    path = tmp_path / "confidences.tsv"
    with TableWriter(path, CONFIDENCE_NAMES) as writer:
        for row in (0, 1):
            rows = np.array([row])
            part = Confidence(**{name: values[rows] for name, values in vars(answer).items()})
            writer.write(confidence_columns(predictions.take(rows), part, "kernel"))
    assert path.read_text() == (
        "id\tpredicted_class\tconfidence\tlower\tupper\tdecision\tnote\tscore\tsupport\tmethod\n"
        "p1\tOther\t0.75\t0.5\t0.875\tcheck\t\t9.5\t12.5\tkernel\n"
        "p2\tHTJ\t\t\t\tinsufficient data\t"
        "class never predicted in calibration\t3.25\t0\tkernel\n"
    )
    assert np.isnan(read_confidences(path).values["confidence"][1])
