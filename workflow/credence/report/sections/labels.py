"""Calibration proteins whose label is doubtful, where a run looked for them."""

from operator import attrgetter

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.wording import count, of, three_decimals

NOT_ASKED = (
    "Labels were taken as they are. evaluation: {doubtful_labels: true} in the configuration "
    "lists those that scores and relatives contradict, in a section of its own."
)


def section(findings: Findings) -> page.Section | None:
    """Return the most doubtful labels; None where nobody looked for them."""
    found = findings.labels
    if found is None:
        return None
    lead = f"Of {of(found.n, 'calibration label')}, {count(found.n_listed)} are doubtful."
    text = " ".join(
        (*found.sentences, "No label was changed; look at each before you change one.")
    )
    blocks: list[page.Block] = [page.Paragraph(lead, is_lead=True), page.Paragraph(text)]
    if found.first:
        more = found.n_listed > len(found.first)
        blocks.append(
            page.table(
                f"The {'first of the ' if more else ''}doubtful labels, all of which are in "
                "labels.tsv beside this page.",
                found.first,
                page.word("protein", attrgetter("id")),
                page.word("label", attrgetter("label")),
                page.word("speaks for", attrgetter("suggested")),
                page.number("right labels up to here", lambda row: three_decimals(row.false)),
                page.word("why", attrgetter("why")),
            )
        )
    return page.Section("labels", "Which labels are doubtful?", tuple(blocks))
