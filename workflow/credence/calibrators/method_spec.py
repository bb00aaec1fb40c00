"""Method specifications as users write them: ``kernel(bandwidth=mon4)``.

A specification is the name of a method, with settings in brackets where they
differ from the defaults; two or more joined by ``->`` are a composition, the
first stage first.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.protocol import Calibrator, FitOptions, Method, Need
from credence.calibrators.two_steps import ComposedCalibrator
from credence.problems import InputError, Problem, nearest
from credence.settings import SettingRule, setting_rules

ARROW = "->"
STAGE = re.compile(r"\s*(?P<name>[A-Za-z_][\w]*)\s*(?:\((?P<settings>[^()]*)\))?\s*")


@dataclass(frozen=True)
class Stage:
    """One method with its settings."""

    method: Method  # The registry's entry
    settings: Any  # An instance of the method's settings

    @property
    def needs(self) -> Need:
        """What the method asks of the predictions."""
        return self.method.needs

    @property
    def gives_vector(self) -> bool:
        """Whether it gives a probability for every class."""
        return self.method.gives_vector

    @property
    def text(self) -> str:
        """The specification in its one canonical form."""
        changed = [
            f"{name}={getattr(self.settings, name)}"
            for name, (default, _) in setting_rules(self.method.settings).items()
            if getattr(self.settings, name) != default
        ]
        return self.method.name + (f"({', '.join(changed)})" if changed else "")

    def build(self, options: FitOptions) -> Calibrator:
        """Return the calibrator of this stage."""
        return self.method.build(self.settings, options)


@dataclass(frozen=True)
class TwoSteps:
    """Methods in a row, each calibrating what the one before it says."""

    stages: tuple[Stage, ...]  # Two or more; only the first may need the whole score vector

    @property
    def needs(self) -> Need:
        """What the composition asks of the predictions: its first stage's needs."""
        return self.stages[0].needs

    @property
    def gives_vector(self) -> bool:
        """Whether it gives a probability for every class: never."""
        return False

    @property
    def text(self) -> str:
        """The specification in its one canonical form."""
        return f" {ARROW} ".join(stage.text for stage in self.stages)

    def build(self, options: FitOptions) -> Calibrator:
        """Return the calibrator; only the last stage fits intervals."""
        before = self.stages[:-1]
        first = before[0] if len(before) == 1 else TwoSteps(before)
        quick = replace(options, n_draws=0)
        return ComposedCalibrator(self.text, first.build(quick), self.stages[-1].build(options))


Specification = Stage | TwoSteps


def parse_method(text: str, where: str, line: int | None = None) -> Specification:
    """Return the method or composition that a specification names.

    >>> parse_method("class_only->kernel( bandwidth = mon4 )", "--method").text
    'class_only -> kernel(bandwidth=mon4)'
    """
    stages: list[Stage] = []
    problems: list[Problem] = []
    for position, part in enumerate(text.split(ARROW)):
        try:
            stage = parse_stage(part, where, line)
        except InputError as error:
            problems.extend(error.problems)
            continue
        stages.append(stage)
        if position > 0 and stage.needs.is_vector:
            problems.append(_not_second(stage, where, line))
    if problems:
        raise InputError(problems)
    return stages[0] if len(stages) == 1 else TwoSteps(tuple(stages))


def _not_second(stage: Stage, where: str, line: int | None) -> Problem:
    able = [name for name, method in BY_NAME.items() if not method.needs.is_vector]
    return Problem(
        where,
        f"{stage.method.name!r} sees the whole score vector; a stage before it leaves one number.",
        f"Put it first, or write one of {', '.join(able)} there.",
        line,
    )


def parse_stage(text: str, where: str, line: int | None = None) -> Stage:
    """Return the method and settings that one stage of a specification names."""
    match = STAGE.fullmatch(text)
    if match is None:
        raise InputError(
            [
                Problem(
                    where,
                    f"{text!r} is not a method.",
                    "Write a name, with settings in brackets: kernel(bandwidth=mon4).",
                    line,
                )
            ]
        )
    name = match["name"]
    if name not in BY_NAME:
        raise InputError(
            [Problem(where, f"{name!r} is not a method.", nearest(name, list(BY_NAME)), line)]
        )
    method = BY_NAME[name]
    values, problems = _parse_settings(method, match["settings"] or "", where, line)
    if problems:
        raise InputError(problems)
    return Stage(method, method.settings(**values))


def _parse_settings(
    method: Method, text: str, where: str, line: int | None
) -> tuple[dict[str, Any], list[Problem]]:
    rules = setting_rules(method.settings)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for part in filter(str.strip, text.split(",")):
        name, equals, word = (piece.strip() for piece in part.partition("="))
        place = f"{method.name}.{name}"
        if not equals:
            what, remedy = f"{part.strip()!r} has no value.", "Write name=value."
        elif name not in rules:
            what = f"{method.name!r} has no setting {name!r}."
            remedy = nearest(name, list(rules)) if rules else "It has no settings."
        else:
            default, rule = rules[name]
            value, remedy = parse_value(word, default, rule)
            if not remedy:
                values[name] = value
                continue
            what = f"{word!r} is not allowed."
        problems.append(Problem(where, what, remedy, line, place))
    return values, problems


def parse_value(word: str, default: Any, rule: SettingRule) -> tuple[Any, str]:
    """Return the value of a setting, or a remedy that is not empty.

    >>> parse_value("mon4", "mon2", SettingRule("", ("mon2", "mon4"), low=0.0))
    ('mon4', '')
    >>> parse_value("-1", 1.0, SettingRule("", low=0.0))
    (None, 'Give a number of at least 0.')
    """
    if word in rule.choices:
        return word, ""
    if isinstance(default, bool):
        named = {"true": True, "false": False}.get(word.lower())
        return named, "Give true or false." if named is None else ""
    try:
        number = float(word)
    except ValueError:
        number = float("nan")  # in no range
    takes_numbers = rule.low is not None or rule.high is not None
    whole = isinstance(default, int)
    if takes_numbers and whole and not math.isnan(number) and number % 1 != 0:
        return None, "Give a whole number."
    low = float("-inf") if rule.low is None else rule.low
    high = float("inf") if rule.high is None else rule.high
    if not takes_numbers or not low <= number <= high:
        return None, f"Give {_wanted(rule)}."
    return (int(number) if whole else number), ""


def _wanted(rule: SettingRule) -> str:
    words = list(rule.choices)
    if rule.low is not None and rule.high is not None:
        words.append(f"a number from {rule.low:g} to {rule.high:g}")
    elif rule.low is not None:
        words.append(f"a number of at least {rule.low:g}")
    elif rule.high is not None:
        words.append(f"a number of at most {rule.high:g}")
    return " or ".join(words)
