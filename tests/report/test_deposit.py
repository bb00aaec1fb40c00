"""What goes into the archive: it can be read by machines, and says what is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from credence.app import run_command_line
from credence.findings import Findings
from credence.report.page_data import citation, publication, readme
from credence.report.sections.publish import checklist, journal_checks, methods_text
from credence.tables.writing import write_record


def test_the_citation_is_yaml_that_asks_for_names(small: Findings, hostile: Findings) -> None:
    for findings in (small, hostile):
        record = YAML(typ="safe").load(citation(findings))
        assert record["title"] == f"{findings.provenance.title}: calibrated confidences"
        assert record["authors"] == [{"name": "Put the names of the authors here"}]
        assert record["references"][1]["doi"] == "10.3390/make5030043"


def test_the_readme_names_every_input_with_its_digest(small: Findings) -> None:
    text = readme(small)
    assert "The proteins and scores are **simulated**." in text
    assert f"| calibration scores | scores.csv | {'ab' * 32} |" in text


def test_no_text_of_an_input_is_markup_in_the_readme(hostile: Findings) -> None:
    text = readme(hostile)
    assert "\\<script\\>alert(1)" in text
    assert "<script>" not in text.replace("\\<", "").replace("\\>", "")


def test_the_methods_text_has_the_numbers_of_the_run(small: Findings) -> None:
    first, second, third, lists, _ = methods_text(small)
    assert first == (
        "Confidence, the probability that a prediction is right [1, 2], was calibrated on "
        "simulated data with credence 0.1.0 [3]. It was learnt from 120 proteins of known class, "
        "over 3 classes; the classifier had predicted 90 of them correctly. The method is kernel "
        "[4]: a kernel ratio. Its settings: b 1. Its intervals are pointwise, with a nominal "
        "coverage of 95 %, and count clusters of relatives, not proteins."
    )
    assert "50 clusters in the calibration set" in second
    assert "5-fold cross-fitting over whole clusters" in third
    assert "200 resamples of a Bayesian bootstrap over clusters" in third
    assert "The method was compared with class_only [5]." in third
    assert "guaranteed for new families by learn then test [6]" in lists


@pytest.fixture(scope="module")
def deposit(small: Findings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an unpacked archive."""
    folder = tmp_path_factory.mktemp("deposit")
    write_record(folder / "findings.json", small)
    words = ["--out", str(folder / "p" / "index.html"), "--archive", str(folder / "a.zip")]
    assert run_command_line(["report", str(folder / "findings.json"), *words]) == 0
    with zipfile.ZipFile(folder / "a.zip") as archive:
        archive.extractall(folder / "deposit")
    (inside,) = (folder / "deposit").iterdir()
    return inside


def crate_of(folder: Path) -> dict[str, dict[str, Any]]:
    graph = json.loads((folder / "ro-crate-metadata.json").read_text("utf-8"))["@graph"]
    assert len({one["@id"] for one in graph}) == len(graph)
    return {one["@id"]: one for one in graph}


def ids(entries: Any) -> list[str]:
    return [one["@id"] for one in (entries if isinstance(entries, list) else [entries])]


def test_the_archive_is_a_workflow_run_crate(deposit: Path) -> None:
    # What RO-Crate 1.1, Workflow RO-Crate 1.0, Process and Workflow Run Crate 0.5 say MUST be.
    graph = crate_of(deposit)
    descriptor, root = graph["ro-crate-metadata.json"], graph["./"]
    assert descriptor["about"] == {"@id": "./"}
    assert "https://w3id.org/ro/crate/1.1" in ids(descriptor["conformsTo"])
    assert root["@type"] == "Dataset"
    assert all(root[name] for name in ("name", "description", "datePublished", "license"))
    assert "https://w3id.org/ro/wfrun/workflow/0.5" in ids(root["conformsTo"])
    workflow = graph[root["mainEntity"]["@id"]]
    assert {"File", "SoftwareSourceCode", "ComputationalWorkflow"} == set(workflow["@type"])
    assert graph[workflow["programmingLanguage"]["@id"]]["@type"] == "ComputerLanguage"
    (run,) = (one for one in graph.values() if one["@type"] == "CreateAction")
    assert run["instrument"] == {"@id": workflow["@id"]}
    assert run["@id"] in ids(root["mentions"])
    named = [*ids(root["hasPart"]), *ids(run["object"]), *ids(run["result"])]
    assert set(named) <= graph.keys()
    files = {str(path.relative_to(deposit)) for path in deposit.rglob("*") if path.is_file()}
    assert set(ids(root["hasPart"])) == files - {"ro-crate-metadata.json"}


