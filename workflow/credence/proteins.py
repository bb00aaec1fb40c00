"""Proteins as the core sees them: names and sequences."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import compress
from typing import Self

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Integers, Strings

# >sp|P12345|NAME of UniProt, >gi|123|ref|NP_040681.1| of the NCBI
OF_DATABASE = re.compile(
    r"(?:gi\|\d+\|)?(?:sp|tr|ref|gb|emb|dbj|lcl|pir|prf|pdb|tpg|tpe|tpd)\|([^|]+)(?:\|.*)?",
    re.IGNORECASE,
)
# An accession and its version; contig_12.3 and fig|83333.1.peg.7 are none.
VERSIONED = re.compile(r"([A-Z]{1,6}_?[0-9]+)\.[0-9]{1,2}", re.IGNORECASE)


def spellings_of(id_: str) -> list[str]:
    """Return an id without what programs add to it, step by step; the last is its normal form.

    Blanks and invisible characters, the database around it, the version, capitals.
    """
    text = id_
    if not (id_.isascii() and id_.isprintable()):
        text = unicodedata.normalize("NFKC", id_)
        is_seen = (unicodedata.category(letter) not in ("Cf", "Cc") for letter in text)
        text = "".join(compress(text, is_seen))
    spellings = [text.strip()]
    for pattern in (OF_DATABASE, VERSIONED):
        whole = pattern.fullmatch(spellings[-1])
        spellings.append(spellings[-1] if whole is None else whole[1].strip())
    return [*spellings, spellings[-1].upper(), spellings[-1].casefold()]


def forms_of(id_: str) -> tuple[str, str]:
    """Return the normal form of an id with its version, and without."""
    _, of_database, *_, normal = spellings_of(id_)
    return of_database.casefold(), normal


# In a list of ids, a line each: what asks for a look at every one.
NOT_PLAIN = re.compile(r"[^\n\x20-\x7e]|[|.]|^ | $", re.MULTILINE)


def forms_of_all(ids: Sequence[str] | Strings) -> tuple[Strings, Strings]:
    """Return the normal forms of ids with their versions, and without."""
    lines = "\n".join(ids)
    plain = [] if NOT_PLAIN.search(lines) else lines.casefold().split("\n")
    if len(plain) == len(ids):
        form = np.array(plain, dtype=object)
        return form, form
    pairs = np.array([forms_of(id_) for id_ in ids], dtype=object).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@dataclass(frozen=True, kw_only=True, eq=False)
class Proteins:
    """Proteins in the order of their file."""

    ids: Strings  # Names, unique
    sequences: Strings  # Residues in one-letter code, capitals, none empty

    @property
    def n_proteins(self) -> int:
        """Number of proteins."""
        return len(self.ids)

    @cached_property
    def lengths(self) -> Integers:
        """Number of residues of each protein."""
        return np.fromiter(map(len, self.sequences), dtype=np.int64, count=len(self.sequences))

    def take(self, rows: NDArray[np.intp] | Integers | Booleans) -> Self:
        """Return the proteins chosen, in the order given."""
        columns = {entry.name: getattr(self, entry.name)[rows] for entry in fields(self)}
        return replace(self, **columns)


def join(parts: list[Proteins]) -> Proteins:
    """Return the proteins of several sets, one set after the other."""
    nothing = np.empty(0, dtype=object)
    return Proteins(
        ids=np.concatenate([nothing, *(part.ids for part in parts)]),
        sequences=np.concatenate([nothing, *(part.sequences for part in parts)]),
    )
