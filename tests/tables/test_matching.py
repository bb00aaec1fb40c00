from __future__ import annotations

import numpy as np

from credence.tables.joining import match_rows
from refusals import refusal

TABLE = np.array(["a", "b", "c"], dtype=object)


def test_rows_are_found_by_id_whatever_their_order() -> None:
    wanted = np.array(["c", "a"], dtype=object)
    assert match_rows(wanted, TABLE, wanted_in="s.csv", table_in="c.tsv").tolist() == [2, 0]


def test_ids_without_a_row_are_all_named() -> None:
    wanted = np.array(["x", "a", "y"], dtype=object)
    assert refusal(match_rows, wanted, TABLE, wanted_in="s.csv", table_in="c.tsv").split("\n") == [
        "c.tsv: there is no row for 'x' of s.csv. Add it.",
        "c.tsv: there is no row for 'y' of s.csv. Add it.",
    ]


def test_a_table_of_other_proteins_is_told_in_one_line() -> None:
    wanted = np.array(["x", "y"], dtype=object)
    assert refusal(match_rows, wanted, TABLE, wanted_in="s.fasta", table_in="c.tsv") == (
        "c.tsv: there is no row for any of the 2 proteins of s.fasta. "
        "Make it anew with s.fasta, or check that ids are alike."
    )
