"""The confusion matrix, and which labels are doubtful, where a run looked for them."""

from functools import partial

from credence.findings import Findings
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import Heat
from credence.report.wording import count, share, three_decimals

MOST_MISTAKES = 3  # mistakes named in the sentence
MOST_NUMBERED = 36  # classes whose numbers can be read in the cells


def section(findings: Findings) -> page.Section | None:
    """Return the confusion matrix, coloured both ways; None where nothing is known."""
    results = findings.results
    if not results.given_predicted:
        return None
    names = results.class_names
    key = "Numbers are proteins, colours shares: the darker, the more."
    if len(names) > MOST_NUMBERED:
        key = "Colours are shares: the darker, the more. Point at a cell for its proteins."
    ways = (
        ("predicted", "By predicted class", results.given_predicted, "Read down a column"),
        ("true", "By true class", results.given_true, "Read along a row"),
    )
    means = {"predicted": "precision", "true": "recall"}
    heat = partial(Heat, names=names, key="", counts=results.confusion)
    figures = tuple(
        page.Figure(
            name=f"mistakes-{way}",
            caption=f"{read}: the diagonal is the {means[way]}. {key}",
            alternative=f"Confusion matrix of {count(len(names))} classes, {title.lower()}.",
            plot=heat(values=values),
        )
        for way, title, values, read in ways
    )
    matrix = page.Choice(
        name="matrix",
        label="Colours",
        titles=tuple(title for _, title, *_ in ways),
        figures=figures,
    )
    blocks = page.flat(page.lead(_most_often(findings)), matrix)
    return page.Section(name="mistakes", title="Confusion matrix", blocks=blocks)


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
    most = sorted(pairs, key=lambda pair: -pair[0])[:MOST_MISTAKES]
    stated = "; ".join(
        f"{predicted} that are truly {true} ({count(n)}, {share(part)} of the predictions)"
        for n, part, predicted, true in most
    )
    return f"Most mistakes are predictions of {stated}."


def doubtful_labels(findings: Findings) -> page.Section | None:
    """Return the most doubtful labels; None where a run did not look for them."""
    labels, title = findings.labels, "Doubtful labels"
    if labels is None:
        return None
    lead = f"Of {plural(labels.n, 'calibration label')}, {count(labels.n_listed)} are doubtful."
    text = " ".join(
        (*labels.sentences, "No label was changed; look at each before you change one.")
    )
    first = "first of the " if labels.n_listed > len(labels.first) else ""
    table = page.table(
        f"The {first}doubtful labels, all of which are in labels.tsv beside this page.",
        labels.first,
        page.word("protein", "id"),
        page.word("label", "label"),
        page.word("speaks for", "suggested"),
        page.number("right labels up to here", "false", three_decimals),
        page.word("why", "why"),
    )
    blocks = page.flat(page.lead(lead), text, labels.first and table)
    return page.Section(name="labels", title=title, blocks=blocks)
