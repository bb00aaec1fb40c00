"""Several labels a protein from files to lists: what is read, what is refused, what is judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from verification.calls_world import simulate, write

from credence.evaluation.calls import Missed, judge_calls
from credence.predictions import Predictions, label
from credence.problems import InputError
from credence.stages.check import read_checked
from credence.tables.formats import ANY_OTHER_LABEL, TableSpec
from credence.tables.samples import Samples, read_samples, write_samples
from credence.tree import LabelTree, tree_of_labels
from small_worlds import call_here, rows_of

OBO = """format-version: 1.2

[Term]
id: GO:1
name: root

[Term]
id: GO:2
name: left
is_a: GO:1 ! root

[Term]
id: GO:3
name: low
is_a: GO:2 ! left
relationship: part_of GO:4 ! right

[Term]
id: GO:4
name: right
is_a: GO:1

[Term]
id: GO:9
name: other root

[Term]
id: GO:8
alt_id: GO:80
is_a: GO:9

[Typedef]
id: part_of
"""
CALLS = "id\tterm\tscore\np\tGO:1\t0.9\np\tGO:2\t0.8\np\tGO:3\t0.3\nq\tGO:4\t0.7\nq\tGO:8\t0.6\n"


def checked(
    folder: Path, truth: str, calls: str = CALLS, name: str = "truth.tsv", **tree: object
) -> Samples:
    """Return calls of two proteins, judged by true labels."""
    (folder / "calls.tsv").write_text(calls)
    (folder / "go.obo").write_text(OBO)
    (folder / name).write_text(truth)
    stated = {"table": str(folder / "go.obo"), **tree}
    spec = TableSpec(format="long", scale=1.0, several=stated)
    labels = {"table": str(folder / name)}
    table = str(folder / "calls.tsv")
    return read_checked([table], spec, labels, None, "full", labelled=True)[0]


def judged(samples: Samples) -> dict[tuple[str, str], bool]:
    names = samples.predictions.class_names
    assert samples.true_class is not None
    rows = zip(
        samples.predictions.ids,
        samples.predictions.predicted_class,
        samples.true_class,
        strict=True,
    )
    return {(id_, names[code]): bool(true == code) for id_, code, true in rows}


def test_true_labels_are_closed_upwards_and_unknown_branches_are_left_out(tmp_path: Path) -> None:
    samples = checked(tmp_path, "id\ttrue_class\np\tGO:3\nq\tGO:2\n")
    # q has a label under GO:1 and none under GO:9, so nothing is known of GO:8.
    assert judged(samples) == {
        ("p", "GO:1"): True,
        ("p", "GO:2"): True,
        ("p", "GO:3"): True,
        ("q", "GO:4"): False,
    }
    names = samples.predictions.class_names
    missed = zip(samples.missed_ids, samples.missed_class, strict=True)
    assert {(id_, names[code]) for id_, code in missed} == {
        ("p", "GO:4"),
        ("q", "GO:1"),
        ("q", "GO:2"),
    }
    assert names[-1] == ANY_OTHER_LABEL


def test_in_a_closed_world_what_is_not_listed_is_wrong(tmp_path: Path) -> None:
    samples = checked(tmp_path, "id\ttrue_class\np\tGO:3\nq\tGO:2\n", world="closed")
    assert judged(samples)["q", "GO:8"] is False


@pytest.mark.parametrize("cell", ["GO:3;GO:8", "GO:3|GO:8"])
def test_a_cell_may_hold_several_labels(tmp_path: Path, cell: str) -> None:
    samples = checked(tmp_path, f"id\ttrue_class\np\t{cell}\nq\tGO:8\n")
    assert judged(samples)["p", "GO:3"] and judged(samples)["q", "GO:8"]


def test_annotations_are_read_from_gaf_without_what_is_denied(tmp_path: Path) -> None:
    def row(id_: str, relation: str, term: str) -> str:
        return "\t".join(["DB", id_, "s", relation, term, *["x"] * 10])

    rows = [
        row("p", "enables", "GO:3"),
        row("q", "NOT|enables", "GO:8"),
        row("q", "part_of", "GO:4"),
    ]
    more = row("elsewhere", "enables", "GO:2")
    gaf = "\n".join(["!gaf-version: 2.2", *rows, more]) + "\n"
    samples = checked(tmp_path, gaf, name="truth.gaf")
    assert judged(samples)["q", "GO:4"] and ("q", "GO:8") not in judged(samples)


def test_judged_calls_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    samples = checked(tmp_path, "id\ttrue_class\np\tGO:3\nq\tGO:2\n")
    write_samples(tmp_path / "s.parquet", samples)
    again = read_samples(tmp_path / "s.parquet", TableSpec(format="credence"))
    assert judged(again) == judged(samples)
    assert again.predictions.class_names == samples.predictions.class_names
    assert again.predictions.tree == samples.predictions.tree
    np.testing.assert_array_equal(again.missed_ids, samples.missed_ids)
    np.testing.assert_array_equal(again.missed_class, samples.missed_class)


def refusal(folder: Path, *arguments: str, **more: str) -> str:
    with pytest.raises(InputError) as raised:
        checked(folder, *arguments, **more)
    return str(raised.value).replace(f"{folder}/", "")


def test_labels_that_the_tree_lacks_are_named_with_their_lines(tmp_path: Path) -> None:
    remedy = "Correct it, add it to the tree, or give the release of the tree that the tool used."
    assert refusal(tmp_path, "id\ttrue_class\np\tGO:77\n", CALLS + "q\tGO:78\t0.1\n") == (
        f"truth.tsv, line 2, column 'true_class': 'GO:77' is not in the tree of labels. {remedy}\n"
        f"calls.tsv, line 7: 'GO:78' is not in the tree of labels. {remedy}"
    )


def test_true_labels_of_proteins_without_calls_are_named(tmp_path: Path) -> None:
    text = refusal(tmp_path, "id\ttrue_class\np\tGO:3\nnobody\tGO:2\n")
    assert text == (
        "truth.tsv, line 3: protein 'nobody' has no call in calls.tsv. Correct its name, remove "
        "it, or add its calls."
    )


def test_labels_that_lead_in_a_circle_are_refused(tmp_path: Path) -> None:
    pairs = "child\tparent\nGO:1\tGO:2\nGO:2\tGO:3\nGO:3\tGO:1\n"
    (tmp_path / "pairs.tsv").write_text(pairs)
    text = refusal(tmp_path, "id\ttrue_class\np\tGO:3\n", table=str(tmp_path / "pairs.tsv"))
    assert text.startswith("pairs.tsv, line ")
    assert text.endswith("Remove one of these lines.") and "lead in a circle" in text


def test_a_call_that_stands_twice_is_refused(tmp_path: Path) -> None:
    text = refusal(tmp_path, "id\ttrue_class\np\tGO:3\n", CALLS + "p\tGO:2\t0.5\n")
    assert "line 7" in text and "is in line 3 already" in text


def test_ec_numbers_are_a_tree_by_themselves() -> None:
    tree = tree_of_labels(["3.4.21.4", "3.4.21.-", "1"], ".")
    assert tree.ancestors("3.4.21.4") == {"3.4.21", "3.4", "3"}
    assert tree.ancestors("3.4.21.-") == {"3.4.21", "3.4", "3"}
    assert tree.most_specific(["3", "3.4", "3.4.21.4", "1"]) == ["1", "3.4.21.4"]


FORMATS = {
    "deepfri": "### Predictions made by DeepFRI.\n"
    "Protein,GO_term/EC_number,Score,GO_term/EC_number name\n"
    "p,GO:2,0.9,a\np,GO:3,0.3,b\nq,GO:3,0.5,b\n",
    "deepgoplus": "p\tGO:2|0.9\tGO:3|0.3\nq\tGO:3|0.5\n",
    "clean": "p,EC:GO:2/0.1,EC:GO:3/2\nq,EC:GO:3/1\n",
    "eggnog": "## emapper\n#query\ts\te\tscore\ta\tb\tc\td\te\tGOs\tEC\n"
    "p\ts\t1\t0.9\ta\tb\tc\td\te\tGO:2,GO:3\t-\nq\ts\t1\t0.5\ta\tb\tc\td\te\tGO:3\t-\n"
    "r\ts\t1\t0.5\ta\tb\tc\td\te\t-\t-\n## 3 queries\n",
    "wide": "id,GO:2,GO:3\np,0.9,0.3\nq,,0.5\n",
}


@pytest.mark.parametrize("name", FORMATS)
def test_tools_with_several_labels_are_read_call_by_call(tmp_path: Path, name: str) -> None:
    path = tmp_path / "table.tsv" if "\t" in FORMATS[name] else tmp_path / "table.csv"
    path.write_text(FORMATS[name])
    scale = 1.0 if name in ("eggnog", "wide") else None
    samples = read_samples(path, TableSpec(format=name, scale=scale, several={}))
    names = samples.predictions.class_names
    calls = [
        (id_, names[code])
        for id_, code in zip(
            samples.predictions.ids, samples.predictions.predicted_class, strict=True
        )
    ]
    assert calls == [("p", "GO:2"), ("p", "GO:3"), ("q", "GO:3")]
    score = samples.predictions.required_top_score
    assert score[0] > score[1] or name == "eggnog"


def test_measures_of_cafa_are_those_of_three_calls_by_hand() -> None:
    tree = LabelTree(parents={"b": ("a",), "c": ("a",)})
    calls = Predictions(
        ids=np.array(["p", "p", "q"], dtype=object),
        class_names=("a", "b", "c"),
        scale=1.0,
        resolution=0.1,
        predicted_class=np.array([1, 2, 1]),
        top_score=np.array([0.9, 0.4, 0.6]),
        is_distribution=False,
        tree=tree,
    )
    known = label(calls, np.array([1, -1, -1]))
    ids = np.array(["p", "q", "q"], dtype=object)
    missed = Missed(ids=ids, class_=np.array([0, 0, 2]), cluster=ids)
    value = np.array([0.9, 0.4, 0.6])
    (by_score, _) = judge_calls(known, missed, {"m": value}, "m", 0.95, 0).curves
    # Each call brings "a". From 0.9 on: p calls a, b, both right: precision 1, recall (1 + 0)/2.
    # From 0.6 on: q calls a (right) and b (wrong): precision and recall (1 + ½)/2: F = 0.75.
    # From 0.4 on: p also calls c: precision (⅔ + ½)/2, recall the same: F = 0.68.
    assert by_score.f_max.value == pytest.approx(0.75)
    assert by_score.f_max_at == pytest.approx(0.6)
    # b and c are one of the two proteins with "a" each: 1 bit; "a" is no news. At 0.9 nothing is
    # false and c of q is unknown: ½ bit a protein; later b of q is false as well.
    assert by_score.s_min.value == pytest.approx(0.5)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small world in which calls were checked, fitted and annotated."""
    folder = tmp_path_factory.mktemp("several")
    world = simulate(1, 500, 20)
    write(world, folder, with_sequences=False)
    write(simulate(2, 120, 20, world.hierarchy), folder / "query", with_sequences=False)
    with (folder / "query" / "calls.tsv").open("a") as handle:
        handle.write("stranger\tGO:7777777\t0.9\n")
    spec = '{"scale": 1, "several": {"table": "tree.obo"}}'
    read = ["--format", "credence", "--groups", "groups.tsv"]
    for words in (
        ["check", "calls.tsv", "--format", "long", "--spec", spec, "--labelled", "--labels",
         '{"table": "truth.tsv", "label_column": "term"}', "--samples", "s.parquet"],
        ["split", "s.parquet", "--format", "credence", "--clusters", "clusters.tsv",
         "--own-clusters", "--out", "groups.tsv"],
        ["fit", "s.parquet", *read, "--method", "hierarchical", "--read-as",
         '{"format": "long", "scale": 1, "several": {"table": "tree.obo"}}', "--out", "c.json"],
        ["annotate", "query/calls.tsv", "--calibration", "c.json", "--lists", "lists",
         "--out", "conf.tsv"],
        ["evaluate", "s.parquet", *read, "--calibration", "c.json", "--out", "e.json"],
    ):  # fmt: skip
        done = call_here(folder, *words)
        assert done.returncode == 0, done.stderr
    return folder


