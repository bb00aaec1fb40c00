"""What `check` lets through, `run` runs, whatever things are called."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from credence.app import run_command_line

N_PROTEINS = 24
# A name of each kind that went wrong: each was accepted, and no rule could be made of it.
NASTY = {
    "title": "{braces} <results> {a,b}",
    "classes": ["{label}", "<results>", "50 % (a, b); 'c'"],
    "synonym": "{wildcards.query_set}",
    "group": "{a:q}",
    "prefix": "{class}=",
    "quantifier": "{1,40}",
    "files": ["{scores}.csv", "<logs>.fasta", "$(a) 'b' \"c\" & ä;#~.csv"],
    "sets": ["lab", "None", "mine"],
}
PLAIN = {**NASTY, "files": ["a b.csv", "~[1].fasta", "$(a) 'b' \"c\" & ä;#<.csv"]}

printable = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" "), max_size=9
)
braced = st.tuples(printable, st.sampled_from(["{%s}", "<%s>", "%s"]), printable)
names = braced.map(lambda parts: (parts[0] + parts[1].replace("%s", parts[2])).strip() or "x")
folders = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,6}", fullmatch=True)


def several(of: st.SearchStrategy[str], n: int) -> st.SearchStrategy[list[str]]:
    return st.lists(of, min_size=n, max_size=n, unique_by=str.casefold)


drawn = st.fixed_dictionaries(
    {
        "title": names,
        "classes": several(names, 3),
        "synonym": names,
        "group": names,
        "prefix": names,
        "quantifier": st.sampled_from(["+", "{1,40}", "{1,}"]),
        "files": several(printable.map(lambda name: name.strip().replace("/", "") or "x"), 3),
        "sets": several(folders, 3),
    }
)


def write_lab(folder: Path, drawn: dict[str, Any]) -> None:
    """Write two tables, a FASTA file and a configuration in which all is called as drawn."""
    classes, (table, fasta, new) = drawn["classes"], drawn["files"]
    shares = [["0.7", "0.2", "0.1"], ["0.1", "0.6", "0.3"], ["0.2", "0.3", "0.5"]]
    head = ",".join('"' + name.replace('"', '""') + '"' for name in ["id", *classes])
    rows = [",".join([f"p{at}", *shares[at % 3]]) for at in range(N_PROTEINS)]
    text = "\n".join([head, *rows]) + "\n"
    labels = [drawn["synonym"] if at == 0 else classes[at % 3] for at in range(N_PROTEINS)]
    headers = [f">p{at} {drawn['prefix']}{label}" for at, label in enumerate(labels)]
    residues = "ACDEFGHIKLMNPQRSTVWY"
    proteins = [residues[at % 20 :] + residues[: at % 20] for at in range(N_PROTEINS)]
    lines = [line for pair in zip(headers, proteins, strict=True) for line in pair]
    for name, content in ((table, text), (new, text), (fasta, "\n".join(lines) + "\n")):
        (folder / name).write_text(content, encoding="utf-8")
    run, first, second = drawn["sets"]
    spec = {"format": "wide", "scale": 1, "columns": {"id": "id", "classes": classes}}
    spec["synonyms"] = {drawn["synonym"]: classes[0]}
    pattern = f"{re.escape(drawn['prefix'])}(?P<label>.{drawn['quantifier']})$"
    configuration = {
        "run": run,
        "title": drawn["title"],
        "calibration_set": {
            **spec, "scores": table, "proteins": fasta, "labels": {"pattern": pattern},
        },
        "queries": [
            {**spec, "name": name, "scores": new, "proteins": fasta} for name in (first, second)
        ],
        "clustering": {"engine": "exact"},
        "split": {"groups": 2, "audit": "none", "strict": "report"},
        "calibration": {"method": "class_only", "compare": ["class_only"], "resamples": 20},
        "shift": {"class_proportions": {classes[0]: 0.5, classes[1]: 0.5}},
        "events": {"ask": ["two_best"], "groups": {drawn["group"]: classes[:2]}},
        "evaluation": {"folds": 2},
    }  # fmt: skip
    text = json.dumps(configuration, ensure_ascii=False)
    (folder / "lab.yaml").write_text(text, encoding="utf-8")


def is_accepted_and_planned(drawn: dict[str, Any]) -> bool:
    """Return whether check accepts names; what it accepts has to be planned."""
    with tempfile.TemporaryDirectory() as above, pytest.MonkeyPatch.context() as patch:
        try:
            write_lab(Path(above), drawn)
        except OSError:  # no name of a file here
            return False
        patch.chdir(above)
        if run_command_line(["check", "lab.yaml"]) != 0:
            return False
        planned = run_command_line(["run", "--config", "lab.yaml", "--", "--dry-run", "--quiet"])
        assert planned == 0, drawn
        return True


def test_names_with_braces_and_brackets_are_planned() -> None:
    assert is_accepted_and_planned(PLAIN)


def test_files_that_snakemake_would_misread_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not is_accepted_and_planned(NASTY)
    stated = capsys.readouterr().err
    assert (
        "'{scores}.csv' has a brace, and Snakemake takes what braces hold for a wildcard. "
        "Rename it without { and }."
    ) in stated
    assert (
        "'<logs>.fasta' has < and >, and Snakemake takes what they hold for a folder of its own. "
        "Rename it without < and >."
    ) in stated


@pytest.mark.long
@settings(
    max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@example(drawn=PLAIN)
@given(drawn=drawn)
def test_any_printable_name_that_check_accepts_is_planned(drawn: dict[str, Any]) -> None:
    assume(is_accepted_and_planned(drawn))
