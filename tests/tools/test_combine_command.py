"""The command `combine`, and `annotate` with the tables of several tools."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import credence
from credence.app import run_command_line
from credence.stages.tools import _in_order
from credence.tables.samples import Samples
from refusals import refused
from tool_worlds import CLASSES, answers_of, truths

N, N_USE = 300, 60


def table(ids, predictions, true=None) -> pd.DataFrame:
    scores = dict(zip(predictions.class_names, predictions.scores.T.round(6), strict=True))
    labels = {} if true is None else {"true_class": np.array(CLASSES, dtype=object)[true]}
    return pd.DataFrame({"id": ids, **labels, **scores})


def write_tables(folder: Path) -> None:
    """Write labelled and unlabelled tables of two tools, and clusters."""
    for name, n, seed in (("set", N, 1), ("use", N_USE, 2)):
        ids, true, cluster = truths(n, seed)
        ids = np.array([f"{name}{one}" for one in ids], dtype=object)
        first, second = (
            answers_of(ids, true, strength, 10 * seed + number).predictions
            for number, strength in enumerate((2.0, 2.0))
        )
        table(ids, first, true if name == "set" else None).to_csv(
            folder / f"{name}.tsv", sep="\t", index=False
        )
        best = pd.DataFrame(
            {
                "protein": ids,
                "answer": np.array(["gate", "tube", "neck", "other"])[second.predicted_class],
                "sure": second.top_score.round(6),
            }
        )
        best[n // 10 :].to_csv(folder / f"{name}_second.csv", index=False)
        pd.DataFrame({"id": ids, "cluster": cluster}).to_csv(
            folder / f"{name}_clusters.tsv", sep="\t", index=False
        )


SECOND = {
    "name": "second",
    "scores": ["set_second.csv"],
    "spec": {
        "format": "top-score",
        "scale": 1,
        "columns": {"id": "protein", "predicted_class": "answer", "score": "sure"},
    },
    "classes": {"gate": "Portal", "tube": "Tail", "neck": "Collar", "other": "Other"},
}
MAIN = '{"format": "wide", "scale": 1, "columns": {"id": "id", "true_class": "true_class"}}'
USE = '{"format": "wide", "scale": 1, "columns": {"id": "id"}}'


def run(*words: str) -> None:
    assert run_command_line(list(words)) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a calibration of two tools."""
    folder = tmp_path_factory.mktemp("tools")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_tables(folder)
        run(
            "combine", "set.tsv", "--spec", MAIN, "--clusters", "set_clusters.tsv",
            "--tools", json.dumps([SECOND]), "--record", "tools.json", "--out", "both.parquet",
        )  # fmt: skip
        run(
            "fit", "both.parquet", "--format", "credence", "--clusters", "set_clusters.tsv",
            "--tools", "tools.json", "--method", "beta", "--out", "c.json",
        )  # fmt: skip
    return folder


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def annotated(*words: str) -> pd.DataFrame:
    run(
        "annotate",
        "--shift",
        "none",
        "use.tsv",
        "--spec",
        USE,
        "--calibration",
        "c.json",
        "--out",
        "o.tsv",
        *words,
    )
    return pd.read_csv("o.tsv", sep="\t", keep_default_na=False).set_index("id")


