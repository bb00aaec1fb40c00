"""The example that trains networks: sequences and labels in, a page out, credence a module."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ruamel.yaml import YAML
from verification.protein_world import ProteinWorldSettings, simulate_proteins

from faulty_runs import ROOT, TIMEOUT

EXAMPLE = ROOT / "examples" / "train-a-classifier"
WORLD = ProteinWorldSettings(n_classes=3, n_families=160, ambiguous=0.0, composition=10.0)
N_GROUPS = 4


def snakemake(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2"], cwd=folder, env=dict(os.environ),
        capture_output=True, text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def write_lab(folder: Path) -> pd.DataFrame:
    """Write the example with the proteins of some families to learn from; return all of them."""
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    world = simulate_proteins(WORLD)
    table = pd.DataFrame({"id": world.ids, "sequence": world.sequences, "family": world.cluster})
    table["true_class"] = np.array(world.class_names)[world.true_class]
    table["is_new"] = pd.factorize(table["family"])[0] % 4 == 0
    for name, rows in (("proteins", table[~table["is_new"]]), ("new", table[table["is_new"]])):
        text = "".join(f">{row.id}\n{row.sequence}\n" for row in rows.itertuples())
        (folder / f"{name}.fasta").write_text(text)
    labels = table.loc[~table["is_new"], ["id", "true_class"]]
    labels.to_csv(folder / "labels.tsv", sep="\t", index=False)
    yaml = YAML()
    config = yaml.load(folder / "config.yaml")
    config["workflow"] = str(ROOT / "workflow" / "Snakefile")
    config["classifier"].update(groups=N_GROUPS, word=2, width=16, penalty=1)
    own = config["credence"]
    for entry in (own["calibration_set"], *own["queries"]):
        entry["scale"] = N_GROUPS - 1
    own.update(
        clustering={"engine": "exact"},
        split={"audit": "none"},
        calibration={"method": "beta", "compare": ["beta"], "resamples": 20},
        evaluation={"folds": 2},
        novelty={"features": "none"},
    )
    yaml.dump(config, folder / "config.yaml")
    return table.set_index("id")


@pytest.mark.long
def test_labelled_sequences_become_a_page_with_confidences_that_hold(tmp_path: Path) -> None:
    world = write_lab(tmp_path)
    snakemake(tmp_path)

    scores = pd.read_csv(tmp_path / "scores" / "known.csv", index_col=0)
    groups = pd.read_csv(tmp_path / "networks" / "groups.tsv", sep="\t", dtype=str, index_col="id")
    assert list(scores.index) == list(world.index[~world["is_new"]])
    np.testing.assert_allclose(scores.sum(axis=1), N_GROUPS - 1, atol=1e-5)
    # Relatives are together, and what a network was scaled by are the words of other groups alone.
    assert groups.groupby("cluster")["group"].nunique().max() == 1
    networks = [np.load(path) for path in sorted((tmp_path / "networks").glob("*.npz"))]
    assert len(networks) == N_GROUPS * (N_GROUPS - 1) / 2
    words = {id_: shares(world.loc[id_, "sequence"]) for id_ in groups.index}
    for network in networks:
        learnt = groups.index[~groups["group"].isin(network["without"].tolist())]
        mean = np.mean([words[id_] for id_ in learnt], axis=0)
        np.testing.assert_allclose(network["mean"], mean, atol=1e-12)

    page = (tmp_path / "reports" / "mylab" / "index.html").read_text()
    assert "verdict" in page
    found = pd.read_csv(tmp_path / "reports/mylab/new/confidences.tsv", sep="\t", index_col="id")
    assert set(found.index) == set(world.index[world["is_new"]])
    # Published scores are like those that calibrated: of families that no network saw, as many are
    # right as promised, but for chance (families of the new set are some forty).
    is_right = found["predicted_class"] == world.loc[found.index, "true_class"]
    assert is_right.mean() > 0.6
    assert abs(found["uncorrected_confidence"].mean() - is_right.mean()) < 0.15

    assert "Nothing to be done" in snakemake(tmp_path)


def shares(sequence: str) -> list[float]:
    """Return how frequent each pair of side chains is: the slow twin of the example's own."""
    groups = ("AILMV", "NQST", "GP", "C", "HKR", "DE", "FWY")
    letters = [next(at for at, group in enumerate(groups) if one in group) for one in sequence]
    pairs = [first + 7 * second for first, second in pairwise(letters)]
    return [pairs.count(pair) / len(pairs) for pair in range(49)]


def test_the_example_is_short() -> None:
    files = [path for path in EXAMPLE.iterdir() if path.suffix != ".md" and path.is_file()]
    assert {path.name for path in files} == {"Snakefile", "config.yaml", "networks.py"}
    assert sum(len(path.read_text().splitlines()) for path in files) < 250
