"""Ensembles: arrays in an npz file, long tables, and how networks are pooled."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from credence.tables.formats import TableSpec
from credence.tables.samples import pool, read_samples, stream_samples
from refusals import refusal

VALID = Path(__file__).resolve().parents[1] / "data" / "valid" / "tables"
SPEC = TableSpec(format="networks-npz")
SOFTMAX = np.array([[[0.25, 0.75], [0.5, 0.5]], [[1.0, 0.0], [0.125, 0.875]]])
FACTS = {"id": np.array(["p1", "p2"]), "class_names": np.array(["A", "B"])}


def test_one_array_of_all_networks_is_summed_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, softmax=SOFTMAX, true_class=np.array(["B", ""]), **FACTS)
    samples = read_samples(path, SPEC)
    found = samples.predictions
    assert found.scale == 2.0
    assert found.scores is not None
    assert found.network_scores is not None
    assert found.scores.tolist() == [[0.75, 1.25], [1.125, 0.875]]
    assert np.array_equal(found.network_scores, SOFTMAX)
    assert found.predicted_class.tolist() == [1, 0]
    assert samples.true_class is not None
    assert samples.true_class.tolist() == [1, -1]
    assert samples.lines.tolist() == [1, 2]


def test_a_matrix_for_each_network_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, first=SOFTMAX[:, 0], second=SOFTMAX[:, 1], **FACTS)
    found = read_samples(path, SPEC).predictions
    assert found.network_scores is not None
    assert np.array_equal(found.network_scores, SOFTMAX)


def test_the_softmax_of_summed_logs_is_the_normalised_product(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, softmax=SOFTMAX, **FACTS)
    found = read_samples(path, TableSpec(format="networks-npz", pooling="log_sum")).predictions
    assert found.scale == 1.0
    assert found.scores is not None
    # p1: 0.25 · 0.5 against 0.75 · 0.5. p2: 1 · 0.125 against half a step (0.0005) · 0.875.
    second = 0.125 / (0.125 + 0.0005 * 0.875)
    np.testing.assert_allclose(found.scores, [[0.25, 0.75], [second, 1 - second]], rtol=1e-12)


def test_networks_sum_whatever_their_order_in_a_long_table(tmp_path: Path) -> None:
    header, *rows = (VALID / "networks_long.tsv").read_text().splitlines(keepends=True)
    path = tmp_path / "a.tsv"
    path.write_text(header + "".join(sorted(rows)))
    expected = read_samples(VALID / "networks_long.tsv", TableSpec(format="credence")).predictions
    found = read_samples(path, TableSpec(format="credence")).predictions
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.network_scores is not None
    assert np.array_equal(found.network_scores, expected.network_scores)
    # Networks in the order of their numbers, not of their letters: 1, 2, 10.
    assert found.network_scores[0].tolist() == [[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]]


def test_a_stream_of_networks_gives_whole_proteins(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, softmax=SOFTMAX, **FACTS)
    chunks = list(stream_samples(path, SPEC, chunk_rows=1))
    assert [chunk.predictions.ids.tolist() for chunk in chunks] == [["p1"], ["p2"]]


def test_each_network_has_to_sum_to_one_even_where_the_total_is_right(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    twisted = SOFTMAX.copy()
    twisted[0] = [[0.25, 0.5], [0.5, 0.75]]
    np.savez(path, softmax=twisted, **FACTS)
    assert refusal(read_samples, path, SPEC).split("\n") == [
        f"{path}, line 1: the scores sum to 0.75, not to 1 (give or take 0.001 for the "
        "decimals). Correct the scores or remove the row.",
        f"{path}, line 1: the scores sum to 1.25, not to 1 (give or take 0.001 for the "
        "decimals). Correct the scores or remove the row.",
    ]


def test_a_scale_that_the_networks_do_not_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, softmax=SOFTMAX, **FACTS)
    assert refusal(read_samples, path, TableSpec(format="networks-npz", scale=10.0)) == (
        f"{path}: the networks pooled by 'sum' have the scale 2, 10 is stated. "
        "Leave the scale out, or correct it."
    )


def test_pooling_by_logs_survives_networks_that_rule_every_class_out() -> None:
    scores, scale = pool(np.array([[[1.0, 0.0], [0.0, 1.0]]]), "log_sum", 0.0)
    assert scale == 1.0
    assert scores.tolist() == [[0.5, 0.5]]
