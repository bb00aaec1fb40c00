"""The first hour with five tables of unlike tools, each from `init` to the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from credence.app import run_command_line
from credence.app.configuration import load

N_KNOWN, N_NEW = 120, 30


def drawn(names: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return scores that sum to 1 of some proteins, and classes drawn from them."""
    rng = np.random.default_rng(len(names))
    scores = rng.dirichlet(np.full(len(names), 0.4), N_KNOWN + N_NEW).round(4)
    truth = [names[rng.choice(len(names), p=row / row.sum())] for row in scores]
    return pd.DataFrame(
        scores, columns=names, index=[f"Q{n:04d}" for n in range(len(truth))]
    ), truth


def write(table: pd.DataFrame, truth: list[str], ending: str = "csv", **how: object) -> bool:
    """Write what is known, what is new, and the labels beside them; return that they are so."""
    how = {"sep": "\t" if ending == "tsv" else ",", **how}
    table[:N_KNOWN].to_csv(f"known.{ending}", **how)
    table[N_KNOWN:].to_csv(f"new.{ending}", **how)
    labels = pd.DataFrame({"id": table.index[:N_KNOWN], "true_class": truth[:N_KNOWN]})
    labels.to_csv("labels.tsv", sep="\t", index=False)
    return True


def vpf_plm() -> bool:
    names = ["DNA, RNA and nucleotide metabolism", "connector", "head and packaging", "lysis"]
    names += ["integration and excision", "other", "tail", "transcription regulation", "unknown"]
    table, truth = drawn([*names, "moron, auxiliary metabolic gene and host takeover"])
    labels = list(table.index)
    table.index = [f">{name}" for name in table.index]
    write(table, truth)
    pd.DataFrame({"id": labels[:N_KNOWN], "true_class": truth[:N_KNOWN]}).to_csv(
        "labels.tsv", sep="\t", index=False
    )
    return True


def clean() -> bool:
    names = ["EC:1.1.1.1", "EC:2.7.1.1", "EC:3.4.21.4"]
    table, truth = drawn(names)
    best, top = table.idxmax(axis=1), table.max(axis=1)
    lines = [f"{i},{best[i]}/{10 * (1 - top[i]) + 1:.4f}" for i in table.index]
    Path("known.csv").write_text("\n".join(lines[:N_KNOWN]) + "\n")
    Path("new.csv").write_text("\n".join(lines[N_KNOWN:]) + "\n")
    labels = [f"{i}\t{t.removeprefix('EC:')}" for i, t in zip(table.index, truth, strict=True)]
    Path("labels.tsv").write_text("\n".join(["id\ttrue_class", *labels[:N_KNOWN]]) + "\n")
    return True


def genomad() -> bool:
    names = ["chromosome", "plasmid", "virus"]
    table, truth = drawn(names)
    table.columns = [f"{name}_score" for name in names]
    return write(table, truth, "tsv", index_label="seq_name")


def long() -> bool:
    table, truth = drawn(["kinase", "ligase", "protease", "hydrolase"])
    rows = table.assign(truth=truth).reset_index(names="id")
    rows = rows.melt(["id", "truth"], var_name="term", value_name="score")
    rows = rows[rows.score > 0].sort_values(["id", "term"])
    known = rows.id < f"Q{N_KNOWN:04d}"
    rows[known].to_csv("known.tsv", sep="\t", index=False)
    rows[~known].drop(columns="truth").to_csv("new.tsv", sep="\t", index=False)
    return False


def compartments() -> bool:
    table, truth = drawn(["Cytoplasm", "Nucleus", "Extracellular", "Cell membrane"])
    table = table.rename_axis("Accession").assign(Length=range(len(truth)), Location=truth)
    write(table, truth)
    pd.read_csv("new.csv").drop(columns="Location").to_csv("new.csv", index=False)
    return False


KINDS = [compartments, vpf_plm, clean, genomad, long]


def begun(kind: Callable[[], bool], folder: Path, patch: pytest.MonkeyPatch) -> str:
    """Write the tables of a tool, type `init`; return the configuration's name."""
    patch.chdir(folder)
    labels = ["--labels", "labels.tsv"] if kind() else []
    (known,), (new,) = (list(Path().glob(f"{name}.*")) for name in ("known", "new"))
    words = ["init", "lab", "--scores", str(known), "--query", str(new), *labels]
    assert run_command_line(words) == 0
    return "lab.yaml"


@pytest.mark.parametrize("kind", KINDS)
def test_init_finds_what_the_tables_of_a_tool_are(
    kind: Callable[[], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load(begun(kind, tmp_path, monkeypatch))
    name = {compartments: "wide", vpf_plm: "vpf-plm"}.get(kind, kind.__name__)
    assert settings.calibration_set.spec["format"] == name
    assert settings.queries[0].spec["format"] == name


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_hour_goes_from_init_to_the_page_without_editing_a_file(
    kind: Callable[[], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = begun(kind, tmp_path, monkeypatch)
    assert run_command_line(["check", file]) == 0
    assert run_command_line(["run", "--config", file, "--cores", "2"]) == 0
    assert "<title>lab" in Path("reports/lab/index.html").read_text()
    confidences = pd.read_csv("reports/lab/new/confidences.tsv", sep="\t", comment="#")
    assert len(confidences) == N_NEW
    assert confidences.confidence.between(0, 1).all()
