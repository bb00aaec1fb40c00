"""What a format is: which column plays which role, and how its words are spelt.

A format is data. The reading and the checking are written once, in
:mod:`credence.tables.samples` and :mod:`credence.tables.validation`; a format
says only what is particular to the tool that wrote the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

ROLES = ("id", "true_class", "predicted_class", "score", "network", "classes")


@dataclass(frozen=True)
class Columns:
    """Names of the columns that play a role; None where no column does.

    Parameters
    ----------
    id : str, optional
        Names of the proteins; without one they are named after their rows.
    true_class, predicted_class, score, network : str, optional
        Truth, the tool's own verdict, its top score, number of the network.
    genome : str, optional
        Genome, contig or sample that a protein is of; the user names it.
    classes : tuple of str, optional
        Columns of the classes; None: every column left over.
    class_suffix : str
        Only columns that end so are classes; the suffix is no part of the name.
    ignored : tuple of str
        Columns that may be there and say nothing here.
    optional : frozenset of str
        Roles whose column may be absent.
    """

    id: str | None = None
    true_class: str | None = None
    predicted_class: str | None = None
    score: str | None = None
    network: str | None = None
    genome: str | None = None
    classes: tuple[str, ...] | None = None
    class_suffix: str = ""
    ignored: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()


def same_text(text: str) -> str:
    """Return the text without blanks around it: how words compare by default."""
    return text.strip()


@dataclass(frozen=True)
class Format:
    """One way in which a classifier writes its scores.

    Parameters
    ----------
    name : str
        What users write.
    summary : str
        One line for `credence check` and the documentation.
    columns : Columns
        Which column plays which role.
    delimiter : str
        Between cells, where the file's ending is neither .csv nor .tsv.
    scale : float, optional
        What a row sums to; None: the user has to state it.
    sum_to_scale : bool
        Whether rows sum to the scale.
    vector : bool
        Whether there is a score for every class, or only the best.
    configurable : bool
        Whether a user names the columns.
    arrays : bool
        Whether the file is a set of arrays (npz), not a table.
    spell : callable
        Brings a label to the form in which two spellings of a class are equal.
    class_name : callable
        The class that a column is named after, suffix gone.
    label_of_id : callable, optional
        The label that the name of a protein carries.
    blanks : frozenset of str
        What stands where the tool gave no score at all; a row of nothing else
        is listed as unscored. Empty: such a row is refused.
    zero_row_class : str, optional
        Class that gets the whole scale in a row of zeros.
    slack : float
        How far, as a share of the scale, scores may exceed it.
    header_start : str
        How the header begins where it looks like a comment.
    quoted : bool
        Whether cells may stand in quotation marks.
    known_classes : tuple of str
        Class names that tell this format from another of the same columns.
    """

    name: str
    summary: str
    columns: Columns
    delimiter: str = ","
    scale: float | None = 1.0
    sum_to_scale: bool = True
    vector: bool = True
    configurable: bool = False
    arrays: bool = False
    spell: Callable[[str], str] = same_text
    class_name: Callable[[str], str] = same_text
    label_of_id: Callable[[str], str] | None = None
    blanks: frozenset[str] = frozenset()
    zero_row_class: str | None = None
    slack: float = 0.0
    header_start: str = ""
    quoted: bool = True
    known_classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spelling:
    """Finds the class that a label means.

    Parameters
    ----------
    class_names : tuple of str
        The classes.
    spell : callable
        Of the format.
    synonyms : mapping of str to str
        Further spelling → class name, as the user states them.
    """

    class_names: tuple[str, ...]
    spell: Callable[[str], str] = same_text
    synonyms: Mapping[str, str] = field(default_factory=dict)

    def known(self) -> dict[str, int]:
        """Return every spelling whose meaning is certain → index of the class.

        Two classes that a format spells alike are told apart by their full
        names only.
        """
        forms: dict[str, set[int]] = {}
        for index, name in enumerate(self.class_names):
            forms.setdefault(self.spell(name), set()).add(index)
        known = {form: next(iter(indices)) for form, indices in forms.items() if len(indices) == 1}
        exact = {name: index for index, name in enumerate(self.class_names)}
        for text, name in self.synonyms.items():
            if name in exact:
                known[text] = known[self.spell(text)] = exact[name]
        return known | exact


class Lookup(dict[str, int]):
    """Label → index of its class, -1 where it is no class; fills itself."""

    def __init__(self, spelling: Spelling) -> None:
        super().__init__(spelling.known())
        self._certain = dict(self)
        self._spell = spelling.spell

    def __missing__(self, text: str) -> int:
        found = self._certain.get(self._spell(text), -1)
        self[text] = found
        return found


class Gathering(dict[str, int]):
    """Label → code in the order of appearance, for tables that do not list classes."""

    def __init__(self, synonyms: Mapping[str, str]) -> None:
        super().__init__({"": -1})
        self._synonyms = synonyms
        self.names: dict[str, int] = {}

    def __missing__(self, text: str) -> int:
        name = text.strip()
        name = self._synonyms.get(name, name)
        code = self.names.setdefault(name, len(self.names)) if name else -1
        self[text] = code
        return code
