"""The Python functions: what they read, refuse, return and show."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import credence
import refusals
from credence.simulate.world import make_world, render_files
from credence.stages.settings import world_settings

ROOT = Path(__file__).resolve().parents[1]
CLASSES = ["Portal", "Collar"]
SCORES = [[0.9, 0.1]] * 12 + [[0.2, 0.8]] * 12
LABELS = ["Portal"] * 9 + ["Collar"] * 15
FAMILIES = [str(row // 3) for row in range(24)]


@pytest.fixture(scope="module")
def known() -> credence.ScoreTable:
    return credence.read(SCORES, classes=CLASSES, labels=LABELS)


@pytest.fixture(scope="module")
def calibration(known) -> credence.FittedCalibration:
    return credence.fit(known, method="class_only", clusters=FAMILIES)


def refusal(function, *args, **keywords) -> list[str]:
    return refusals.refusal(function, *args, **keywords).split("\n")


def frame(**changes) -> pd.DataFrame:
    columns = {"Portal": [0.9, 0.2], "Collar": [0.1, 0.8], "truth": ["Portal", "Collar"]}
    return pd.DataFrame(columns | changes, index=["p1", "p2"])


# Importing


def test_importing_it_loads_no_library_and_dir_is_the_table_of_contents() -> None:
    code = (
        "import sys, credence; before = set(sys.modules); print(dir(credence)); "
        "print(sorted({name.split('.')[0] for name in before} & "
        "{'numpy', 'scipy', 'pandas', 'sklearn', 'pyarrow', 'matplotlib', 'click'})); "
        "print('matplotlib' in sys.modules or credence.read is None or 'pandas' in vars())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    contents, loaded, _ = done.stdout.splitlines()
    assert contents == str(sorted(credence.__all__))
    assert loaded == "[]"


def test_everything_in_the_table_of_contents_is_documented() -> None:
    for name in credence.__all__:
        if name != "__version__":
            assert inspect.getdoc(getattr(credence, name)), name


def test_a_name_that_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError) as found:
        _ = credence.predict
    assert str(found.value) == "module 'credence' has no attribute 'predict'"


def test_settings_are_keywords_with_the_defaults_of_the_configuration() -> None:
    parameters = inspect.signature(credence.fit).parameters
    assert {
        name: parameters[name].default for name in ("method", "resamples", "level", "sets")
    } == {"method": "auto", "resamples": 200, "level": 0.95, "sets": 0.9}
    assert (
        "\nresamples : int, default 200\n    Bootstrap resamples over clusters"
        in credence.fit.__doc__
    )


# Reading


def test_arrays_and_data_frames_say_the_same(known) -> None:
    table = pd.DataFrame(SCORES, columns=CLASSES).assign(kind=LABELS, family=FAMILIES)
    other = credence.read(table, labels="kind", clusters="family")
    pd.testing.assert_frame_equal(other.to_pandas(), known.to_pandas())
    assert other.clusters.cluster.tolist() == FAMILIES


def test_an_index_names_the_proteins_unless_a_column_does() -> None:
    assert credence.read(frame(), labels="truth").ids.tolist() == ["p1", "p2"]
    named = frame(id=["a", "b"])
    assert credence.read(named, labels="truth").ids.tolist() == ["a", "b"]


def test_a_file_and_its_data_frame_say_the_same(tmp_path) -> None:
    path = tmp_path / "a.csv"
    frame().drop(columns="truth").to_csv(path, index_label="id")
    labels = pd.DataFrame({"id": ["p2", "p1"], "true_class": ["Collar", "Portal"]})
    from_file = credence.read(path, format="wide", scale=1, labels=labels)
    in_memory = credence.read(frame(), labels="truth")
    pd.testing.assert_frame_equal(from_file.to_pandas(), in_memory.to_pandas())


@pytest.mark.parametrize("kind", ["numpy_nullable", "pyarrow"])
def test_columns_in_pieces_say_the_same(known, calibration, kind) -> None:
    plain = frame(id=["p1", "p2"], truth=["Portal", None])
    pieces = plain.convert_dtypes(dtype_backend=kind)
    pieces = pd.concat([pieces[:1], pieces[1:]], ignore_index=True)
    names = {"labels": "truth", "groups": pieces["truth"], "clusters": pieces["id"]}
    found, read = (credence.read(one, **names) for one in (pieces, plain.astype(object)))
    assert found.to_pandas().equals(read.to_pandas())
    assert found.groups.role.tolist() == ["calibration", "set_aside"]
    apart = credence.read(
        plain.drop(columns="truth"),
        labels=pieces[["id", "truth"]].set_axis(["id", "true_class"], axis=1),
    )
    assert apart.to_pandas()["true_class"].tolist() == ["Portal", ""]
    rows = credence.annotate(pieces.drop(columns="truth"), calibration).to_pandas()
    assert rows.equals(credence.annotate(plain.drop(columns="truth"), calibration).to_pandas())


def test_all_problems_of_scores_and_labels_come_at_once() -> None:
    table = pd.DataFrame(
        {
            "id": ["p1", "p2", "p2", "p4"],
            "Portal": [0.9, np.nan, 0.2, 0.55],
            "Collar": [0.1, 0.8, 0.8, 0.5],
            "truth": ["Portal", "Colar", "Collar", None],
        }
    )
    assert refusal(credence.read, table, labels="truth") == [
        "table.iloc[1], column 'truth': 'Colar' is no class (protein 'p2'). "
        "Did you mean 'Collar'?",
        "table.iloc[1], column 'Portal': the score is missing. "
        "Give protein 'p2' a score or remove its row.",
        "table.iloc[2], column 'id': the id 'p2' is in table.iloc[1] already. "
        "Give each protein its own id, or remove one of the rows.",
        "table.iloc[3]: the scores sum to 1.05, not to 1 (give or take 0.01 for the decimals). "
        "Correct the scores or remove the row.",
    ]


def test_all_wrong_shapes_come_at_once() -> None:
    assert refusal(
        credence.read, SCORES, classes=["a"], ids=["p1"], labels=LABELS[1:], clusters=5
    ) == [
        "scores: there are 2 columns for 1 classes. "
        "Give a row for each protein and a column for each class.",
        "ids: its shape is (1,); there are 24 rows. Give one entry for each row.",
        "labels: its shape is (23,); there are 24 rows. Give one entry for each row.",
        "clusters: this is one value, not a column; there are 24 rows. "
        "Give one entry for each row.",
    ]


@pytest.mark.parametrize(
    ("scores", "keywords", "message"),
    [
        (
            [0.1, 0.9],
            {"classes": CLASSES},
            "scores: they have the shape (2,). "
            "Give a row for each protein and a column for each class.",
        ),
        (SCORES, {}, "scores: their classes are not named. Give classes."),
        (
            [[0.55, 0.3], [0.25, 0.6]],
            {"classes": CLASSES},
            "scores[0]: all 2 rows sum to 0.85, not to 1. State the scale that the rows sum to, "
            "or that they sum to nothing in particular (sum_to_scale=False).",
        ),
        (
            [[0.9, 0.1], [-0.5, 1.5]],
            {"classes": CLASSES},
            "scores[1], column 'Portal': the score '-0.5' of protein '1' is negative. "
            "Give scores from 0 to 1.",
        ),
    ],
)
def test_an_array_that_is_no_score_table_is_refused(scores, keywords, message) -> None:
    assert refusal(credence.read, scores, **keywords)[0] == message


def test_a_file_of_no_format_is_refused_with_what_to_write_in_python(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one two\n")
    assert refusal(credence.read, path) == [
        f"{path}: no format fits this table. "
        "Name its columns: format='wide', columns={'id': '…'}, scale=1."
    ]


# Fitting, annotating, judging


def test_intervals_are_there_unless_draws_are_none(known, calibration) -> None:
    found = credence.annotate(known, calibration)
    assert (found["lower"] < found["confidence"]).all()
    without = credence.annotate(known, credence.fit(known, method="class_only", resamples=0))
    assert np.isnan(without["lower"]).all()


def test_relatives_widen_intervals_and_their_absence_is_said(known, calibration) -> None:
    alone = credence.fit(known, method="class_only")
    narrow, wide = (credence.annotate(known, one) for one in (alone, calibration))
    assert wide["upper"][0] - wide["lower"][0] > narrow["upper"][0] - narrow["lower"][0]
    assert "Every protein counts as a family of its own" in repr(alone)
    assert "Relatives are counted by cluster." in repr(calibration)


def test_it_gives_what_the_commands_give(tmp_path, monkeypatch) -> None:
    from credence.app import run_command_line

    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(SCORES, columns=CLASSES).assign(true_class=LABELS)
    table.to_csv("known.tsv", index_label="id", sep="\t")
    pd.DataFrame({"id": range(24), "cluster": FAMILIES}).to_csv("c.tsv", sep="\t", index=False)
    spec = ["--format", "credence", "--spec", '{"scale": 1}']
    fit = ["fit", "known.tsv", *spec, "--clusters", "c.tsv", "--out", "c.json"]
    assert run_command_line(fit) == 0
    words = ["annotate", "known.tsv", *spec, "--calibration", "c.json", "--out", "a.tsv"]
    assert run_command_line(words) == 0
    expected = pd.read_csv("a.tsv", sep="\t", keep_default_na=False, dtype={"id": str})
    known = credence.read("known.tsv", format="credence", scale=1, clusters="c.tsv")
    found = credence.annotate(known, credence.fit(known)).to_pandas()
    assert list(found) == list(expected)
    numbers = ["score", "confidence", "lower", "upper", "support", "set_size"]
    np.testing.assert_allclose(found[numbers], expected[numbers].astype(float), rtol=1e-6)
    assert found["note"].tolist() == expected["note"].tolist()


def test_a_test_group_judges_and_does_not_fit(known) -> None:
    groups = ["test" if row % 3 == 0 else "1" for row in range(24)]
    assert credence.fit(known, groups=groups, method="class_only").file.counts["n"] == 16


def test_a_saved_calibration_is_loaded_alike(known, calibration, tmp_path) -> None:
    path = tmp_path / "c.json"
    credence.save(calibration, path)
    again = credence.annotate(known, credence.load(path))
    pd.testing.assert_frame_equal(
        again.to_pandas(), credence.annotate(known, calibration).to_pandas()
    )


def test_classes_in_another_order_are_put_right_as_they_are_read(calibration) -> None:
    table = pd.DataFrame([[0.1, 0.9]], columns=["Collar", "Portal"])
    assert credence.annotate(table, calibration)["predicted_class"].tolist() == ["Portal"]


def test_a_table_of_other_classes_is_refused(calibration) -> None:
    other = credence.read([[0.9, 0.1]], classes=["Portal", "Tail"])
    assert refusal(credence.annotate, other, calibration) == [
        "scores: its classes are not the calibration's: missing 'Collar'; not known 'Tail'. "
        "Give a table with these classes, in this order: 'Portal', 'Collar'."
    ]


def test_proteins_without_labels_cannot_fit() -> None:
    unlabelled = credence.read(SCORES, classes=CLASSES)
    assert refusal(credence.fit, unlabelled)[0].startswith(
        "scores: the table has no true classes."
    )
    labels = ["", *LABELS[1:]]
    partly = credence.read(SCORES, classes=CLASSES, labels=labels)
    assert refusal(credence.fit, partly) == [
        "scores[0]: '0' has no true class. Give it one, or remove its row."
    ]


def test_settings_out_of_range_are_refused_all_at_once(known) -> None:
    wrong = {"level": 2.0, "resamples": np.int64(-1), "weights": "clusters", "sets": 1.5}
    assert refusal(credence.fit, known, **wrong) == [
        "fit, column 'weights': 'clusters' is not allowed. Did you mean 'cluster'?",
        "fit, column 'level': 2.0 is out of range. Give a number above 0 and below 1.",
        "fit, column 'resamples': -1 is out of range. Give a whole number from 0 to 100000.",
        "fit, column 'sets': 1.5 is out of range. Give a number above 0 and below 1.",
    ]
    with pytest.raises(TypeError, match="unexpected keyword argument 'drows'"):
        credence.fit(known, drows=1)


def test_options_are_called_by_their_names_in_python(known, calibration) -> None:
    assert refusal(credence.fit, known, method="kernal") == [
        "method: 'kernal' is not a method. Did you mean 'kernel'?"
    ]
    assert refusal(credence.shift, known, calibration, estimator="stated") == [
        "stated: no class proportions are given. Give stated '{\"class\": share}'."
    ]
    assert refusal(credence.fit, known, method="macest")[0].startswith("method: 'macest' needs")


def test_methods_are_judged_on_clusters_that_did_not_fit_them(known, calibration) -> None:
    found = credence.evaluate(
        known, [calibration, "uncalibrated"], clusters=FAMILIES, folds=4, resamples=20
    )
    assert found.methods == ("class_only", "uncalibrated")
    assert found.results.n_clusters == 8
    assert refusal(credence.evaluate, known, [calibration, "class_only"]) == [
        "methods: 'class_only' was given already. Give each method once."
    ]
    other = credence.read([[0.9, 0.1]] * 3, classes=["Portal", "Collar"], labels=["Portal"] * 3)
    assert (
        "3 proteins, 3 right, and the calibration was fitted on 24 "
        in refusal(credence.evaluate, other, calibration)[0]
    )


def test_confidences_are_corrected_for_a_stated_composition(known) -> None:
    calibration = credence.fit(known, method="class_only", min_positives=1, resamples=0)
    stated = {"Portal": 0.1, "Collar": 0.9}
    shift = credence.shift(known, calibration, stated=stated, resamples=0)
    found = credence.annotate(known, calibration, shift=shift)
    # Predicted Portal: 9 are Portal, 3 Collar; weights 0.1/0.375 and 0.9/0.625.
    right, wrong = 9 * 0.1 / 0.375, 3 * 0.9 / 0.625
    np.testing.assert_allclose(found["confidence"][0], right / (right + wrong), rtol=1e-5)
    assert found["uncorrected_confidence"][0] == pytest.approx(9 / 12)
    other = credence.fit(known, method="platt", resamples=0)
    assert "it corrects 'class_only'" in refusal(credence.annotate, known, other, shift=shift)[0]
    scarcer = credence.fit(known, method="class_only", min_positives=20, resamples=0)
    assert refusal(credence.annotate, known, scarcer, shift=shift) == [
        "shift: it was made with another calibration than the one given. "
        "Give that one, or run credence shift again with this one."
    ]


def test_sequences_are_clustered_and_relatives_of_training_set_aside(known, tmp_path) -> None:
    rng = np.random.default_rng(0)
    families = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 90)) for _ in range(8)]
    sequences = [families[row // 3] for row in range(24)]
    training = tmp_path / "training.fasta"
    training.write_text(f">t1\n{families[0]}\n")
    groups = credence.split(
        known, proteins=sequences, training=training, groups=3, engine="exact", audit="exhaustive"
    )
    table = groups.to_pandas().set_index("id")
    assert table.loc[["0", "1", "2"], "role"].tolist() == ["set_aside"] * 3
    assert table.loc["0", "reason"] == "relative of training protein 't1' (identity 1.00)"
    assert (
        table.loc[list(map(str, range(3, 24)))].groupby("cluster")["group"].nunique() == 1
    ).all()
    assert credence.fit(known, groups=groups, method="class_only").file.counts["n_clusters"] == 7
    assert refusal(credence.split, known, training=training) == [
        "training: there are no sequences to compare. Give proteins."
    ]


def test_without_sequences_a_split_says_that_nobody_looked(known) -> None:
    found = credence.split(known, clusters=FAMILIES, groups=2)
    sentence = "The split was not audited: whether relatives are in two groups is not known."
    assert sentence in repr(found)


# Showing


@pytest.fixture(scope="module")
def records(known, calibration) -> list:
    return [
        known,
        calibration,
        credence.annotate(known, calibration),
        credence.evaluate(known, calibration, clusters=FAMILIES, folds=4, resamples=20),
        credence.split(known, clusters=FAMILIES, groups=2),
        credence.shift(known, calibration, resamples=20),
    ]


def test_records_print_their_kind_first_and_fit_a_screen(records) -> None:
    for record in records:
        text = repr(record)
        assert text.startswith(f"{type(record).__name__}: ")
        assert len(text.splitlines()) < 30


def test_records_escape_names_in_notebooks() -> None:
    table = credence.read([[0.9, 0.1]], classes=["<b>", "a&b"])
    assert "<th style='text-align:left'>&lt;b&gt;</th>" in table._repr_html_()
    assert "a&amp;b" in table._repr_html_()


def test_records_draw_themselves(records) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    for record in records:
        for axes in np.ravel(record.plot()):
            assert axes.get_visible()
            assert axes.has_data()
            assert axes.get_xlabel() or axes.figure.get_supxlabel()
            assert axes.get_ylabel() or axes.figure.get_supylabel()
        pyplot.close("all")
    figure, axes = pyplot.subplots()
    assert records[0].plot(axes) is axes
    pyplot.close(figure)


def test_the_ten_lines_of_the_readme_run(tmp_path, monkeypatch, capsys) -> None:
    page = (ROOT / "docs" / "tutorial-python.md").read_text()
    lines, *_ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len([line for line in lines.splitlines() if line]) == 10
    # The same relatives without a program, which takes a second for each of its searches.
    quick = lines.replace('training.fasta")', 'training.fasta", engine="exact")')
    assert quick != lines
    settings = {"n_calibration": 150, "n_query": 50, "n_training": 20, "n_trove": 5}
    few = {"n_training_relatives": 2, "n_defects": 1}
    for name, content in render_files(make_world(world_settings(settings | few, "test"))).items():
        path = tmp_path / "demo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    exec(compile(quick, "README.md", "exec"), {})  # noqa: S102 - the lines are our own
    assert capsys.readouterr().out.startswith("EvaluatedMethods: ")
    confidences = pd.read_csv("confidences.csv")
    assert len(confidences) == 50
    assert confidences["lower"].notna().any()
    assert Path("reliability.png").stat().st_size > 0
    assert credence.load("calibration.json").method == "auto"