def test_annotate_takes_the_tables_of_all_tools(capsys: pytest.CaptureFixture[str]) -> None:
    both = annotated("--tool", "second=use_second.csv")
    assert "use_second.csv: 6 of 60 proteins are not in it." in capsys.readouterr().err
    assert list(both.columns[-5:]) == [
        "tools_agree", "tool_main", "confidence_main", "tool_second",
        "confidence_second",
    ]  # fmt: skip
    main = pd.read_csv("use.tsv", sep="\t").set_index("id")
    assert (both["tool_main"] == main.idxmax(axis=1)).all()
    given = pd.read_csv("use_second.csv").set_index("protein")
    mapped = given["answer"].map(SECOND["classes"])
    assert (both.loc[mapped.index, "tool_second"] == mapped).all()
    without = both.drop(mapped.index)
    assert set(without["tool_second"]) == set(without["confidence_second"]) == {""}
    assert set(without["tools_agree"]) <= {"1 of 1", "0 of 1"}
    agree = both.loc[mapped.index]
    is_same = (agree["tool_main"] == agree["tool_second"]) & (
        agree["tool_main"] == agree["predicted_class"]
    )
    assert (is_same == (agree["tools_agree"] == "2 of 2")).all()
    assert both["confidence"].astype(float).between(0, 1).all()
    is_listed = both["q_value"] != ""  # no list reaches below a half
    assert is_listed.any() and (both.loc[is_listed, "confidence"].astype(float) >= 0.5).all()


def test_a_protein_that_the_first_tool_does_not_score_is_of_no_genome_known() -> None:
    scored = answers_of(np.array(["a", "c"], dtype=object), np.array([0, 1]), 1.0, 1).predictions
    unscored = np.array(["b"], dtype=object), np.array([2])
    genome = np.array(["g", "h"], dtype=object)
    samples = Samples(
        predictions=scored,
        true_class=None,
        lines=np.array([1, 3]),
        unscored_ids=unscored[0],
        unscored_lines=unscored[1],
        genome=genome,
    )
    assert _in_order(samples).tolist() == ["a", "b", "c"]
    assert _in_order(samples, genome).tolist() == ["g", "", "h"]


def test_a_tool_may_be_missing_altogether() -> None:
    one, both = annotated(), annotated("--tool", "second=use_second.csv")
    assert len(one) == N_USE
    assert set(one["tool_second"]) == {""}
    assert set(one["tools_agree"]) <= {"1 of 1", "0 of 1"}
    assert one["confidence"].astype(float).mean() < both["confidence"].astype(float).mean()


