"""What the other commands do with calls: each does it rightly, or says why not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from verification.calls_world import simulate, write

from credence.predictions import Strings
from credence.tables.formats import TableSpec
from credence.tables.samples import read_samples
from credence.tables.stage_files import NOVELTY_FILES
from small_worlds import call_here, rows_of

SPEC = '{"scale": 1, "several": {"table": "tree.obo"}}'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small world in which calls were fitted and annotated."""
    folder = tmp_path_factory.mktemp("others")
    world = simulate(3, 300, 14)
    write(world, folder)
    write(simulate(4, 80, 14, world.hierarchy), folder / "query")
    for words in (
        ["check", "calls.tsv", "--format", "long", "--spec", SPEC, "--labelled", "--labels",
         '{"table": "truth.tsv", "label_column": "term"}', "--samples", "s.parquet"],
        ["split", "s.parquet", "--format", "credence", "--clusters", "clusters.tsv",
         "--own-clusters", "--out", "groups.tsv"],
        ["fit", "s.parquet", "--format", "credence", "--groups", "groups.tsv", "--method",
         "hierarchical", "--read-as", '{"format": "long", ' + SPEC[1:], "--out", "c.json"],
        ["annotate", "query/calls.tsv", "--calibration", "c.json", "--out", "conf.tsv"],
    ):  # fmt: skip
        done = call_here(folder, *words)
        assert done.returncode == 0, done.stderr
    (folder / "again.json").write_bytes((folder / "c.json").read_bytes())
    return folder


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (
            ["genomes", "conf.tsv", "--calibration", "c.json", "--out", "x.tsv"],
            "Add up the confidences of a genome's calls",
        ),
        (
            ["watch", "conf.tsv", "--calibration", "c.json", "--date", "2026-11-21",
             "--log", "x.tsv"],
            "judge them: credence evaluate.",
        ),
        (
            ["shift", "query/calls.tsv", "--calibration", "c.json", "--out", "x.tsv"],
            "fit to the best label of each.",
        ),
        (
            ["compare", "c.json", "again.json", "--classes", "x.tsv"],
            "Judge both on the same new proteins instead: credence evaluate.",
        ),
    ],
)  # fmt: skip
def test_what_is_of_one_class_a_protein_is_refused_with_a_remedy(
    run: Path, words: list[str], remedy: str
) -> None:
    done = call_here(run, *words)
    assert done.returncode == 2, done.stderr
    assert "several labels" in done.stderr and remedy in done.stderr
    assert not (run / "x.tsv").exists()


def test_a_genome_gets_all_calls_of_a_protein_in_one_order(run: Path) -> None:
    rows: dict[str, list[dict[str, str]]] = {}
    for row in rows_of(run / "conf.tsv"):
        rows.setdefault(row["id"], []).append(row)
    id_ = next(name for name, calls in rows.items() if len(calls) > 2)
    line = f"chr\tx\tCDS\t1\t90\t.\t+\t0\tID={id_}\n"
    (run / "genome.gff3").write_text(line)
    done = call_here(run, "gff", "conf.tsv", "--gff", "genome.gff3", "--out", "out.gff3", "--some")
    assert done.returncode == 0, done.stderr
    cells = (run / "out.gff3").read_text().strip().split("\t")[-1].split(";")
    values = dict(cell.split("=") for cell in cells)
    assert values["credence_class"].split(",") == [row["predicted_class"] for row in rows[id_]]
    stated = [float(text) for text in values["credence_confidence"].split(",")]
    np.testing.assert_allclose(stated, [float(row["confidence"]) for row in rows[id_]], atol=1e-6)


def test_a_plan_takes_one_call_of_each_family_and_not_always_the_first(run: Path) -> None:
    clusters = ["--clusters", "query/clusters.tsv"]
    words = ["conf.tsv", "--calibration", "c.json", "--number", "100", *clusters]
    done = call_here(run, "plan", *words, "--out", "plan.tsv")
    assert done.returncode == 0, done.stderr
    assert "Look up whether each of these proteins has the label" in done.stderr + done.stdout
    assert "trove" not in done.stderr + done.stdout
    family = {row["id"]: row["cluster"] for row in rows_of(run / "query" / "clusters.tsv")}
    every, of_family = rows_of(run / "conf.tsv"), dict[str, int]()
    first: dict[str, str] = {}
    for row in every:
        of_family[family[row["id"]]] = of_family.get(family[row["id"]], 0) + 1
        first.setdefault(row["id"], row["predicted_class"])
    planned = rows_of(run / "plan.tsv")
    families = [family[row["id"]] for row in planned]
    assert len(planned) > 10 and len(set(families)) == len(families)
    # Were it by id alone, all would be the first calls of their proteins.
    is_first = [row["predicted_class"] == first[row["id"]] for row in planned]
    assert sum(is_first) < len(is_first) / 2
    for row in planned:  # of a family each call is as likely
        assert float(row["chance"]) <= 1.0 / of_family[family[row["id"]]] + 1e-6


