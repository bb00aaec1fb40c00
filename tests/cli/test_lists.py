"""Which predictions can be used: `credence list`, `credence thresholds` and q-values."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import credence
from credence.app import run_command_line
from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.protocol import Need
from credence.lists.held_out import CONFIDENCE_STEPS, step_of
from credence.sentences import FOR_WHOM
from credence.stages.lists import ranking_of, with_lists
from credence.stages.settings import Settings
from credence.tables.stage_files import SHIFT_FILES, read_calibration, write_calibration
from refusals import Stated, refused
from small_worlds import SMALL, call_here, write_world

COUNTS = "class,score_above,score_to,right,wrong\n"
RUN = ["--calibration", "k.json", "--out", "conf.tsv"]


WORLD = replace(SMALL, n_calibration=900, n_query=120)  # in which lists hold something


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a world in which most classes have ten families and more."""
    return write_world(tmp_path_factory.mktemp("world"), WORLD)


@pytest.fixture(scope="module")
def calibration(world: Path) -> Path:
    """Return the calibration of that world, which stands in its folder."""
    words = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--method", "kernel"]
    done = call_here(world, *words, "--resamples", "40", "--out", "k.json")
    assert done.returncode == 0, done.stderr
    return world / "k.json"


@pytest.fixture(scope="module")
def annotated(world: Path, calibration: Path) -> Path:
    """Return the folder, in which the query set has its confidences and lists."""
    words = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "--format",
        "phanns",
        *RUN,
        "--lists",
        "lists",
    ]
    done = call_here(world, *words, "--lists-record", "lists.json")
    assert done.returncode == 0, done.stderr
    return world


@pytest.fixture
def confidences(annotated: Path, inside: Path) -> pd.DataFrame:
    """Return the confidences of the query set, which stand in conf.tsv."""
    return pd.read_csv("conf.tsv", sep="\t")


