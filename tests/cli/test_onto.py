"""``credence fit --keep-masses`` and ``--onto``: a trove added without the old proteins."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from credence.app import run_command_line
from credence.predictions import Labelled

END = "Mend this and run the command again.\n"
SCALE = ["--format", "credence", "--scale", "10"]


def write(labelled: Labelled, name: str) -> None:
    predictions = labelled.predictions
    names = np.array(predictions.class_names, dtype=object)
    columns = {"id": predictions.ids, "true_class": names[labelled.true_class]}
    scores = pd.DataFrame(predictions.scores, columns=list(names)).round(2)
    table = pd.concat([pd.DataFrame(columns), scores], axis=1)
    table.to_csv(name, sep="\t", index=False)


@pytest.fixture
def tables(sets: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(sets.draw(1, 250, "old"), "old.tsv")
    write(sets.draw(2, 60, "new"), "new.tsv")


def classes_of(path: str) -> dict[str, dict[str, object]]:
    classes = json.loads(Path(path).read_text())["calibration"]["classes"]
    assert isinstance(classes, dict)
    return classes


@pytest.mark.parametrize("method", ["kernel(bandwidth=mon4)", "cumulative_optimal"])
def test_a_trove_added_is_a_fit_to_all_bit_for_bit(
    tables: None, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SCALE, "--method", method, "--keep-masses"]
    assert run_command_line(["fit", "old.tsv", *words, "--out", "old.json"]) == 0
    assert (
        run_command_line(["fit", "new.tsv", *SCALE, "--onto", "old.json", "--out", "a.json"]) == 0
    )
    assert (
        run_command_line(["fit", "old.tsv", "new.tsv", *words, "--draws", "0", "--out", "b.json"])
        == 0
    )
    assert classes_of("a.json") == classes_of("b.json")
    added, together = (json.loads(Path(name).read_text()) for name in ("a.json", "b.json"))
    for key in ("method", "settings", "counts", "inputs", "resolution", "scale"):
        assert added[key] == together[key], key
    assert f"Wrote a.json: {method}, from 310 proteins." in capsys.readouterr().err


def test_what_cannot_be_added_to_is_named(
    tables: None, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*words: str) -> str:
        assert run_command_line(["fit", *words]) == 2
        return capsys.readouterr().err.removesuffix(END)

    assert run_command_line(["fit", "old.tsv", *SCALE, "--out", "plain.json"]) == 0
    assert run_command_line(["fit", "old.tsv", *SCALE, "--keep-masses", "--out", "kept.json"]) == 0
    capsys.readouterr()
    assert refused("new.tsv", *SCALE, "--onto", "plain.json", "--out", "c.json") == (
        "plain.json: it keeps no masses. Fit it again with --keep-masses.\n"
    )
    assert refused("old.tsv", *SCALE, "--onto", "kept.json", "--out", "c.json") == (
        "old.tsv: kept.json was fitted on this very file already. Leave it out.\n"
    )
    assert refused("old.tsv", *SCALE, "--method", "platt", "--keep-masses", "--out", "c.json") == (
        "--keep-masses: 'platt' is no sum over proteins: it has no masses. Choose class_only, "
        "histogram, cumulative or kernel, or do without.\n"
    )
    words = ["--weights", "cluster", "--onto", "kept.json", "--out", "c.json"]
    assert refused("new.tsv", *SCALE, *words) == (
        "--weights: cluster here, none in kept.json. Give --weights none.\n"
    )
    assert not Path("c.json").exists()