def test_the_first_tool_may_be_missing_altogether(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["annotate", "--tool", "second=use_second.csv", "--out", "o.tsv"]
    run(*words, "--calibration", "c.json")
    found = pd.read_csv("o.tsv", sep="\t", keep_default_na=False).set_index("id")
    given = pd.read_csv("use_second.csv").set_index("protein")
    assert list(found.index) == list(given.index)
    assert set(found["tools_agree"]) <= {"1 of 1", "0 of 1"}
    assert (found["tool_second"] == given["answer"].map(SECOND["classes"])).all()
    true = pd.Series(np.array(CLASSES, dtype=object)[truths(N_USE, 2)[1]][N_USE // 10 :])
    right = (found["predicted_class"].to_numpy() == true.to_numpy()).mean()
    assert found["confidence"].astype(float).mean() == pytest.approx(right, abs=0.15)
    for wrong in (["--calibration", "c.json", "--out", "o.tsv"], [*words[1:-1], "folder"]):
        assert run_command_line(["annotate", *wrong]) == 2
        assert "Missing argument 'TABLE...'" in capsys.readouterr().err


def test_the_combined_table_is_annotated_alike() -> None:
    both = annotated("--tool", "second=use_second.csv")
    run(
        "combine", "use.tsv", "--spec", USE, "--calibration", "c.json", "--tool",
        "second=use_second.csv", "--answers", "answers.parquet", "--out", "use.parquet",
    )  # fmt: skip
    run(
        "annotate", "use.parquet", "--format", "credence", "--calibration", "c.json",
        "--shift", "none",
        "--answers", "answers.parquet", "--out", "p.tsv",
    )  # fmt: skip
    again = pd.read_csv("p.tsv", sep="\t", keep_default_na=False).set_index("id")
    pd.testing.assert_frame_equal(again, both)


def test_answers_of_another_table_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run(
        "combine", "use.tsv", "--spec", USE, "--calibration", "c.json", "--tool",
        "second=use_second.csv", "--answers", "answers.parquet", "--out", "use.parquet",
    )  # fmt: skip
    pd.read_parquet("answers.parquet").iloc[1:].to_parquet("fewer.parquet")
    first = pd.read_parquet("answers.parquet")["id"].iloc[0]
    words = ["annotate", "use.parquet", "--format", "credence", "--calibration", "c.json"]
    words += ["--shift", "none"]
    words += ["--out", "p.tsv", "--answers"]
    assert f"--answers: there is no row for {first!r} of TABLE. Add it." in refused(
        capsys, *words, "fewer.parquet"
    )
    assert "these are no answers of several tools" in refused(capsys, *words, "use.tsv")


def test_both_tools_are_better_than_each() -> None:
    run(
        "evaluate", "both.parquet", "--format", "credence", "--clusters", "set_clusters.tsv",
        "--calibration", "c.json", "--out", "found.json", "--resamples", "0", "--folds", "2",
    )  # fmt: skip
    found = json.loads(Path("found.json").read_text())["tools"]
    assert found["above_best"] < 0
    assert [tool["name"] for tool in found["tools"]] == ["main", "second"]


def combined_with(**changes: object) -> tuple[str, ...]:
    tools = json.dumps([{**SECOND, **changes}])
    return "combine", "set.tsv", "--spec", MAIN, "--tools", tools, "--out", "x.parquet"


def test_classes_that_nobody_knows_are_refused_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    classes = {"gate": "Portl", "tube": "Tail", "neck": None}
    assert refused(capsys, *combined_with(classes=classes)) == (
        "set_second.csv, column 'classes.gate': 'Portl', to which the tool 'second' maps 'gate', "
        "is no class. Did you mean 'Portal'?\n"
        "set_second.csv: nothing says which class 'other' of the tool 'second' is. Write "
        'classes: {"other": one of Portal, Tail, Collar, Other, or null}.\n'
    )


LIKE = 'Write [{"name": "…", "scores": ["TABLE"], "spec": {}, "classes": {}}].\n'


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([SECOND, {**SECOND, "name": "main"}], "'main' is taken: 'main' is the tool of TABLE."),
        ([SECOND, SECOND], "'second' is taken: 'main' is the tool of TABLE."),
    ],
)
def test_a_tool_of_a_name_that_is_taken_is_refused(
    capsys: pytest.CaptureFixture[str], tools: object, message: str
) -> None:
    words = "combine", "set.tsv", "--spec", MAIN, "--out", "x.parquet", "--tools"
    text = refused(capsys, *words, json.dumps(tools))
    assert text == f"--tools: {message} Give it another name.\n"


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("[]", ": there is no further tool."),
        (
            '[{"name": "second", "scores": [], "spec": {}, "classes": {}}]',
            ", column 'scores': the tool 'second' has no table.",
        ),
        (
            '[{"name": "a", "name": "b"}]',
            """: '[{"name": "a", "name": "b"}]' cannot be read: the key 'name' stands twice.""",
        ),
        ('[{"name":"second"', """: '[{"name":"second"' is not JSON."""),
        ("null", ": null is no value for it."),
        (
            '[{"name": "x", "scores": ["t.tsv"], "spec": {}}]',
            ", column '[0].classes': it is missing.",
        ),
    ],
)
def test_tools_that_are_none_or_not_whole_are_refused(
    capsys: pytest.CaptureFixture[str], tools: str, message: str
) -> None:
    words = "combine", "set.tsv", "--spec", MAIN, "--out", "x.parquet", "--tools"
    assert refused(capsys, *words, tools) == f"--tools{message} {LIKE}"


def test_a_tool_of_other_proteins_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, *combined_with(scores=["use_second.csv"])) == (
        "use_second.csv: none of its 54 proteins is in the calibration set, where ids are like "
        "'setp0' and here like 'usep6'. Give the scores of the same proteins, or leave the tool "
        "'second' out.\n"
    )