def test_no_protein_has_a_label_more_certain_than_one_above_it(run: Path) -> None:
    world = simulate(1, 500, 20)
    names, parent = world.hierarchy.names, world.hierarchy.parent
    above = {name: names[code] for name, code in zip(names, parent, strict=True) if code >= 0}
    rows = {
        (row["id"], row["predicted_class"]): float(row["confidence"])
        for row in rows_of(run / "conf.tsv")
    }
    pairs = [(value, rows[id_, above[name]]) for (id_, name), value in rows.items()
             if (id_, above.get(name)) in rows]  # fmt: skip
    assert len(pairs) > 500
    assert all(below <= over for below, over in pairs)


def test_a_label_that_calibration_never_saw_is_answered_and_noted(run: Path) -> None:
    (row,) = [row for row in rows_of(run / "conf.tsv") if row["id"] == "stranger"]
    assert row["predicted_class"] == "GO:7777777"
    assert row["decision"] == "insufficient data"
    assert row["note"] == "class never predicted in calibration"
    assert float(row["upper"]) - float(row["lower"]) > 0.5


def test_the_most_specific_accepted_labels_are_those_of_the_list(run: Path) -> None:
    listed = {
        (row["id"], row["predicted_class"]) for row in rows_of(run / "lists" / "list_0.05.tsv")
    }
    accepted = {(row["id"], row["label"]) for row in rows_of(run / "lists" / "accepted.tsv")}
    assert accepted and accepted < listed
    tree = read_samples(run / "s.parquet", TableSpec(format="credence")).predictions.tree
    assert tree is not None
    for id_, name in listed:
        below = [other for who, other in listed if who == id_ and name in tree.ancestors(other)]
        assert ((id_, name) in accepted) == (not below)


def test_lists_by_label_are_those_by_class(run: Path) -> None:
    for option in ("--by-label", "--by-class"):
        words = ("conf.tsv", "--calibration", "c.json", "--error", "0.1", option)
        done = call_here(run, "list", *words, "--out", f"{option[2:]}.tsv")
        assert done.returncode == 0, done.stderr
    assert (run / "by-label.tsv").read_bytes() == (run / "by-class.tsv").read_bytes()


def test_groups_hold_whole_families_and_every_judged_protein(run: Path) -> None:
    rows = rows_of(run / "groups.tsv")
    calls = read_samples(run / "s.parquet", TableSpec(format="credence")).predictions
    assert sorted(row["id"] for row in rows) == sorted(set(calls.ids))
    groups = {
        row["cluster"]: {r["group"] for r in rows if r["cluster"] == row["cluster"]}
        for row in rows
    }
    assert all(len(group) == 1 for group in groups.values())
