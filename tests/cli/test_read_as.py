"""A calibration keeps how its tables were read: a German Excel file from `init` to `annotate`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import credence
from credence.app import run_command_line
from credence.problems import InputError
from credence.tables.stage_files import read_calibration
from refusals import refused

NAMES = ["Kern", "Zytoplasma", "Äußere Membran"]
COLUMNS = {"id": "Protein", "true_class": "Wahr", "classes": NAMES}


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def world(n: int, seed: int, *, is_labelled: bool) -> pd.DataFrame:
    """Return logits of three decimals, and true classes drawn from their softmax."""
    rng = np.random.default_rng(seed)
    logits = np.round(rng.normal(0.0, 2.0, (n, 3)), 3)
    table = pd.DataFrame(logits, columns=NAMES)
    table.insert(0, "Protein", [f"Q{seed}_{row}" for row in range(n)])
    if is_labelled:
        table["Wahr"] = [NAMES[rng.choice(3, p=shares)] for shares in softmax(logits)]
    return table


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def as_shares(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(
        **dict(zip(NAMES, softmax(table[NAMES].to_numpy()).T.round(4), strict=True))
    )


def as_excel(table: pd.DataFrame, path: str, encoding: str) -> None:
    shown = as_shares(table)
    for name in NAMES:
        shown[name] = [f"{100 * share:.1f}%".replace(".", ",") for share in shown[name]]
    text = shown.to_csv(sep=";", index=False, lineterminator="\r\n")
    Path(path).write_bytes(text.encode(encoding))


def run(*words: str) -> None:
    assert run_command_line(list(words)) == 0


def fit(table: str, spec: dict[str, object], *further: str) -> None:
    words = ("--method", "class_only", "--out", "c.json", *further)
    run("fit", table, "--format", "wide", "--spec", json.dumps(spec), *words)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
def test_a_german_excel_file_is_read_from_init_to_annotate(
    encoding: str, capsys: pytest.CaptureFixture[str]
) -> None:
    as_excel(world(200, 1, is_labelled=True), "known.csv", encoding)
    as_excel(world(30, 2, is_labelled=False), "new.csv", encoding)
    run("init", "lab", "--scores", "known.csv", "--query", "new.csv")
    found = yaml.safe_load(Path("lab.yaml").read_text(encoding="utf-8"))["calibration_set"]
    assert (found["columns"], found["scale"]) == (COLUMNS, 1.0)
    run("check", "lab.yaml")
    # Without a configuration, the one refusal says all that is to be said.
    capsys.readouterr()
    assert run_command_line(["check", "known.csv"]) == 2
    stated = capsys.readouterr().err.splitlines()[-2]
    start, _, spec = stated.removesuffix("'.").partition(" --spec '")
    assert start == "known.csv: no format fits this table. Name its columns: --format wide"
    assert json.loads(spec) == {"scale": 1.0, "columns": COLUMNS}
    fit("known.csv", json.loads(spec))
    run("annotate", "new.csv", "--calibration", "c.json", "--out", "conf.tsv")
    table = pd.read_csv("conf.tsv", sep="\t")
    assert table.confidence.between(0, 1).all()
    best = as_shares(world(30, 2, is_labelled=False))[NAMES].max(axis=1)
    assert table.score.tolist() == [float(f"{100 * share:.1f}e-2") for share in best]


def test_logits_are_found_said_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    world(200, 1, is_labelled=True).to_csv("known.csv", index=False)
    world(30, 2, is_labelled=False).to_csv("new.csv", index=False)
    run("init", "lab", "--scores", "known.csv", "--query", "new.csv")
    said = "{}: read as logits, the softmax of each row."
    lines = capsys.readouterr().err.splitlines()
    assert said.format("known.csv") in lines
    assert said.format("new.csv") in lines
    found = yaml.safe_load(Path("lab.yaml").read_text(encoding="utf-8"))
    assert found["calibration_set"]["logits"] is True
    assert found["queries"][0]["logits"] is True
    for words in (["known.csv"], ["new.csv"]):
        assert '"logits": true' in refused(capsys, "check", *words)
    fit("known.csv", {"columns": COLUMNS}, "--logits")
    assert capsys.readouterr().err.splitlines()[0] == said.format("known.csv")
    kept = read_calibration(Path("c.json"))
    assert kept.read_as == {"format": "wide", "columns": COLUMNS, "logits": True}
    assert kept.scale == 1.0
    run("annotate", "new.csv", "--calibration", "c.json", "--out", "conf.tsv")
    words = json.dumps(kept.read_as, ensure_ascii=False)
    assert capsys.readouterr().err.splitlines()[:2] == [
        f"new.csv: read as the tables of the calibration: {words}.",
        said.format("new.csv"),
    ]
    logits = world(30, 2, is_labelled=False)[NAMES].to_numpy()
    table = pd.read_csv("conf.tsv", sep="\t")
    np.testing.assert_allclose(table.score, softmax(logits).max(axis=1), rtol=1e-12)


def test_other_commands_read_a_table_of_the_same_form_without_a_word() -> None:
    as_shares(world(200, 1, is_labelled=True)).to_csv("known.csv", index=False)
    as_shares(world(30, 2, is_labelled=False)).to_csv("new.csv", index=False)
    fit("known.csv", {"columns": COLUMNS, "scale": 1})
    run("check", "new.csv", "--calibration", "c.json")
    run("check", "known.csv", "--calibration", "c.json", "--labelled")
    run("shift", "new.csv", "--calibration", "c.json", "--out", "shift.tsv")
    words = ("--calibration", "c.json", "--out", "conf.tsv")
    run("annotate", "new.csv", "--spec", '{"genome": "Protein"}', *words)
    assert "genome" in pd.read_csv("conf.tsv", sep="\t").columns


def test_a_table_of_another_form_is_read_as_its_own_format(
    capsys: pytest.CaptureFixture[str],
) -> None:
    as_shares(world(200, 1, is_labelled=True)).to_csv("known.csv", index=False)
    fit("known.csv", {"columns": COLUMNS, "scale": 1})
    new = as_shares(world(30, 2, is_labelled=False)).rename(columns={"Protein": "id"})
    new.to_csv("new.csv", index=False)
    capsys.readouterr()
    run("annotate", "new.csv", "--calibration", "c.json", "--out", "conf.tsv")
    assert capsys.readouterr().err.startswith("new.csv: read as credence (a column 'id').")
    new.rename(columns={"id": "Protein", "Kern": "Nukleus"}).to_csv("other.csv", index=False)
    words = ["annotate", "other.csv", "--calibration", "c.json", "--out", "conf.tsv"]
    assert refused(capsys, *words).splitlines()[1] == (
        "other.csv, line 1: the class column 'Kern' is missing. Known are: Protein, Nukleus, "
        "Zytoplasma, Äußere Membran."
    )


def test_a_calibration_without_a_word_of_its_tables_loads_and_asks_for_the_format() -> None:
    as_shares(world(200, 1, is_labelled=True)).rename(
        columns={"Protein": "id", "Wahr": "true_class"}
    ).to_parquet("known.parquet")
    words = ("--method", "class_only", "--out", "c.json")
    run("fit", "known.parquet", "--format", "credence", "--spec", '{"scale": 1}', *words)
    assert read_calibration(Path("c.json")).read_as == {"format": "credence", "scale": 1}
    run("check", "known.parquet", "--samples", "samples.parquet", "--spec", '{"scale": 1}')
    run("fit", "samples.parquet", *words)
    assert "read_as" not in json.loads(Path("c.json").read_text(encoding="utf-8"))
    run("fit", "samples.parquet", "--read-as", '{"format": "wide", "scale": 1}', *words)
    kept = read_calibration(Path("c.json"))
    assert kept.read_as == {"format": "wide", "scale": 1}
    shares = as_shares(world(30, 2, is_labelled=False)).rename(columns={"Protein": "id"})
    shares.to_csv("new.csv", index=False)
    run("annotate", "new.csv", "--calibration", "c.json", "--out", "conf.tsv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("{}", "--read-as: 'None' is no format. Known are: "),
        ('{"format": "wid"}', "--read-as: 'wid' is no format. Did you mean 'wide'?"),
        (
            '{"format": "wide", "logit": true}',
            "--read-as, column 'logit': unknown setting. Did you mean 'logits'?",
        ),
    ],
)
def test_settings_of_reading_that_are_none_are_refused(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    as_shares(world(50, 1, is_labelled=True)).to_csv("known.csv", index=False)
    spec = json.dumps({"columns": COLUMNS, "scale": 1})
    given = ["fit", "known.csv", "--format", "wide", "--spec", spec, "--read-as", words]
    assert refused(capsys, *given, "--method", "class_only", "--out", "c.json").startswith(message)
    assert not Path("c.json").exists()


def test_python_keeps_and_uses_it_too() -> None:
    world(200, 1, is_labelled=True).to_csv("known.csv", index=False)
    world(30, 2, is_labelled=False).to_csv("new.csv", index=False)
    known = credence.read("known.csv", format="wide", columns=COLUMNS, logits=True)
    fitted = credence.fit(known, method="class_only")
    credence.save(fitted, "c.json")
    loaded = credence.load("c.json")
    assert loaded.file.read_as == {"format": "wide", "columns": COLUMNS, "logits": True}
    table = credence.annotate("new.csv", loaded)
    logits = world(30, 2, is_labelled=False)[NAMES].to_numpy()
    np.testing.assert_allclose(table.columns["score"], softmax(logits).max(axis=1), rtol=1e-12)
    in_memory = credence.read(logits, classes=NAMES, logits=True)
    np.testing.assert_allclose(in_memory.predictions.scores, softmax(logits), rtol=1e-12)
    with pytest.raises(InputError):
        credence.read(logits, classes=NAMES)
