"""Rows of one table found in another by their ids."""

from __future__ import annotations

import numpy as np

from credence.predictions import Integers, Strings
from credence.problems import InputError, Problem, refuse


def match_rows(wanted: Strings, table: Strings, *, wanted_in: str, table_in: str) -> Integers:
    """Return the row of a table that each wanted id has there.

    Parameters
    ----------
    wanted : array of str
        Ids to be found.
    table : array of str
        Ids of the table, unique.
    wanted_in, table_in : str
        The files that they are from, as the user named them.
    """
    row_of = {id_: row for row, id_ in enumerate(table)}
    if len(wanted) > 1 and not any(id_ in row_of for id_ in wanted):
        what = f"there is no row for any of the {len(wanted)} proteins of {wanted_in}."
        raise refuse(
            table_in, what, f"Make it anew with {wanted_in}, or check that ids are alike."
        )
    problems = [
        Problem(table_in, f"there is no row for {id_!r} of {wanted_in}.", "Add it.")
        for id_ in wanted
        if id_ not in row_of
    ]
    if problems:
        raise InputError(problems)
    return np.array([row_of[id_] for id_ in wanted], dtype=np.int64)
