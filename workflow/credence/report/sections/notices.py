"""What to be careful with, warnings first."""

from __future__ import annotations

from credence.findings import Findings
from credence.report.blocks import NoticeList, Paragraph, Section


def section(findings: Findings) -> Section:
    """Return every notice of the run.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    notices = (*findings.notices, *findings.results.notices)
    if not notices:
        return Section("notices", "What to be careful with", (Paragraph("Nothing was found."),))
    # The sort is stable: among equals the order in which they were found stays.
    ordered = tuple(sorted(notices, key=lambda notice: not notice.is_warning))
    return Section("notices", "What to be careful with", (NoticeList(ordered),))
