"""The words of the field: old words stand nowhere that a user reads (page, help, keys, docs).

What is made from code is held to them by the templates of its sentences, which are all of them and
not those alone that one small run happens to print.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import get_type_hints

import pytest

from credence.stages.settings import load_schema
from credence.tables import contract
from page_commands import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import messages
import reference

# What to write instead, and the pattern of what not to write.
OLD_WORDS = {
    "query set": r"\buse[-_ ]sets?\b",
    "precision": r"\bshares? right\b|\bshares? of right (?:ones|predictions)\b",
    "held-out, or cross-validated by family": r"\bheld out\b",
    "calibrated": r"\bkeeps? (?:its|their) word\b",
    "confusion matrix": r"\btaken for what\b",
    "prediction sets": r"\bwhich classes may it be\b",
    "decoys": r"\bfoils?\b",
    "out of distribution": r"\bunlike (?:any|every) known\b|\bof another kind\b|\bforeign\b",
    "insufficient data": r"\b(?:no|lacks?|without) evidence\b",
    "leakage": r"\brelatives? (?:that )?cross(?:es)? the split\b",
    "calibration proteins": r"\bproteins that calibrate\b",
    "upper bound": r"\bwith certainty\b",
    "recall": r"\brecognised\b|\bshare of the true ones\b",
    "error rate, FDR": r"\bwrong ones allowed\b|\bshares? of wrong ones\b",
    "lower limit": r"\blow end\b",
    "class proportions": r"\b(?:the|a|its|their|that|another|no) mix\b|\bmix of (?:the )?classes\b"
    r"|\bclass mix\b|\bmixed (?:alike|otherwise|differently)\b|\bcompositions?\b",
    "bootstrap resamples": r"\bbootstrap draws?\b|\bdraws over\b|\bdraws of\b",
    "worst case": r"\bfamilies all alike\b",
    "a plain word": r"\bsheets?\b|\btold\b",
}
# Where an old word stands for something else.
ALLOWED = re.compile(
    r"(?:can|could|was|be) (?:be )?held out"  # what cross-validation does, a verb
    r"|compositions such as `|space of compositions"  # of methods; of amino acids
    r"|composition \(of amino acids\)|amino.acid compositions?|composition, none"
    r"|\{COMPOSITION\}|'composition'|\bfeatures: composition"  # novelty's setting
    r"|\| composition \|"  # a folder of the package
    r"|composition composition_lower composition_upper",  # keys of a record
    re.IGNORECASE,
)


def old_words(text: str) -> list[str]:
    """Return each old word of a text, with what to write instead."""
    left = ALLOWED.sub("", text)
    return [
        f"{match[0]!r}: write {better}"
        for better, pattern in OLD_WORDS.items()
        for match in re.finditer(pattern, left, re.IGNORECASE)
    ]


def named(name: str, text: str) -> list[str]:
    return [f"{name}: {fault}" for fault in old_words(text)]


def columns() -> Iterator[str]:
    """Yield the name of every column of the tables that credence writes."""
    for record in vars(contract).values():
        if isinstance(record, type) and is_dataclass(record):
            hints = get_type_hints(record, include_extras=True)
            for field in fields(record):
                for note in getattr(hints[field.name], "__metadata__", ()):
                    yield str(getattr(note, "name", None) or field.name)


def test_an_old_word_is_found_and_a_new_one_is_not() -> None:
    old = " ".join(("On 12 families", "held", "out, the share", "right is 0.9."))
    assert old_words(old) == [
        f"'share {'right'}': write precision",
        f"'held {'out'}': write held-out, or cross-validated by family",
    ]
    assert old_words("Nothing could be held out. The precision is 0.9.") == []


def test_no_sentence_of_the_product_has_an_old_word() -> None:
    found = [
        fault
        for entry in messages.templates()
        for fault in named(f"{entry.module}:{entry.line}", entry.text)
    ]
    assert found == []


def test_no_help_has_an_old_word() -> None:
    assert named("help", reference.commands()) == []


def test_no_setting_has_an_old_word() -> None:
    assert named("reference", reference.configuration()) == []
    assert named("config.yaml", (ROOT / "config.yaml").read_text("utf-8")) == []
    assert named("schema", str(load_schema())) == []


def test_no_column_has_an_old_word() -> None:
    found = list(columns())
    assert {"confidence", "query_proportion", "predicted_class"} <= set(found)
    assert named("columns", " ".join(found).replace("_", " ")) == []


def test_the_page_has_no_old_word(small_page: str) -> None:
    text = re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", " ", small_page)
    assert named("page", " ".join(text.split())) == []


@pytest.mark.parametrize(
    "name",
    ["README.md", "config/README.md", *(p.name for p in sorted((ROOT / "docs").glob("*.md")))],
)
def test_no_page_of_the_documentation_has_an_old_word(name: str) -> None:
    path = ROOT / name if "README" in name else ROOT / "docs" / name
    assert named(name, " ".join(path.read_text("utf-8").split())) == []


def test_the_page_of_messages_has_every_template_once_under_its_module() -> None:
    page, known = messages.page(), list(messages.templates())
    assert len(known) > 1000
    assert all(entry.text in page for entry in known)
    assert page.count("\n- ") == len(known)
    assert sorted(re.findall(r"(?m)^## (.+)$", page)) == sorted({e.module for e in known})
