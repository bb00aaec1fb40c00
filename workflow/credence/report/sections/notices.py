"""What to be careful with, warnings first."""

from __future__ import annotations

from collections.abc import Iterator

from credence.findings import Findings, Notice
from credence.report import blocks as page
from credence.report.sections.measuring import LEVEL, p_words
from credence.report.wording import count, of

TEST = "kolmogorov_smirnov"


def section(findings: Findings) -> page.Section:
    """Return every notice of the run."""
    notices = all_notices(findings)
    if not notices:
        return page.Section(
            "notices", "What to be careful with", (page.Paragraph("Nothing was found."),)
        )
    # The sort is stable: among equals the order in which they were found stays.
    ordered = tuple(sorted(notices, key=lambda notice: not notice.is_warning))
    return page.Section("notices", "What to be careful with", (page.NoticeList(ordered),))


def all_notices(findings: Findings) -> tuple[Notice, ...]:
    """Return what any stage has to say, what tests rejected, and what the audit found."""
    return (
        *findings.notices,
        *findings.results.notices,
        *_failed_tests(findings),
        *_audit(findings),
    )


def _failed_tests(findings: Findings) -> Iterator[Notice]:
    for entry in findings.results.tests:
        is_asked = (entry.method, entry.test) == (findings.chosen, TEST)
        if is_asked and entry.class_name is not None and entry.p_adjusted <= LEVEL:
            yield Notice(
                "failed test",
                f"Held-out confidences of {entry.class_name} are off by more than chance "
                f"(p {p_words(entry.p_adjusted)} after Holm's correction).",
                entry.class_name,
                is_warning=True,
            )


def _audit(findings: Findings) -> Iterator[Notice]:
    split = findings.split
    if split is None:
        return
    if not split.is_audited:
        yield Notice("audit", "Whether relatives are in two groups was not audited.")
        return
    n_examined = sum(entry.n_examined for entry in split.classes)
    n_crossing = sum(entry.n_crossing for entry in split.classes)
    yield Notice(
        "audit",
        f"Of {of(n_examined, 'audited protein')}, {count(n_crossing)} "
        f"{'has' if n_crossing == 1 else 'have'} a relative in another group.",
        is_warning=n_crossing > 0,
    )
