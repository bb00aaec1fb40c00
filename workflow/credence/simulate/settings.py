"""Settings of the demo world, and the check of what a user writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from credence.calibrators.protocol import SettingRule, setting, setting_rules
from credence.problems import InputError, Problem, nearest

MOST_SAMPLES = 100_000_000  # beyond it, ids alone fill the memory of any workstation


@dataclass(frozen=True)
class WorldSettings:
    """What a simulated world is made of; the seed fixes every byte of it.

    Parameters
    ----------
    n_calibration : int
        Labelled proteins that the classifier never saw.
    n_use : int
        Proteins of the use-set, whose composition differs.
    n_training : int
        Proteins of the classifier's training set (without the planted
        relatives of calibration proteins, which come on top).
    n_trove : int
        New HTJ proteins of the clean trove.
    n_defects : int
        Proteins of each planted defect in the second trove.
    n_training_relatives : int
        Calibration proteins that get a close relative in the training set.
    seed : int
        Seed of the world.
    family_tail : float
        Exponent of the family sizes: P(size = m) falls as m to minus this.
    largest_family : int
        Greatest size of a family.
    family_size : str
        ``heavy_tailed``, or ``single``: every protein a family of its own, so
        that all rows are independent.
    composition : str
        ``fixed``: exactly the stated share of every class, as a class-balanced
        split gives it; ``sampled``: families are drawn one by one and the
        shares vary with them, which is what a bootstrap over clusters assumes.
    """

    n_calibration: int = setting(
        4_680, "labelled proteins never seen in training", low=1, high=MOST_SAMPLES
    )
    n_use: int = setting(3_000, "proteins of the use-set", low=1, high=MOST_SAMPLES)
    n_training: int = setting(2_000, "proteins of the training set", low=0, high=MOST_SAMPLES)
    n_trove: int = setting(300, "new HTJ proteins of the clean trove", low=1, high=MOST_SAMPLES)
    n_defects: int = setting(20, "proteins of each defect in the second trove", low=0, high=10_000)
    n_training_relatives: int = setting(
        40, "calibration proteins with a planted relative in training", low=0, high=MOST_SAMPLES
    )
    seed: int = setting(1, "seed of the world", low=0, high=2**63 - 1)
    family_tail: float = setting(2.5, "exponent of the family sizes", low=1.2, high=10.0)
    largest_family: int = setting(300, "greatest size of a family", low=1, high=100_000)
    family_size: str = setting(
        "heavy_tailed", "sizes of families", choices=("heavy_tailed", "single")
    )
    composition: str = setting("fixed", "shares of the classes", choices=("fixed", "sampled"))


def world_settings(
    values: Mapping[str, Any],
    where: str,
    line_of: Callable[[str], int | None] = lambda _: None,
) -> WorldSettings:
    """Return the settings that a user wrote, or raise every problem found.

    Parameters
    ----------
    values : mapping
        Setting → value; absent ones keep their defaults.
    where : str
        The file or option they stand in.
    line_of : callable
        Gives the line on which a setting stands there.
    """
    rules = setting_rules(WorldSettings)
    problems = []
    for name, value in values.items():
        if name not in rules:
            what, remedy = f"the demo has no setting {name!r}.", nearest(name, list(rules))
        else:
            default, rule = rules[name]
            what, remedy = f"{value!r} is not allowed.", _remedy(value, default, rule)
        if remedy:
            problems.append(Problem(where, what, remedy, line_of(name), name))
    if problems:
        raise InputError(problems)
    return WorldSettings(**values)


def _remedy(value: Any, default: Any, rule: SettingRule) -> str:
    if rule.choices:
        return "" if value in rule.choices else f"Give {' or '.join(rule.choices)}."
    low, high = rule.low, rule.high
    whole = isinstance(default, int)
    # True is an int to Python, but no number to a user.
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    assert low is not None and high is not None
    if is_number and low <= value <= high:
        return ""
    return f"Give a {'whole number' if whole else 'number'} from {low} to {high}."
