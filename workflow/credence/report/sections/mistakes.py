"""What is taken for what."""

from functools import partial
from operator import itemgetter

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.plots import Heat
from credence.report.sections.labels import NOT_ASKED
from credence.report.wording import count, share

MOST_NAMED = 3  # mistakes named in the sentence
MOST_NUMBERED = 36  # classes whose numbers can be read in the cells


def section(findings: Findings) -> page.Section | None:
    """Return both confusion matrices as pictures, and the counts; None where nothing is known."""
    results = findings.results
    if not results.given_predicted:
        return None
    names = results.class_names
    key = "Numbers are proteins, colours shares: the darker, the more."
    if len(names) > MOST_NUMBERED:
        key = "Colours are shares: the darker, the more. Point at a cell for its proteins."
    is_unasked = findings.labels is None
    right = "What predictions truly are: read down a column. The diagonal is the share right."
    recognised = "What proteins are predicted to be: read along a row. The diagonal is the share "
    recognised += "recognised."
    given = ("predicted", results.given_predicted, right), ("true", results.given_true, recognised)
    alternative = f"Matrix of {count(len(names))} classes; the folded table gives its numbers."
    heat = partial(Heat, names, key="", counts=results.confusion)
    figures = tuple(
        page.Figure(f"mistakes-{word}", f"{caption} {key}", alternative, heat(values=values))
        for word, values, caption in given
    )
    counts = page.table(
        "Calibration proteins by true and predicted class.",
        zip(names, results.confusion, strict=True),
        page.word("truly ↓, predicted →", itemgetter(0)),
        *page.numbers(names, lambda row, at: count(row[1][at]) if row[1][at] else ""),
    )
    blocks = (
        page.Paragraph(_most_often(findings), is_lead=True),
        page.FigureRow(figures),
        page.Folded("The counts as a table", (counts,)),
        *((page.Folded("Are labels wrong?", (page.Paragraph(NOT_ASKED),)),) * is_unasked),
    )
    return page.Section("mistakes", "What is taken for what", blocks)


def _most_often(findings: Findings) -> str:
    names, results = findings.results.class_names, findings.results
    pairs = [
        (n, results.given_predicted[true][predicted], names[predicted], names[true])
        for true, row in enumerate(results.confusion)
        for predicted, n in enumerate(row)
        if n and true != predicted
    ]
    if not pairs:
        return "No calibration protein is predicted to be of another class than its own."
    most = sorted(pairs, key=lambda pair: -pair[0])[:MOST_NAMED]
    stated = "; ".join(
        f"{predicted} that are truly {true} ({count(n)}, {share(part)} of the predictions)"
        for n, part, predicted, true in most
    )
    return f"Most mistakes are predictions of {stated}."
