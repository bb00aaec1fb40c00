"""Near copies behind one sequence, so that they are audited once, and exactly.

A residue s in the place of r adds to a score, whatever it is aligned with, at most the
greatest M(s, c) − M(r, c) over all residues c; the sum over the places where a text differs
from another of its length is its slack. Near copies of one length stand behind a head, which
has the commonest residue at each place. Two of them are no relatives where their heads' score
and the two slacks together are below what chance explains; all others are scored themselves.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from credence.predictions import Floats, Integers, Strings
from credence.relatives.alignment import LETTERS_OF_MATRIX, Library, blosum
from credence.relatives.pairs import AMINO_ACIDS, members, score_needed

MOST_CHANGED = 0.05  # share of the residues in which a near copy differs from the first
N_BLOCKS, SHORTEST_BLOCK = 8, 5  # near copies have one of these in common
LARGEST_SLACK = 45.0  # about what random proteins are below what chance explains
WORTH = 0.8  # heads over sequences, beyond which sequences are scored at once
MOST_SCORES_KEPT = 20_000_000  # scores of heads


class Copies:
    """Sequences, the head of each, and the scores of heads that are known."""

    def __init__(self, library: Library, most_expected: float) -> None:
        self.library, self.most_expected = library, most_expected
        first = _first_alike(library.texts)
        order, starts = members(first, len(first))
        self.head, self.slack = np.empty(len(first), dtype=np.int64), np.zeros(len(first))
        heads: list[str] = []
        for row in np.flatnonzero(np.diff(starts)).tolist():
            group = order[starts[row] : starts[row + 1]]
            text, slack = _behind(library.texts[group])
            stays = slack <= LARGEST_SLACK
            self.head[group], self.slack[group] = len(heads), slack
            heads.append(text)
            for member in group[~stays].tolist():
                self.head[member], self.slack[member] = len(heads), 0.0
                heads.append(library.texts[member])
        texts = np.empty(len(heads), dtype=object)
        texts[:] = heads
        self.heads = Library(texts=texts, threads=library.threads)
        self.size = np.bincount(self.head)
        self.known: dict[int, Floats] = {}

    def undecided(
        self, rows: Sequence[int], others: Sequence[Integers], cells: float
    ) -> tuple[list[Integers], float]:
        """Return of others those whose heads decide nothing, for as many rows as cells allow."""
        asked = dict[int, Integers]()
        n_ready = 0
        for row, some in zip(rows, others, strict=True):
            head, targets = int(self.head[row]), np.unique(self.head[some])
            is_worth = self.size[head] > 1 or len(targets) < WORTH * len(some)
            if is_worth and head not in self.known and head not in asked:
                price = float(self.heads.lengths[head] * self.heads.lengths[targets].sum())
                if price > cells:
                    break
                asked[head], cells = targets, cells - price
            n_ready += 1
        first = np.repeat(np.array([*asked], dtype=np.int64), [*map(len, asked.values())])
        second = np.concatenate([np.empty(0, dtype=np.int64), *asked.values()])
        scores = np.split(self.heads.scores(first, second), np.cumsum([*map(len, asked.values())]))
        for (head, targets), score in zip(asked.items(), scores, strict=False):
            self.known[head] = np.full(len(self.size), np.inf, dtype=np.float32)
            self.known[head][targets] = score
        left = [self._left(row, some) for row, some in zip(rows[:n_ready], others, strict=False)]
        most = MOST_SCORES_KEPT // len(self.size)
        last = set(self.head[list(rows)].tolist())
        kept = [head for head in self.known if self.size[head] > 1 or head in last][:most]
        self.known = {head: self.known[head] for head in kept}
        return left, cells

    def _left(self, row: int, others: Integers) -> Integers:
        scores = self.known.get(int(self.head[row]))
        if scores is None:
            return others
        most = scores[self.head[others]] + self.slack[row] + self.slack[others]
        lengths = self.library.lengths
        needed = score_needed(int(lengths[row]), lengths[others], self.most_expected)
        return np.asarray(others[most >= needed])


def _first_alike(texts: Strings) -> Integers:
    """Return for each text the first that it is a near copy of, itself where there is none."""
    first, leads = np.arange(len(texts)), np.zeros(len(texts), dtype=np.bool_)
    arrays = [np.frombuffer(text.encode(), np.uint8) for text in texts]
    for block in range(N_BLOCKS):
        met = dict[tuple[int, str], int]()
        for row in np.flatnonzero(first == np.arange(len(texts))).tolist():
            step = len(texts[row]) // N_BLOCKS
            if step < SHORTEST_BLOCK:
                break  # texts are sorted by length
            key = len(texts[row]), texts[row][block * step : (block + 1) * step]
            other = met.setdefault(key, row)
            if other == row or leads[row]:
                continue
            if (arrays[row] != arrays[other]).sum() <= MOST_CHANGED * len(arrays[row]):
                first[row], leads[other] = other, True
    return first


def _behind(texts: Strings) -> tuple[str, Floats]:
    """Return the commonest residue at each place, and the slack of each text."""
    codes = np.array([[LETTERS_OF_MATRIX.index(letter) for letter in text] for text in texts])
    counts = np.stack([(codes == code).sum(axis=0) for code in range(len(LETTERS_OF_MATRIX))])
    common = counts.argmax(axis=0)
    return "".join(LETTERS_OF_MATRIX[code] for code in common), _gain()[common, codes].sum(axis=1)


@cache
def _gain() -> Floats:
    """Return the most that a residue (second) scores more than another (first)."""
    known = [LETTERS_OF_MATRIX.index(letter) for letter in sorted({*AMINO_ACIDS, "X"})]
    scores = blosum()[:, known].astype(np.float64)
    return np.asarray((scores[None, :, :] - scores[:, None, :]).max(axis=2))
