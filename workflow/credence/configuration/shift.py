"""Settings of label shift: one block for all use-sets, and one for each that differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credence.configuration.reading import Document, SettingPath
from credence.problems import Problem, nearest

STATED = "stated"
NONE = "none"


@dataclass(frozen=True)
class ShiftSettings:
    """How the composition of one use-set is found.

    Parameters
    ----------
    method : str
        A name of :mod:`credence.shift.registry`.
    composition : mapping of str to float, optional
        The shares that the user states.
    level : float
        Coverage of the intervals.
    draws : int
        Bootstrap draws.
    """

    method: str
    composition: Mapping[str, float] | None
    level: float
    draws: int

    @property
    def words(self) -> list[str]:
        """Options of ``credence shift``."""
        words = ["--estimator", self.method]
        if self.composition is not None:
            words += ["--stated", json.dumps(dict(self.composition), ensure_ascii=False)]
        return [*words, "--level", str(self.level), "--draws", str(self.draws)]


def shift_settings(values: Mapping[str, Any], own: Mapping[str, Any]) -> ShiftSettings:
    """Return the settings of one use-set: its own, else those of all, else calibration's.

    Parameters
    ----------
    values : mapping
        The configuration, defaults filled in.
    own : mapping
        What the use-set itself says.
    """
    calibration = values["calibration"]
    common = _completed(values["shift"])
    merged = {**common, **_completed(own)}
    if merged["method"] != STATED:  # shares stated for all sets, but not for this one
        merged["composition"] = None
    level, draws = merged["level"], merged["draws"]
    return ShiftSettings(
        merged["method"],
        merged["composition"],
        calibration["level"] if level is None else level,
        calibration["draws"] if draws is None else draws,
    )


def _completed(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block in which a composition says by itself that it is stated."""
    found = dict(block)
    if found.get("composition") is not None and found.get("method") in (None, "auto"):
        found["method"] = STATED
    return found


def shift_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the settings of label shift.

    Parameters
    ----------
    document : Document
        What the user wrote, whether or not it fits the schema.
    """
    common = document.data.get("shift")
    common = common if isinstance(common, dict) else {}
    yield from _block_problems(document, ("shift",), common, {})
    use_sets = document.data.get("use_sets")
    for position, entry in enumerate(use_sets if isinstance(use_sets, list) else []):
        own = entry.get("shift") if isinstance(entry, dict) else None
        if isinstance(own, dict):
            yield from _block_problems(document, ("use_sets", position, "shift"), own, common)


def class_problems(document: Document, class_names: Sequence[str]) -> Iterator[Problem]:
    """Yield the stated shares of classes that the tables do not have.

    Parameters
    ----------
    document : Document
        What the user wrote; it fits the schema.
    class_names : sequence of str
        The classifier's classes.
    """
    blocks: list[tuple[SettingPath, Any]] = [(("shift",), document.data.get("shift"))]
    for position, entry in enumerate(document.data.get("use_sets") or []):
        blocks.append((("use_sets", position, "shift"), entry.get("shift")))
    for path, block in blocks:
        for name in (block or {}).get("composition") or {}:
            if name not in class_names:
                yield document.problem(
                    (*path, "composition", name),
                    f"there is no class {name!r}.",
                    nearest(name, class_names),
                )


def _block_problems(
    document: Document, path: SettingPath, block: Mapping[str, Any], above: Mapping[str, Any]
) -> Iterator[Problem]:
    from credence.shift.registry import NAMES

    method, shares = block.get("method"), block.get("composition")
    if isinstance(method, str) and method not in NAMES:
        what = f"{method!r} is not an estimator of a composition."
        yield document.problem((*path, "method"), what, nearest(method, NAMES))
    elif method == STATED and shares is None and above.get("composition") is None:
        yield document.problem(
            (*path, "composition"),
            "no composition is stated.",
            "Give one, {class: share}, or another method.",
        )
    elif isinstance(method, str) and method not in (STATED, "auto") and shares is not None:
        yield document.problem(
            (*path, "composition"),
            f"a composition is stated, and the method is {method!r}.",
            "Write method: stated, or remove the composition.",
        )
    if isinstance(shares, dict):
        yield from _share_problems(document, (*path, "composition"), shares)


def _share_problems(
    document: Document, path: SettingPath, shares: Mapping[str, Any]
) -> Iterator[Problem]:
    from credence.shift.fixed import SUM_TOLERANCE

    numbers = [
        share
        for share in shares.values()
        if isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 1
    ]
    if len(numbers) < len(shares):
        return  # the schema says which
    total = sum(numbers)
    if abs(total - 1.0) > SUM_TOLERANCE:
        yield document.problem(
            path,
            f"the shares sum to {total:.4g}.",
            f"Give shares that sum to 1; up to {SUM_TOLERANCE:g} off, they are divided by "
            "their sum.",
        )
