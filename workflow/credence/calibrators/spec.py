"""Method specifications as users write them: ``kernel(bandwidth=mon4)``.

A specification is the name of a method, with settings in brackets where they
differ from the defaults; two or more joined by ``->`` are a composition, the
first stage first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from credence.calibrators.protocol import (
    Calibrator,
    FitOptions,
    Method,
    SettingRule,
    setting_rules,
)
from credence.calibrators.registry import BY_NAME
from credence.problems import InputError, Problem, nearest

STAGE = re.compile(r"\s*(?P<name>[A-Za-z_][\w]*)\s*(?:\((?P<settings>[^()]*)\))?\s*")


@dataclass(frozen=True)
class Stage:
    """One method with its settings.

    Parameters
    ----------
    method : Method
        The registry's entry.
    settings : object
        An instance of the method's settings.
    """

    method: Method
    settings: Any

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
        """Return the calibrator of this stage.

        Parameters
        ----------
        options : FitOptions
            What all methods share.
        """
        return self.method.build(self.settings, options)


def parse_stage(text: str, where: str, line: int | None = None) -> Stage:
    """Return the method and settings that one stage of a specification names.

    Parameters
    ----------
    text : str
        For example ``kernel(bandwidth=mon4, prior_weight=0)``.
    where : str
        The file or option it stands in, for messages.
    line : int, optional
        Its line there.
    """
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

    Parameters
    ----------
    word : str
        What the user wrote.
    default : object
        The setting's default; its type is the type wanted.
    rule : SettingRule
        What is allowed.

    Examples
    --------
    >>> parse_value("mon4", "mon2", SettingRule("", ("mon2", "mon4"), low=0.0))
    ('mon4', '')
    >>> parse_value("-1", 1.0, SettingRule("", low=0.0))
    (None, 'Give a number of at least 0.')
    """
    if word in rule.choices:
        return word, ""
    if isinstance(default, bool):
        if word.lower() in ("true", "false"):
            return word.lower() == "true", ""
        return None, "Give true or false."
    wanted = _wanted(rule)
    takes_numbers = rule.low is not None or rule.high is not None
    if not takes_numbers:
        return None, f"Give {wanted}."
    try:
        number = float(word)
    except ValueError:
        return None, f"Give {wanted}."
    whole = isinstance(default, int)
    if whole and number != int(number):
        return None, "Give a whole number."
    low = float("-inf") if rule.low is None else rule.low
    high = float("inf") if rule.high is None else rule.high
    if not low <= number <= high:
        return None, f"Give {wanted}."
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
