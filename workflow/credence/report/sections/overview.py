"""What was calibrated, on what, with which settings."""

from __future__ import annotations

from credence.findings import Findings
from credence.report.blocks import (
    Block,
    Definitions,
    Folded,
    Paragraph,
    Section,
    TableBlock,
    TableColumn,
    numbers,
    words,
)
from credence.report.sections.lookup import Lookup
from credence.report.sections.notices import all_notices
from credence.report.wording import NOTHING, count, of, share


def section(findings: Findings) -> Section:
    """Return what a reader has to know of the run before its numbers."""
    results, provenance = findings.results, findings.provenance
    families = (
        f"in {of(results.n_clusters, 'family', 'families')} of relatives"
        if Lookup(findings).knows_relatives
        else "of which no relatives are known"
    )
    lead = (
        f"{of(results.n_samples, 'protein')} of known class, {families}, show how often the "
        f"classifier is right: {share(results.n_correct / results.n_samples)} of all "
        f"predictions, over {of(len(results.class_names), 'class', 'classes')}. "
        f"From them {findings.chosen} learnt, class by class, how sure a score is."
    )
    n_warnings = sum(notice.is_warning for notice in all_notices(findings))
    blocks: list[Block] = [Paragraph(lead, is_lead=True)]
    if n_warnings:
        blocks.append(
            Paragraph(
                f"{of(n_warnings, 'warning')} of this run: see “What to be careful with” below."
            )
        )
    blocks.append(
        Definitions(
            (
                ("Run", provenance.run),
                ("Method", findings.chosen),
                ("Also fitted", ", ".join(_others(findings)) or "no other method"),
                (
                    "Intervals",
                    f"{100 * results.level:g} %, pointwise, from {count(results.n_draws)} draws "
                    "over whole families",
                ),
                ("Held-out numbers", f"{results.n_folds} folds of whole families"),
                *_release(findings),
                ("Version", _versions(findings)),
            )
        )
    )
    blocks.append(Folded("Inputs and settings", _details(findings)))
    return Section("overview", "What was calibrated", tuple(blocks))


def _versions(findings: Findings) -> str:
    provenance = findings.provenance
    own = f"credence {provenance.credence_version}"
    return ", ".join([own, *(f"{entry.name} {entry.value}" for entry in provenance.versions)])


def _release(findings: Findings) -> tuple[tuple[str, str], ...]:
    if findings.releases is None or not findings.releases.releases:
        return ()
    last = findings.releases.releases[-1]
    n = len(findings.releases.releases)
    stated = last.name if n == 1 else f"{last.name}, the last of {count(n)}"
    digest = f"; SHA-256 {last.digest}" if last.digest else ""
    return (("Release", stated + digest),)


def _others(findings: Findings) -> list[str]:
    return [method.name for method in findings.methods if method.name != findings.chosen]


def _details(findings: Findings) -> tuple[TableBlock, ...]:
    tables = []
    if findings.provenance.inputs:
        rows = tuple(
            (
                entry.role,
                entry.name,
                NOTHING if entry.n_records is None else count(entry.n_records),
                entry.sha256,
            )
            for entry in findings.provenance.inputs
        )
        columns: tuple[TableColumn, ...] = (
            *words("input", "file"),
            *numbers("records"),
            *words("SHA-256"),
        )
        tables.append(TableBlock("Files that this run read", columns, rows))
    settings = [("run", entry.name, entry.value) for entry in findings.provenance.settings]
    settings += [
        (method.name, entry.name, entry.value)
        for method in findings.methods
        for entry in method.settings
    ]
    if settings:
        columns = tuple(
            TableColumn(title, is_number=False) for title in ("of", "setting", "value")
        )
        tables.append(TableBlock("Settings", columns, tuple(settings)))
    return tuple(tables)
