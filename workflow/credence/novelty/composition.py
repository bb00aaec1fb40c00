"""What a protein is made of, as numbers: words of residues, length, chemistry.

The features are those that PhANNs looks at [1]_: words of four side-chain groups,
words of two and of three residues, length, and sums over the residues. A word
with a letter that is none of the twenty residues (X, B, Z, J, U, O) is not
counted, nor is such a residue in a sum; length counts every letter.

References
----------
.. [1] Cantu et al. 2020, PhANNs, doi 10.1371/journal.pcbi.1007845
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from credence.novelty.chemistry import CHEMISTRY, chemistry
from credence.predictions import Booleans, Floats, Integers, Strings

RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
SIDE_CHAINS = ("AILMV", "NQST", "GP", "C", "HKR", "DE", "FWY")
LEAST_RESIDUES = 10  # of the twenty; in fewer, words say nothing about composition
PROTEINS_AT_ONCE = 2_000
NO_LETTER = 255


@dataclass(frozen=True)
class Words:
    """One kind of word.

    Parameters
    ----------
    name : str
        What it is called.
    groups : tuple of str
        Residues that are one letter.
    length : int
        Letters of a word.
    """

    name: str
    groups: tuple[str, ...]
    length: int

    @property
    def n_words(self) -> int:
        """Number of different words."""
        return int(len(self.groups) ** self.length)

    def letters(self) -> NDArray[np.uint8]:
        """Return the letter of each byte, `NO_LETTER` where it is no residue."""
        table = np.full(256, NO_LETTER, dtype=np.uint8)
        for letter, group in enumerate(self.groups):
            for residue in group:
                table[ord(residue)] = letter
        return table


KINDS = (
    Words("words of four side-chain groups", SIDE_CHAINS, 4),
    Words("words of two residues", tuple(RESIDUES), 2),
    Words("words of three residues", tuple(RESIDUES), 3),
)
WIDTHS = (*(kind.n_words for kind in KINDS), len(CHEMISTRY))


@dataclass(frozen=True, eq=False)
class Composition:
    """What some proteins are made of.

    Parameters
    ----------
    words : tuple of sparse array, shape (n_proteins, n_words)
        Square roots of the shares of each kind's words: rows of length 1, or
        empty where a protein has no such word.
    chemistry : array of float, shape (n_proteins, n_columns)
        See :mod:`credence.novelty.chemistry`.
    is_told : array of bool, shape (n_proteins,)
        Whether a protein has residues enough to be told by.
    """

    words: tuple[sparse.csr_array, ...]
    chemistry: Floats
    is_told: Booleans


def composition(sequences: Strings) -> Composition:
    """Return what some proteins are made of.

    Parameters
    ----------
    sequences : array of str, shape (n_proteins,)
        Residues in one-letter code, capitals.

    Notes
    -----
    The square root of a share has a variance that hardly depends on the share,
    so that rare words weigh as much as common ones but no more; the distance
    between two such rows is Hellinger's.
    """
    raw, protein = as_bytes(sequences)
    words = tuple(_shares(kind, raw, protein, len(sequences)) for kind in KINDS)
    letters = KINDS[1].letters()[raw]
    n_residues = np.bincount(protein[letters != NO_LETTER], minlength=len(sequences))
    return Composition(words, chemistry(sequences, RESIDUES), n_residues >= LEAST_RESIDUES)


def as_bytes(sequences: Strings) -> tuple[NDArray[np.uint8], Integers]:
    """Return all letters one after the other, and the protein of each.

    Parameters
    ----------
    sequences : array of str
        Residues in one-letter code.
    """
    raw = np.frombuffer("".join(sequences).encode("ascii", "replace"), dtype=np.uint8)
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
    return raw, np.repeat(np.arange(len(sequences)), lengths)


def word_codes(
    kind: Words, raw: NDArray[np.uint8], protein: Integers
) -> tuple[Integers, Integers]:
    """Return code and protein of every word that is counted.

    Parameters
    ----------
    kind : Words
        Which words.
    raw : array of uint8
        From :func:`as_bytes`.
    protein : array of int
        Likewise.
    """
    letters = kind.letters()[raw]
    n_starts = max(0, len(raw) - kind.length + 1)
    code = np.zeros(n_starts, dtype=np.int64)
    is_word = np.ones(n_starts, dtype=np.bool_)
    for place in range(kind.length):
        here = slice(place, place + n_starts)
        code = code * len(kind.groups) + letters[here]
        is_word &= (letters[here] != NO_LETTER) & (protein[here] == protein[:n_starts])
    return code[is_word], protein[:n_starts][is_word]


def _shares(
    kind: Words, raw: NDArray[np.uint8], protein: Integers, n_proteins: int
) -> sparse.csr_array:
    starts = np.searchsorted(
        protein, np.arange(0, n_proteins + PROTEINS_AT_ONCE, PROTEINS_AT_ONCE)
    )
    parts = []
    for block, start in enumerate(starts[:-1]):
        letters = slice(start, starts[block + 1])
        first = block * PROTEINS_AT_ONCE
        n_rows = min(PROTEINS_AT_ONCE, n_proteins - first)
        if n_rows > 0:
            codes, rows = word_codes(kind, raw[letters], protein[letters] - first)
            parts.append(_root_shares(codes, rows, (n_rows, kind.n_words)))
    if not parts:
        return sparse.csr_array((0, kind.n_words), dtype=np.float32)
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def _root_shares(codes: Integers, rows: Integers, shape: tuple[int, int]) -> sparse.csr_array:
    place, count = np.unique(rows * shape[1] + codes, return_counts=True)
    row = place // shape[1]
    total = np.bincount(row, weights=count, minlength=shape[0])
    share = np.sqrt(count / total[row]).astype(np.float32)
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    return sparse.csr_array((share, (place % shape[1]).astype(np.int32), ends), shape=shape)