def test_the_list_of_annotate_is_that_of_the_command(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["list", "conf.tsv", "--calibration", "k.json", "--out", "list.tsv"]
    capsys.readouterr()
    assert run_command_line([*words, "--error", "0.1"]) == 0
    shown = capsys.readouterr().err
    assert Path("list.tsv").read_bytes() == Path("lists/list_0.1.tsv").read_bytes()
    listed = pd.read_csv("list.tsv", sep="\t")
    assert list(listed) == [
        *("id", "predicted_class", "confidence", "lower", "upper"),
        *("q_value", "decision", "note"),
    ]
    assert 0 < len(listed) < len(confidences)
    found = json.loads(Path("lists.json").read_text())["lists"]
    (own,) = (
        one for one in found
        if one["class_name"] is None and one["error"] == 0.1 and not one["is_certain"]
        and not one["is_background"]
    )  # fmt: skip
    assert own["n"] == len(listed)
    assert f"Calls: {own['n']:,} predictions with confidence ≥ {own['confidence']:g}" in shown


def test_the_background_list_of_annotate_is_that_of_the_command(
    confidences: pd.DataFrame, capsys: Stated
) -> None:
    words = ["list", "conf.tsv", "--calibration", "k.json", "--out", "list.tsv", "--error", "0.1"]
    capsys.readouterr()
    assert run_command_line([*words, "--of-background"]) == 0
    shown = capsys.readouterr().err
    assert Path("list.tsv").read_bytes() == Path("lists/list_background_0.1.tsv").read_bytes()
    listed = pd.read_csv("list.tsv", sep="\t")
    is_background = (confidences.predicted_class == "Other") & (confidences.q_value <= 0.1)
    assert listed.id.tolist() == confidences[is_background].id.tolist()
    assert len(listed) and set(listed.decision) == {"check"}  # nothing of background is accepted
    assert f"Wrote list.tsv: {len(listed)} of {len(confidences)} predictions.\n" in shown
    assert f"Background: {len(listed)} predictions with confidence ≥ 0." in shown
    assert refused(capsys, *words, "--of-background", "--by-class") == (
        "--of-background: --by-class lists every class already. Leave out one of the two.\n"
    )
    nothing = ["--settings", '{"lists": {"background": []}}']
    assert refused(capsys, *words, "--of-background", *nothing) == (
        "k.json: families unknown: every protein counts as independent, so intervals may be too "
        "narrow.\n"
        "--of-background: no class is background. Name some with --background, or leave it out.\n"
    )


def test_thresholds_of_other_class_proportions_keep_the_guarantee_of_calibration(
    confidences: pd.DataFrame, capsys: Stated
) -> None:
    known = ["thresholds", "demo/calibration.csv", "--format", "phanns-labelled"]
    assert refused(capsys, *known, "--shift", "mix.json", "--out", "t.tsv") == (
        "--shift: it corrects a calibration, and none is given. Give --calibration too, or leave "
        "--shift out.\n"
    )
    known += ["--calibration", "k.json"]
    stated = {"Other": 0.98, "Portal": 0.02}
    words = ["shift", "demo/my_phages.csv", "--format", "phanns", "--calibration", "k.json"]
    words += ["--resamples", "20", "--estimator", "stated", "--stated", json.dumps(stated)]
    assert run_command_line([*words, "--record", "mix.json", "--out", "mix.tsv"]) == 0
    tables = []
    for further in ([], ["--shift", "mix.json"]):
        assert run_command_line([*known, *further, "--out", "t.tsv"]) == 0
        tables.append(pd.read_csv("t.tsv", sep="\t"))
    plain, moved = tables
    keys = ["class", "on", "precision"]
    assert plain[keys].equals(moved[keys])
    guaranteed = ["guaranteed_threshold", "guaranteed_accepted", "families_missing"]
    of_score = plain["on"] == "score"
    assert plain[of_score][guaranteed].equals(moved[of_score][guaranteed])
    no_guarantee = moved[~of_score][guaranteed[:2]]  # confidences are other ones there
    assert no_guarantee.isna().all().all()
    # Where nearly all are background, what is called portal is wrong more often: it takes more.
    (before,), (after,) = (
        table[
            (table["class"] == "Portal") & (table["on"] == "score") & (table.precision == 0.9)
        ].threshold
        for table in tables
    )
    assert np.isnan(after) or after > before


def test_a_list_is_all_that_have_a_q_value_within_its_error(confidences: pd.DataFrame) -> None:
    for error in ("0.05", "0.1"):
        listed = pd.read_csv(f"lists/list_{error}.tsv", sep="\t")
        is_call = confidences.predicted_class != "Other"
        within = confidences[(confidences.q_value <= float(error)) & is_call]
        assert len(within)
        assert listed.id.tolist() == within.id.tolist()
        background = pd.read_csv(f"lists/list_background_{error}.tsv", sep="\t")
        assert set(background.predicted_class) <= {"Other"}
    known = confidences.dropna(subset=["q_value"])
    assert (known.confidence >= 0.5).all()
    for name, part in known.groupby("predicted_class"):
        assert part.sort_values("confidence").q_value.is_monotonic_decreasing, name
    assert set(confidences[confidences.q_value.isna()].decision) <= {"check", "insufficient data"}


def test_a_table_of_six_decimals_gives_the_list_of_the_whole_numbers(
    confidences: pd.DataFrame,
) -> None:
    words = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "--format",
        "phanns",
        "--calibration",
        "k.json",
    ]
    words += ["--six-decimals", "--out", "six.tsv", "--also", "six.parquet", "--lists", "six"]
    assert run_command_line(words) == 0
    six, whole = pd.read_csv("six.tsv", sep="\t"), pd.read_parquet("six.parquet")
    assert list(six) == list(whole) == list(confidences)
    for name in ("confidence", "lower", "q_value"):
        assert whole[name].tolist() == pytest.approx(confidences[name].tolist(), nan_ok=True)
        assert (six[name] != whole[name]).any()
        assert six[name].tolist() == pytest.approx(whole[name].tolist(), abs=1e-6, nan_ok=True)
        text = pd.read_csv("six.tsv", sep="\t", dtype=str)[name].dropna()
        assert text.str.fullmatch(r"[01](\.\d{1,6})?").all()
    known = six.dropna(subset=["confidence"])
    assert (known.lower <= known.confidence).all() and (known.confidence <= known.upper).all()
    assert (six.decision == whole.decision).all() and (six.score == whole.score).all()
    for ending in ("tsv", "parquet"):
        words = ["list", f"six.{ending}", "--calibration", "k.json", "--error", "0.1"]
        assert run_command_line([*words, "--out", f"{ending}.tsv"]) == 0
    one, other = (pd.read_csv(f"{ending}.tsv", sep="\t") for ending in ("tsv", "parquet"))
    assert len(one) and one.id.tolist() == other.id.tolist()
    assert one.q_value.tolist() == other.q_value.tolist()
    is_call = six.predicted_class != "Other"
    assert one.id.tolist() == six[(six.q_value <= 0.1) & is_call].id.tolist()
    assert pd.read_csv("six/list_0.1.tsv", sep="\t").confidence.tolist() == one.confidence.tolist()


