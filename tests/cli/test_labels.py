"""`credence labels`: the command, its tables and its refusals."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from credence.app import run_command_line
from credence.findings import Findings
from credence.records import read_record
from credence.report.html import render
from credence.tables.writing import write_record
from refusals import refused

WORDS = ["labels", "labelled.csv", "--format", "phanns-labelled", "--error", "1"]
WORDS += ["--out", "labels.tsv"]
CLUSTERED = ["--clusters", "clusters.tsv"]


@pytest.fixture
def wrong_labels(inside: Path) -> list[str]:
    """Write the world's table with two wrong labels, and its families; return who has them."""
    table = pd.read_csv("demo/calibration.csv", index_col=0)
    truth = pd.read_csv("demo/truth/families.tsv", sep="\t").set_index("id")
    sure = table.index[
        [table.loc[id_].idxmax() == truth.true_class[id_] == "Portal" for id_ in table.index]
    ]
    chosen = table.loc[sure, "Portal"].sort_values().index[-2:].tolist()
    names = {id_: f"collar_{900 + number}" for number, id_ in enumerate(chosen)}
    table.rename(index=names).to_csv("labelled.csv")
    family = truth.family[table.index]
    clusters = pd.DataFrame({"id": table.index, "cluster": family.to_numpy()}).replace(
        {"id": names}
    )
    clusters.to_csv("clusters.tsv", sep="\t", index=False)
    return list(names.values())


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(name, sep="\t")


def test_wrong_labels_are_listed_with_what_speaks_against_them(
    wrong_labels: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*WORDS, *CLUSTERED, "--families", "families.tsv"]) == 0
    found = read("labels.tsv")
    assert list(found) == [
        *("id", "label", "suggested_class", "p_label", "p_suggested", "doubt", "cluster"),
        *("relatives_same", "relatives_other", "nearest_relative", "identity", "why"),
        "expected_false",
    ]
    assert set(wrong_labels) <= set(found.id)
    own = found.set_index("id").loc[wrong_labels]
    assert (own.label == "Collar").all() and (own.suggested_class == "Portal").all()
    assert own.why.str.contains("its scores suggest Portal").all()
    assert found.expected_false.is_monotonic_increasing
    assert found.doubt.is_monotonic_decreasing and (found.doubt > 0).all()
    known = read("clusters.tsv").set_index("id").cluster
    for row in found.itertuples():
        if isinstance(row.nearest_relative, str):
            assert known[row.nearest_relative] == known[row.id] and row.nearest_relative != row.id
    families = read("families.tsv")
    for row in families.itertuples():
        assert len(row.labels.split("; ")) > 1
    shown = capsys.readouterr().err
    assert f"Wrote labels.tsv: {len(found)} of " in shown
    assert "No label was changed." in shown


@pytest.mark.long
def test_the_same_bytes_twice_and_in_another_order(wrong_labels: list[str]) -> None:
    assert run_command_line([*WORDS, *CLUSTERED]) == 0
    before = Path("labels.tsv").read_bytes()
    table = Path("labelled.csv").read_text().splitlines(keepends=True)
    Path("labelled.csv").write_text("".join([table[0], *reversed(table[1:])]))
    assert run_command_line([*WORDS, *CLUSTERED]) == 0
    assert Path("labels.tsv").read_bytes() == before


