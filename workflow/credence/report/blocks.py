"""What a section is made of: plain records that know nothing of HTML."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credence.findings import Notice
from credence.report.plots import Plot
from credence.report.wording import DASH, shown, slug


class Block:
    """A part of a section."""


@dataclass(frozen=True, kw_only=True)
class Heading(Block):
    """A heading below the section's own."""

    text: str  # Plain text
    anchor: str  # Name that links point to; unique on the page


@dataclass(frozen=True, kw_only=True)
class Link:
    """Where more of something stands."""

    text: str  # What a reader clicks on
    target: str  # An anchor of the page, after ``#``, or the address of a file beside it


@dataclass(frozen=True, kw_only=True)
class Paragraph(Block):
    """One paragraph."""

    text: str  # Plain text
    is_lead: bool = False  # Whether it is the sentence that a reader should take away
    links: tuple[Link, ...] = ()  # After the text


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """One column of a table."""

    title: str  # Its heading
    is_number: bool = True  # Whether its cells are set as numbers
    explained: str = ""  # A sentence for those who ask what it is


# Title, whether it is of numbers, and what makes a record's cell.
Column = tuple[str, bool, Callable[[Any], str]]


def number(
    title: str,
    cell: str | Callable[[Any], str],
    show: Callable[..., str] = shown,
    is_number: bool = True,
) -> Column:
    """Return a column of numbers, of a record's fields (with spaces between) or by a function."""
    if callable(cell):
        return title, is_number, cell
    fields = cell.split()
    return title, is_number, lambda record: show(*(getattr(record, field) for field in fields))


def word(title: str, cell: str | Callable[[Any], str], show: Callable[..., str] = shown) -> Column:
    """Return a column of words."""
    return number(title, cell, show, is_number=False)


def numbers(titles: Iterable[str], cell: Callable[[Any, int], str]) -> list[Column]:
    """Return columns of numbers, whose cells are made of a record and the column's place."""

    def of_place(at: int) -> Callable[[Any], str]:
        return lambda record: cell(record, at)

    return [number(title, of_place(at)) for at, title in enumerate(titles)]


@dataclass(frozen=True, kw_only=True)
class TableBlock(Block):
    """A table of texts; its numbers are already worded."""

    caption: str  # What it shows
    columns: tuple[TableColumn, ...]  # Its columns; the first names the row
    rows: tuple[tuple[str, ...], ...]  # Its cells
    anchors: tuple[str, ...] = ()  # Where the name of each row leads to; empty texts for nowhere


def table(
    caption: str,
    records: Iterable[Any],
    *columns: Column,
    explained: Mapping[str, str] | None = None,
    anchors: tuple[str, ...] = (),
) -> TableBlock:
    """Return a table with a row for each record, its columns explained by their titles."""
    notes = explained or {}
    headings = tuple(
        TableColumn(title=title, is_number=kind, explained=notes.get(title, ""))
        for title, kind, _ in columns
    )
    rows = tuple(tuple(make(record) for *_, make in columns) for record in records)
    return TableBlock(caption=caption, columns=headings, rows=rows, anchors=anchors)


