from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from credence.app import configuration
from credence.app.check import require_right
from credence.app.editing import section_text
from credence.problems import InputError
from credence.settings import setting_rules
from credence.simulate.law import WorldSettings
from credence.stages.settings import SECTIONS
from credence.tables.document import parse_document, read_document, resolve
from credence.tables.formats import FORMATS
from refusals import refusal

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
INVALID = sorted((DATA / "invalid" / "config").glob("*.yaml"))


@pytest.fixture(autouse=True)
def beside_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA / "valid" / "config")


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_every_defect_is_told_in_full(path: Path) -> None:
    expected = path.with_suffix(".txt").read_text(encoding="utf-8").rstrip("\n")
    with pytest.raises(InputError) as caught:
        document = read_document(path, "config.yaml")
        configuration.check(document)
    assert caught.value.text() == expected


def test_every_message_belongs_to_a_defect() -> None:
    folder = DATA / "invalid" / "config"
    assert {path.stem for path in folder.glob("*.txt")} == {path.stem for path in INVALID}


def test_a_file_that_is_not_there_is_told() -> None:
    assert refusal(configuration.load, "none.yaml") == (
        "none.yaml: there is no such file. Name an existing one, or write it: credence init."
    )


def test_a_folder_is_no_configuration() -> None:
    assert (
        refusal(configuration.load, ".")
        == ".: this is a folder. Name the configuration file in it."
    )


def test_few_lines_are_enough() -> None:
    settings = configuration.load("minimal.yaml")
    assert settings.run == json.loads(settings.report_json)["title"] == "mylab"
    assert settings.method == "auto"
    assert settings.methods == (
        "uncalibrated",
        "class_only",
        "histogram",
        "kernel",
        "cumulative",
        "auto",
    )
    assert settings.calibration_set.scores == ("scores.csv",)
    assert settings.calibration_set.spec == {
        "format": "phanns-labelled",
        "columns": {},
        "scale": None,
        "sum_to_scale": None,
        "synonyms": {},
        "pooling": "sum",
        "logits": False,
    }
    assert settings.queries == ()
    assert not settings.has_demo


def test_all_that_is_written_is_kept() -> None:
    settings = configuration.load("full.yaml")
    assert json.loads(settings.report_json)["title"] == "Fibres of 2026: a lab's own"
    assert settings.methods == ("class_only", "cumulative")  # the chosen one is compared too
    assert [entry.name for entry in settings.queries] == ["one", "two"]
    assert settings.calibration_set.label_table == "scores.csv"
    assert settings.calibration_set.match == "full"
    assert settings.cluster_table == "scores.csv"
    assert json.loads(settings.stage_json("evaluate"))["calibration"] == {
        "weights": "cluster",
        "min_positives": 20,
        "level": 0.9,
        "resamples": 0,
    }


def test_a_file_saved_by_windows_reads_the_same() -> None:
    assert (
        configuration.load("saved_by_windows.yaml").values
        == configuration.load("minimal.yaml").values
    )


def test_a_setting_of_the_command_line_replaces_its_own_only() -> None:
    settings = configuration.load("full.yaml", {"calibration": {"resamples": 7}})
    assert settings.values["calibration"]["resamples"] == 7
    assert settings.values["calibration"]["level"] == 0.9


def test_what_rules_of_another_workflow_make_need_not_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {
        "run": "x",
        "calibration_set": {
            "scores": "made.csv",
            "format": "phanns",
            "labels": {"table": "l.tsv"},
        },
        "queries": [{"name": "new", "scores": "gone.csv", "format": "phanns"}],
    }
    Path("l.tsv").write_text("id\ttrue_class\n")
    where = "configuration of the module"
    caught = refusal(configuration.from_mapping, values, where, lambda path: path == "made.csv")
    remedy = "Fix the path; it starts where you run the command."
    column = f"{where}, column 'queries[0].scores'"
    assert caught == f"{column}: there is no file 'gone.csv'. {remedy}"
    settings = configuration.from_mapping(values, where, lambda path: path.endswith(".csv"))
    assert (settings.made, settings.files) == (("made.csv", "gone.csv"), ["l.tsv"])
    # Nor is it read at the start of a run where it is: it may be about to be made anew.
    Path("made.csv").touch()
    Path("gone.csv").touch()
    require_right(settings)


def test_settings_handed_over_by_another_workflow_are_checked_too() -> None:
    assert refusal(configuration.from_mapping, {"run": "x"}, "configuration of the module") == (
        "configuration of the module, column 'calibration_set': this setting is missing. Add it."
    )


# Classes called off, On and no, as Snakemake's reader of YAML 1.1 hands them over.
SWITCHES = """
run: x
calibration_set:
  scores: scores.csv
  format: phanns-labelled
  synonyms: {off: Portal, gp20: On}
events:
  groups: {ends: [Portal, no]}
tools:
  - {name: second, scores: scores.csv, format: phanns, classes: {a: yes, off: null}}
"""


