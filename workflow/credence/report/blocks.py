"""What a section is made of: plain records that know nothing of HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from credence.findings import Notice
from credence.report.plots import Plot


@dataclass(frozen=True)
class Heading:
    """A heading below the section's own."""

    text: str  # Plain text
    anchor: str  # Name that links point to; unique on the page


@dataclass(frozen=True)
class Paragraph:
    """One paragraph."""

    text: str  # Plain text
    is_lead: bool = False  # Whether it is the sentence that a reader should take away


@dataclass(frozen=True)
class TableColumn:
    """One column of a table."""

    title: str  # Its heading
    is_number: bool = True  # Whether its cells are set as numbers
    explained: str = ""  # A sentence for those who ask what it is


Title = str | tuple[str, str]  # with a sentence for those who ask what it is, where there is one


def words(*titles: Title) -> tuple[TableColumn, ...]:
    """Return columns of words."""
    pairs = ((title, "") if isinstance(title, str) else title for title in titles)
    return tuple(TableColumn(title, False, explained) for title, explained in pairs)


def numbers(*titles: Title) -> tuple[TableColumn, ...]:
    """Return columns of numbers."""
    pairs = ((title, "") if isinstance(title, str) else title for title in titles)
    return tuple(TableColumn(title, True, explained) for title, explained in pairs)


@dataclass(frozen=True)
class TableBlock:
    """A table of texts; its numbers are already worded."""

    caption: str  # What it shows
    columns: tuple[TableColumn, ...]  # Its columns; the first names the row
    rows: tuple[tuple[str, ...], ...]  # Its cells
    anchors: tuple[str, ...] = ()  # Where the name of each row leads to; empty texts for nowhere


@dataclass(frozen=True)
class Figure:
    """A picture with its caption."""

    name: str  # Unique on the page; file names come from it
    caption: str  # What it shows and how to read it
    alternative: str  # What it shows, for those who do not see it
    plot: Plot  # The numbers drawn


@dataclass(frozen=True)
class FigureRow:
    """Figures that stand side by side where the page is wide enough."""

    figures: tuple[Figure, ...]  # In reading order


@dataclass(frozen=True)
class NoticeList:
    """Notices, warnings first."""

    notices: tuple[Notice, ...]  # What to know


@dataclass(frozen=True)
class Definitions:
    """Terms with what they mean."""

    entries: tuple[tuple[str, str], ...]  # Term and meaning


@dataclass(frozen=True)
class Folded:
    """Blocks that are shown when a reader asks for them, and always in print."""

    summary: str  # What is inside
    blocks: tuple[Paragraph | TableBlock | FigureRow | Definitions, ...]  # The blocks


@dataclass(frozen=True)
class Widget:
    """Something that a script of the page fills and runs.

    It is hidden where no script runs, so that what it says has to stand
    elsewhere on the page too.
    """

    name: str  # Unique on the page; letters, digits and hyphens
    script: str  # The kind by which its script finds it
    label: str  # What it is for, for those who do not see it
    data: Any = None  # What the script reads: records, tuples, lists, mappings, texts, numbers
    shares: str = ""  # Name of the widget whose data it reads, where it has none of its own


@dataclass(frozen=True)
class Passage:
    """A text to be copied as it stands."""

    name: str  # Unique on the page; letters, digits and hyphens
    lines: tuple[str, ...]  # Its paragraphs


@dataclass(frozen=True)
class Panel:
    """Blocks about one thing, which a reader can choose among many."""

    title: str  # Its heading
    anchor: str  # Name that links point to; unique on the page
    blocks: tuple[Paragraph | TableBlock | FigureRow | Definitions | Folded, ...]  # The blocks


Block = (
    Heading
    | Paragraph
    | TableBlock
    | FigureRow
    | NoticeList
    | Definitions
    | Folded
    | Widget
    | Passage
    | Panel
)


@dataclass(frozen=True)
class Section:
    """One section of the page."""

    name: str  # Its anchor
    title: str  # Its heading
    blocks: tuple[Block, ...]  # What it is made of


KINDS: dict[type[Any], str] = {TableBlock: "Table", TableColumn: "Column"}


def kind_of(block: Any) -> str:
    """Return what records and templates call a block."""
    return KINDS.get(type(block), type(block).__name__)
