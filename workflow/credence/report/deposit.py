"""Texts that go into the archive of a run: what it is, and how to cite it."""

from __future__ import annotations

import json

from credence.findings import Findings
from credence.report.sections.publish import methods_text, references
from credence.report.wording import of, printable

NAMES = "Put the names of the authors here"


def readme(findings: Findings) -> str:
    """Return the README of an archive, in Markdown.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    provenance, results = findings.provenance, findings.results
    simulated = "The proteins and scores are **simulated**.\n\n" if provenance.is_simulated else ""
    inputs = "".join(
        f"| {_cell(entry.role)} | {_cell(entry.name)} | {_cell(entry.sha256)} |\n"
        for entry in provenance.inputs
    )
    listed = f"| input | file | SHA-256 |\n|---|---|---|\n{inputs}\n" if inputs else ""
    return (
        f"# {_cell(provenance.title)}\n\n{simulated}"
        f"Calibrated confidence of a protein classifier, class by class: "
        f"{of(results.n_samples, 'protein')}, "
        f"{of(len(results.class_names), 'class', 'classes')}, method {_cell(findings.chosen)}, "
        f"made by credence {provenance.credence_version}.\n\n"
        "| file | what it is |\n|---|---|\n"
        "| `index.html` | the page; open it in a browser |\n"
        "| `findings.json` | every number of the page |\n"
        "| `calibration.json` | for `credence annotate new.csv --calibration calibration.json` |\n"
        "| `metrics.tsv`, `.parquet` | every metric of every method and class |\n"
        "| `releases/` | every release: calibration, groups of the proteins, record |\n"
        "| other folders | per set of samples: confidences and composition |\n"
        "| `SHA256SUMS` | `sha256sum --check SHA256SUMS` |\n\n"
        "Before you deposit it: put your names into `CITATION.cff`, and say where the sequences "
        "come from.\n\n"
        f"{listed}## Methods\n\n"
        + "\n\n".join(_cell(line) for line in methods_text(findings))
        + "\n\n## References\n\n"
        + "\n\n".join(_cell(line) for line in references(findings))
        + "\n"
    )


def _cell(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    shown = printable(text).replace("\n", " ").replace("\t", " ")
    for sign in "\\`*_<>|#":
        shown = shown.replace(sign, f"\\{sign}")
    return shown


def citation(findings: Findings) -> str:
    """Return the CITATION.cff of an archive; its authors are for the depositor to name.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    provenance = findings.provenance
    title = json.dumps(f"{printable(provenance.title)}: calibrated confidences")
    return (
        "cff-version: 1.2.0\n"
        "message: If you use these data, please cite them and the works below.\n"
        f"title: {title}\n"
        "type: dataset\n"
        f"authors:\n  - name: {NAMES}\n"
        "references:\n"
        "  - type: software\n    title: credence\n"
        f"    version: {json.dumps(provenance.credence_version)}\n"
        "    authors:\n      - name: The credence authors\n"
        "  - type: article\n"
        '    title: "Classification Confidence in Exploratory Learning: A User\'s Guide"\n'
        "    authors:\n      - family-names: Salamon\n        given-names: Peter\n"
        "    year: 2023\n    doi: 10.3390/make5030043\n"
    )
