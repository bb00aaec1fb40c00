"""Whether every call of a genome is right: tables, refusals, and numbers by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from credence.app import run_command_line
from credence.lists.genomes import fitted_errors, genomes_of
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut, step_of
from refusals import refused

WORDS = ["--calibration", "k.json", "--out", "genomes.tsv"]


@pytest.fixture(scope="module")
def annotated(world: Path, calibration: Path) -> Path:
    use = pd.read_csv(world / "demo" / "my_phages.csv", dtype=str)
    use.insert(1, "phage", [f"phage {row // 8}" for row in range(len(use))])
    use.rename(columns={"Unnamed: 0": ""}).to_csv(world / "phages.csv", index=False)
    words = [
        "annotate",
        "--shift",
        "none",
        "phages.csv",
        "--spec",
        '{"format": "phanns", "genome": "phage"}',
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(world)
        words += ["--calibration", "k.json", "--out", "conf.tsv"]
        assert run_command_line(words) == 0
    return world


def test_a_column_of_genomes_is_kept_and_each_genome_has_a_row(
    annotated: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["genomes", "conf.tsv", *WORDS, "--record", "g.json"]) == 0
    conf, found = (pd.read_csv(name, sep="\t") for name in ("conf.tsv", "genomes.tsv"))
    calls = conf[conf.confidence.notna() & (conf.predicted_class != "Other")]
    for word in ("accept", "insufficient data"):
        n_such = (calls.decision == word).groupby(calls.genome).sum()
        assert found.set_index("genome")[word.replace(" ", "_")].to_dict() == n_such.to_dict()
    calls = calls.groupby("genome").size()
    assert found.set_index("genome").calls.to_dict() == calls.to_dict()
    assert (found["wrong_lower"] <= found["wrong_upper"]).all()
    assert found["all_right"].between(found["all_right_lower"], found["all_right_upper"]).all()
    # Of independent calls no genome is likelier all right than by the mean number of wrong ones.
    assert (found["all_right"] <= np.exp(-found["expected_wrong"]) + 1e-6).all()
    shown = capsys.readouterr().err
    assert "every call is right.\ngenomes.tsv: relatives among the calls are not known" in shown
    summary = json.loads(Path("g.json").read_text())
    assert (summary["n"], summary["n_calls"]) == (len(found), found.calls.sum())
    assert summary["expected_right"] == pytest.approx(found["all_right"].sum(), abs=1e-4)


def test_a_table_of_genomes_gives_the_same_and_rows_in_any_order_too(
    annotated: Path, inside: Path
) -> None:
    conf = pd.read_csv("conf.tsv", sep="\t", dtype=str, keep_default_na=False)
    conf[["id", "genome"]].to_csv("of.tsv", sep="\t", index=False)
    bare = conf.drop(columns="genome").iloc[::-1]
    bare.to_csv("bare.tsv", sep="\t", index=False)
    assert run_command_line(["genomes", "conf.tsv", *WORDS]) == 0
    first = Path("genomes.tsv").read_bytes()
    assert run_command_line(["genomes", "bare.tsv", "--genomes", "of.tsv", *WORDS]) == 0
    assert Path("genomes.tsv").read_bytes() == first


def test_a_protein_of_no_genome_is_left_out_and_blanks_make_no_other(
    annotated: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv("phages.csv", dtype=str, keep_default_na=False)
    table.loc[[0, 9], "phage"] = ["", "phage 1 "]
    table.rename(columns={"Unnamed: 0": ""}).to_csv("gaps.csv", index=False)
    words = [
        "annotate",
        "--shift",
        "none",
        "gaps.csv",
        "--spec",
        '{"format": "phanns", "genome": "phage"}',
    ]
    assert run_command_line([*words, "--calibration", "k.json", "--out", "gaps.tsv"]) == 0
    conf = pd.read_csv("gaps.tsv", sep="\t", dtype=str, keep_default_na=False)
    assert conf.genome.tolist()[:2] == ["", "phage 0"]
    capsys.readouterr()
    assert run_command_line(["genomes", "gaps.tsv", *WORDS]) == 0
    assert "genomes.tsv: 1 calls of no known genome are left out." in capsys.readouterr().err
    first = Path("genomes.tsv").read_bytes()
    found = pd.read_csv("genomes.tsv", sep="\t")
    assert found.genome.tolist() == [f"phage {number}" for number in range(5)]
    conf.loc[9, "genome"] = " phage 1"
    conf[["id", "genome"]].to_csv("of.tsv", sep="\t", index=False)
    assert run_command_line(["genomes", "gaps.tsv", "--genomes", "of.tsv", *WORDS]) == 0
    assert Path("genomes.tsv").read_bytes() == first


def test_calls_of_named_classes_alone_count(annotated: Path, inside: Path) -> None:
    words = ["genomes", "conf.tsv", *WORDS, "--calls", "Portal", "--calls", "HTJ"]
    assert run_command_line(words) == 0
    conf, found = (pd.read_csv(name, sep="\t") for name in ("conf.tsv", "genomes.tsv"))
    wanted = conf[conf.predicted_class.isin(["Portal", "HTJ"]) & conf.confidence.notna()]
    assert found.calls.sum() == len(wanted)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["conf.tsv", "--calls", "Portl"], "--calls: 'Portl' is no class that is known here."),
        (
            ["empty.tsv"],
            "empty.tsv, column 'genome': none of the predictions that count belongs to a genome "
            "here. "
            "Annotate with --spec",
        ),
        (["none.tsv"], "none.tsv, line 1, column 'genome': the genomes of the proteins are not"),
        (
            ["none.tsv", "--genomes", "strange.tsv"],
            "strange.tsv, column 'genome': none of the predictions that count belongs to a genome "
            "here. "
            "Correct its ids.",
        ),
        (["none.tsv", "--genomes", "conf.tsv", "--shift", "conf.tsv"], "conf.tsv"),
    ],
)
def test_what_names_no_genome_or_class_is_refused(
    annotated: Path,
    inside: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    conf = pd.read_csv("conf.tsv", sep="\t", dtype=str, keep_default_na=False)
    conf.drop(columns="genome").to_csv("none.tsv", sep="\t", index=False)
    conf.assign(genome="").to_csv("empty.tsv", sep="\t", index=False)
    Path("strange.tsv").write_text("id\tgenome\nnobody\tphage\n")
    Path("genomes.tsv").unlink(missing_ok=True)
    assert message in refused(capsys, "genomes", *words, *WORDS)
    assert not Path("genomes.tsv").exists()


@pytest.mark.parametrize("command", ["genomes", "list", "plan"])
def test_a_table_without_rows_and_clusters_of_others_are_refused(
    annotated: Path, inside: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.tsv").write_text(Path("conf.tsv").read_text().split("\n")[0] + "\n")
    Path("others.tsv").write_text("id\tcluster\nnobody\tc1\n")
    further = {"list": ["--error", "0.1"], "plan": ["--number", "3"]}.get(command, [])
    words = [*WORDS, *further]
    assert refused(capsys, command, "empty.tsv", *words) == (
        "empty.tsv: the table has a header and no rows. Give a table with rows.\n"
    )
    shown = refused(capsys, command, "conf.tsv", "--clusters", "others.tsv", *words)
    assert shown.splitlines()[-1] == (
        "others.tsv: there is no row for any of the proteins of conf.tsv. "
        "Give the clusters of these proteins."
    )


def held(n: int, family_of: int) -> HeldOut:
    """Return held-out proteins of confidence 0.8, of which each fifth family is wrong."""
    cluster = np.arange(n) // family_of
    is_wrong = (cluster % 5 == 0).astype(np.int64)
    step = np.full(n, step_of(np.array([0.8]))[0])
    keys = np.arange(cluster.max() + 1).astype(np.uint64)
    return HeldOut(
        step=step,
        predicted=np.zeros(n, np.int64),
        true=is_wrong,
        weight=np.ones(n),
        cluster=cluster,
        key=keys,
    )


def test_independent_calls_multiply_and_relatives_that_are_alike_are_one() -> None:
    step = np.full(4, step_of(np.array([0.8]))[0])
    ids = np.array(["a", "b", "c", "d"], dtype=object)
    genome = np.array(["x", "x", "y", "y"], dtype=object)
    family = np.array(["1", "2", "3", "3"], dtype=object)
    found = genomes_of(held(2_000, 2), ids, step, genome, family, 0.95)
    assert found["all_right"].round(2).tolist() == [0.64, 0.8]  # 0.8 ** 2, and 0.8 as one
    assert found["expected_wrong"].round(2).tolist() == [0.4, 0.4]
    assert found["wrong_upper"].tolist() == [2.0, 2.0]
    alone = genomes_of(held(2_000, 1), ids, step, genome, family, 0.95)
    assert alone["all_right"].round(2).tolist() == [0.64, 0.64]  # relatives are not alike there


def test_a_genome_beside_it_changes_nothing() -> None:
    step = np.full(3, step_of(np.array([0.8]))[0])
    ids, genome = (np.array(list(text), dtype=object) for text in ("abc", "xyy"))
    both = genomes_of(held(200, 2), ids, step, genome, ids, 0.95)
    alone = genomes_of(held(200, 2), ids[1:], step[1:], genome[1:], ids[1:], 0.95)
    assert both["all_right_lower"][1] == alone["all_right_lower"][0]
    assert both["wrong_upper"][1] == alone["wrong_upper"][0]


def test_confidences_too_high_are_seen_and_without_evidence_they_stand() -> None:
    total = np.zeros((len(CONFIDENCE_STEPS), 1))
    at = step_of(np.array([0.9]))[0]
    assert fitted_errors(total, total, 1.0)[at, 0] == pytest.approx(0.0995, abs=1e-4)
    total[at] = 10_000.0
    assert fitted_errors(total, 0.3 * total, 1.0)[at, 0] == pytest.approx(0.3, abs=0.01)


def write_known_genomes(power: float, n_genomes: int = 150) -> None:
    """Write confidences of many genomes, and true classes right as often as confidence^power."""
    rng = np.random.default_rng(8)
    conf = pd.read_csv("conf.tsv", sep="\t", dtype=str, keep_default_na=False)
    conf = conf[(conf.confidence != "") & (conf.decision != "insufficient data")]
    number = np.repeat(np.arange(n_genomes), rng.integers(1, 6, n_genomes))
    made = conf.iloc[rng.choice(len(conf), size=len(number))].copy()
    made["genome"] = [f"phage {entry:03}" for entry in number]
    made["id"] = [f"made {row}" for row in range(len(made))]
    made.to_csv("many.tsv", sep="\t", index=False)
    chance = made.confidence.astype(float) ** power
    other = np.where(made.predicted_class == "Portal", "HTJ", "Portal")
    truth = np.where(rng.random(len(made)) < chance, made.predicted_class, other)
    labels = pd.DataFrame({"id": made.id, "true_class": truth})
    labels[number < n_genomes - 10].to_csv("truth.tsv", sep="\t", index=False)


LEARNING = ["many.tsv", *WORDS, "--labels", "truth.tsv", "--judged", "judged.tsv"]


def test_outcomes_learnt_from_known_genomes_are_judged_on_genomes_left_out(
    annotated: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_known_genomes(3.0)  # confidences promise too much
    assert run_command_line(["genomes", *LEARNING]) == 0
    shown = capsys.readouterr().err
    judged = pd.read_csv("judged.tsv", sep="\t", keep_default_na=False)
    assert judged.forecaster.tolist() == ["worked out", "logistic", "knn"] * 2
    assert judged.outcome.unique().tolist() == ["every call right", "every prediction right"]
    assert (
        "genomes.tsv: every call right: 59 genomes with known true classes, of 11 it is true. "
        "NLL of genomes left out: learnt 0.492, worked out 0.750: better (difference -0.257, "
        "-0.446 to -0.036). Go by what is learnt.\n"
    ) in shown
    error = judged.calibration_error.astype(float)
    assert error[0] > 0.3 and error[1] < 0.1  # of what is worked out, and of the regression
    found = pd.read_csv("genomes.tsv", sep="\t")
    learnt = found.all_right_learnt
    assert learnt.mean() < 0.3 < found.all_right.mean()
    truth = pd.read_csv("truth.tsv", sep="\t").set_index("id").true_class
    many = pd.read_csv("many.tsv", sep="\t")
    calls = many[many.predicted_class != "Other"]
    right = calls.id.map(truth).eq(calls.predicted_class).groupby(calls.genome).all()
    known = found.genome.isin(calls.genome[calls.id.isin(truth.index)])
    # The losses in judged.tsv are those of the numbers in genomes.tsv.
    came_true = found.genome[known].map(right)
    for column, place in (("all_right", 0), ("all_right_learnt", 1)):
        chance = np.where(came_true, found[column][known], 1.0 - found[column][known])
        assert -np.log(chance).mean() == pytest.approx(float(judged.nll[place]), abs=1e-4)


def test_where_confidences_hold_what_is_learnt_from_few_genomes_is_said_to_be_worse(
    annotated: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_known_genomes(1.0)
    assert run_command_line(["genomes", *LEARNING]) == 0
    assert (
        "genomes.tsv: every call right: 59 genomes with known true classes, of 29 it is true. "
        "NLL of genomes left out: learnt 0.843, worked out 0.665: worse (difference +0.178, "
        "+0.057 to +0.394). Go by what is worked out.\n"
    ) in capsys.readouterr().err


def test_a_genome_that_holds_a_calibration_protein_teaches_nothing(
    annotated: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_known_genomes(3.0)
    many = pd.read_csv("many.tsv", sep="\t", dtype=str, keep_default_na=False)
    is_call = (many.genome == "phage 000") & (many.predicted_class != "Other")
    is_call |= (many.genome == "phage 001") & (many.predicted_class != "Other")
    assert is_call.any()
    n_less = many.genome[is_call].nunique()
    many.loc[is_call, "note"] = "a calibration protein has this id"
    many.to_csv("many.tsv", sep="\t", index=False)
    assert run_command_line(["genomes", *LEARNING]) == 0
    assert f"every call right: {59 - n_less} genomes with known" in capsys.readouterr().err


def test_too_few_known_genomes_teach_nothing(
    annotated: Path, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_known_genomes(3.0, n_genomes=30)
    assert run_command_line(["genomes", *LEARNING]) == 0
    assert (
        "of 2 it is true; 10 of either kind are needed to learn from." in capsys.readouterr().err
    )
    found = pd.read_csv("genomes.tsv", sep="\t")
    assert found.all_right_learnt.isna().all() and found.all_right.notna().all()
    judged = pd.read_csv("judged.tsv", sep="\t")
    assert judged.verdict.tolist() == ["too few genomes"] * 2 and judged.nll.isna().all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["many.tsv", "--judged", "judged.tsv"],
            "--judged: nothing is learnt without --labels. Give --labels.",
        ),
        (
            ["many.tsv", "--labels", "strange.tsv"],
            "strange.tsv: it has the true class of no protein of a genome in many.tsv. Correct "
            "its ids.",
        ),
        (
            ["many.tsv", "--labels", "wrong.tsv"],
            "wrong.tsv, line 2, column 'true_class': there is no class 'Portl'. Did you mean "
            "'Portal'?",
        ),
        ([*LEARNING[:1], "--forecaster", "knnn"], "--forecaster: there is no forecaster 'knnn'."),
    ],
)
def test_labels_that_teach_nothing_are_refused(
    annotated: Path,
    inside: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_known_genomes(3.0, n_genomes=30)
    Path("strange.tsv").write_text("id\ttrue_class\nnobody\tPortal\n")
    Path("wrong.tsv").write_text("id\ttrue_class\nmade 1\tPortl\n")
    assert message in refused(capsys, "genomes", *words, *WORDS)


def test_the_order_of_rows_is_nothing_to_what_is_learnt(annotated: Path, inside: Path) -> None:
    write_known_genomes(3.0)
    assert run_command_line(["genomes", *LEARNING]) == 0
    first = [Path(name).read_bytes() for name in ("genomes.tsv", "judged.tsv")]
    for name in ("many.tsv", "truth.tsv"):
        pd.read_csv(name, sep="\t", dtype=str, keep_default_na=False).iloc[::-1].to_csv(
            name, sep="\t", index=False
        )
    assert run_command_line(["genomes", *LEARNING]) == 0
    assert [Path(name).read_bytes() for name in ("genomes.tsv", "judged.tsv")] == first
