"""All sections of the page, in reading order. One line each."""

from __future__ import annotations

from collections.abc import Callable

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
    publish,
    releases,
    sets,
    shift,
    splits,
    trust,
    use_sets,
)

SECTIONS: tuple[Callable[[Findings], page.Section | None], ...] = (
    first.section,
    lists.section,
    trust.section,
    by_class.section,
    methods.section,
    methods.stacks,
    measuring.section,
    mistakes.section,
    sets.section,
    events.section,
    use_sets.section,
    shift.section,
    use_sets.novelty,
    releases.section,
    measuring.notices,
    splits.section,
    overview.section,
    overview.glossary,
    publish.section,
)


def sections_of(findings: Findings) -> tuple[page.Section, ...]:
    """Return the sections that have something to show."""
    built = (build(findings) for build in SECTIONS)
    return tuple(section for section in built if section is not None)
