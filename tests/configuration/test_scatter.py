"""Into which jobs work is divided, and that it follows from the files alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from credence.app import configuration
from credence.app.configuration import RowShare, TableSet, judged_alone, shares

SPEC = {"format": "phanns", "columns": {}}


def use_set(folder: Path, sizes: dict[str, float], **spec: object) -> TableSet:
    """Return a use-set whose tables have sizes in megabytes; they take no room."""
    for name, size in sizes.items():
        with (folder / name).open("wb") as handle:
            handle.truncate(int(size * 1e6))
    return TableSet("use", tuple(str(folder / name) for name in sizes), {**SPEC, **spec})


@pytest.mark.parametrize(
    ("size", "n_jobs"), [(0.0, 1), (1400.0, 1), (1600.0, 2), (10_000.0, 10), (100_000.0, 100)]
)
def test_a_table_is_one_job_a_gigabyte(tmp_path: Path, size: float, n_jobs: int) -> None:
    entry = use_set(tmp_path, {"use.csv": size})
    found = shares(entry, None)
    assert len(found) == n_jobs
    parts = [None] if n_jobs == 1 else [f"{k}/{n_jobs}" for k in range(1, n_jobs + 1)]
    assert found == tuple(RowShare(entry.scores, part) for part in parts)


def test_a_packed_table_counts_as_it_will_be_unpacked(tmp_path: Path) -> None:
    assert len(shares(use_set(tmp_path, {"use.csv.gz": 1000}), None)) == 6


def test_what_is_stated_counts_and_nothing_else(tmp_path: Path) -> None:
    entry = use_set(tmp_path, {"use.csv": 10_000})
    assert shares(entry, 1) == (RowShare(entry.scores),)
    assert [share.part for share in shares(entry, 3)] == ["1/3", "2/3", "3/3"]


def test_several_tables_are_kept_whole_in_their_order(tmp_path: Path) -> None:
    entry = use_set(tmp_path, {"a.csv": 900, "b.csv": 900, "c.csv": 100, "d.csv": 2000})
    names = [[Path(path).name for path in share.tables] for share in shares(entry, None)]
    assert names == [["a.csv"], ["b.csv", "c.csv"], ["d.csv"]]
    assert [share.part for share in shares(entry, None)] == ["1/3", "2/3", "3/3"]
    many = use_set(tmp_path, {f"{number}.csv": 1 for number in range(100)})
    assert len(shares(many, None)) == 1
    assert [len(share.tables) for share in shares(many, 4)] == [25, 25, 25, 25]
    assert sum((share.tables for share in shares(many, 7)), ()) == many.scores


def test_tables_that_are_not_there_yet_are_one_job(tmp_path: Path) -> None:
    absent = TableSet("use", ("absent.csv", "other.csv"), SPEC)
    assert shares(absent, None) == (RowShare(("absent.csv", "other.csv")),)
    assert [share.tables for share in shares(absent, 2)] == [("absent.csv",), ("other.csv",)]


def test_networks_are_one_job_since_each_would_read_all(tmp_path: Path) -> None:
    arrays = use_set(tmp_path, {"use.npz": 5000}, format="networks-npz")
    named = use_set(tmp_path, {"use.csv": 5000}, format="wide", columns={"network": "net"})
    assert len(shares(arrays, None)) == len(shares(named, None)) == 1


def settings_of(
    tmp_path: Path,
    megabytes: float,
    compare: tuple[str, ...] = ("kernel", "trees", "tswa -> auto"),
    folds: int = 4,
    **scatter: object,
) -> configuration.Configuration:
    entry = use_set(tmp_path, {"scores.csv": megabytes})
    values = {
        "run": "mylab",
        "calibration_set": {"scores": entry.scores[0], "format": "phanns-labelled"},
        "calibration": {"method": "kernel", "compare": list(compare)},
        "scatter": scatter,
        "evaluation": {"folds": folds},
    }
    return configuration.from_mapping(values, "config.yaml")


def test_slow_methods_are_judged_alone_on_large_sets(tmp_path: Path) -> None:
    assert judged_alone(settings_of(tmp_path, 0.9)) == ()
    assert judged_alone(settings_of(tmp_path, 1.1)) == ("trees", "tswa -> auto")
    assert judged_alone(settings_of(tmp_path, 1.1, evaluate="none")) == ()
    every = judged_alone(settings_of(tmp_path, 0.0, evaluate="every"))
    assert every == ("kernel", "trees", "tswa -> auto")


def test_what_a_fit_holds_out_is_not_found_again(tmp_path: Path) -> None:
    methods = ("kernel", "trees", "auto", "matrix", "tswa")
    every = judged_alone(settings_of(tmp_path, 1.1, methods, folds=5, evaluate="every"))
    assert every == ("matrix", "tswa")  # a fit says nothing of all their classes


def test_one_slow_method_stays_with_the_rest(tmp_path: Path) -> None:
    # Judged apart it is nearly all of the work still, and two starts come on top.
    assert judged_alone(settings_of(tmp_path, 1.1, ("kernel", "trees"))) == ()
    every = judged_alone(settings_of(tmp_path, 1.1, ("kernel", "trees"), evaluate="every"))
    assert every == ("kernel", "trees")


def test_the_page_does_not_say_how_work_was_divided(tmp_path: Path) -> None:
    one = settings_of(tmp_path, 0.1, annotate=1, evaluate="none")
    other = settings_of(tmp_path, 0.1, annotate=9, evaluate="every")
    assert one.report_json == other.report_json
    changed = replace(other, values={**other.values, "title": "Another"})
    assert changed.report_json != one.report_json
