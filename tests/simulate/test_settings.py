from __future__ import annotations

import pytest

from credence.problems import InputError
from credence.settings import setting_rules
from credence.simulate import WorldSettings, world_settings


def test_settings_that_a_user_wrote_override_the_defaults() -> None:
    settings = world_settings({"n_use": 12, "family_size": "single"}, "config.yaml")
    assert settings == WorldSettings(n_use=12, family_size="single")


def test_every_setting_has_a_rule_and_its_default_keeps_to_it() -> None:
    defaults = {name: default for name, (default, _) in setting_rules(WorldSettings).items()}
    assert world_settings(defaults, "config.yaml") == WorldSettings()


def test_all_problems_of_the_settings_come_together_with_their_lines() -> None:
    lines = {"n_uze": 3, "n_use": 4, "seed": 5, "family_size": 6, "n_trove": 7, "family_tail": 8}
    values = {
        "n_uze": 5,
        "n_use": 0,
        "seed": 1.5,
        "family_size": "double",
        "n_trove": True,
        "family_tail": "3",
    }
    with pytest.raises(InputError) as caught:
        world_settings(values, "config.yaml", lines.get)
    assert str(caught.value).splitlines() == [
        "config.yaml, line 3, column 'n_uze': the demo has no setting 'n_uze'. "
        "Did you mean 'n_use'?",
        "config.yaml, line 4, column 'n_use': 0 is not allowed. "
        "Give a whole number from 1 to 100000000.",
        "config.yaml, line 5, column 'seed': 1.5 is not allowed. "
        "Give a whole number from 0 to 9223372036854775807.",
        "config.yaml, line 6, column 'family_size': 'double' is not allowed. "
        "Give heavy_tailed or single.",
        "config.yaml, line 7, column 'n_trove': True is not allowed. "
        "Give a whole number from 1 to 100000000.",
        "config.yaml, line 8, column 'family_tail': '3' is not allowed. "
        "Give a number from 1.2 to 10.0.",
    ]
