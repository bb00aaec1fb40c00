"""What a section is made of: plain records that know nothing of HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from credence.findings import Notice
from credence.report.plots import Plot


@dataclass(frozen=True)
class Heading:
    """A heading below the section's own.

    Parameters
    ----------
    text : str
        Plain text.
    anchor : str
        Name that links point to; unique on the page.
    """

    text: str
    anchor: str


@dataclass(frozen=True)
class Paragraph:
    """One paragraph.

    Parameters
    ----------
    text : str
        Plain text.
    is_lead : bool
        Whether it is the sentence that a reader should take away.
    """

    text: str
    is_lead: bool = False


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    title : str
        Its heading.
    is_number : bool
        Whether its cells are set as numbers.
    explained : str
        A sentence for those who ask what it is.
    """

    title: str
    is_number: bool = True
    explained: str = ""


@dataclass(frozen=True)
class Table:
    """A table of texts; its numbers are already worded.

    Parameters
    ----------
    caption : str
        What it shows.
    columns : tuple of Column
        Its columns; the first names the row.
    rows : tuple of tuple of str
        Its cells.
    anchors : tuple of str
        Where the name of each row leads to; empty texts for nowhere.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A picture with its caption.

    Parameters
    ----------
    name : str
        Unique on the page; file names come from it.
    caption : str
        What it shows and how to read it.
    alternative : str
        What it shows, for those who do not see it.
    plot : Plot
        The numbers drawn.
    """

    name: str
    caption: str
    alternative: str
    plot: Plot


@dataclass(frozen=True)
class FigureRow:
    """Figures that stand side by side where there is room.

    Parameters
    ----------
    figures : tuple of Figure
        In reading order.
    """

    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class NoticeList:
    """Notices, warnings first.

    Parameters
    ----------
    notices : tuple of Notice
        What to know.
    """

    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Definitions:
    """Terms with what they mean.

    Parameters
    ----------
    entries : tuple of (str, str)
        Term and meaning.
    """

    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Folded:
    """Blocks that are shown when a reader asks for them, and always in print.

    Parameters
    ----------
    summary : str
        What is inside.
    blocks : tuple of Block
        The blocks.
    """

    summary: str
    blocks: tuple[Paragraph | Table | FigureRow | Definitions, ...]


@dataclass(frozen=True)
class Widget:
    """Something that a script of the page fills and runs.

    It is hidden where no script runs, so that what it says has to stand
    elsewhere on the page too.

    Parameters
    ----------
    name : str
        Unique on the page; letters, digits and hyphens.
    script : str
        The kind by which its script finds it.
    label : str
        What it is for, for those who do not see it.
    data : object
        What the script reads: records, tuples, lists, mappings, texts, numbers.
    shares : str
        Name of the widget whose data it reads, where it has none of its own.
    """

    name: str
    script: str
    label: str
    data: Any = None
    shares: str = ""


@dataclass(frozen=True)
class Passage:
    """A text to be copied as it stands.

    Parameters
    ----------
    name : str
        Unique on the page; letters, digits and hyphens.
    lines : tuple of str
        Its paragraphs.
    """

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Panel:
    """Blocks about one thing, which a reader can choose among many.

    Parameters
    ----------
    title : str
        Its heading.
    anchor : str
        Name that links point to; unique on the page.
    blocks : tuple of Block
        The blocks.
    """

    title: str
    anchor: str
    blocks: tuple[Paragraph | Table | FigureRow | Definitions | Folded, ...]


Block = (
    Heading
    | Paragraph
    | Table
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
    """One section of the page.

    Parameters
    ----------
    name : str
        Its anchor.
    title : str
        Its heading.
    blocks : tuple of Block
        What it is made of.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