def test_a_tool_whose_classes_are_all_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    classes = dict.fromkeys(SECOND["classes"])
    assert "no class of the tool 'second' is mapped to one of the run" in refused(
        capsys, *combined_with(classes=classes)
    )


def test_a_tool_that_the_calibration_does_not_know_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "annotate", "use.tsv", "--spec", USE, "--calibration", "c.json", "--out", "o.tsv"
    text = refused(capsys, *words, "--tool", "secnd=use_second.csv", "--tool", "second")
    assert text == (
        "--tool: 'secnd' is no tool of c.json. Did you mean 'second'?\n"
        "--tool: 'second' names no table. Write name=table.\n"
    )


PAGE = Path(__file__).resolve().parents[2] / "docs" / "tools.md"


def test_the_configuration_and_the_command_of_the_page_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {
        "set.tsv": "calibration.tsv", "set_second.csv": "second.csv", "use.tsv": "new.tsv",
        "use_second.csv": "new_second.csv", "set_clusters.tsv": "clusters.tsv",
    }  # fmt: skip
    for old, new in names.items():
        Path(new).write_bytes(Path(old).read_bytes())
    text = PAGE.read_text(encoding="utf-8")
    Path("config.yaml").write_text(text.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    run("check", "config.yaml")
    assert capsys.readouterr().out.splitlines() == [
        "calibration_set: 300 proteins, 4 classes (Portal; Tail; Collar; Other), scale 1, "
        "300 labelled",
        "tool second: 270 proteins; gate is Portal; tube is Tail; neck is Collar; other is none.",
        "new: 60 proteins, 4 classes (Portal; Tail; Collar; Other), scale 1, no labels",
        "config.yaml: no problems.",
    ]
    (command,) = (block for block in text.split("\n\n") if "    credence annotate" in block)
    words = shlex.split(command.replace("\\\n", " "))
    words[words.index("--calibration") + 1] = "c.json"
    run(*words[1:])
    assert len(pd.read_csv("confidences.tsv", sep="\t")) == N_USE


def test_a_mapping_that_the_tables_contradict_is_refused_by_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = PAGE.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    for new, old in {
        "calibration.tsv": "set.tsv", "new_second.csv": "use_second.csv", "new.tsv": "use.tsv",
        "second.csv  #": "set_second.csv  #", "clusters.tsv": "set_clusters.tsv",
    }.items():  # fmt: skip
        text = text.replace(new, old)
    Path("wrong.yaml").write_text(text.replace("Portal", "Portl"), encoding="utf-8")
    assert "'Portl', to which the tool 'second' maps 'gate', is no class. Did you mean" in refused(
        capsys, "check", "wrong.yaml"
    )


def test_in_python_a_table_of_the_first_tool_is_not_taken_for_that_of_all() -> None:
    calibration = credence.load("c.json")
    with pytest.raises(credence.InputError, match="this calibration is of several tools"):
        credence.annotate("use.tsv", calibration)


@pytest.mark.parametrize("command", ["evaluate", "shift"])
def test_the_table_of_the_first_tool_alone_is_refused_where_several_calibrated(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    labelled = ["--calibration", "c.json", "--out", "x.parquet"]
    words = ["set.tsv", "--spec", MAIN, "--clusters", "set_clusters.tsv", *labelled]
    if command == "shift":
        words = ["use.tsv", "--spec", USE, *labelled]
    assert refused(capsys, command, *words).splitlines()[0] == (
        f"{words[0]}: it is of one tool, and the calibration is of several, combined. "
        "Combine it with those of the other tools: credence combine."
    )


def test_a_combined_table_is_judged_by_its_calibration() -> None:
    clusters = ("--clusters", "set_clusters.tsv", "--calibration", "c.json")
    run(
        "evaluate",
        "both.parquet",
        *clusters,
        "--folds",
        "2",
        "--resamples",
        "10",
        "--out",
        "e.json",
    )