def known(records: Sequence[Any], *columns: Column) -> list[Column]:
    """Return the columns that hold something for some record."""
    return [column for column in columns if any(column[-1](record) != DASH for record in records)]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture with its caption."""

    name: str  # Unique on the page; file names come from it
    caption: str  # What it shows and how to read it
    alternative: str  # What it shows, for those who do not see it
    plot: Plot  # The numbers drawn


@dataclass(frozen=True, kw_only=True)
class FigureRow(Block):
    """Figures that stand side by side where the page is wide enough."""

    figures: tuple[Figure, ...]  # In reading order


@dataclass(frozen=True, kw_only=True)
class Choice(Block):
    """Figures of which one is shown at a time, chosen by its title."""

    name: str  # Unique on the page; letters, digits and hyphens
    label: str  # What is chosen
    titles: tuple[str, ...]  # One of each figure
    figures: tuple[Figure, ...]


@dataclass(frozen=True, kw_only=True)
class Tile(Figure):
    """A reliability diagram drawn small, with few words; a link to what bears its name."""

    title: str  # What it is of


@dataclass(frozen=True, kw_only=True)
class Tiles(Block):
    """Small diagrams side by side, to choose one."""

    tiles: tuple[Tile, ...]  # In reading order


@dataclass(frozen=True, kw_only=True)
class NoticeList(Block):
    """Notices, warnings first."""

    notices: tuple[Notice, ...]  # What to know


@dataclass(frozen=True, kw_only=True)
class Definitions(Block):
    """Terms with what they mean."""

    entries: tuple[tuple[str, str], ...]  # Term and meaning


@dataclass(frozen=True, kw_only=True)
class Folded(Block):
    """Blocks that are shown, on a screen and in print, when a reader opened them."""

    summary: str  # What is inside
    blocks: tuple[Block, ...]  # The blocks
    anchor: str = ""  # Name that links point to; unique on the page


@dataclass(frozen=True, kw_only=True)
class Widget(Block):
    """Something that a script fills and shows; what it says has to stand elsewhere too."""

    name: str  # Unique on the page; letters, digits and hyphens
    script: str  # The kind by which its script finds it
    label: str  # What it is for, for those who do not see it
    data: Any  # What the script reads: records, tuples, lists, mappings, texts, numbers


@dataclass(frozen=True, kw_only=True)
class Panel(Block):
    """Blocks about one thing, which a reader can choose among many."""

    title: str  # Its heading
    anchor: str  # Name that links point to; unique on the page
    blocks: tuple[Block, ...]  # The blocks


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One check of the verdict, as the first screen shows it."""

    state: str  # As in :class:`credence.evaluation.verdict.Check`
    headline: str  # In a few words
    text: str  # In a sentence or two


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A number that answers a question."""

    number: str
    range: str = ""  # Its interval, in brackets
    text: str  # What it counts
    anchor: str = ""  # Where more of it stands


@dataclass(frozen=True, kw_only=True)
class Band:
    """A stretch of scores with confidences of one colour; places are percent of the width."""

    kind: int  # Which colour
    start: float
    width: float
    text: str  # What it means


@dataclass(frozen=True, kw_only=True)
class Strip:
    """One class at a glance; places are percent of the width."""

    name: str  # The class
    anchor: str  # Where more of it stands
    label: str  # The picture in words
    bands: tuple[Band, ...] = ()
    estimate: float | None = None  # From where on nine of ten are right
    sure: float | None = None  # The same for sure
    cells: tuple[str, ...]  # Numbers beside it


@dataclass(frozen=True, kw_only=True)
class Glance(Block):
    """All classes: the confidence over the score as colours, and numbers beside."""

    legend: tuple[str, ...]  # What the colours mean
    ticks: tuple[tuple[float, str], ...]  # Of the axis of scores
    columns: tuple[str, ...]  # Headings of the numbers
    strips: tuple[Strip, ...]
    basis: str  # What the marks mean


@dataclass(frozen=True, kw_only=True)
class FirstScreen(Block):
    """What to do next, the state with its reasons, and how many predictions there are."""

    about: str  # What the page is, in a sentence
    steps: tuple[Paragraph, ...]  # What to do, the most important first
    state: str  # The verdict, in a word for style sheets and in words
    title: str
    reasons: tuple[Reason, ...]  # Worst first
    checks: Link  # Where all checks stand
    answers: tuple[Answer, ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of the page."""

    name: str  # Its anchor
    title: str  # Its heading
    blocks: tuple[Block, ...]  # What it is made of
    is_appendix: bool = False  # Whether it is folded, among the parts for experts
    is_summary: bool = False  # Whether it is printed unless all is opened
    documentation: str = ""  # The name of the page of the documentation that explains it


# A block, a text for a paragraph, a figure by itself, some of these, or nothing.
Part = Block | Figure | str | Iterable[Any] | bool | None


def flat(*parts: Part) -> tuple[Block, ...]:
    """Return the blocks that there are."""
    blocks: list[Block] = []
    for part in filter(None, parts):
        if isinstance(part, str):
            blocks.append(Paragraph(text=part))
        elif isinstance(part, Figure):
            blocks.append(FigureRow(figures=(part,)))
        else:
            blocks += [part] if isinstance(part, Block) else flat(*part)  # type: ignore[misc]
    return tuple(blocks)


def with_slugs(records: Iterable[Any]) -> list[tuple[Any, str]]:
    """Return records with anchors made of their names."""
    return [(record, slug(record.name, at)) for at, record in enumerate(records, start=1)]


def lead(text: str) -> Paragraph:
    """Return the sentence that a reader should take away."""
    return Paragraph(text=text, is_lead=True)


KIND_NAMES: dict[type[Any], str] = {TableBlock: "Table", TableColumn: "Column"}


def kind_of(block: Any) -> str:
    """Return what records and templates call a block."""
    return KIND_NAMES.get(type(block), type(block).__name__)
