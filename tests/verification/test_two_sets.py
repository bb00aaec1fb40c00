"""How much a number flatters where the fit was made: halves, medians, and the script's table."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from verification.two_sets import first_half, main, measure_halves, summarise_draws

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.predictions import Labelled, from_scores, label
from credence.simulate.law import WorldSettings
from refusals import refusal
from small_worlds import TIMEOUT, rows_of, write_world

ROOT = Path(__file__).resolve().parents[2]


def world(n: int = 600, seed: int = 3) -> Labelled:
    rng = np.random.default_rng(seed)
    top = rng.uniform(0.4, 1.0, n)
    predicted = rng.integers(0, 2, n)
    scores = np.where(np.arange(2) == predicted[:, None], top[:, None], 1 - top[:, None])
    scores = np.where(np.arange(2) == predicted[:, None], scores.max(axis=1)[:, None], 0.0)
    ids = np.array([f"p{k}" for k in range(n)], dtype=object)
    predictions = from_scores(ids, ("A", "B"), scores, 1.0, 0.0, is_distribution=False)
    right = rng.random(n) < top
    cluster = np.array([f"c{k // 3}" for k in range(n)], dtype=object)
    return label(predictions, np.where(right, predicted, 1 - predicted), cluster=cluster)


def calibrators(*names: str) -> dict:
    return {name: parse_method(name, "t").build(FitOptions(n_draws=0)) for name in names}


def test_halves_share_no_cluster_and_each_class_is_halved() -> None:
    labelled = world()
    for draw in range(5):
        inside = first_half(labelled, draw)
        assert not set(labelled.cluster[inside]) & set(labelled.cluster[~inside])
        for class_ in range(2):
            own = labelled.predictions.predicted_class == class_
            assert 0.4 < inside[own].mean() < 0.6


def test_each_draw_halves_anew_and_order_is_nothing() -> None:
    labelled = world()
    first = first_half(labelled, 0)
    assert (first != first_half(labelled, 1)).any()
    order = np.random.default_rng(0).permutation(labelled.n_samples)
    assert (first_half(labelled.take(order), 0) == first[order]).all()


def test_the_fitted_half_flatters_what_can_memorise() -> None:
    labelled = world()
    methods = calibrators("class_only", "isotonic")
    rows = summarise_draws([measure_halves(labelled, methods, draw) for draw in range(15)])
    nll = {row.method: row for row in rows if row.class_name is None and row.metric == "nll"}
    assert nll["isotonic"].flattery > 0.02
    assert nll["isotonic"].flattery > nll["class_only"].flattery
    assert nll["isotonic"].n_draws == 15


def test_medians_by_hand() -> None:
    draws = [
        {("m", None, "nll"): (1.0, 2.0)},
        {("m", None, "nll"): (2.0, 2.5)},
        {("m", None, "nll"): (3.0, 5.0)},
        {("m", None, "nll"): (3.0, float("nan"))},
    ]
    (row,) = summarise_draws(draws)
    assert (row.in_sample, row.held_out, row.flattery, row.n_draws) == (2.0, 2.5, 1.0, 3)
    # Differences 0.5, 1, 2: the 5 % quantile is a tenth of the way from the first to the second.
    assert (row.lower, row.upper) == pytest.approx((0.55, 1.9))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = WorldSettings(
        n_calibration=200,
        n_query=10,
        n_training=10,
        n_trove=9,
        n_defects=2,
        n_training_relatives=3,
    )
    return write_world(tmp_path_factory.mktemp("sets"), settings) / "demo" / "calibration.csv"


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_script_writes_medians_of_both_halves_and_the_same_bytes_again(
    table: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(table), "--format", "phanns-labelled", "--draws", "5"]
    words += ["--method", "class_only", "--method", "isotonic", "--out"]
    main([*words, "one.tsv"])
    assert capsys.readouterr().out == "Wrote one.tsv: 2 methods, 5 draws.\n"
    # The second is a process of its own, where sets have another order.
    script = [sys.executable, str(ROOT / "verification" / "two_sets.py")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([*script, *words, "two.tsv"], env=environment, timeout=TIMEOUT, check=True)
    assert Path("one.tsv").read_bytes() == Path("two.tsv").read_bytes()
    rows = rows_of("one.tsv")
    assert list(rows[0]) == [
        *("method", "class", "metric", "in_sample", "held_out", "difference"),
        *("lower", "upper", "n_draws"),
    ]
    nll = {row["method"]: row for row in rows if (row["class"], row["metric"]) == ("all", "nll")}
    assert float(nll["isotonic"]["held_out"]) > float(nll["isotonic"]["in_sample"])
    assert nll["isotonic"]["n_draws"] == "5"


def test_two_tables_are_two_sets_as_they_are(table: Path, inside: Path) -> None:
    lines = table.read_text().splitlines()
    for name, part in (("one.csv", lines[1::2]), ("two.csv", lines[2::2])):
        Path(name).write_text("\n".join([lines[0], *part]) + "\n")
    words = ["one.csv", "--format", "phanns-labelled", "--second", "two.csv"]
    words += ["--method", "class_only"]
    found = []
    for draws in ("1", "9"):
        main([*words, "--draws", draws, "--out", "s.tsv"])
        wanted = ("all", "nll")
        found += [row for row in rows_of("s.tsv") if (row["class"], row["metric"]) == wanted]
    alone, drawn = found
    assert float(alone["difference"]) == pytest.approx(
        float(alone["held_out"]) - float(alone["in_sample"]), abs=1e-6
    )
    assert alone["lower"] == alone["upper"] == alone["difference"]  # one draw: sets as they are
    assert float(drawn["lower"]) < float(drawn["difference"]) < float(drawn["upper"])


def numbers(*rows: str) -> str:
    return "id,true_class,A,B\n" + "".join(f"{row}\n" for row in rows)


def test_what_cannot_be_halved_or_lacks_scores_is_refused_before_anything_is_fitted(
    inside: Path,
) -> None:
    Path("one.csv").write_text(numbers("p1,A,0.9,0.1"))
    Path("top.csv").write_text("id,true_class,predicted_class,score\np1,A,A,0.9\np2,B,A,0.8\n")
    Path("two.csv").write_text(numbers("p1,A,0.9,0.1", "p2,B,0.2,0.8"))
    Path("other.csv").write_text("id,true_class,A,C\np1,A,0.9,0.1\n")
    for words, message in (
        (
            ["one.csv"],
            "one.csv: all proteins are of one cluster, and no cluster is divided. "
            "Give proteins of at least two.",
        ),
        (
            ["top.csv", "--method", "tswa"],
            "top.csv: it has the top score only, and 'tswa' needs the score of every class, each "
            "row summing to the scale. Give such a table, or fit with a method that needs less.",
        ),
        (
            ["two.csv", "--second", "other.csv"],
            "other.csv: its classes are not those of two.csv. Give two tables of one classifier.",
        ),
        (
            ["two.csv", "--method", "isotonik"],
            "--method: 'isotonik' is not a method. Did you mean 'isotonic'?",
        ),
    ):
        assert refusal(main, [*words, "--scale", "1", "--draws", "1", "--out", "s.tsv"]) == message
    assert not Path("s.tsv").exists()
