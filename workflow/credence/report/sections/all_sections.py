"""All sections of the page, in reading order. One line each."""

from collections.abc import Callable
from dataclasses import replace

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.sections import (
    by_class,
    calls,
    events,
    first,
    lists,
    measuring,
    methods,
    mistakes,
    overview,
    proteins,
    publish,
    queries,
    releases,
    sets,
    shift,
    splits,
    test_set,
    tools,
)

Build = Callable[[Findings], page.Section | None]
# What everybody reads; the documentation's page of each, and whether the short print has it.
MAIN: tuple[tuple[Build, str, bool], ...] = (
    (first.section, "verdict", True),
    (proteins.section, "lists", False),
    (by_class.section, "what-does-it-mean", True),
    (measuring.section, "mathematics", True),
    (calls.section, "several-labels", False),
    (test_set.section, "splits", False),
    (releases.section, "recalibration", False),
    (shift.section, "shift", False),
    (mistakes.section, "labels", False),
    (measuring.identity, "novelty", False),
    (publish.section, "publications", False),
)
# What experts look up, each part folded.
APPENDIX: tuple[tuple[Build, str], ...] = (
    (first.checks, "verdict"),
    (measuring.notices, "glossary"),
    (lists.section, "lists"),
    (queries.section, "formats"),
    (queries.novelty_blocks, "novelty"),
    (sets.section, "sets"),
    (events.section, "events"),
    (mistakes.doubtful_labels, "labels"),
    (tools.section, "tools"),
    (measuring.errors_and_tests, "verification"),
    (methods.section, "comparison"),
    (methods.stacks, "ensembles"),
    (splits.section, "splits"),
    (overview.meaning, "what-does-it-mean"),
    (overview.section, "operations"),
)
PAGE_SECTIONS: tuple[Build, ...] = (
    *(build for build, *_ in MAIN),
    *(build for build, _ in APPENDIX),
)


def sections_of(findings: Findings) -> tuple[page.Section, ...]:
    """Return the sections that have something to show."""
    shown = []
    for build, documentation, is_summary in MAIN:
        section = build(findings)
        if section is not None:
            shown.append(replace(section, documentation=documentation, is_summary=is_summary))
    for build, documentation in APPENDIX:
        section = build(findings)
        if section is not None:
            shown.append(replace(section, documentation=documentation, is_appendix=True))
    return tuple(shown)
