"""Calibration proteins whose label is doubtful, where a run looked for them."""

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
    first = "first of the " if found.n_listed > len(found.first) else ""
    table = page.table(
        f"The {first}doubtful labels, all of which are in labels.tsv beside this page.",
        found.first,
        page.word("protein", "id"),
        page.word("label", "label"),
        page.word("speaks for", "suggested"),
        page.number("right labels up to here", "false", three_decimals),
        page.word("why", "why"),
    )
    blocks = page.flat(page.lead(lead), text, found.first and table)
    return page.Section("labels", "Which labels are doubtful?", blocks)
