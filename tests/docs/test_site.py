"""The documentation site: every page has its place, links hold, the reference is of the code."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from ruamel.yaml import YAML

from credence.app import COMMANDS
from credence.calibrators.all_methods import METHODS
from credence.stages.settings import SECTIONS
from page_commands import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import reference

LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of pages that mkdocs makes the site of."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    reference.write_site(folder)
    return folder


# What may be looked up, and is not read in a row, is not counted.
MOST_WORDS = 25_000
MOST_WORDS_OF_README = 900


def pages_of(part: str) -> list[str]:
    stated = YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text("utf-8"))
    (found,) = [entry[part] for entry in stated["nav"] if part in entry]
    return names_in(found)


def n_words(path: Path) -> int:
    return len(path.read_text("utf-8").split())


def names_in(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    below = nav.values() if isinstance(nav, dict) else nav
    return [name for entry in below for name in names_in(entry)]


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.M | re.S)


def test_every_page_has_one_place_in_the_site(site: Path) -> None:
    stated = YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text("utf-8"))
    named = names_in(stated["nav"])
    assert sorted(named) == sorted(path.name for path in site.glob("*.md"))
    assert stated["strict"] is True


def test_the_documentation_is_short(site: Path) -> None:
    reference_pages = set(pages_of("Reference"))
    counted = [path for path in site.glob("*.md") if path.name not in reference_pages]
    assert sum(n_words(path) for path in counted) <= MOST_WORDS
    assert n_words(ROOT / "README.md") <= MOST_WORDS_OF_README


def test_tutorials_say_what_to_see_and_what_goes_wrong() -> None:
    for name in pages_of("Tutorials"):
        text = (ROOT / "docs" / name).read_text("utf-8")
        assert "**You should see**" in text, name
        assert "\n## One thing that goes wrong\n" in text, name


def test_the_readme_leads_to_files_that_are_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    links = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_formulas_of_the_mathematics_are_read_by_the_extension() -> None:
    text = (ROOT / "docs" / "mathematics.md").read_text("utf-8")
    assert text.count("$$") % 2 == 0
    # A formula in a line has no dollar, and no backslash that Markdown would take first.
    without_blocks = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
    inline = re.findall(r"\$([^$]+)\$", without_blocks)
    assert len(inline) > 50
    assert [formula for formula in inline if re.search(r"\\[{}_*#.!()\[\]-]", formula)] == []


def test_links_between_pages_lead_somewhere(site: Path) -> None:
    n_links = 0
    for page in site.rglob("*.md"):
        for link in LINK.findall(without_code(page.read_text("utf-8"))):
            if "://" in link or link.startswith(("#", "mailto:")):
                continue
            n_links += 1
            assert (page.parent / link.partition("#")[0]).exists(), f"{page.name}: {link}"
    assert n_links > 40


def test_the_reference_names_every_command_method_and_setting(site: Path) -> None:
    commands = (site / "reference-commands.md").read_text("utf-8")
    assert all(f"## `{name}`" in commands for name in [*COMMANDS, "trove add", "trove list"])
    methods = (site / "reference-methods.md").read_text("utf-8")
    assert all(f"## `{method.name}`" in methods for method in METHODS)
    settings = (site / "reference-configuration.md").read_text("utf-8")
    assert all(f"## `{name}`" in settings for name in SECTIONS)
    assert "| `calibration.method` | " in settings
    assert "| `queries[].scores` | " in settings
    assert "## `credence.fit`" in (site / "reference-python.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["docs", "validators"])
def test_what_has_an_environment_of_its_own_is_locked_with_digests(name: str) -> None:
    text = (ROOT / "envs" / f"{name}.lock.txt").read_text("utf-8")
    asked = (ROOT / "envs" / f"{name}.in").read_text("utf-8").splitlines()
    for line in filter(lambda line: line and not line.startswith("#"), asked):
        name = Requirement(line).name
        version = re.search(rf"^{name}==(\S+)", text, re.M)
        assert version is not None
        assert Requirement(line).specifier.contains(version[1])
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.M)[1:]
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_environment_of_conda_has_the_versions_of_the_lock() -> None:
    lock = (ROOT / "envs" / "credence.lock.txt").read_text("utf-8")
    stated = YAML(typ="safe").load((ROOT / "workflow/envs/credence.yaml").read_text("utf-8"))
    *_, pip = stated["dependencies"]
    pins = re.findall(r"^([A-Za-z0-9._-]+==[^\\\n]*)", lock, re.M)
    assert pip["pip"] == [pin.strip() for pin in pins]
