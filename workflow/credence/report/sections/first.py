"""The first screen: what to do next, whether confidences can be used, how many there are."""

import math
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from credence.evaluation.verdict import BAD, CARE, GOOD, OPEN
from credence.findings import ACCEPT, CHECK, INSUFFICIENT, Findings, QuerySet, UseLists
from credence.problems import plural
from credence.report import blocks as page
from credence.report.sections.lists import percent, whole_of
from credence.report.sections.lookup import Lookup
from credence.report.verdict import StatedCheck, StatedVerdict, stated_verdict
from credence.report.wording import count, in_words

TITLES = {GOOD: "Good to use", CARE: "Use with care", BAD: "Not to be used"}
MOST_REASONS = 4
MOST_STEPS = 3
MOSTLY = 0.5  # of a class's predictions: insufficient data for more of them says leave it


def section(findings: Findings) -> page.Section:
    """Return the first screen."""
    lookup, verdict = Lookup(findings), stated_verdict(findings)
    wanted = (GOOD,) if verdict.state == GOOD else (BAD, CARE)
    # What was not checked forbids “good to use”: where nothing else is found, it is the reason.
    reasons = reasons_of(findings, verdict, *wanted) or reasons_of(findings, verdict, OPEN)
    has_table = any(query_set.proteins is not None for query_set in findings.queries)
    steps = tuple(
        replace(step, links=tuple(link for link in step.links if has_table or not _of_table(link)))
        for step in tuple(_steps(findings, verdict))[:MOST_STEPS]
    )
    block = page.FirstScreen(
        about=_about(lookup),
        steps=steps,
        state=verdict.state,
        title=TITLES[verdict.state],
        reasons=tuple(
            replace(reason, text=_first_sentence(reason.text)) for reason in reasons[:MOST_REASONS]
        ),
        checks=page.Link(text=f"All {len(verdict.checks)} checks", target="#checks"),
        answers=_answers(lookup),
    )
    return page.Section(name="first", title="Do this next", blocks=(block,))


def _first_sentence(text: str) -> str:
    """Return the first sentence; all of it stands among the checks."""
    first, end, _ = text.partition(". ")
    return f"{first}{end}".strip()


def _of_table(link: page.Link) -> bool:
    return link.target.startswith("#proteins")


def checks(findings: Findings) -> page.Section:
    """Return every check that the state rests on, the worst first."""
    verdict = stated_verdict(findings)
    order = {BAD: 0, CARE: 1, GOOD: 3}
    rows = sorted(verdict.checks, key=lambda check: order.get(check.state, 2))
    many = len(findings.queries) > 1
    table = page.table(
        "The worst check decides; what was not checked forbids “good to use”.",
        rows,
        page.word("state", "state"),
        page.word("what was found", "headline"),
        page.word("in words", "text"),
        *([page.word("query set", "query_set")] if many else []),
    )
    return page.Section(name="checks", title="All checks of the state", blocks=(table,))


def reasons_of(
    findings: Findings, verdict: StatedVerdict, *states: str
) -> tuple[page.Reason, ...]:
    """Return the checks in some states, those that several query sets share as one."""
    alike: dict[tuple[str, str], list[StatedCheck]] = {}
    for state in states:
        for check in verdict.checks:
            if check.state == state:
                alike.setdefault((state, check.headline), []).append(check)
    many = len(findings.queries) > 1
    reasons = []
    for (state, headline), same in alike.items():
        about = in_words(check.query_set for check in same if many and check.query_set)
        text = same[0].text if len(same) == 1 else ""
        headline = f"{about}: {headline}" if about else headline
        reasons.append(page.Reason(state=state, headline=headline, text=text))
    return tuple(reasons)


def _about(lookup: Lookup) -> str:
    results = lookup.findings.results
    text = f"Learnt from {plural(results.n_samples, lookup.findings.unit)}"
    if (calls := lookup.findings.calls) is not None:
        text += f" of {plural(calls.n_proteins, 'protein')}"
    if lookup.knows_relatives:
        text += f" in {plural(results.n_clusters, 'family', 'families')}"
    return f"{text}."


def _steps(findings: Findings, verdict: StatedVerdict) -> Iterator[page.Paragraph]:
    """Yield what to do next, each with where to do it."""
    if verdict.state == BAD:
        (worst, *_) = reasons_of(findings, verdict, BAD)
        text = f"Do not act on these confidences. Settle this first: {worst.headline}."
        yield _step(text, page.Link(text="Why", target="#checks"))
        return
    if not findings.queries:
        text = "Give credence the scores of your proteins: credence annotate TABLE --calibration "
        yield _step(f"{text}calibration.json.", *_files(findings, "calibration.json"))
        return
    yield _accepted(findings)
    left, n, n_lacking = _not_to_interpret(findings)
    if left:
        families = Lookup(findings).families
        yield _step(
            f"Do not interpret {in_words(left)}: too few known {families} "
            f"({count(n_lacking)} of {plural(n, 'prediction')}).",
            page.Link(text="The classes", target="#classes"),
        )
    for lists in (lists for lists in findings.lists if lists.verify):
        parts = sorted(lists.verify, key=lambda advice: -advice.n)
        stated = in_words(f"{count(advice.n)} {advice.class_name}" for advice in parts)
        change = " to change that" if left else ""
        yield _step(
            f"Verify {plural(lists.n_verify, findings.unit)} of {lists.name}{change}: {stated}. "
            "credence plan names them.",
            page.Link(text="What that shows", target="#lists"),
        )


