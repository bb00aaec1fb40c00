"""What each method gives at each of its choices, on a small world."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from credence.calibrators.all_methods import METHODS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.settings import setting_rules
from known_numbers import Known

OPTIONS = FitOptions(n_draws=12)
N_ASKED = 10
LEFT_OUT = ("auto",)  # it chooses among the others, and takes long


def specs() -> Iterator[str]:
    """Yield the methods, with each of their choices."""
    for method in METHODS:
        if method.name in LEFT_OUT:
            continue
        yield method.name
        for name, (default, rule) in setting_rules(method.settings).items():
            choices = (True, False) if isinstance(default, bool) else rule.choices
            yield from (f"{method.name}({name}={one})" for one in choices if one != default)


@pytest.mark.parametrize("spec", list(specs()))
def test_the_numbers_are_what_they_were(spec: str, worlds: SimpleNamespace, known: Known) -> None:
    labelled = worlds.draw(seed=21, n_samples=240, n_clusters=90)
    asked = worlds.draw(seed=22, n_samples=N_ASKED).predictions
    found = parse_method(spec, "test").build(OPTIONS).fit(labelled).confidence(asked)
    names = ("value", "lower", "upper", "support", "note")
    known.compare(spec, {name: getattr(found, name) for name in names})
