"""Ids that two tables of a set have: found by hashes, told by the ids themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from credence.predictions import Strings
from credence.problems import InputError, Problem, gathering
from credence.tables import joining
from credence.tables.formats import TableSpec
from credence.tables.joining import stream_tables, take_census
from refusals import refusal

FIRST_LINE = 2
N_SEEDS = 60
N_HASHES = 5  # so few that most are of two ids


def hashes_of(ids: Strings) -> NDArray[np.uint64]:
    every = [sum(map(ord, name)) % N_HASHES for name in ids]
    return np.array(every, dtype=np.uint64) << np.uint64(60)


def some_tables(seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    names = ["".join(rng.choice(list("abcd"), 2)) for _ in range(rng.integers(6, 16))]
    return [list(dict.fromkeys(part)) for part in (names[:2], names[2:5], names[5:])]


def test_every_id_of_an_earlier_table_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "keys_of", hashes_of)
    monkeypatch.setattr(joining, "CLASHES_AT_ONCE", N_HASHES)
    spec, n_refused = TableSpec(format="wide", scale=10.0), 0
    for seed in range(N_SEEDS):
        earlier: dict[str, Path] = {}
        expected, paths = set(), []
        for number, ids in enumerate(some_tables(seed)):
            paths.append(tmp_path / f"{seed}_{number}.csv")
            paths[-1].write_text("id,A,B\n" + "".join(f"{id_},7.0,3.0\n" for id_ in ids))
            for line, name in enumerate(ids, FIRST_LINE):
                if earlier.setdefault(name, paths[-1]) != paths[-1]:
                    expected.add(
                        f"{paths[-1]}, line {line}: the id {name!r} is in {earlier[name]} "
                        "already. Give each protein its own id, or remove one of the rows."
                    )
        found: list[Problem] = []
        with gathering(found):
            take_census([str(path) for path in paths], spec)
        assert {str(one) for one in found} == expected
        n_refused += bool(expected)
    assert 0 < n_refused < N_SEEDS  # both happen


@pytest.mark.parametrize("at_once", [1, 3])
def test_hashes_are_looked_at_some_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(joining, "keys_of", hashes_of)
    monkeypatch.setattr(joining, "CLASHES_AT_ONCE", at_once)
    for name, ids in (("a", "bcdef"), ("b", "ghijf")):
        text = "id,A,B\n" + "".join(f"{id_},7.0,3.0\n" for id_ in ids)
        (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(InputError, match=r"b.csv, line 6: the id 'f' is in .*a.csv already"):
        take_census(
            [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")],
            TableSpec(format="wide", scale=10.0),
        )


def test_streams_and_censuses_refuse_alike(tmp_path: Path) -> None:
    paths = []
    for name, ids in (("a", "pq"), ("b", "rq")):
        rows = "".join(f"{id_},7.0,3.0\n" for id_ in ids)
        (tmp_path / f"{name}.csv").write_text(f"id,A,B\n{rows}")
        paths.append(str(tmp_path / f"{name}.csv"))
    spec = TableSpec(format="wide", scale=10.0)
    expected = (
        f"{paths[1]}, line 3: the id 'q' is in {paths[0]} already. "
        "Give each protein its own id, or remove one of the rows."
    )
    assert refusal(list, stream_tables(paths, spec)) == expected
    assert refusal(take_census, paths, spec) == expected
    for read in (stream_tables, take_census):
        stated = refusal(lambda read=read: list(read([paths[0], paths[0]], spec)))
        assert stated == f"{paths[0]}: this table is given twice. Name it once."


def test_a_census_of_several_tables_is_that_of_their_rows(tmp_path: Path) -> None:
    rows = ["p,7.0,3.0", "q,5.00,5.00", "r,1.0,9.0", "s,2.5,7.5"]
    texts = {"whole": rows, "a": rows[:2], "b": rows[2:]}
    for name, own in texts.items():
        (tmp_path / f"{name}.csv").write_text("id,A,B\n" + "".join(f"{row}\n" for row in own))
    spec = TableSpec(format="wide", scale=10.0)
    whole = take_census([str(tmp_path / "whole.csv")], spec)
    parts = take_census([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], spec)
    assert parts == whole
    assert (whole.n_predicted, whole.n_ties) == ((2, 2), 1)
    (tmp_path / "c.csv").write_text("id,A,C\nt,7.0,3.0\n")
    assert refusal(take_census, [str(tmp_path / "a.csv"), str(tmp_path / "c.csv")], spec) == (
        f"{tmp_path / 'c.csv'}: the classes: A, C here, A, B in {tmp_path / 'a.csv'}. "
        "Give tables of one classifier, read alike."
    )