def test_a_certain_list_is_no_longer_and_classes_have_their_own(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["list", "conf.tsv", "--calibration", "k.json", "--error", "0.1", "--out"]
    assert run_command_line([*words, "all.tsv"]) == 0
    assert run_command_line([*words, "sure.tsv", "--certain"]) == 0
    assert run_command_line([*words, "classes.tsv", "--by-class"]) == 0
    every, sure, classes = (
        pd.read_csv(f"{name}.tsv", sep="\t") for name in ("all", "sure", "classes")
    )
    assert set(sure.id) < set(every.id)  # shorter here
    assert classes.q_value.max() <= 0.1
    shown = capsys.readouterr().err
    assert "not of all lists together" in shown
    assert "no list" in shown  # of a class that is mostly wrong


def test_rows_in_pieces_give_the_same_list(
    confidences: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    from credence.tables import contract, writing

    monkeypatch.setattr(contract, "CSV_BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(writing, "GROUP_ROWS", 7)
    words = ["list", "conf.tsv", "--calibration", "k.json", "--error", "0.1", "--out", "l.tsv"]
    assert run_command_line(words) == 0
    assert Path("l.tsv").read_bytes() == Path("lists/list_0.1.tsv").read_bytes()


def test_known_relatives_in_the_list_widen_its_interval(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.DataFrame({"id": confidences.id, "cluster": "one"}).to_csv("c.tsv", sep="\t", index=False)
    words = ["list", "conf.tsv", "--calibration", "k.json", "--error", "0.1", "--out", "l.tsv"]
    widths = []
    for further in ([], ["--clusters", "c.tsv"]):
        capsys.readouterr()
        assert run_command_line([*words, *further]) == 0
        low, high = (
            capsys.readouterr()
            .err.split("interval ")[1]
            .split(")")[0]
            .replace(",", "")
            .split(" to ")
        )
        widths.append(float(high) - float(low))
    assert widths[1] > widths[0]


def test_a_calibration_that_keeps_nothing_held_out_is_refused_with_its_remedy(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:

    old = replace(read_calibration(Path("k.json")), held_out=None, sample=None)
    write_calibration(Path("old.json"), old)
    capsys.readouterr()
    words = ["list", "conf.tsv", "--calibration", "old.json", "--error", "0.1", "--out", "no.tsv"]
    assert refused(capsys, *words) == (
        "old.json: it has no held-out confidences, on which lists rest. Fit it again "
        "with credence fit.\n"
    )
    assert not Path("no.tsv").exists()
    words = ["annotate", "demo/my_phages.csv", "--format", "phanns", "--calibration", "old.json"]
    assert run_command_line([*words, "--out", "old.tsv"]) == 0
    assert "q_value" not in Path("old.tsv").read_text().splitlines()[0]


def test_a_table_of_another_calibration_is_refused(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    confidences.assign(predicted_class="Nothing known").to_csv("odd.tsv", sep="\t", index=False)
    capsys.readouterr()
    words = ["list", "odd.tsv", "--calibration", "k.json", "--error", "0.1", "--out", "l.tsv"]
    assert "odd.tsv, column 'predicted_class': 'Nothing known'" in refused(capsys, *words)


def test_thresholds_are_what_a_loop_over_scores_finds(inside: Path, calibration: Path) -> None:
    words = [
        "thresholds",
        "demo/calibration.csv",
        "--format",
        "phanns-labelled",
        "--resamples",
        "20",
    ]
    words += ["--precision", "0.8", "--precision", "0.9", "--calibration", "k.json"]
    assert run_command_line([*words, "--out", "t.tsv"]) == 0
    found = pd.read_csv("t.tsv", sep="\t")
    assert set(found.on) == {"score", "confidence"}
    read = credence.read("demo/calibration.csv", format="phanns-labelled")
    names, predictions = np.array(read.class_names), read.predictions
    top, predicted = predictions.top_score, names[predictions.predicted_class]
    right = predicted == names[read.samples.true_class]
    rows = found[(found.on == "score") & (found["class"] != "all")].dropna(subset=["threshold"])
    assert len(rows) >= 3
    for row in rows.itertuples():
        own = predicted == row[1]
        kept = own & (top >= row.threshold - 1e-9)
        assert row.measured_precision == pytest.approx(right[kept].mean())
        assert row.accepted == pytest.approx(kept.sum() / own.sum())
        # Each protein is a family of its own here: one wrong one is added.
        assert ((~right[kept]).sum() + 1) / (kept.sum() + 1) <= 1 - row.precision + 1e-9


def test_a_class_that_is_never_predicted_has_rows_without_a_threshold(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv("demo/calibration.csv", index_col=0)
    other = (table["Other"] + table["Portal"]).round(2)
    table.assign(Portal=0.0, Other=other).rename_axis("").to_csv("never.csv")
    words = ["thresholds", "never.csv", "--format", "phanns-labelled", "--resamples", "0"]
    capsys.readouterr()
    assert run_command_line([*words, "--precision", "0.9", "--out", "t.tsv"]) == 0
    shown = capsys.readouterr().err
    found = pd.read_csv("t.tsv", sep="\t").set_index("class")
    never = found.index[found["predictions"] == 0].tolist()
    assert "Portal" in never
    assert f"t.tsv: no threshold for what is never predicted: {', '.join(never)}.\n" in shown
    row = found.loc["Portal"]
    assert row["note"] == "never predicted in calibration, so none can be accepted"
    assert (row["predictions"], row["families_missing"]) == (0, 49)


SEE_THE_SCORE = (  # all but the one that states the same whatever it learnt from
    *(name for name, one in BY_NAME.items() if one.needs is Need.TOP_SCORE and one.is_learnt),
    *("class_only", "auto(sees=score)", "histogram(bins=count)", "kernel->isotonic"),
)


@pytest.fixture(scope="module")
def halves(world: Path) -> Path:
    """Return the folder with two sets of proteins that calibrate, a.csv and b.csv."""
    header, *rows = (world / "demo" / "calibration.csv").read_text().splitlines()
    for name, own in (("a", rows[0:1600:2]), ("b", rows[1:1600:2])):
        (world / f"{name}.csv").write_text("\n".join([header, *own]) + "\n")
    return world


def fit_halves(method: str) -> None:
    for name in "ab":
        words = ["fit", f"{name}.csv", "--format", "phanns-labelled", "--method", method]
        assert (
            run_command_line(
                [*words, "--resamples", "0", "--sets", "none", "--out", f"{name}.json"]
            )
            == 0
        )


@pytest.mark.parametrize("method", SEE_THE_SCORE)
def test_a_table_of_another_calibration_of_the_method_is_refused_and_its_own_never(
    halves: Path, inside: Path, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fit_halves(method)
    words = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "--format",
        "phanns",
        "--calibration",
        "a.json",
    ]
    tables = {"o.tsv": [], "o.parquet": [], "o.tsv.gz": ["--six-decimals", "--spreadsheet-safe"]}
    for table, further in tables.items():
        assert run_command_line([*words, *further, "--out", table]) == 0
        listed = ["list", table, "--error", "0.2", "--out", "l.tsv", "--calibration"]
        assert run_command_line([*listed, "a.json"]) == 0
        capsys.readouterr()
        assert run_command_line([*listed, "b.json"]) == 2
        line = r"" if table == "o.parquet" else r", line \d+"
        assert re.match(
            rf"{table}{line}, column 'confidence': 0\.\d+ is the confidence of "
            r"'simulated_phage_\d+', and b\.json gives [01][.\d]*( to [01][.\d]*)?\. "
            r"Give the calibration that the table was annotated with\.\n",
            capsys.readouterr().err,
        )
    assert run_command_line(["plan", "o.tsv", "--calibration", "b.json", "--out", "p.tsv"]) == 2


def test_the_first_row_that_a_calibration_does_not_give_is_named_with_both_values(
    halves: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("c.csv").write_text(f"{COUNTS}Portal,0,10,3,1\nCollar,0,10,1,1\n")
    Path("d.csv").write_text(f"{COUNTS}Portal,0,10,3,1\nCollar,0,10,4,1\n")
    for name in "cd":
        words = ["fit", f"{name}.csv", "--format", "counts", "--method", "class_only"]
        words += ["--min-positives", "1"]
        assert run_command_line([*words, "--resamples", "0", "--out", f"{name}.json"]) == 0
    Path("tops.csv").write_text(
        "id,predicted_class,score\np1,Portal,9\np2,Collar,8\np3,Collar,9\n"
    )
    words = [
        "annotate",
        "--shift",
        "none",
        "tops.csv",
        "--format",
        "top-score",
        "--calibration",
        "c.json",
    ]
    assert run_command_line([*words, "--out", "o.tsv"]) == 0
    capsys.readouterr()
    words = ["list", "o.tsv", "--calibration", "d.json", "--error", "0.5", "--out", "l.tsv"]
    assert run_command_line(words) == 2
    assert capsys.readouterr().err.splitlines()[0] == (
        "o.tsv, line 3, column 'confidence': 0.5 is the confidence of 'p2', and d.json gives 0.8. "
        "Give the calibration that the table was annotated with."
    )


def test_confidences_that_other_things_moved_are_compared_before_that_or_not_at_all(
    halves: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit_halves("histogram")
    words = [
        "annotate",
        "--shift",
        "none",
        "demo/my_phages.csv",
        "--format",
        "phanns",
        "--calibration",
        "a.json",
    ]
    assert run_command_line([*words, "--out", "o.tsv"]) == 0
    listed = ["--error", "0.2", "--out", "l.tsv", "--calibration"]
    # How far a protein is from those known changes no confidence, so that those are compared too.
    found = pd.read_csv("o.tsv", sep="\t").assign(novelty_p=0.5)
    found.to_csv("novel.tsv", sep="\t", index=False)
    assert run_command_line(["list", "novel.tsv", *listed, "a.json"]) == 0
    found[["confidence", "lower"]] *= 0.5
    found.to_csv("moved.tsv", sep="\t", index=False)
    assert run_command_line(["list", "moved.tsv", *listed, "a.json"]) == 2
    assert "moved.tsv, line 2, column 'confidence': " in capsys.readouterr().err


def test_corrected_confidences_are_asked_for_where_they_are_and_refused_where_not(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["shift", "demo/my_phages.csv", "--format", "phanns", "--calibration", "k.json"]
    words += ["--resamples", "20"]
    assert run_command_line([*words, "--record", "s.json", "--out", "mix.tsv"]) == 0
    words = ["annotate", "demo/my_phages.csv", "--format", "phanns", "--calibration", "k.json"]
    assert run_command_line([*words, "--shift", "s.json", "--out", "both.tsv"]) == 0
    capsys.readouterr()
    words = ["--calibration", "k.json", "--error", "0.2", "--out", "l.tsv"]
    assert run_command_line(["list", "conf.tsv", "--shift", "s.json", *words]) == 2
    assert capsys.readouterr().err == (
        "conf.tsv: its confidences are not corrected for its class proportions: no column "
        "'uncorrected_confidence'. Annotate it with --shift, or leave --shift out.\n"
        "Fix this and run the command again.\n"
    )
    for command in (["list", *words], ["plan", "--calibration", "k.json", "--out", "p.tsv"]):
        assert run_command_line([command[0], "both.tsv", *command[1:]]) == 2
        assert capsys.readouterr().err == (
            "both.tsv: its confidences are corrected for its class proportions: column "
            "'uncorrected_confidence'. Give --shift, what it was annotated with, or annotate it "
            "without.\nFix this and run the command again.\n"
        )
    assert run_command_line(["list", "both.tsv", "--shift", "s.json", *words]) == 0
    assert "predictions with confidence ≥ 0." in capsys.readouterr().err
    listed, both = pd.read_csv("l.tsv", sep="\t"), pd.read_csv("both.tsv", sep="\t")
    within = both[(both.q_value <= 0.2) & (both.predicted_class != "Other")]
    assert listed.id.tolist() == within.id.tolist()
    assert listed.confidence.tolist() == within.confidence.tolist()
    words = ["plan", "both.tsv", "--shift", "s.json", "--calibration", "k.json", "--out", "p.tsv"]
    assert run_command_line(words) == 0
    corrected = both.set_index("id").confidence
    plan = pd.read_csv("p.tsv", sep="\t")
    assert plan.confidence.tolist() == pytest.approx(corrected[plan.id].tolist(), abs=1e-6)


def listable_counts(table: pd.DataFrame, class_names: tuple[str, ...]) -> np.ndarray:
    """Return how many rows of a table may be on a list, by class and step, one row at a time."""
    counts = np.zeros((len(class_names), len(CONFIDENCE_STEPS)), dtype=np.int64)
    for row in table[table.decision != "insufficient data"].itertuples():
        counts[class_names.index(row.predicted_class), int(step_of(np.array(row.confidence)))] += 1
    return counts


def test_q_values_are_those_of_the_proteins_held_out_that_the_correction_weighs(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["shift", "demo/my_phages.csv", "--format", "phanns", "--calibration", "k.json"]
    words += ["--resamples", "20"]
    assert run_command_line([*words, "--record", "q.json", "--out", "mix.tsv"]) == 0
    words = ["annotate", "demo/my_phages.csv", "--format", "phanns", "--calibration", "k.json"]
    words += ["--shift", "q.json", "--lists-record", "corrected.json", "--out", "corrected.tsv"]
    assert run_command_line(words) == 0
    file, shift = read_calibration(Path("k.json")), SHIFT_FILES.read(Path("q.json"))
    assert file.held_out is not None and shift.held_out is not None
    assert (file.held_out.weight != shift.held_out.weight).any()
    corrected = pd.read_csv("corrected.tsv", sep="\t")
    for table, known, record, name in (
        (confidences, None, "lists.json", "conf"),
        (corrected, shift, "corrected.json", "corrected"),
    ):
        ranking = ranking_of(file, known, Settings())
        assert ranking is not None
        held_out = file.held_out if known is None else known.held_out
        assert ranking.rules.held_out is held_out
        counts = listable_counts(table, file.class_names)
        grouped = ranking.rules.calls_and_background(counts)
        class_ = np.array(
            [[*file.class_names, ""].index(one) for one in table.predicted_class.fillna("")]
        )
        class_[class_ == len(file.class_names)] = -1
        step = step_of(table.confidence.to_numpy())
        may = (table.decision != "insufficient data").to_numpy()
        expected = np.where(may, grouped.q_value(class_, step), np.nan)
        np.testing.assert_allclose(table.q_value, expected, rtol=1e-12)
        found = json.loads(Path(record).read_text())
        assert found["is_adjusted"] == (known is not None)
        # The same from Python.
        plain = table.drop(columns="q_value").fillna({"note": "", "predicted_class": ""})
        columns = {key: values.to_numpy() for key, values in plain.items()}
        again, lists = with_lists(columns, file, known, name)
        np.testing.assert_allclose(again["q_value"], expected, rtol=1e-12)
        assert [*again] == [*table]
        assert lists is not None and lists.is_adjusted == (known is not None)
        capsys.readouterr()
        words = [
            "list",
            f"{name}.tsv",
            "--calibration",
            "k.json",
            "--error",
            "0.3",
            "--out",
            "l.tsv",
        ]
        assert run_command_line([*words, *(["--shift", "q.json"] if known else [])]) == 0
        shown = capsys.readouterr().err
        (whom,) = (text for text in FOR_WHOM if text in shown)
        assert ("at the class proportions that they are corrected for" in whom) == (
            known is not None
        )


def test_a_table_without_decisions_or_with_another_one_is_refused(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["list", "other.tsv", "--calibration", "k.json", "--error", "0.1", "--out", "l.tsv"]
    confidences.drop(columns="decision").to_csv("other.tsv", sep="\t", index=False)
    capsys.readouterr()
    assert run_command_line(words) == 2
    assert "other.tsv, line 1, column 'decision'" in capsys.readouterr().err
    confidences.assign(decision="maybe").to_csv("other.tsv", sep="\t", index=False)
    assert run_command_line(words) == 2
    assert "line 2, column 'decision': 'maybe' is not allowed." in capsys.readouterr().err


def test_confidences_of_another_method_are_refused(
    confidences: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    confidences.assign(method="isotonic").to_csv("other.tsv", sep="\t", index=False)
    capsys.readouterr()
    words = ["list", "other.tsv", "--calibration", "k.json", "--error", "0.1", "--out", "l.tsv"]
    assert run_command_line(words) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(
        "other.tsv, column 'method': its confidences are of 'isotonic', not of"
    )
    assert "Give the calibration that the table was annotated with." in shown


DEFECTS = {
    "id": (
        lambda rows: [*rows, rows[1]],
        "odd.tsv, line 122, column 'id': {id!r} stands in line 2 already. "
        "Remove one of the two rows.\n",
    ),
    "column": (
        lambda rows: [[*row, row[2]] for row in rows],
        "odd.tsv, line 1, column 'confidence': the column stands there twice. "
        "Remove one of the two.\n",
    ),
    "nan": (
        lambda rows: [rows[0], [*rows[1][:2], "nan", *rows[1][3:]], *rows[2:]],
        "odd.tsv, line 2, column 'confidence': 'nan' is not a number. "
        "Give a number from 0 to 1 or nothing.\n",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize(
    "command",
    [
        "list --error 0.1 --out x.tsv",
        "plan --number 3 --out x.tsv",
        "genomes --genomes genome_of.tsv --out x.tsv",
        "watch --date 2026-11-21 --log x.tsv",
    ],
)
def test_a_table_that_repeats_something_or_has_a_typed_nan_is_refused(
    confidences: pd.DataFrame, capsys: Stated, command: str, defect: str
) -> None:
    rows = [line.split("\t") for line in Path("conf.tsv").read_text().splitlines()]
    change, message = DEFECTS[defect]
    Path("odd.tsv").write_text("\n".join("\t".join(row) for row in change(rows)) + "\n")
    confidences[["id"]].assign(genome="g").to_csv("genome_of.tsv", sep="\t", index=False)
    name, *words = command.split()
    shown = refused(capsys, name, "odd.tsv", "--calibration", "k.json", *words)
    assert shown == message.format(id=rows[1][0])
    assert not Path("x.tsv").exists()


def test_ids_that_look_like_formulas_are_guarded_once(inside: Path, calibration: Path) -> None:
    text = Path("demo/my_phages.csv").read_text()
    Path("formulas.csv").write_text(text.replace("simulated_phage", "=simulated_phage"))
    words = [
        "annotate",
        "--shift",
        "none",
        "formulas.csv",
        "--format",
        "phanns",
        "--calibration",
        "k.json",
    ]
    words += ["--spreadsheet-safe", "--error", "0.9", "--lists", "guarded", "--out", "g.tsv"]
    assert run_command_line(words) == 0
    listed = pd.read_csv("guarded/list_0.9.tsv", sep="\t").id
    assert len(listed)
    assert set(listed) <= set(pd.read_csv("g.tsv", sep="\t").id)
    assert listed.str.startswith("'=simulated_phage").all()
