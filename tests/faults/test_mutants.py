"""Which small faults the mutants are."""

from __future__ import annotations

import ast
from pathlib import Path

from faults.mutants import mutants_of

CODE = '''"""A module."""
FEW = 2


def bounds(lower: int = 1, *, upper: float) -> list[int]:
    """Return them, not 3 of them."""
    if not lower < 3 or upper == f"{FEW + 1}":
        return list(zip([], strict=True))[:-1]
    lower += FEW**2
    return max(upper, FEW)
'''
LINES = {
    2: ["FEW = (3)", "FEW = (1)"],
    5: [
        "def bounds(lower: int = (2), *, upper: float) -> list[int]:",
        "def bounds(lower: int = (0), *, upper: float) -> list[int]:",
    ],
    7: [
        'if not (upper) < 3 or upper == f"{FEW + 1}":',
        'if not lower < (4) or upper == f"{FEW + 1}":',
        'if not lower < (2) or upper == f"{FEW + 1}":',
        'if not (lower <= 3) or upper == f"{FEW + 1}":',
        'if not (lower > 3) or upper == f"{FEW + 1}":',
        'if (lower < 3) or upper == f"{FEW + 1}":',
        'if not lower < 3 or (lower) == f"{FEW + 1}":',
        "if not lower < 3 or (upper != f'{FEW + 1}'):",
        "if (not lower < 3 and upper == f'{FEW + 1}'):",
    ],
    8: [
        "return list(zip([], strict=True))[:-(2)]",
        "return list(zip([], strict=True))[:-(0)]",
        "return list(zip([], strict=True))[:(1)]",
        "return list(zip([], strict=True))[:]",
    ],
    9: [
        "(upper) += FEW**2",
        "lower += FEW**(3)",
        "lower += FEW**(1)",
        "lower += (FEW * 2)",
        "lower -= FEW ** 2",
    ],
    10: ["return (min)(upper, FEW)", "return max((lower), FEW)"],
}


def test_each_operator_number_name_and_end_is_changed_by_itself(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(CODE)
    found: dict[int, list[str]] = {}
    names = set()
    for mutant in mutants_of(tmp_path, "m.py"):
        text = CODE.encode()
        after = (text[: mutant.start] + mutant.new.encode() + text[mutant.end :]).decode()
        ast.parse(after)
        (number,) = mutant.lines
        found.setdefault(number, []).append(after.splitlines()[number - 1].strip())
        assert mutant.at_import == (number < 7)
        names.add(mutant.name)
    assert found == LINES
    assert len(names) == sum(map(len, LINES.values()))
    assert "m.bounds: lower < 3 -> lower <= 3" in names
