"""All sections of the page, in reading order. One line each."""

from collections.abc import Callable
from dataclasses import replace

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.sections import (
    by_class,
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
    (first.section, "verdict.md", True),
    (proteins.section, "lists.md", False),
    (by_class.section, "what-does-it-mean.md", True),
    (measuring.section, "mathematics.md", True),
    (test_set.section, "splits.md", False),
    (releases.section, "recalibration.md", False),
    (shift.section, "shift.md", False),
    (mistakes.section, "labels.md", False),
    (measuring.identity, "novelty.md", False),
)
# What experts look up, each part folded.
APPENDIX: tuple[tuple[Build, str], ...] = (
    (first.checks, "verdict.md"),
    (measuring.notices, "glossary.md"),
    (lists.section, "lists.md"),
    (queries.section, "formats.md"),
    (queries.novelty_blocks, "novelty.md"),
    (sets.section, "sets.md"),
    (events.section, "events.md"),
    (mistakes.doubtful_labels, "labels.md"),
    (tools.section, "tools.md"),
    (measuring.errors_and_tests, "verification.md"),
    (methods.section, "comparison.md"),
    (methods.stacks, "ensembles.md"),
    (splits.section, "splits.md"),
    (publish.section, "publications.md"),
    (overview.glossary, "glossary.md"),
    (overview.section, "operations.md"),
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
