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

PAGE_SECTIONS: tuple[Callable[[Findings], page.Section | None], ...] = (
    first.section,
    proteins.section,
    lists.section,
    by_class.section,
    measuring.section,
    test_set.section,
    methods.section,
    mistakes.section,
    mistakes.doubtful_labels,
    tools.section,
    sets.section,
    events.section,
    queries.section,
    shift.section,
    queries.novelty_blocks,
    releases.section,
    measuring.notices,
    publish.section,
    overview.glossary,
    methods.stacks,
    splits.section,
    overview.section,
)
# Sections among expert parts, and those that stay as they are built.
EXPERT = ("stacks", "split", "settings")
UNFOLDED = ("first", "proteins", "classes", "notices", "settings")
MOST_ROWS_SHOWN = 15  # of a table or a figure that is shown unasked


def sections_of(findings: Findings) -> tuple[page.Section, ...]:
    """Return the sections that have something to show."""
    built = (build(findings) for build in PAGE_SECTIONS)
    return tuple(
        replace(
            section,
            blocks=section.blocks if section.name in UNFOLDED else folded_rest(section.blocks),
            is_expert=section.name in EXPERT,
        )
        for section in built
        if section is not None
    )


def folded_rest(blocks: tuple[page.Block, ...]) -> tuple[page.Block, ...]:
    """Return the first words, each part's sentence and the first picture; the rest is folded."""
    groups: list[list[page.Block]] = [[]]
    for block in blocks:
        if isinstance(block, page.Heading):
            groups.append([])
        groups[-1].append(block)
    shown: list[page.Block] = []
    has_picture = False
    for group in groups:
        words: list[page.Block] = []
        picture: list[page.Block] = []
        parts: list[page.Block] = []
        rest: list[page.Block] = []
        for block in group:
            is_asked = isinstance(block, page.Paragraph) and (block.is_lead or group is groups[0])
            has_words = any(isinstance(word, page.Paragraph) for word in words)
            if isinstance(block, page.Heading | page.NoticeList) or (is_asked and not has_words):
                words.append(block)
            elif not has_picture and _is_picture(block):
                has_picture = True
                picture.append(block)
            elif isinstance(block, page.Folded) and (block.anchor or group is groups[0]):
                parts.append(block)
            else:
                rest.append(block)
        match picture:
            case [page.FigureRow(figures=(_,)) as figure]:
                shown.append(page.Beside(blocks=tuple(words), figures=figure))
            case _:
                shown += [*words, *picture]
        shown += [*_folded(group, rest), *parts]
    return tuple(shown)


def _is_picture(block: page.Block) -> bool:
    """Return whether a block can stand for its section: short, and of one kind."""
    if isinstance(block, page.FigureRow):
        plots = [figure.plot for figure in block.figures]
        rows = (getattr(plot, "rows", getattr(plot, "names", ())) for plot in plots)
        return len(set(map(type, plots))) == 1 and max(map(len, rows)) <= MOST_ROWS_SHOWN
    is_short = isinstance(block, page.TableBlock) and len(block.rows) <= MOST_ROWS_SHOWN
    return is_short or isinstance(block, page.Widget)


INSIDE = {page.FigureRow: "figures", page.TableBlock: "tables"}


def _folded(group: list[page.Block], rest: list[page.Block]) -> list[page.Block]:
    """Return blocks as one that a reader opens, which names what is inside."""
    if not rest:
        return []
    kinds = {type(block) for block in rest}
    inside = " and ".join(words for kind, words in INSIDE.items() if kind in kinds)
    inside = f"more {inside}" if inside else "how to read it"
    head = group[0]
    title = f"{head.text}: {inside}" if isinstance(head, page.Heading) else inside.capitalize()
    return [page.Folded(summary=title, blocks=tuple(rest))]
