"""Samples: streams, tables written and read back, several tables as one, steps and sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credence.predictions import Predictions
from credence.problems import InputError
from credence.tables.formats import TableSpec
from credence.tables.joining import census_of, concatenate
from credence.tables.samples import Samples, read_samples, stream_samples, write_samples
from refusals import refusal

VALID = Path(__file__).resolve().parents[1] / "data" / "valid" / "tables"
PHANNS = TableSpec(format="phanns-labelled")
FIELDS = ("ids", "predicted_class", "top_score", "scores", "network_scores")


def assert_same(found: Predictions, expected: Predictions) -> None:
    for name in ("class_names", "scale", "resolution", "is_distribution"):
        assert getattr(found, name) == getattr(expected, name), name
    for name in FIELDS:
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert np.array_equal(one, other), name


def write_wide(path: Path, rows: str) -> Path:
    path.write_text(f"id,A,B,C\n{rows}")
    return path


def read_wide(path: Path, scale: float = 10.0) -> Samples:
    return read_samples(path, TableSpec(format="wide", scale=scale))


def tables_of_every_kind() -> dict[str, tuple[str, TableSpec]]:
    return {
        "labelled": ("phanns_labelled.csv", PHANNS),
        "unlabelled": ("deeplocpro.csv", TableSpec(format="deeplocpro")),
        "top score": ("phavip.csv", TableSpec(format="phavip")),
        "networks": ("networks_long.tsv", TableSpec(format="credence")),
        "networks by logs": ("networks_long.tsv", TableSpec(format="credence", pooling="log_sum")),
    }


@pytest.mark.parametrize("kind", tables_of_every_kind())
def test_a_parquet_table_written_comes_back_bit_for_bit(kind: str, tmp_path: Path) -> None:
    name, spec = tables_of_every_kind()[kind]
    samples = read_samples(VALID / name, spec)
    path = tmp_path / "samples.parquet"
    write_samples(path, samples)
    found = read_samples(path, TableSpec(format="credence"))
    assert_same(found.predictions, samples.predictions)
    if samples.true_class is None:
        assert found.true_class is None
    else:
        assert found.true_class is not None
        assert found.true_class.tolist() == samples.true_class.tolist()


@pytest.mark.parametrize("ending", ["tsv", "tsv.gz", "tsv.zst"])
def test_a_text_table_written_comes_back_bit_for_bit(ending: str, tmp_path: Path) -> None:
    samples = read_samples(VALID / "phanns.csv", TableSpec(format="phanns"))
    path = tmp_path / f"samples.{ending}"
    write_samples(path, samples)
    found = read_samples(path, TableSpec(format="credence", scale=10.0))
    assert_same(found.predictions, samples.predictions)


def test_a_verdict_that_breaks_a_tie_otherwise_survives_writing(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("header,A,B,prediction,confidence\np1,0.50,0.50,B,1\np2,0.25,0.75,B,1\n")
    samples = read_samples(source, TableSpec(format="phanns3"))
    assert samples.predictions.predicted_class.tolist() == [1, 1]
    write_samples(tmp_path / "a.parquet", samples)
    found = read_samples(tmp_path / "a.parquet", TableSpec(format="credence"))
    assert_same(found.predictions, samples.predictions)


def test_a_table_of_classes_alone_has_no_scores(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\ttrue_class\tpredicted_class\np1\ta\tb\np2\tb\ta\n")
    found = read_samples(path, TableSpec(format="credence")).predictions
    assert found.top_score is None
    assert found.scores is None
    assert found.predicted_class.tolist() == [1, 0]


def test_a_scale_other_than_the_written_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_samples(path, read_samples(VALID / "phanns_labelled.csv", PHANNS))
    assert refusal(read_samples, path, TableSpec(format="credence", scale=1.0)) == (
        f"{path}: the table was written with the scale 10, 1 is stated. "
        "Leave the scale out, or correct it."
    )


@pytest.mark.parametrize("chunk_rows", [1, 2, 7, 1000])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_chunks_join_to_the_whole_table(ending: str, chunk_rows: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    scores = np.round(rng.dirichlet([1.0, 1.0, 1.0], 23) * 10, 3)
    # The first rows show fewer decimals than the rest: the step is the file's.
    scores[:5] = [9.0, 1.0, 0.0]
    scores[:, 2] = np.round(10 - scores[:, 0] - scores[:, 1], 3)
    scores = np.abs(scores)
    path = tmp_path / f"a.{ending}"
    ids = [f"p{row}" for row in range(23)]
    if ending == "csv":
        rows = zip(ids, scores.tolist(), strict=True)
        write_wide(path, "".join(f"{name},{a},{b},{c}\n" for name, (a, b, c) in rows))
    else:
        columns = dict(zip("ABC", scores.T, strict=True))
        pq.write_table(pa.table({"id": ids} | columns), path)
    spec = TableSpec(format="wide", scale=10.0)
    whole = read_samples(path, spec)
    parts = list(stream_samples(path, spec, chunk_rows))
    assert max(part.n_samples for part in parts) <= chunk_rows
    joined = concatenate([(path, part) for part in parts])
    assert_same(joined.predictions, whole.predictions)
    assert joined.lines.tolist() == whole.lines.tolist()
    assert whole.predictions.resolution == pytest.approx(0.001, rel=1e-12)


def test_the_step_of_floats_is_found_and_of_full_floats_is_unknown(tmp_path: Path) -> None:
    def step(scores: Any) -> float:
        columns = {"id": ["p1", "p2"], "A": scores[:, 0], "B": scores[:, 1]}
        pq.write_table(pa.table(columns), tmp_path / "a.parquet")
        found = read_samples(tmp_path / "a.parquet", TableSpec(format="wide", scale=1.0))
        return found.predictions.resolution

    cents = np.array([[0.29, 0.71], [0.5, 0.5]])
    assert step(cents) == pytest.approx(0.01, rel=1e-12)
    assert step(cents.astype(np.float32)) == pytest.approx(0.01, rel=1e-12)
    assert step(np.array([[1 / 3, 2 / 3], [0.5, 0.5]])) == 0.0
    assert step(np.array([[1, 0], [0, 1]])) == 0.0  # no step of the whole scale


@pytest.mark.parametrize(
    ("rows", "is_accepted"),
    [
        # Three classes at two decimals: rounding moves a sum by 0.015 at most.
        ("p1,3.33,3.33,3.33\n", True),
        ("p1,3.33,3.33,3.32\n", False),
        # Four decimals: by 0.00015.
        ("p1,3.3333,3.3333,3.3333\n", True),
        ("p1,3.3333,3.3333,3.3330\n", False),
        # Three significant digits: the greatest number is 0.005 off at most.
        ("p1,9.99,0.00987,0.000123\n", True),
        ("p1,9.83,0.00987,0.000123\n", False),
    ],
)
def test_rows_sum_to_the_scale_within_what_the_decimals_allow(
    rows: str, is_accepted: bool, tmp_path: Path
) -> None:
    path = write_wide(tmp_path / "a.csv", rows)
    if is_accepted:
        assert read_wide(path).n_samples == 1
    else:
        with pytest.raises(InputError, match="the scores sum to"):
            read_wide(path)


def test_scores_that_sum_to_nothing_in_particular_are_no_distribution(tmp_path: Path) -> None:
    path = write_wide(tmp_path / "a.csv", "p1,3.00,9.00,8.00\np2,0.00,1.00,0.00\n")
    found = read_samples(
        path, TableSpec(format="wide", scale=10.0, sum_to_scale=False)
    ).predictions
    assert not found.is_distribution
    assert found.predicted_class.tolist() == [1, 1]


def test_a_verdict_may_miss_the_best_score_by_the_last_decimal(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("header,A,B,prediction,confidence\np1,0.50,0.49,B,1\np2,0.25,0.75,B,1\n")
    found = read_samples(path, TableSpec(format="phanns3")).predictions
    assert found.predicted_class.tolist() == [1, 1]
    assert found.top_score is not None
    assert found.top_score.tolist() == [0.49, 0.75]


def test_several_tables_of_one_set_are_one(tmp_path: Path) -> None:
    parts = [
        (path := write_wide(tmp_path / f"{name}.csv", f"{name},7.0,2.0,1.0\n"), read_wide(path))
        for name in ("p1", "p2")
    ]
    joined = concatenate(parts)
    assert joined.predictions.ids.tolist() == ["p1", "p2"]
    assert joined.lines.tolist() == [2, 2]


def test_tables_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    first = write_wide(tmp_path / "a.csv", "p1,7.0,2.0,1.0\np2,7.0,2.0,1.0\n")
    second = write_wide(tmp_path / "b.csv", "p2,0.7,0.2,0.1\n")
    assert refusal(concatenate, [(first, read_wide(first)), (second, read_wide(second, 1.0))]) == (
        f"{second}: the scale: 1 here, 10 in {first}. "
        "Give tables of one classifier, read alike.\n"
        f"{second}, line 2: the id 'p2' is in {first} already. "
        "Give each protein its own id, or remove one of the rows."
    )


def test_what_was_accepted_with_a_reserve_is_told() -> None:
    samples = read_samples(VALID / "phynteny.tsv", TableSpec(format="phynteny"))
    assert census_of(samples).notices() == [
        "1 of 3 proteins carry no scores and get no confidence, the first is 'c_1' in line 2"
    ]
    tied = read_samples(VALID / "phanns.csv", TableSpec(format="phanns"))
    assert census_of(tied).notices() == [
        "1 row has two best scores; the first class in order counts"
    ]


def test_phanns_own_table_has_the_facts_stated_of_it(real_data: Path) -> None:
    samples = read_samples(real_data / "phanns_scores_2020.csv.gz", PHANNS)
    predictions = samples.predictions
    assert predictions.scores is not None
    assert samples.true_class is not None
    assert predictions.scores.shape == (47_879, 11)
    assert predictions.resolution == 0.01
    assert predictions.n_ties == 20
    assert round(float((predictions.scores == 0).mean()), 2) == 0.58
    is_correct = predictions.predicted_class == samples.true_class
    assert round(float(is_correct.mean()), 4) == 0.7720
    names = predictions.class_names
    assert int((predictions.predicted_class == names.index("Minor capsid")).sum()) == 17
    counts = np.bincount(samples.true_class, minlength=11)
    # Rows named shaft_… and HTJ_…, counted with grep.
    assert counts[names.index("Tail shaft")] == 2031
    assert counts[names.index("HTJ")] == 1277


def test_phanns_ten_networks_are_summed_and_kept(real_data: Path) -> None:
    spec = TableSpec(format="networks-npz")
    samples = read_samples(real_data / "phanns_ten_networks.npz", spec)
    predictions = samples.predictions
    assert predictions.network_scores is not None
    assert predictions.scores is not None
    assert predictions.network_scores.shape == (7217, 10, 11)
    assert (predictions.scale, predictions.resolution) == (10.0, 0.0001)
    assert np.array_equal(predictions.scores, predictions.network_scores.sum(axis=1))
    # Every network is rounded to four decimals, so 110 numbers are off by 0.00005 each.
    assert np.abs(predictions.scores.sum(axis=1) - 10).max() < 110 * 0.00005


def test_a_real_table_of_phold_keeps_every_protein(real_data: Path) -> None:
    path = real_data / "phold_per_cds_predictions.tsv"
    samples = read_samples(path, TableSpec(format="phold"))
    predictions = samples.predictions
    assert (samples.n_samples, len(samples.unscored_ids)) == (71, 44)
    assert predictions.scores is not None
    unknown = predictions.class_names.index("unknown function")
    assert int((predictions.predicted_class == unknown).sum()) == 38
    assert np.allclose(predictions.scores.sum(axis=1), 1.0, atol=0.005)
