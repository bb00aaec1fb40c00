"""Counts of right and wrong predictions as a calibration set."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from credence.app import run_command_line
from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.crossfit import ComposedCalibration
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions, Need
from credence.confidence import Note
from credence.problems import InputError
from credence.records import unpacked
from credence.tables.counts import read_counts
from credence.tables.ready_made import cards, named_file
from credence.tables.stage_files import read_calibration
from refusals import refused

HEADER = "class,score_above,score_to,right,wrong\n"
SMALL = HEADER + "Portal,0,5,3,9\nPortal,5,10,20,4\nCollar,0,5,1,7\nCollar,5,10,12,2\n"
FIT = ["fit", "counts.csv", "--format", "counts", "--out", "c.json"]
QUICK = ["--method", "kernel", "--resamples", "40"]


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text(SMALL)
    return Path("counts.csv")


def test_each_interval_has_as_many_predictions_as_it_counts(counts: Path) -> None:
    known = read_counts(counts, None, 1.0).labelled
    table = pd.read_csv(counts)
    predictions = known.predictions
    assert predictions.top_score is not None
    assert predictions.class_names == ("Portal", "Collar")
    assert predictions.scale == 10.0
    for row in table.itertuples():
        own = predictions.predicted_class == predictions.class_names.index(str(row[1]))
        inside = own & (predictions.top_score > row.score_above)
        inside &= predictions.top_score < row.score_to
        assert known.is_correct[inside].sum() == row.right
        assert (~known.is_correct)[inside].sum() == row.wrong
    assert len(set(known.cluster)) == known.n_samples == 58


def test_predictions_are_spread_evenly_over_their_interval(counts: Path) -> None:
    counts.write_text(HEADER + "Portal,2,4,4,0\n")
    assert read_counts(counts, 10.0, 1.0).labelled.predictions.top_score == pytest.approx(
        [2.25, 2.75, 3.25, 3.75]
    )


SEE_THE_SCORE = [m.name for m in BY_NAME.values() if m.needs is Need.TOP_SCORE] + ["auto"]


@pytest.mark.parametrize("method", SEE_THE_SCORE)
def test_all_of_a_counted_interval_is_seen_and_no_confidence_moves(
    counts: Path, method: str
) -> None:
    counts.write_text(HEADER + "Portal,1,5,30,90\nPortal,5,10,200,40\nPortal,0,1,0,0\n")
    known = read_counts(counts, None, 3.0).labelled
    narrow = replace(known, predictions=replace(known.predictions, spans={}))
    calibrator = parse_method(method, "--method").build(FitOptions(n_draws=20))
    asked = known.predictions.at_scores(0, np.array([0.9, 1.0, 5.0, 9.995, 10.0]))
    wide, other = (calibrator.fit(one).confidence(asked) for one in (known, narrow))
    for found, before in ((wide.value, other.value), (wide.lower, other.lower)):
        np.testing.assert_array_equal(found, before)
    outside = int(Note.BELOW_RANGE | Note.ABOVE_RANGE)
    assert (wide.note[1:] & outside == 0).all()
    np.testing.assert_array_equal(wide.note | outside, other.note | outside)
    assert wide.note[0] == other.note[0]  # what was not counted stays unseen


def test_the_second_of_two_methods_does_not_take_intervals_of_scores_for_its_own(
    counts: Path,
) -> None:
    known = read_counts(counts, None, 1.0).labelled
    composed = parse_method("beta->isotonic", "--method").build(FitOptions(n_draws=0)).fit(known)
    assert isinstance(composed, ComposedCalibration)
    assert composed.first.classes["Portal"].counts["score_max"] == 10.0  # type: ignore[attr-defined]
    assert composed.second.classes["Portal"].counts["score_max"] < 1.0  # type: ignore[attr-defined]


def test_a_design_effect_of_three_widens_intervals_by_its_root(
    counts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts.write_text(HEADER + "Portal,0,10,240,120\nCollar,0,10,100,80\n")
    words = ["--method", "class_only", "--resamples", "400"]
    assert run_command_line([*FIT, *words]) == 0
    plain = read_calibration(Path("c.json"))
    assert "every protein counts as a family of its own" in capsys.readouterr().err
    assert run_command_line([*FIT, *words, "--design-effect", "3"]) == 0
    wide = read_calibration(Path("c.json"))
    printed = capsys.readouterr().err
    assert "3 proteins count as one family, as was stated" in printed
    assert wide.counts["n_clusters"] == 180 and wide.counts["n"] == 540
    predictions = read_counts(counts, None, 1.0).labelled.predictions
    one, three = (file.calibration.confidence(predictions) for file in (plain, wide))
    assert one.value == pytest.approx(three.value)
    ratio = (three.upper - three.lower) / (one.upper - one.lower)
    assert ratio == pytest.approx(np.sqrt(3.0), rel=0.15)


def test_counts_calibrate_a_table_and_its_lists(
    counts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenfold = "Portal,0,5,30,90\nPortal,5,10,200,40\nCollar,0,5,10,70\nCollar,5,10,120,20\n"
    counts.write_text(HEADER + tenfold)  # of fewer the intervals are too wide for a list
    assert run_command_line([*FIT, *QUICK]) == 0
    Path("use.csv").write_text("id,predicted_class,score\np1,Portal,9\np2,Collar,1\n")
    words = ["annotate", "use.csv", "--format", "top-score", "--calibration", "c.json"]
    assert run_command_line([*words, "--out", "conf.tsv"]) == 0
    found = pd.read_csv("conf.tsv", sep="\t").set_index("id")
    assert found.confidence["p1"] > 0.6 > 0.4 > found.confidence["p2"]
    assert 0.1 < found.q_value["p1"] < 0.2
    assert np.isnan(found.q_value["p2"])  # no list reaches below a half
    printed = capsys.readouterr().err
    assert "confidences are not corrected for the class proportions of this table" in printed
    assert "it does not keep the proteins of its calibration set" in printed


def test_counts_of_a_small_class_borrow_from_the_others(counts: Path) -> None:
    large = "Portal,0,5,30,90\nPortal,5,10,200,40\nCollar,0,5,10,70\nCollar,5,10,120,20\n"
    counts.write_text(HEADER + large + "HTJ,5,10,2,0\n")
    for method in ("hierarchical", "auto"):
        assert run_command_line([*FIT, *QUICK, "--method", method]) == 0
        Path("use.csv").write_text("id,predicted_class,score\np1,HTJ,9\np2,HTJ,1\n")
        words = ["annotate", "use.csv", "--format", "top-score", "--calibration", "c.json"]
        assert run_command_line([*words, "--out", "conf.tsv"]) == 0
        found = pd.read_csv("conf.tsv", sep="\t").set_index("id")
        # The two were right: the share alone would be 1, Jeffreys' interval [0.33, 1].
        assert 0.7 < found.confidence["p1"] < 0.97
        assert found.lower["p1"] > 0.45
        assert found.upper["p1"] == 1.0  # nothing was wrong, so nothing speaks against it
        assert (found.decision == "insufficient data").all()


def test_the_same_counts_give_the_same_bytes(counts: Path) -> None:
    assert run_command_line([*FIT, *QUICK]) == 0
    first = Path("c.json").read_bytes()
    counts.write_text("\n".join([HEADER.strip(), *SMALL.splitlines()[1:]]) + "\n")
    assert run_command_line([*FIT, *QUICK]) == 0
    assert Path("c.json").read_bytes() == first


def test_all_that_is_wrong_with_counts_is_refused_at_once(counts: Path) -> None:
    counts.write_text(HEADER + "Portal,0,5,3,9\nPortal,4,6,1,1\nCollar,5,5,1,0\nCollar,6,11,1,0\n")
    with pytest.raises(InputError) as refused:
        read_counts(counts, 10.0, 1.0)
    found = [(problem.line, problem.column, problem.what) for problem in refused.value.problems]
    assert found == [
        (3, "score_above", "the interval overlaps with that of line 2."),
        (4, "score_to", "the interval from 5 to 5 is none of scores up to 10."),
        (5, "score_to", "the interval from 6 to 11 is none of scores up to 10."),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("Portal,0,5,0,0\n", "it counts 0 predictions."),
        ("Portal,0,5,-1,0\n", "-1 is out of range."),
        ("Portal,0,5,1.5,0\n", "1.5 is out of range."),
        (",0,5,1,0\n", "the cell is empty."),
    ],
)
def test_counts_that_are_none_are_refused(counts: Path, rows: str, message: str) -> None:
    counts.write_text(HEADER + rows)
    with pytest.raises(InputError, match=message):
        read_counts(counts, None, 1.0)


def test_members_that_do_not_go_with_counts_are_refused(counts: Path) -> None:
    header = HEADER.replace("wrong", "wrong,members")
    rows = "Portal,0,5,3,9,40\nPortal,5,10,20,4,41\nCollar,0,5,1,7,12\nCollar,5,10,12,2,12\n"
    counts.write_text(header + rows + "HTJ,0,10,0,0,7\n")
    same = "Count the same proteins in all columns, each once under its true class."
    once = "Give the same number in each row of a class."
    with pytest.raises(InputError) as refused:
        read_counts(counts, 10.0, 1.0)
    assert [str(problem) for problem in refused.value.problems] == [
        f"counts.csv, column 'members': the classes have 59 members, and 58 predictions are "
        f"counted. {same}",
        "counts.csv, line 2, column 'members': 17 of the 40 members of 'Portal' are not predicted "
        f"rightly, and only 9 predictions of other classes are wrong. {same}",
        f"counts.csv, line 3, column 'members': 'Portal' has 41 members here and 40 in line 2. "
        f"{once}",
        "counts.csv, line 4, column 'members': 'Collar' has 12 members, and 13 are counted as "
        f"right. {same}",
    ]


def test_what_names_proteins_does_not_go_with_counts(
    counts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--clusters", "clusters.tsv", "--labels", "labels.tsv"]
    Path("clusters.tsv").write_text("id\tcluster\n")
    Path("labels.tsv").write_text("id\ttrue_class\n")
    assert run_command_line([*FIT, *words]) == 2
    printed = capsys.readouterr().err
    assert "--clusters: counts name no proteins" in printed
    assert "--labels: counts name no proteins" in printed


def test_a_method_that_needs_vectors_is_refused(
    counts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "it has the top score only" in refused(capsys, *FIT, "--method", "tswa")


def test_a_design_effect_is_for_counts(inside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--out", "c.json"]
    assert "--design-effect: it is for --format counts." in refused(
        capsys, *words, "--design-effect", "2"
    )


def test_the_shipped_calibrations_are_listed_with_their_cards(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command_line(["show", "calibrations", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found) >= 3
    for card in found:
        assert run_command_line(["show", "calibrations", card["name"]]) == 0
        text = capsys.readouterr().out
        for key in ("for", "not_for", "relatives", "proportions", "source", "licence", "citation"):
            assert str(card[key]) in text
        assert f"fitted on {card['n']:,} proteins" in text
    assert run_command_line(["show", "calibrations", "phans-web"]) == 2
    assert capsys.readouterr().err == (
        "NAME: 'phans-web' is none of the calibrations. Did you mean 'phanns-web'?\n"
        "Fix this and run the command again.\n"
    )


def assert_alike(one: Any, other: Any) -> None:
    """Numbers to nine digits: processors differ in the last ones. All else as it is."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        if one.keys() >= {"kind", "shape", "base64"}:
            one, other = unpacked(one), unpacked(other)
            np.testing.assert_allclose(one, other, 1e-6 if one.dtype == np.float32 else 1e-9)
        else:
            for key in one:
                assert_alike(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_alike(*pair)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    else:
        assert one == other


@pytest.mark.long
@pytest.mark.parametrize("name", list(cards()))
def test_a_shipped_calibration_is_made_again_but_for_rounding(name: str) -> None:
    from verification.ready_made import made

    data = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    if not data.is_dir():
        pytest.skip("the data of PhANNs are not beside the project")
    text, card = made(name, data)
    shipped = json.loads(gzip.decompress(Path(named_file(name)).read_bytes()))
    again = json.loads(text)
    again["checksum"] = shipped["checksum"]  # of all digits
    assert_alike(again, shipped)
    assert card == cards()[name]
    assert sum(row["predicted"] for row in card["held_out"]["classes"].values()) == card["n"]


@pytest.mark.long
def test_the_command_that_makes_it_again_says_whether_bytes_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from verification.ready_made import checked

    data = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    if not data.is_dir():
        pytest.skip("the data of PhANNs are not beside the project")
    shipped = Path(named_file("phanns-web"))
    for name in ("cards.json", shipped.name):
        (tmp_path / name).write_bytes(shipped.with_name(name).read_bytes())
    assert checked(data, tmp_path, ["phanns-web"]) == 0
    assert capsys.readouterr().out == "phanns-web: the same bytes\n"
    text = gzip.decompress(shipped.read_bytes()).replace(b'"n": 46801', b'"n": 46802', 1)
    (tmp_path / shipped.name).write_bytes(gzip.compress(text))
    assert checked(data, tmp_path, ["phanns-web"]) == 1
    assert capsys.readouterr().out == "phanns-web: other bytes\n"


def test_the_bundled_calibrations_are_small_and_that_of_whole_vectors_can_be_corrected() -> None:
    sizes = {name: Path(named_file(name)).stat().st_size for name in cards()}
    assert max(sizes.values()) < 2.5 * 2**20, sizes
    file = read_calibration(Path(named_file("phanns-2020")))
    assert file.sample is not None and file.sample.held_out_probability is not None
    assert file.sample.held_out_probability.shape == (47_879, 11)
    assert file.sketch is not None


def test_a_table_of_the_web_page_needs_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    classes = (
        "Major capsid,Minor capsid,Baseplate,Major tail,Minor tail,Portal,Tail fiber,"
        "Tail shaft,Collar,HTJ,Other"
    )
    Path("web.csv").write_text(
        f",{classes},Confidence\n"
        "gp1,9.80,0.10,0.00,0.00,0.00,0.00,0.00,0.00,0.00,0.00,0.10,98\n"
        "gp2,1.00,4.00,1.00,1.00,1.00,0.00,0.00,0.00,0.00,0.00,2.00,7\n"
        "gp3,0.00,0.00,0.00,0.00,0.00,10.00,0.00,0.00,0.00,0.00,0.00,98\n"
    )
    assert "Bundled calibrations that fit this table: phanns-web" in refused(
        capsys, "annotate", "web.csv", "--out", "conf.tsv"
    )
    words = ["annotate", "web.csv", "--calibration", "phanns-web", "--out", "conf.tsv"]
    assert run_command_line(words) == 0
    printed = capsys.readouterr().err
    assert "confidences are not corrected for the class proportions of this table" in printed
    found = pd.read_csv("conf.tsv", sep="\t").set_index("id")
    assert found.confidence["gp1"] > 0.9 and found.confidence["gp2"] < 0.2
    assert (found.decision["gp3"], str(found.note["gp3"])) == ("accept", "nan")
    assert found.confidence["gp3"] == pytest.approx(0.998925, abs=1e-6)  # as before 10 was seen
