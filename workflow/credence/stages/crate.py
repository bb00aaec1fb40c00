"""What an archive says of itself to other programs: a Workflow Run Crate (RO-Crate 1.1)."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from credence.evaluation.verdict import verdict_of
from credence.findings import Findings

CRATE_METADATA = "ro-crate-metadata.json"
WORKFLOW = "workflow/Snakefile"
CONTEXT = "https://w3id.org/ro/crate/1.1/context"  # which has every term that stands here
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
MIT = "https://spdx.org/licenses/MIT"
SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
# Archives of the same run are the same bytes, so that no clock is read: that of the version.
PUBLISHED_ON = "2026-11-23"
MEDIA = {
    ".html": "text/html",
    ".json": "application/json",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
}


def entity(id_: str, kind: str | list[str], name: str, **more: Any) -> dict[str, Any]:
    """Return one entry of the graph."""
    return {"@id": id_, "@type": kind, "name": name, **more}


def refer(ids: Iterable[str]) -> list[dict[str, str]]:
    """Return references to entries of the graph."""
    return [{"@id": id_} for id_ in ids]


def metadata(findings: Findings, members: Iterable[str]) -> dict[str, Any]:
    """Return the metadata of an archive that holds these files beside the workflow."""
    made = sorted(set(members) - {WORKFLOW})
    facts = findings.provenance
    title = facts.title or facts.run or "A run of credence"
    description = "Confidences of a protein classifier's predictions, and what they rest on."
    read = [
        entity(
            f"#input-{n}", "CreativeWork", f"{entry.role}: {entry.name}", identifier=entry.sha256
        )
        for n, entry in enumerate(facts.inputs, 1)
    ]
    set_ = [
        entity(f"#setting-{n}", "PropertyValue", entry.name, value=entry.value)
        for n, entry in enumerate(facts.settings, 1)
    ]
    known_as = "The licence is chosen by those who deposit it."
    about = {
        "@id": CRATE_METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": refer(["https://w3id.org/ro/crate/1.1", *list(PROFILES)[2:]]),
    }
    data = entity(
        "./",
        "Dataset",
        title,
        description=description + (" The inputs are simulated." * facts.is_simulated),
        datePublished=PUBLISHED_ON,
        license={"@id": "#licence"},
        conformsTo=refer(PROFILES),
        hasPart=refer([WORKFLOW, *made]),
        mainEntity={"@id": WORKFLOW},
        mentions={"@id": "#run"},
    )
    workflow = entity(
        WORKFLOW,
        ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "credence",
        programmingLanguage={"@id": SNAKEMAKE},
        encodingFormat="text/plain",
        version=facts.credence_version,
        license={"@id": MIT},
    )
    snakemake = entity(
        SNAKEMAKE,
        "ComputerLanguage",
        "Snakemake",
        identifier={"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
        url={"@id": "https://snakemake.readthedocs.io"},
    )
    run = entity(
        "#run",
        "CreateAction",
        f"A run of credence {facts.credence_version}",
        description="Confidences were fitted, cross-validated by family, and assigned.",
        instrument={"@id": WORKFLOW},
        object=refer(entry["@id"] for entry in (*read, *set_)),
        result=refer(made),
    )
    graph = [about, data, entity("#licence", "CreativeWork", "Licence", description=known_as)]
    for id_, (name, version) in PROFILES.items():
        graph.append(entity(id_, "CreativeWork", name, version=version))
    graph += [workflow, snakemake, entity(MIT, "CreativeWork", "MIT License"), run, *read, *set_]
    for file, path in zip(made, map(PurePosixPath, made), strict=True):
        kind = MEDIA.get(path.suffix, "text/plain")
        further = {"about": {"@id": "./"}} if file == "README.md" else {}
        graph.append(entity(file, "File", path.name, encodingFormat=kind, **further))
    return {"@context": CONTEXT, "@graph": graph}


MULTIQC = "credence_mqc.json"


def multiqc(findings: Findings) -> dict[str, Any]:
    """Return a table for MultiQC's report: a row for each query set."""
    facts, state = findings.provenance, verdict_of(findings).state
    rows, sizes = dict[str, dict[str, Any]](), dict[str, dict[str, str]]()
    shifts = {shift.name for shift in findings.shifts}
    for query_set in findings.queries:
        row = rows[f"{facts.run}: {query_set.name}" if facts.run else query_set.name] = {
            "verdict": state,
            "proteins": query_set.n,
            "without": query_set.n_unknown,
            "corrected": "estimated" if query_set.name in shifts else "as calibrated",
        }
        for list_ in (
            list_
            for lists in findings.lists
            if lists.name == query_set.name
            for list_ in lists.together()
        ):
            if not list_.is_certain:
                name, title = f"list_{list_.error:g}", f"List at {list_.error:.3g}"
                row[name] = list_.n
                sizes[name] = {"title": title, "format": "{:,.0f}", "scale": "Greens"}
    headers = {
        "verdict": {"title": "Verdict", "description": "May the confidences be used?"},
        "proteins": {"title": "Proteins", "format": "{:,.0f}"},
        "without": {"title": "No confidence", "format": "{:,.0f}", "scale": "Oranges"},
        "corrected": {"title": "Class proportions", "description": "That confidences are for"},
    }
    return {
        "id": "credence",
        "section_name": "credence",
        "description": "Calibrated confidences of a protein classifier's predictions, by sample.",
        "plot_type": "table",
        "pconfig": {"id": "credence_table", "title": "credence: predictions"},
        "headers": headers | sizes,
        "data": rows,
    }
