"""Ids that two tables of a set have: found by hashes, told by the ids themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from credence.problems import InputError
from credence.tables import scan
from credence.tables.formats import TableSpec
from credence.tables.joining import stream_tables, take_census
from credence.tables.scan import KnownIds

FIRST_LINE = 2
N_SEEDS = 200
N_HASHES = 5  # so few that most are of two ids


def add(known: KnownIds, where: str, ids: list[str], hashes: list[int]) -> None:
    def again() -> Iterator[tuple[int, str]]:
        yield from enumerate(ids, FIRST_LINE)

    known.add(where, np.array(hashes, dtype=np.int64), again)


def hash_of(name: str) -> int:
    return sum(map(ord, name)) % N_HASHES


def some_tables(seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    names = ["".join(rng.choice(list("abcd"), 2)) for _ in range(rng.integers(2, 16))]
    bounds = np.sort(rng.integers(0, len(names) + 1, 3)).tolist()
    return [list(dict.fromkeys(names[a:b])) for a, b in pairwise([0, *bounds, len(names)])]


def test_the_first_table_with_an_id_of_an_earlier_one_is_refused() -> None:
    n_refused = sum(is_refused(some_tables(seed)) for seed in range(N_SEEDS))
    assert 0 < n_refused < N_SEEDS  # both happen


def is_refused(tables: list[list[str]]) -> bool:
    """Return whether tables were refused, after comparing with a look-up of texts."""
    known = KnownIds()
    earlier: dict[str, str] = {}
    for number, ids in enumerate(tables):
        where = f"{number}.tsv"
        twice = [
            (earlier[name], line, name)
            for line, name in enumerate(ids, FIRST_LINE)
            if name in earlier
        ]
        if twice:
            with pytest.raises(InputError) as refusal:
                add(known, where, ids, list(map(hash_of, ids)))
            assert {str(one) for one in refusal.value.problems} == {
                f"{where}, line {line}: the id {name!r} is in {other} already. "
                "Give each protein its own id, or remove one of the rows."
                for other, line, name in twice
            }
            return True
        add(known, where, ids, list(map(hash_of, ids)))
        earlier |= dict.fromkeys(ids, where)
    return False


def test_ids_are_looked_up_beyond_the_first_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BLOCK_ROWS", 2)
    known = KnownIds()
    add(known, "a.tsv", ["x"], [7])
    with pytest.raises(InputError, match=r"b.tsv, line 5: the id 'x' is in a.tsv already"):
        add(known, "b.tsv", ["p", "q", "r", "x"], [1, 2, 3, 7])


def test_streams_and_censuses_refuse_alike(tmp_path: Path) -> None:
    paths = []
    for name, ids in (("a", "pq"), ("b", "rq")):
        rows = "".join(f"{id_},7.0,3.0\n" for id_ in ids)
        (tmp_path / f"{name}.csv").write_text(f"id,A,B\n{rows}")
        paths.append(str(tmp_path / f"{name}.csv"))
    spec = TableSpec("wide", scale=10.0)
    expected = (
        f"{paths[1]}, line 3: the id 'q' is in {paths[0]} already. "
        "Give each protein its own id, or remove one of the rows."
    )
    with pytest.raises(InputError) as refusal:
        list(stream_tables(paths, spec))
    assert str(refusal.value) == expected
    with pytest.raises(InputError) as refusal:
        take_census(paths, spec)
    assert str(refusal.value) == expected
    for read in (stream_tables, take_census):
        with pytest.raises(InputError) as refusal:
            list(read([paths[0], paths[0]], spec))  # type: ignore[call-overload]
        assert str(refusal.value) == f"{paths[0]}: this table is given twice. Name it once."


def test_a_census_of_several_tables_is_that_of_their_rows(tmp_path: Path) -> None:
    rows = ["p,7.0,3.0", "q,5.00,5.00", "r,1.0,9.0", "s,2.5,7.5"]
    texts = {"whole": rows, "a": rows[:2], "b": rows[2:]}
    for name, own in texts.items():
        (tmp_path / f"{name}.csv").write_text("id,A,B\n" + "".join(f"{row}\n" for row in own))
    spec = TableSpec("wide", scale=10.0)
    whole = take_census([str(tmp_path / "whole.csv")], spec)
    parts = take_census([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], spec)
    assert parts == whole
    assert (whole.n_predicted, whole.n_ties) == ((2, 2), 1)
    (tmp_path / "c.csv").write_text("id,A,C\nt,7.0,3.0\n")
    with pytest.raises(InputError) as refusal:
        take_census([str(tmp_path / "a.csv"), str(tmp_path / "c.csv")], spec)
    assert str(refusal.value) == (
        f"{tmp_path / 'c.csv'}: the classes: A, C here, A, B in {tmp_path / 'a.csv'}. "
        "Give tables of one classifier, read alike."
    )