VALIDATORS = Path(__file__).parents[2] / ".venv-validators" / "bin"
needs_validators = pytest.mark.skipif(
    not VALIDATORS.is_dir(), reason="make .venv-validators/.stamp installs them"
)
# The validator asks the net for the context; the one of the package `rocrate` is the same.
VALIDATE = """
import json, sys
from importlib.resources import files
from requests import Response
from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester

def get(self, url, *_, **__):
    found = Response()
    found.url, found.status_code = url, 504
    if url == "https://w3id.org/ro/crate/1.1/context":
        found.status_code, found.headers["Content-Type"] = 200, "application/ld+json"
        found._content = (files("rocrate") / "data" / "ro-crate.jsonld").read_bytes()
    return found

HttpRequester.get = HttpRequester.head = get
settings = services.ValidationSettings(
    rocrate_uri=sys.argv[1], profile_identifier="workflow-run-crate", offline=True,
    requirement_severity=models.Severity.REQUIRED,
)
found = services.validate(settings)
print(json.dumps([len(found.executed_checks), [one.message for one in found.get_issues()]]))
"""


def validated(folder: Path) -> tuple[int, list[str]]:
    """Return how many checks the official validator made of a crate, and what it found."""
    command = [VALIDATORS / "python", "-c", VALIDATE, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    n_checks, issues = json.loads(done.stdout.splitlines()[-1])
    return n_checks, issues


@pytest.mark.long
@needs_validators
def test_the_official_validator_finds_no_fault_with_the_crate(
    deposit: Path, tmp_path: Path
) -> None:
    n_checks, issues = validated(deposit)
    assert issues == []
    assert n_checks > 50
    broken = shutil.copytree(deposit, tmp_path / "broken")
    record = (broken / "ro-crate-metadata.json").read_text().replace('"mainEntity"', '"keywords"')
    (broken / "ro-crate-metadata.json").write_text(record)
    assert validated(broken)[1] != []


@pytest.mark.long
@needs_validators
def test_multiqc_makes_a_table_of_the_samples(deposit: Path, tmp_path: Path) -> None:
    shutil.copy(deposit / "credence_mqc.json", tmp_path)
    command = [VALIDATORS / "multiqc", ".", "--outdir", "out", "--no-version-check"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    header, row = (
        (tmp_path / "out/multiqc_data/multiqc_credence_table.txt").read_text().split("\n")[:2]
    )
    found = json.loads((deposit / "credence_mqc.json").read_text("utf-8"))
    ((name, cells),) = found["data"].items()
    assert header.split("\t") == ["Sample", *cells]
    assert row.split("\t")[:2] == [name, cells["verdict"]]
    assert "credence" in (tmp_path / "out" / "multiqc_report.html").read_text("utf-8")


def test_multiqc_finds_a_row_for_each_sample(deposit: Path) -> None:
    found = json.loads((deposit / "credence_mqc.json").read_text("utf-8"))
    assert (found["id"], found["plot_type"]) == ("credence", "table")
    (row,) = found["data"].values()
    assert row.keys() <= found["headers"].keys()
    assert row["proteins"] > 0


def test_the_bibliography_has_the_version_and_the_paper(deposit: Path) -> None:
    text = (deposit / "references.bib").read_text("utf-8")
    assert '  version = "0.1.0",' in text
    assert "doi = {10.3390/make5030043}" in text
    assert text.count("{") == text.count("}")


def test_texts_for_a_publication_are_a_file_beside_the_page_and_in_the_archive(
    deposit: Path, small: Findings
) -> None:
    text = (deposit / "publication.md").read_text("utf-8")
    assert text == publication(small)
    assert text == (deposit.parent.parent / "p" / "publication.md").read_text("utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Methods",
        "## References",
        "## DOME: recommendations for machine learning in biology",
        "## What journals ask",
    ]
    assert methods_text(small)[0].replace("_", "\\_") in text
    n_rows = len(checklist(small)) + len(journal_checks(small))
    assert text.count("\n| ") == n_rows + 2


def test_no_text_of_an_input_is_markup_in_the_texts_for_a_publication(hostile: Findings) -> None:
    text = publication(hostile)
    assert "\\<script\\>alert(1)" in text
    assert "<script>" not in text.replace("\\<", "").replace("\\>", "")