def test_a_family_with_two_labels_is_named_with_the_rarer_one(
    wrong_labels: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    clusters = read("clusters.tsv").set_index("id").cluster
    portals = [id_ for id_ in clusters.index if id_.startswith("portal")][:3]
    clusters[[*portals, wrong_labels[0]]] = "one"
    clusters.to_frame().assign(representative=clusters.groupby(clusters).transform(
        lambda ids: portals[0] if portals[0] in ids.index else ids.index[0]
    ), identity=0.71234567, coverage=1.0).to_csv("clusters.tsv", sep="\t")  # fmt: skip
    assert run_command_line([*WORDS, *CLUSTERED, "--families", "families.tsv"]) == 0
    found = read("labels.tsv").set_index("id").loc[wrong_labels[0]]
    assert (found.relatives_same, found.relatives_other) == (0, 3)
    assert (found.nearest_relative, found.identity) == (portals[0], 0.712345)
    assert found.why.endswith("3 of 3 relatives are Portal; two labels or more in its family")
    family = read("families.tsv").set_index("cluster").loc["one"]
    assert family.labels == "Portal 3; Collar 1"
    assert (family.rarest_label, family.rarest_ids) == ("Collar", wrong_labels[0])
    assert ", listed in families.tsv." in capsys.readouterr().err


def test_without_clusters_scores_alone_are_asked_and_it_is_stated(
    wrong_labels: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(WORDS) == 0
    found = read("labels.tsv")
    assert set(wrong_labels) <= set(found.id)
    assert found.nearest_relative.isna().all()
    assert "No protein has a known relative" in capsys.readouterr().err


def test_a_table_of_top_scores_alone_is_searched(inside: Path) -> None:
    rows = [f"p{n},{'tail' if n % 3 else 'head'},{5 + n % 5}" for n in range(60)]
    Path("top.csv").write_text("\n".join(["id,pred,score", *rows]) + "\n")
    labels = [f"p{n}\t{'tail' if n % 3 and n != 4 else 'head'}" for n in range(60)]
    Path("l.tsv").write_text("\n".join(["id\ttrue_class", *labels]) + "\n")
    spec = '{"columns": {"id": "id", "predicted_class": "pred", "score": "score"}, "scale": 10}'
    words = ["labels", "top.csv", "--format", "top-score", "--spec", spec, "--labels", "l.tsv"]
    assert run_command_line([*words, "--error", "1", "--out", "top.tsv"]) == 0
    found = read("top.tsv")
    assert (found.id[0], found.label[0], found.suggested_class[0]) == ("p4", "head", "tail")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"true_class": "head"},
            "one.csv: all labels are 'head', so no label can be doubtful. Give labelled "
            "proteins of two classes or more.\n",
        ),
        (
            {"cluster": "c"},
            "one.csv: all proteins are in the cluster 'c', and none is left to learn from. Give "
            "labelled proteins of other families too.\n",
        ),
        (
            {"labels": None},
            "one.csv: the table has no true classes. Give labels: a table of id and label, or a "
            "pattern for FASTA headers.\n",
        ),
        (
            {"families": "one.tsv"},
            "one.tsv: this file is another output too. Choose another --out.\n",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str | None], message: str
) -> None:
    ids = [f"p{n}" for n in range(6)]
    pd.DataFrame({"id": ids, "head": 0.7, "tail": 0.3}).to_csv("one.csv", index=False)
    truth = [change.get("true_class", one) for one in ["head", "tail"] * 3]
    pd.DataFrame({"id": ids, "true_class": truth}).to_csv("l.tsv", sep="\t", index=False)
    clusters = [change.get("cluster", id_) for id_ in ids]
    pd.DataFrame({"id": ids, "cluster": clusters}).to_csv("c.tsv", sep="\t", index=False)
    words = [
        "labels",
        "one.csv",
        "--format",
        "wide",
        "--spec",
        '{"columns": {"id": "id"}, "scale": 1}',
    ]
    words += [] if "labels" in change else ["--labels", "l.tsv"]
    words += ["--clusters", "c.tsv", "--out", "one.tsv"]
    words += ["--families", change["families"]] if change.get("families") else []
    assert refused(capsys, *words) == message
    assert not Path("one.tsv").exists()


def test_the_page_shows_the_first_doubtful_labels_and_how_sure_the_list_is(
    wrong_labels: list[str], small: Findings
) -> None:
    assert run_command_line([*WORDS, *CLUSTERED, "--record", "labels.json"]) == 0
    write_record(Path("findings.json"), small)
    words = ["--labels", "labels.json", "--out", "page/index.html", "--findings", "all.json"]
    assert run_command_line(["report", "findings.json", *words]) == 0
    found = read_record(Findings, Path("all.json"), "").labels
    assert found is not None
    table = read("labels.tsv")
    assert (found.n, found.n_listed) == (len(read("clusters.tsv")), len(table))
    assert [one.id for one in found.first] == table.id[:10].tolist()
    page = Path("page/index.html").read_text("utf-8")
    assert "Doubtful labels" in page and "Are labels wrong?" not in page
    assert table.why[0] in page and "labels.tsv" in page


def test_a_page_of_a_run_that_did_not_look_has_no_part_of_labels(small: Findings) -> None:
    assert "oubtful labels" not in render(small)
