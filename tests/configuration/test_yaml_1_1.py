"""What is written into configurations reads alike as YAML 1.1, which Snakemake's modules read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.app import configuration, run_command_line
from credence.app.editing import inline
from credence.stages.settings import load_schema
from credence.tables.document import parse_document, resolve

ABOVE = """\
run: lab
calibration_set: {scores: known.csv, format: wide, scale: 1, columns: {true_class: truth}}
queries:
  - {name: new, scores: new.csv, format: wide, scale: 1}
"""


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"p{n},0.{n % 9 + 1},0.{9 - n % 9},{'AB'[n % 3 == 0]}" for n in range(60)]
    (tmp_path / "known.csv").write_text("\n".join(["id,A,B,truth", *rows]) + "\n")
    (tmp_path / "new.csv").write_text("id,A,B\nx1,0.9,0.1\nx2,0.2,0.8\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def keys(rule: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of every setting, at whatever depth."""
    rule = resolve(rule, root)
    for name, below in rule.get("properties", {}).items():
        yield name
        yield from keys(below, root)
    if isinstance(rule.get("items"), dict):
        yield from keys(rule["items"], root)


def test_every_key_of_a_configuration_is_text_in_yaml_1_1() -> None:
    schema = load_schema()
    names = sorted(set(keys(schema, schema)))
    assert {"off_by", "calibration_set", "sha256"} <= set(names)
    assert [name for name in names if yaml.safe_load(f"{name}: 1") != {name: 1}] == []


def test_the_demos_configuration_reads_alike() -> None:
    text = configuration.demo_text()
    assert yaml.safe_load(text) == parse_document(text, "config.yaml").data


def test_what_init_and_trove_add_write_reads_alike_and_is_taken_from_a_workflow(
    tables: Path,
) -> None:
    words = ["init", "lab", "--scores", "known.csv", "--query", "new.csv"]
    assert run_command_line(words) == 0
    add = ["trove", "add", "off", "--scores", "known.csv", "--date", "2025-11-21"]
    assert run_command_line([*add, "--config", "lab.yaml"]) == 0
    text = (tables / "lab.yaml").read_text()
    read = yaml.safe_load(text)
    assert read == parse_document(text, "lab.yaml").data
    handed_over = configuration.from_mapping(read, "configuration of the module")
    assert handed_over.values == configuration.load("lab.yaml").values


def test_a_date_without_quotes_is_taken_from_a_workflow(tables: Path) -> None:
    text = ABOVE + "troves:\n  - {name: t, date: 2025-11-21, scores: known.csv}\n"
    handed_over = configuration.from_mapping(yaml.safe_load(text), "the module")
    assert handed_over.troves[0].date == "2025-11-21"


PRINTABLE = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=12)
WORDS = st.sampled_from(
    ["off", "No", "YES", "~", "=", "<<", "null", "NaN", ".inf", "1e5", "12:30"]
)
FINITE = st.floats(-1e300, 1e300)
NUMBERS = FINITE.map(lambda value: float(f"{value:.15g}"))  # as many digits as are written
DATES = st.dates().map(str)


@settings(deadline=None)
@given(st.one_of(PRINTABLE, WORDS, DATES, NUMBERS, st.integers(), st.booleans(), st.none()))
def test_a_value_on_one_line_reads_as_it_was(value: object) -> None:
    for form in (value, [value], {"key": value}, {str(value): 1}):
        text = f"key: {inline(form)}\n"
        assert yaml.safe_load(text) == parse_document(text, "config.yaml").data == {"key": form}
