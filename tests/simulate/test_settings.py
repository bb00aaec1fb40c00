from __future__ import annotations

from credence.settings import setting_rules
from credence.simulate.law import WorldSettings
from credence.stages.settings import Settings, world_settings
from refusals import refusal


def test_settings_that_a_user_wrote_override_the_defaults() -> None:
    settings = world_settings({"n_query": 12, "family_size": "single"}, "config.yaml")
    assert settings == WorldSettings(n_query=12, family_size="single")


def test_every_setting_has_a_rule_and_its_default_keeps_to_it() -> None:
    defaults = {name: default for name, (default, _) in setting_rules(WorldSettings).items()}
    assert world_settings(defaults, "config.yaml") == WorldSettings()


def test_all_problems_of_the_settings_come_together() -> None:
    values = {
        "n_quary": 5,
        "n_query": 0,
        "seed": 1.5,
        "family_size": "double",
        "n_trove": True,
        "family_tail": "3",
        "length": float("nan"),
    }
    assert refusal(world_settings, values, "config.yaml").splitlines() == [
        "config.yaml, column 'family_size': 'double' is not allowed. "
        "Known are: heavy_tailed, single.",
        "config.yaml, column 'family_tail': '3' is not a number. Give a number from 1.2 to 10.",
        "config.yaml, column 'length': NaN is not a number. Give a number from 0.2 to 2.",
        "config.yaml, column 'n_quary': unknown setting. Did you mean 'n_query'?",
        "config.yaml, column 'n_query': 0 is out of range. "
        "Give a whole number from 1 to 100000000.",
        "config.yaml, column 'n_trove': true is not a whole number. "
        "Give a whole number from 1 to 100000000.",
        "config.yaml, column 'seed': 1.5 is not a whole number. "
        "Give a whole number from 0 to 9223372036854775807.",
    ]


def test_a_whole_number_may_be_written_with_a_point() -> None:
    settings = world_settings({"n_query": 12.0, "family_tail": 3}, "config.yaml")
    assert isinstance(settings.n_query, int)
    assert isinstance(settings.family_tail, float)
    assert Settings().with_values({"split": {"groups": 9.0}}).split.groups.bit_length() == 4
