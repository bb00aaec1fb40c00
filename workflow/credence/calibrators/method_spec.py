"""Method specifications as users write them: ``kernel(bandwidth=mon4)``, ``trees -> beta``."""

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from credence.calibrators import crossfit
from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.auto import AutoCalibrator
from credence.calibrators.coherent import CoherentCalibrator
from credence.calibrators.protocol import Calibration, Calibrator, FitOptions, Method, Need
from credence.predictions import Floats, Labelled
from credence.problems import Problem, gathering, nearest, raise_any, refuse
from credence.settings import SettingRule, range_in_words, setting_rules

STAGE_ARROW = "->"
STAGE = re.compile(r"\s*(?P<name>[A-Za-z_][\w]*)\s*(?:\((?P<settings>[^()]*)\))?\s*")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One method with its settings."""

    method: Method  # The registry's entry
    settings: Any  # An instance of the method's settings

    @property
    def text(self) -> str:
        """The stage in its one canonical form."""
        rules = setting_rules(self.method.settings).items()
        values = ((name, getattr(self.settings, name), default) for name, (default, _) in rules)
        changed = [f"{name}={value}" for name, value, default in values if value != default]
        return self.method.name + (f"({', '.join(changed)})" if changed else "")


@dataclass(frozen=True, kw_only=True)
class Specification:
    """A method, or methods in a row, each calibrating what the one before it says."""

    stages: tuple[Stage, ...]  # One or more; only the first may need the whole score vector

    @property
    def needs(self) -> Need:
        """What is asked of the predictions: the first stage's needs."""
        return self.stages[0].method.needs

    @property
    def gives_vector(self) -> bool:
        """Whether there is a probability for every class: never after a second stage."""
        return len(self.stages) == 1 and self.stages[0].method.gives_vector

    @property
    def text(self) -> str:
        """The specification in its one canonical form."""
        return f" {STAGE_ARROW} ".join(stage.text for stage in self.stages)

    def build(self, options: FitOptions) -> Calibrator:
        """Return the calibrator; only the last stage fits intervals.

        Where calls have labels in a tree, confidences of a protein are made coherent.
        """
        plain = self._build(options)
        return plain if isinstance(plain, AutoCalibrator) else CoherentCalibrator(inner=plain)

    def _build(self, options: FitOptions) -> Calibrator:
        *before, last = self.stages
        calibrator = last.method.build(last.settings, options)
        if not before:
            return calibrator
        first = Specification(stages=tuple(before))._build(replace(options, n_draws=0))
        return crossfit.ComposedCalibrator(text=self.text, first=first, second=calibrator)

    def fit_and_hold_out(
        self, labelled: Labelled, options: FitOptions
    ) -> tuple[Calibration, Floats]:
        """Return a fit to all, and confidences by fits without the cluster of each protein."""
        calibrator = self.build(options)
        if isinstance(calibrator, AutoCalibrator):  # which has the second at hand
            pair: tuple[Calibration, Floats] = calibrator.fit_and_hold_out(labelled)
            return pair
        quick = self.build(replace(options, n_draws=0))
        fold = crossfit.folds_by_class(labelled, crossfit.DEFAULT_FOLDS)
        return calibrator.fit(labelled), crossfit.out_of_fold(labelled, quick, fold).value


def parse_method(text: str, where: str, line: int | None = None) -> Specification:
    """Return the method or composition that a specification names."""
    stages: list[Stage] = []
    problems: list[Problem] = []
    for position, part in enumerate(text.split(STAGE_ARROW)):
        with gathering(problems):
            stages.append(_parse_stage(part, position > 0, where, line))
    raise_any(problems)
    return Specification(stages=tuple(stages))


def _parse_stage(text: str, is_later: bool, where: str, line: int | None) -> Stage:
    match = STAGE.fullmatch(text)
    if match is None:
        remedy = "Write a name, with settings in brackets: kernel(bandwidth=mon4)."
        raise refuse(where, f"{text!r} is not a method.", remedy, line)
    name = match["name"]
    if name not in BY_NAME:
        raise refuse(where, f"{name!r} is not a method.", nearest(name, list(BY_NAME)), line)
    method = BY_NAME[name]
    rules = setting_rules(method.settings)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for part in filter(str.strip, (match["settings"] or "").split(",")):
        setting, equals, word = (piece.strip() for piece in part.partition("="))
        place = f"{method.name}.{setting}"
        if not equals:
            message, remedy = f"{part.strip()!r} has no value.", "Write name=value."
        elif setting not in rules:
            message = f"{method.name!r} has no setting {setting!r}."
            remedy = nearest(setting, list(rules)) if rules else "It has no settings."
        else:
            default, rule = rules[setting]
            value, remedy = parse_value(word, default, rule)
            if not remedy:
                values[setting] = value
                continue
            message = f"{word!r} is not allowed."
        problems.append(Problem(where=where, what=message, remedy=remedy, line=line, column=place))
    raise_any(problems)
    if is_later and method.needs.is_vector:
        message = f"{name!r} sees the whole score vector; a stage before it leaves one number."
        able = [name for name, method in BY_NAME.items() if not method.needs.is_vector]
        raise refuse(
            where, message, f"Put it first, or write one of {', '.join(able)} there.", line
        )
    return Stage(method=method, settings=method.settings(**values))


def parse_value(word: str, default: Any, rule: SettingRule) -> tuple[Any, str]:
    """Return the value of a setting, or a remedy that is not empty."""
    if word in rule.choices:
        return word, ""
    if isinstance(default, bool):
        named = {"true": True, "false": False}.get(word.lower())
        return named, "Give true or false." if named is None else ""
    try:
        number = float(word)
    except ValueError:
        number = float("nan")  # in no range
    low = -math.inf if rule.low is None else rule.low
    high = math.inf if rule.high is None else rule.high
    allowed = range_in_words(rule.low, rule.high)
    wanted = [*rule.choices, *([f"a number {allowed}"] if allowed else [])]
    whole = isinstance(default, int)
    if allowed and whole and not math.isnan(number) and number % 1 != 0:
        return None, "Give a whole number."
    if not allowed or not low <= number <= high:
        return None, f"Give {' or '.join(wanted)}."
    return (int(number) if whole else number), ""