def test_words_that_yaml_reads_as_true_or_false_are_to_stand_in_quotes() -> None:
    caught = refusal(configuration.from_mapping, yaml.safe_load(SWITCHES), "the module")
    no = "Put it in quotes: YAML reads words like no and off as false too."
    yes = "Put it in quotes: YAML reads words like yes and on as true too."
    assert sorted(caught.splitlines()) == [
        f"the module, column 'calibration_set.synonyms.false': this name is read as false. {no}",
        f"the module, column 'calibration_set.synonyms.gp20': true is not text. {yes}",
        f"the module, column 'events.groups.ends[1]': false is not text. {no}",
        f"the module, column 'tools[0].classes.a': true is not text or null. {yes}",
        f"the module, column 'tools[0].classes.false': this name is read as false. {no}",
    ]
    quoted = SWITCHES.replace("off", '"off"').replace("On", '"On"').replace("no]", '"no"]')
    values = yaml.safe_load(quoted.replace("yes", '"yes"'))
    settings = configuration.from_mapping(values, "the module")
    assert settings.calibration_set.spec["synonyms"] == {"off": "Portal", "gp20": "On"}


def test_methods_written_differently_have_one_file() -> None:
    settings = configuration.loads(
        "run: x\ncalibration_set: {scores: scores.csv, format: phanns-labelled}\n"
        "calibration: {method: 'kernel( )', compare: [kernel, 'kernel()']}\n"
    )
    assert settings.methods == ("kernel",)


def test_file_names_of_methods_differ_where_the_methods_do() -> None:
    names = [
        configuration.method_file_name(text)
        for text in ("kernel", "kernel(bandwidth=mon4)", "kernel(bandwidth=0.4)")
    ]
    assert names == ["kernel", "kernel-bandwidth_mon4", "kernel-bandwidth_0.4"]


def test_config_yaml_holds_every_setting_with_its_default() -> None:
    schema = configuration.load_schema()
    document = read_document(ROOT / "config.yaml")
    own = {
        ("run",),
        ("title",),
        ("simulated",),
        ("calibration_set", "scores"),
        ("calibration_set", "format"),
        ("calibration_set", "proteins"),
        ("training", "proteins"),
        ("split", "audit"),
        ("queries",),
        ("troves",),
        ("calibration", "compare"),
        ("events", "ask"),
        ("events", "groups"),
        ("events", "folds"),
        ("evaluation", "folds"),
        ("demo",),
    }
    seen = 0
    for path, rule in leaves(schema, schema):
        value: object = document.data
        for step in path:
            assert isinstance(value, dict)
            assert step in value, f"config.yaml lacks {'.'.join(path)}"
            value = value[step]
        if path not in own:
            assert value == rule["default"], path
            seen += 1
    assert seen >= 20
    rules = setting_rules(WorldSettings)
    smaller = {
        "n_calibration": 1500,
        "n_query": 600,
        "n_training": 400,
        "n_trove": 150,
        "length": 0.5,
    }
    defaults = {name: default for name, (default, _) in rules.items()}
    assert document.data["demo"] == defaults | smaller


def leaves(rule: dict, root: dict, above: tuple[str, ...] = ()):
    for name, raw in resolve(rule, root)["properties"].items():
        entry = resolve(raw, root)
        path = (*above, name)
        if (
            entry.get("type") == "object"
            and entry.get("properties")
            and name not in ("columns", "roles")
        ):
            yield from leaves(entry, root, path)
        else:
            yield path, entry


def test_config_yaml_says_one_comment_to_each_setting() -> None:
    for line in (ROOT / "config.yaml").read_text(encoding="utf-8").splitlines():
        is_setting = re.match(r"^ +(- )?\w+:", line) and not re.search(
            r": null$|: sum$|: \{\}$", line
        )
        if is_setting and not re.match(r"^    (scores|format):", line):
            assert "  # " in line, line


def test_every_rule_of_the_schema_has_a_message() -> None:
    message = {
        *("additionalProperties", "required", "type", "enum", "pattern", "uniqueItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "minLength"),
    }
    silent = {
        "$ref",
        "$schema",
        "$defs",
        "title",
        "description",
        "default",
        "remedy",
        "properties",
        "items",
    }
    silent |= {"if", "then"}  # what is wrong in one of them is said of the rule inside

    def walk(rule: object) -> None:
        if isinstance(rule, dict):
            assert set(rule) <= message | silent, set(rule) - message - silent
            for key, value in rule.items():
                if key in ("properties", "$defs"):
                    for entry in value.values():
                        walk(entry)
                elif key in ("items", "additionalProperties"):
                    walk(value)

    walk(configuration.load_schema())


def test_every_format_can_be_named() -> None:
    for entry in FORMATS:
        settings = configuration.loads(
            f"run: x\ncalibration_set: {{scores: scores.csv, format: {entry.name}}}\n"
        )
        assert settings.calibration_set.spec["format"] == entry.name


def test_the_comments_of_the_demos_configuration_are_the_texts_of_its_settings() -> None:
    text = (ROOT / "config.yaml").read_text()
    schema, data = configuration.load_schema(), parse_document(text, "config.yaml").data
    for name in ("calibration_set", "training", *SECTIONS):
        (found,) = re.findall(rf"(?m)^{name}:.*\n(?:  .*\n)+", text)
        assert found == section_text(name, schema, data[name])


def test_aliases_of_aliases_end_in_a_message() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 9)
    ]
    with pytest.raises(InputError) as caught:
        parse_document("\n".join(lines), "config.yaml")
    assert caught.value.text() == (
        "config.yaml, line 1: aliases make more than 100,000 settings of this. Write them out."
    )
