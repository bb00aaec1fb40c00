"""``credence compare`` as a user calls it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from credence.app import run_command_line
from credence.findings import ReleaseStep
from credence.records import from_record, signed
from credence.report.release_words import change_sentence
from refusals import Stated, refused
from small_worlds import call_here

OUTPUTS = ("changes.tsv", "classes.parquet", "p.html", "r.json")


def write_outputs(old: Path, new: Path) -> str:
    """Compare two releases here; return what was said."""
    words = [f"--{name}" for name in ("out", "classes", "page", "record")]
    given = [word for pair in zip(words, OUTPUTS, strict=True) for word in pair]
    stated = call_here(Path(), "compare", str(old), str(new), *given)
    assert (stated.returncode, stated.stdout) == (0, "")
    return stated.stderr


@pytest.fixture(scope="module")
def compared(
    releases: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """Return a folder with all that a comparison of `old` and `new` writes, and what it says."""
    folder = tmp_path_factory.mktemp("compared")
    with chdir(folder):
        return folder, write_outputs(*releases)


@pytest.fixture
def copies(releases: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the releases `old` and `new`, as the working directory."""
    for source, name in zip(releases, ("old", "new"), strict=True):
        shutil.copytree(source, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_releases_give_tables_a_page_and_a_record(
    compared: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, stated = compared
    monkeypatch.chdir(folder)
    assert stated.startswith("htj adds 90 proteins to calibrate with: 500 before, 590 now.\n")
    assert stated.endswith("Wrote changes.tsv, classes.parquet, p.html, r.json.\n")
    table = pd.read_csv("changes.tsv", sep="\t")
    assert len(table) == 590 and (table["is_new"] == "yes").sum() == 90
    change = table["change"].abs()
    assert change.is_monotonic_decreasing and change.iloc[0] > 0.05
    assert ((table["after"] - table["before"]) - table["change"]).abs().max() < 1e-12
    classes = pd.read_parquet("classes.parquet").set_index("class")
    assert classes.index.tolist() == ["Portal", "Collar", "HTJ", "Other"]
    assert classes.loc["HTJ", "n_true_after"] == classes.loc["HTJ", "n_true_before"] + 90
    assert classes.loc["HTJ", "bandwidth_before"] > 0
    total = classes["confidence_evidence"] + classes["confidence_class_proportions"]
    assert (total - classes["confidence_total"]).abs().max() < 1e-12
    record = json.loads(Path("r.json").read_text())
    step = from_record(ReleaseStep, record, "r.json")
    assert signed(step) == record
    assert (step.n_compared, step.n_moved) == (590, (change >= 0.005).sum())
    counted = {entry.outcome: entry.n for entry in step.newer.outcomes if entry.n}
    assert counted == {"exact_repeat": 1, "added": 90}
    page = Path("p.html").read_text()
    assert "base → htj, 2026-01-01" in page
    (htj,) = [entry for entry in step.classes if entry.class_name == "HTJ"]  # it changed most
    assert change_sentence(htj, step.scale) in page
    for entry in step.classes:
        assert f">{entry.class_name}</" in page


@pytest.mark.long
def test_the_same_comparison_gives_the_same_bytes(
    compared: tuple[Path, str], copies: Path
) -> None:
    write_outputs(Path("old"), Path("new"))
    for name in OUTPUTS:
        assert (compared[0] / name).read_bytes() == (copies / name).read_bytes()


def test_what_a_fit_says_of_proteins_held_out_is_not_found_again(
    tmp_path: Path,
    chain_at: Callable[[Path], Any],
    sets: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Stated,
) -> None:
    monkeypatch.chdir(tmp_path)
    chain, base = chain_at(tmp_path), sets.draw(1, 160, "old")
    base = base.take(np.arange(160)[::-1])  # not in the order of the ids, as the file is
    old = chain.write(base, "base", method="isotonic")
    new = chain.write(sets.joined(base, sets.draw(2, 40, "new")), "more", 1, old, "isotonic")
    least = f"{sets.options.min_positives:g}"
    fit = ["fit", f"{old}/samples.parquet", "--format", "credence", "--scale", "10", "--method"]
    words_of_set = ["--groups", f"{old}/groups.tsv", "--min-positives", least]
    words = ["isotonic", *words_of_set, "--resamples", "0"]
    assert run_command_line([*fit, *words, "--held-out", "h.json", "--out", "c.json"]) == 0
    pair = ["compare", str(old), str(new)]
    steps = []
    for given in ([], ["--held-out", "h.json"]):
        assert run_command_line([*pair, *given, "--record", "r.json"]) == 0
        steps.append(from_record(ReleaseStep, read(Path("r.json")), "r.json"))
    one, other = steps
    assert one.drift is not None
    assert other.drift is not None
    both = [(one.metrics, other.metrics), (one.drift.classes, other.drift.classes)]
    for first, second in both:
        assert len(first) == len(second) > 0
        for left, right in zip(first, second, strict=True):
            for name, value in vars(left).items():
                if isinstance(value, float):
                    assert vars(right)[name] == pytest.approx(value, rel=1e-9, nan_ok=True)
    capsys.readouterr()
    words = ["compare", str(new), str(old), "--held-out", "h.json", "--record", "x.json"]
    assert run_command_line(words) == 2
    assert "h.json: it is of other proteins" in capsys.readouterr().err
    words_of_set = ["isotonic", "--groups", f"{old}/groups.tsv", "--min-positives", "7"]
    out = ["--resamples", "0", "--held-out", "seven.json", "--out", "s.json"]
    assert run_command_line([*fit, *words_of_set, *out]) == 0
    capsys.readouterr()
    assert run_command_line([*pair, "--held-out", "seven.json", "--record", "x.json"]) == 2
    what = f"seven.json: min_positives is 7 in it, and {least} here. Fit the method again: "
    what += f"credence fit --held-out --min-positives {least}.\n"
    assert capsys.readouterr().err.startswith(what)


def read(path: Path) -> dict[str, object]:
    record: dict[str, object] = json.loads(path.read_text())
    return record


@pytest.mark.long
def test_a_release_against_itself_changes_nothing(copies: Path, capsys: Stated) -> None:
    assert run_command_line(["compare", "old", "old/release.json", "--out", "c.tsv"]) == 0
    stated = capsys.readouterr().err
    assert stated.startswith("base changes nothing: no protein was added.\n")
    assert (pd.read_csv("c.tsv", sep="\t")["change"] == 0).all()


def test_two_calibration_files_have_counts_and_bandwidths(copies: Path, capsys: Stated) -> None:
    files = [f"{name}/calibrations/chosen.json" for name in ("old", "new")]
    words = ["--classes", "c.tsv", "--page", "p.html", "--record", "r.json"]
    assert run_command_line(["compare", *files, *words]) == 0
    table = pd.read_csv("c.tsv", sep="\t").set_index("class")
    # How many proteins are in a class is not known without them, which is not none at all.
    assert table[["n_true_before", "n_true_after"]].isna().all(axis=None)
    assert run_command_line(["compare", *files, "--classes", "c.parquet"]) == 0
    assert pd.read_parquet("c.parquet")["n_true_after"].dtype == np.float64
    record = json.loads(Path("r.json").read_text())
    assert {str(entry["n_true"]) for entry in record["classes"]} == {"[None, None]"}
    assert signed(from_record(ReleaseStep, record, "r.json")) == record
    assert table.loc["HTJ", "n_predicted_after"] > table.loc["HTJ", "n_predicted_before"]
    assert table["bandwidth_after"].notna().all() and table["confidence_total"].isna().all()
    page = Path("p.html").read_text()
    assert "Classes that chosen.json touched: confidence of kernel before and now." in page


def test_a_table_says_whose_confidences_are_compared(copies: Path, capsys: Stated) -> None:
    files = [f"{name}/calibrations/chosen.json" for name in ("old", "new")]
    Path("use.tsv").write_text("id\tPortal\tCollar\tHTJ\tOther\nq1\t1\t1\t7\t1\nq2\t9\t1\t0\t0\n")
    words = ["--table", "use.tsv", "--format", "credence", "--spec", '{"scale": 10}']
    assert run_command_line(["compare", *files, *words, "--out", "c.tsv"]) == 0
    table = pd.read_csv("c.tsv", sep="\t")
    assert sorted(table["id"]) == ["q1", "q2"]
    assert table.set_index("id").loc["q1", "change"] > 0


def test_published_releases_without_proteins_are_enough_for_a_page(
    copies: Path, capsys: Stated
) -> None:
    for name in ("old", "new"):
        folder = Path(name)
        (folder / "calibrations" / "chosen.json").rename(folder / "calibration.json")
        (folder / "calibrations").rmdir()
        (folder / "samples.parquet").unlink()
    assert run_command_line(["compare", "old", "new", "--page", "p.html"]) == 0
    assert refused(capsys, "compare", "old", "new", "--out", "c.tsv") == (
        "new: there are no proteins here whose confidences could be compared. Give a score "
        "table with --table, or the release's folder in results/; --classes and --page need no "
        "proteins.\n"
    )
    assert not Path("c.tsv").exists()


def spoil(name: str, change: Callable[[str], str]) -> None:
    path = Path(name)
    path.write_text(change(path.read_text()))


def test_what_is_no_release_is_named(copies: Path, capsys: Stated) -> None:
    Path("empty").mkdir()
    assert refused(capsys, "compare", "empty", "missing", "--out", "c.tsv") == (
        "empty: this is no release: it has no release.json. Give a folder of "
        "results/<run>/releases or reports/<run>/releases.\n"
        "missing: there is no such file or folder. Give the folder of a release, or a "
        "calibration file.\n"
    )


def test_a_calibration_of_another_release_is_named(copies: Path, capsys: Stated) -> None:
    shutil.copy("new/calibrations/chosen.json", "old/calibrations/chosen.json")
    assert refused(capsys, "compare", "old", "new", "--out", "c.tsv") == (
        "old/calibrations/chosen.json: its digest is not that of release.json: it was changed, "
        "or is of another release. Derive the release again: credence run.\n"
    )


def test_proteins_that_were_changed_are_named(copies: Path, capsys: Stated) -> None:
    spoil("new/groups.tsv", lambda text: text.replace("\tcalibration\t", "\ttraining\t", 1))
    assert refused(capsys, "compare", "old", "new", "--out", "c.tsv") == (
        "new: samples.parquet and groups.tsv are not those of release.json: one of them was "
        "changed. Derive the release again: credence run.\n"
    )


def test_a_release_that_was_changed_is_named(copies: Path, capsys: Stated) -> None:
    spoil("new/release.json", lambda text: text.replace('"htj"', '"portal"'))
    assert refused(capsys, "compare", "old", "new", "--out", "c.tsv") == (
        "new/release.json: its digest does not fit its content: the file was changed after it "
        "was written. Derive the release again: credence run.\n"
    )


def test_a_release_of_a_newer_schema_is_named(copies: Path, capsys: Stated) -> None:
    spoil(
        "new/release.json", lambda text: text.replace("credence/release/1", "credence/release/2")
    )
    stated = refused(capsys, "compare", "old", "new", "--out", "c.tsv")
    assert stated.startswith(
        "new/release.json, column 'schema': 'credence/release/2' is not 'credence/release/1'"
    )


def test_a_release_that_names_no_calibration_is_told(copies: Path, capsys: Stated) -> None:
    record = json.loads(Path("new/release.json").read_text()) | {"calibrations": None}
    Path("new/release.json").write_text(json.dumps(record))
    assert refused(capsys, "compare", "old", "new", "--out", "c.tsv") == (
        "new/release.json, column 'calibrations': null is no value for it. "
        "Derive the release again: credence run.\n"
    )


@pytest.mark.long
def test_the_newer_release_may_come_first(copies: Path, capsys: Stated) -> None:
    assert run_command_line(["compare", "new", "old", "--record", "r.json"]) == 0
    assert capsys.readouterr().err.startswith(
        "base takes away 90 proteins to calibrate with: 590 before, 500 now.\n"
    )
    assert json.loads(Path("r.json").read_text())["drift"] is None


def test_calibrations_of_other_classes_are_named(
    copies: Path, capsys: Stated, chain_at: Callable[..., object]
) -> None:
    files = [f"{name}/calibrations/chosen.json" for name in ("old", "new")]
    from credence.tables.stage_files import checksum_of

    record = json.loads(Path(files[1]).read_text())
    record["class_names"] = ["Portal", "Collar", "HTJ", "Rest"]
    record["checksum"] = checksum_of(record)
    Path("other.json").write_text(json.dumps(record))
    assert refused(capsys, "compare", files[0], "other.json", "--page", "p.html") == (
        "other.json: its classes are 'Portal', 'Collar', 'HTJ', 'Rest'; in "
        "old/calibrations/chosen.json 'Portal', 'Collar', 'HTJ', 'Other'. Compare calibrations "
        "of one classifier.\n"
    )


def test_no_method_in_common_is_named(copies: Path, capsys: Stated) -> None:
    assert refused(capsys, "compare", "old", "new", "--method", "kernal", "--out", "c.tsv") == (
        "--method: 'kernal' is not in both. Did you mean 'kernel'?\n"
    )


def test_outputs_are_asked_for_and_do_not_overwrite(copies: Path, capsys: Stated) -> None:
    assert refused(capsys, "compare", "old", "new") == (
        "credence compare: nothing is to be written. "
        "Give --out, --classes, --page, --record or --json.\n"
    )
    assert refused(capsys, "compare", "old", "new", "--page", "x", "--record", "x") == (
        "x: two outputs are to be written here. Give each a name of its own.\n"
    )
    assert refused(capsys, "compare", "old", "new", "--out", "c.csv").startswith("c.csv: ")