def test_a_threshold_lets_through_what_is_right_as_often_as_measured(run: Path) -> None:
    words = ["s.parquet", "--format", "credence", "--groups", "groups.tsv", "--precision", "0.8"]
    done = call_here(run, "thresholds", *words, "--out", "thresholds.tsv")
    assert done.returncode == 0, done.stderr
    samples = read_samples(run / "s.parquet", TableSpec(format="credence"))
    predictions = samples.predictions
    assert samples.true_class is not None
    score, called = predictions.required_top_score, predictions.predicted_class
    is_right = samples.true_class == called
    assert len(samples.missed_class)  # else recall does not tell the two apart
    rows = {row["class"]: row for row in rows_of(run / "thresholds.tsv") if row["threshold"]}
    assert len(rows) > 5
    for name, row in rows.items():
        code = None if name == "all" else predictions.class_names.index(name)
        is_of = np.full(len(called), True) if code is None else called == code
        kept = is_of & (score >= float(row["threshold"]))
        n_true = (is_right & is_of).sum()
        n_true += sum(code in (None, missed) for missed in samples.missed_class.tolist())
        assert float(row["measured_precision"]) == pytest.approx(is_right[kept].mean())
        assert float(row["accepted"]) == pytest.approx(kept.sum() / is_of.sum())
        assert float(row["recall"]) == pytest.approx((kept & is_right).sum() / n_true)
        families = {
            family
            for family, is_kept in zip(families_of(run, predictions.ids), kept, strict=True)
            if is_kept
        }
        assert int(row["n_families"]) == len(families)


def families_of(run: Path, ids: Strings) -> list[str]:
    cluster = {row["id"]: row["cluster"] for row in rows_of(run / "groups.tsv")}
    return [cluster[name] for name in ids]


def family_ids(run: Path) -> list[str]:
    return [row["id"] for row in rows_of(run / "groups.tsv")]


def test_proteins_have_one_place_however_many_calls(run: Path) -> None:
    words = ["s.parquet", "--format", "credence", "--groups", "groups.tsv", "--proteins",
             "proteins.fasta", "--out", "novelty.json"]  # fmt: skip
    done = call_here(run, "novelty", *words)
    assert done.returncode == 0, done.stderr
    file = NOVELTY_FILES.read(run / "novelty.json")
    ids = file.reference.ids.tolist()
    assert len(ids) == len(set(ids)) == len(set(family_ids(run)))
    words = ["--novelty", "novelty.json", "--proteins", "query/proteins.fasta"]
    words += ["--novelty-record", "seen.json"]
    done = call_here(
        run, "annotate", "query/calls.tsv", "--calibration", "c.json", *words, "--out", "n.tsv"
    )
    assert done.returncode == 0, done.stderr
    n_proteins = len({row["id"] for row in rows_of(run / "n.tsv")})
    assert json.loads((run / "seen.json").read_text())["n"] == n_proteins


def test_labels_below_all_that_is_called_are_counted(tmp_path: Path) -> None:
    pairs = "child\tparent\nb\ta\nc\tb\nd\tb\ne\ta\n"
    (tmp_path / "tree.tsv").write_text(pairs)
    (tmp_path / "truth.tsv").write_text("id\tterm\np\tc\nq\td\n")
    tree = '{"scale": 1, "several": {"table": "tree.tsv"}}'
    for calls, is_said in (("p\ta\t0.9\nq\ta\t0.8\nq\te\t0.8\n", True),
                        ("p\tc\t0.9\nq\td\t0.8\n", False)):  # fmt: skip
        (tmp_path / "calls.tsv").write_text(f"id\tterm\tscore\n{calls}")
        done = call_here(
            tmp_path, "check", "calls.tsv", "--format", "long", "--spec", tree, "--labelled",
            "--labels", '{"table": "truth.tsv", "label_column": "term"}',
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert ("3 true labels never called" in done.stderr) == is_said
