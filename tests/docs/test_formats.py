"""The page on formats: every format stands there with an example that is read as it says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from credence.app import run_command_line
from credence.tables.formats import FORMAT_OF, TableSpec
from credence.tables.guess import propose_formats
from credence.tables.samples import read_samples
from page_commands import ROOT

PAGE = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
PARTS = dict(re.findall(r"^## `(\S+)`\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))


def codes_of(name: str) -> list[str]:
    return re.findall(r"^```\w+\n(.*?)^```", PARTS[name], re.M | re.S)


EXAMPLES = [
    (name, place)
    for name in sorted(set(FORMAT_OF) - {"networks-npz"})
    for place in range(len(codes_of(name)))
]


def example_of(name: str, place: int, folder: Path) -> Path:
    """Write an example of a format to a file."""
    text = codes_of(name)[place]
    path = folder / ("t.csv" if "," in text.split("\n")[0] else "t.tsv")
    if name == "signalp6":
        path = folder / "prediction_results.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_format_is_on_the_page() -> None:
    assert set(PARTS) == set(FORMAT_OF)


@pytest.mark.parametrize(("name", "place"), EXAMPLES)
def test_each_example_is_read_as_the_page_says(name: str, place: int, tmp_path: Path) -> None:
    path = example_of(name, place, tmp_path)
    stated = re.search(r"Read it with `(.*)`", PARTS[name])
    if stated is None:
        assert [found.format for found in propose_formats(path)] == [name]
        spec = TableSpec(format=name)
    else:
        words = shlex.split(stated[1])
        assert words[:3] == ["--format", name, "--spec"]
        spec = TableSpec(format=name, **json.loads(words[3]))
    samples = read_samples(path, spec)
    n_rows = len(path.read_text().splitlines()) - (not FORMAT_OF[name].names)
    assert 2 <= samples.n_samples + len(samples.unscored_ids) <= n_rows


def test_the_arrays_of_the_page_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(codes_of("networks-npz")[0], {})  # noqa: S102
    assert run_command_line(["check", "networks.npz"]) == 0
    assert capsys.readouterr().out.startswith("50 proteins, 3 classes (Portal; Collar; Other)")
