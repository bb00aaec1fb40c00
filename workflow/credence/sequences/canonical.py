"""Proteins as engines see them: each sequence once, in an order of its own.

Engines are given neither ids nor headers nor the order of the file, so that
none of them can change a cluster: identical sequences stand once, the longest
first, and of equally long ones the first by content.

Notes
-----
Residues that alignment matrices do not know are written as what they stand for
or come from: B (Asx) as D, Z (Glx) as E, J (Leu or Ile) as L, U
(selenocysteine) as C, O (pyrrolysine) as K. Every other letter is X, which is
identical to nothing, not even to X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.predictions import Integers, Strings

STANDS_FOR = str.maketrans("BZJUO", "DELCK")
KNOWN = frozenset("ACDEFGHIKLMNPQRSTVWY")


@dataclass(frozen=True, eq=False)
class Distinct:
    """Each sequence once.

    Parameters
    ----------
    texts : array of str
        The sequences, from long to short, then by content.
    code : array of int
        For each protein the row of its sequence in `texts`.
    """

    texts: Strings
    code: Integers

    @property
    def lengths(self) -> Integers:
        """Number of residues of each text."""
        return np.fromiter(map(len, self.texts), dtype=np.int64, count=len(self.texts))


def canonical(sequence: str) -> str:
    """Return a sequence in the twenty letters that alignments know, and X.

    Parameters
    ----------
    sequence : str
        Residues in capitals.

    Examples
    --------
    >>> canonical("MUBZ?")
    'MCDEX'
    """
    text = sequence.translate(STANDS_FOR)
    others = set(text) - KNOWN
    return text.translate({ord(letter): "X" for letter in others}) if others else text


def distinct(sequences: Strings) -> Distinct:
    """Return each sequence once, in an order that only content decides.

    Parameters
    ----------
    sequences : array of str
        One per protein.

    Examples
    --------
    >>> found = distinct(np.array(["MK", "MKV", "MK"], dtype=object))
    >>> found.texts.tolist(), found.code.tolist()
    (['MKV', 'MK'], [1, 0, 1])
    """
    if len(sequences) == 0:
        return Distinct(np.empty(0, dtype=object), np.empty(0, dtype=np.int64))
    plain = [canonical(sequence) for sequence in sequences]
    order = sorted(set(plain), key=lambda text: (-len(text), text))
    row_of = {text: row for row, text in enumerate(order)}
    texts = np.empty(len(order), dtype=object)
    texts[:] = order
    return Distinct(texts, np.array([row_of[text] for text in plain], dtype=np.int64))