def _step(text: str, *links: page.Link) -> page.Paragraph:
    return page.Paragraph(text=text, links=links)


def _files(findings: Findings, *names: str) -> list[page.Link]:
    return [page.Link(text=name, target=quote(name)) for name in names if name in findings.files]


def _accepted(findings: Findings) -> page.Paragraph:
    """Return which predictions to work from."""
    listed = [lists for lists in findings.lists if lists.accepted is not None]
    full = [lists for lists in listed if lists.accepted is not None and lists.accepted.n]
    classes = [entry for query_set in findings.queries for entry in query_set.classes]
    n_check = sum(entry.n_check for entry in classes)
    if not listed:
        text = "Read the interval of a confidence before you act on it: no list was asked for."
        return _step(text, page.Link(text="The proteins", target="#proteins"))
    if len(full) == 1 == len(findings.queries):
        (lists,) = full
        assert lists.accepted is not None
        text = (
            f"Work from the {plural(lists.accepted.n, 'accepted prediction')} of {lists.name} "
            f"({percent(lists.accepted.error)} FDR): {_wrong(lists)}."
        )
        file = f"{lists.name}/list_{lists.accepted.error:g}.tsv"
        return _step(text, filtered("Show them", ACCEPT), *_files(findings, file))
    if full:
        parts = in_words(
            f"{count(lists.accepted.n)} of {lists.name} ({_wrong(lists)})"
            for lists in full
            if lists.accepted is not None
        )
        text = f"Work from the accepted predictions: {parts}."
        return _step(text, filtered("Show them", ACCEPT))
    if n_check:
        text = (
            "No prediction is accepted. Look first at those to check that have the highest "
            f"confidence: {count(n_check)}."
        )
        return _step(text, filtered("Show them", CHECK))
    text = "Use no prediction: none is accepted, and for all of them the data are insufficient."
    return _step(text, filtered("Show them", INSUFFICIENT))


def filtered(text: str, decision: str, **more: str) -> page.Link:
    """Return a link to the predictions of a decision in the table of proteins."""
    pairs = {"decision": decision, **more}
    asked = "".join(f"&{name}={quote(value)}" for name, value in pairs.items())
    return page.Link(text=text, target=f"#proteins{asked}")


def _wrong(lists: UseLists) -> str:
    assert lists.accepted is not None
    n_wrong = round(lists.accepted.n - lists.accepted.right)
    if not n_wrong:
        return "fewer than one is wrong"
    return f"about {count(n_wrong)} {'is' if n_wrong == 1 else 'are'} wrong"


def _not_to_interpret(findings: Findings) -> tuple[list[str], int, int]:
    """Return classes of which nothing is accepted and little known, and how many predictions."""
    background = {name for lists in findings.lists for name in lists.background}
    left, n_all, n_lacking = [], 0, 0
    for at, name in enumerate(findings.results.class_names):
        parts = [query_set.classes[at] for query_set in findings.queries]
        n, n_evident, n_accept = (
            sum(getattr(part, field) for part in parts) for field in ("n", "n_evident", "n_accept")
        )
        if n and name not in background and not n_accept and n - n_evident > MOSTLY * n:
            left.append(name)
            n_all, n_lacking = n_all + n, n_lacking + n - n_evident
    return left, n_all, n_lacking


def _answers(lookup: Lookup) -> tuple[page.Answer, ...]:
    findings = lookup.findings
    answers = [
        answer for query_set in findings.queries for answer in _of_query_set(findings, query_set)
    ]
    if not answers:
        n, n_right = findings.results.n_samples, findings.results.n_correct
        words = f"of {plural(n, 'prediction')} of known class are right, whatever their score"
        answers = [page.Answer(number=f"{100 * n_right / n:.0f} %", text=words)]
    return tuple(answers)


def _of_query_set(findings: Findings, query_set: QuerySet) -> list[page.Answer]:
    known = query_set.n - query_set.n_unknown
    whole = whole_of(findings, query_set.name)
    answers = []
    is_one = len(findings.queries) == 1
    name = "your" if is_one else f"{query_set.name}’s"
    if whole is not None and whole.n and not math.isnan(whole.right):
        right = (whole.right_lower, whole.right, whole.right_upper)
        low, middle, high = (100 * value / whole.n for value in right)
        words = f"of {name} {plural(known, 'prediction')} should be right: about "
        words += count(round(whole.right))
        answers.append(
            page.Answer(number=f"{middle:.0f} %", range=f"({low:.0f} to {high:.0f})", text=words)
        )
    n_accept, n_check = (
        sum(getattr(entry, field) for entry in query_set.classes)
        for field in ("n_accept", "n_check")
    )
    set_asked = {} if is_one else {"set": query_set.name}

    def decided(n: int, text: str, decision: str) -> page.Answer:
        anchor = filtered(text, decision, **set_asked).target[1:] if query_set.proteins else ""
        return page.Answer(number=count(n), text=text, anchor=anchor)

    for lists in (lists for lists in findings.lists if lists.name == query_set.name):
        if lists.accepted is not None:
            kind = f" (none of them {lists.background_in_words})" if lists.background else ""
            words = f"accepted at {percent(lists.accepted.error)} FDR{kind}"
            answers.append(decided(n_accept, words, ACCEPT))
    answers.append(decided(n_check, "to check", CHECK))
    n_lacking = query_set.n - n_accept - n_check
    return [*answers, decided(n_lacking, "insufficient data", INSUFFICIENT)]
