"""CD-HIT's cluster files, those of PhANNs' patched version too.

A line names a member: ``0	340aa, >id... *`` or ``1	98aa, >id... at 92.86%``,
with the place of the alignment before the share in some versions, and with the
whole description instead of the id in others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from credence.predictions import Strings
from credence.problems import InputError, Problem

MEMBER = re.compile(r"\d+\s+(\d+)(?:aa|nt), >(.*)\.\.\. (\*|at .*)$")
REMEDY = "Give the .clstr file as cd-hit wrote it."


def parse_clstr(
    lines: Iterable[str], where: str, whole_header: bool = False
) -> tuple[Strings, Strings]:
    r"""Return ids and the representative of each.

    Parameters
    ----------
    lines : iterable of str
        Of the file.
    where : str
        Its name, for messages.
    whole_header : bool
        Whether the whole description is the id, or its first word.

    Examples
    --------
    >>> lines = [">Cluster 0", "0\t9aa, >a x... *", "1\t8aa, >b... at 1:8:1:8/87.50%"]
    >>> [column.tolist() for column in parse_clstr(lines, "x.clstr")]
    [['a', 'b'], ['a', 'a']]
    """
    problems: list[Problem] = []
    ids: list[str] = []
    cluster: list[int] = []
    stands: dict[int, str] = {}
    starts: list[int] = []
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        if text.startswith(">Cluster"):
            starts.append(number)
        elif text.strip():
            member = MEMBER.match(text)
            if member is None or not starts:
                problems.append(Problem(where, f"{text!r} is no member.", REMEDY, number))
                continue
            id_ = member.group(2) if whole_header else member.group(2).split(maxsplit=1)[0]
            ids.append(id_)
            cluster.append(len(starts) - 1)
            if member.group(3) == "*":
                stands[len(starts) - 1] = id_
    problems += [
        Problem(where, "the cluster has no representative (*).", REMEDY, line)
        for at, line in enumerate(starts)
        if at not in stands
    ]
    for repeated in _repeated(ids):
        problems.append(
            Problem(where, f"{repeated!r} is in it twice.", "Match by full header, or rename it.")
        )
    if not ids and not problems:
        problems.append(Problem(where, "it holds no cluster.", REMEDY))
    if problems:
        raise InputError(problems)
    names = np.empty(len(ids), dtype=object)
    names[:] = ids
    home = np.empty(len(ids), dtype=object)
    home[:] = [stands[at] for at in cluster]
    return names, home


def _repeated(ids: list[str]) -> list[str]:
    return sorted(id_ for id_, count in Counter(ids).items() if count > 1)
