"""What was calibrated, on what, with which settings."""

from __future__ import annotations

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.sections.lookup import Lookup
from credence.report.sections.measuring import all_notices
from credence.report.wording import count, of, share


def section(findings: Findings) -> page.Section:
    """Return what a reader has to know of the run before its numbers."""
    results, provenance, lookup = findings.results, findings.provenance, Lookup(findings)
    families = (
        f"in {of(results.n_clusters, 'family', 'families')} of relatives"
        if lookup.knows_relatives
        else "of which no relatives are known"
    )
    lead = (
        f"{of(results.n_samples, 'protein')} of known class, {families}, show how often the "
        f"classifier is right: {share(results.n_correct / results.n_samples)} of all "
        f"predictions, over {of(len(results.class_names), 'class', 'classes')}. "
        f"From them {findings.chosen} learnt, class by class, how sure a score is."
    )
    blocks: list[page.Block] = [page.Paragraph(lead, is_lead=True)]
    n_warnings = sum(notice.is_warning for notice in all_notices(findings))
    if n_warnings:
        blocks.append(
            page.Paragraph(
                f"{of(n_warnings, 'warning')} of this run: see “What to be careful with” below."
            )
        )
    own = f"credence {provenance.credence_version}"
    versions = [own, *(f"{entry.name} {entry.value}" for entry in provenance.versions)]
    facts = (
        ("Run", provenance.run),
        ("Method", findings.chosen),
        ("Also fitted", ", ".join(lookup.others) or "no other method"),
        (
            "Intervals",
            f"{100 * results.level:g} %, pointwise, from {count(results.n_draws)} draws "
            "over whole families",
        ),
        ("Held-out numbers", f"{results.n_folds} folds of whole families"),
        *_release(findings),
        ("Version", ", ".join(versions)),
    )
    blocks += [page.Definitions(facts), page.Folded("Inputs and settings", _details(findings))]
    return page.Section("overview", "What was calibrated", tuple(blocks))


def _release(findings: Findings) -> tuple[tuple[str, str], ...]:
    if findings.releases is None or not findings.releases.releases:
        return ()
    last = findings.releases.releases[-1]
    n = len(findings.releases.releases)
    stated = last.name if n == 1 else f"{last.name}, the last of {count(n)}"
    digest = f"; SHA-256 {last.digest}" if last.digest else ""
    return (("Release", stated + digest),)


def _details(findings: Findings) -> tuple[page.TableBlock, ...]:
    tables = []
    if findings.provenance.inputs:
        files = page.table(
            "Files that this run read",
            findings.provenance.inputs,
            page.word("input", lambda entry: entry.role),
            page.word("file", lambda entry: entry.name),
            page.number("records", "n_records"),
            page.word("SHA-256", lambda entry: entry.sha256),
        )
        tables.append(files)
    settings = [("run", entry) for entry in findings.provenance.settings]
    settings += [(method.name, entry) for method in findings.methods for entry in method.settings]
    if settings:
        tables.append(
            page.table(
                "Settings",
                settings,
                page.word("of", lambda pair: pair[0]),
                page.word("setting", lambda pair: pair[1].name),
                page.word("value", lambda pair: pair[1].value),
            )
        )
    return tuple(tables)
