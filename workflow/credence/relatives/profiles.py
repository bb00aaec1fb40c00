"""Profiles of families: hidden Markov models (HMMER), which see what no two sequences show.

A profile is made of a family's representative and of members that align with most of it. A
protein's scores are those with the profiles that like it best, in bits over a model of chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyhmmer import easel, errors, hmmsearch, plan7

from credence.predictions import Floats, Integers, Strings
from credence.relatives.alignment import Library

MOST_PROFILES = 50  # of the families with most members; seven seconds of one core
LEAST_MEMBERS, MOST_MEMBERS = 2, 50  # of a profile; of more members, evenly by content
LEAST_COVERED = 0.5  # of the representative, by a member
# Shares of random proteins that pass HMMER's filters, one after the other: what does not has no
# score. Ten to a hundred times what HMMER passes by itself, so that remote relatives have one.
PASSED: dict[str, Any] = {"F1": 0.02, "F2": 0.005, "F3": 0.002}
SEED = 42  # of the random sequences that HMMER fits a model's scores to
EVERY = 1e9  # of what is expected by chance
AMINO = easel.Alphabet.amino()


@dataclass(frozen=True, eq=False)
class Profiles:
    """Models of some families."""

    models: tuple[plan7.HMM[Any], ...]
    representative: Integers  # Row of the known protein that stands for each

    def scores(
        self, texts: Strings, apart: tuple[Integers, Integers] | None, n: int, threads: int = 1
    ) -> Floats:
        """Return the n best scores of each protein, best first; 0 where there is none.

        With `apart`, see :meth:`KnownSequences.closest`, profiles of its own label are left out.
        """
        found = np.zeros((len(texts), max(len(self.models), n)))
        queries = [_digital(str(row), text) for row, text in enumerate(texts.tolist())]
        block = easel.DigitalSequenceBlock(AMINO, queries)
        every = hmmsearch(self.models, block, cpus=threads, E=EVERY, **PASSED)
        for number, hits in enumerate(every if queries else ()):
            for hit in hits:
                found[int(hit.name), number] = max(hit.score, 0.0)
        if apart is not None and self.models:
            own, label = apart[0], apart[1][self.representative]
            found[:, : len(label)][own[:, None] == label] = 0.0
        return -np.sort(-found, axis=1)[:, :n]


def profiles_of(
    texts: Strings, family: Integers, representatives: Integers, by_content: Integers
) -> Profiles:
    """Return profiles of the families with most members among some known proteins."""
    order = np.lexsort((by_content, family))
    is_new = np.append(
        True, (np.diff(family[order]) != 0) | (texts[order][1:] != texts[order][:-1])
    )
    order = order[is_new[: len(order)]]  # what is the same in a family counts once
    own, size = np.unique(family[order], return_counts=True)
    size_of = dict(zip(own.tolist(), size.tolist(), strict=True))
    chosen = sorted(representatives, key=lambda row: (-size_of[family[row]], by_content[row]))
    chosen = [row for row in chosen if size_of[family[row]] >= LEAST_MEMBERS][:MOST_PROFILES]
    library = Library(texts)

    def model_of(row: int) -> Any:
        others = order[(family[order] == family[row]) & (texts[order] != texts[row])]
        if len(others) > MOST_MEMBERS:
            others = others[np.linspace(0, len(others) - 1, MOST_MEMBERS).round().astype(int)]
        lines = [line for line in library.laid_over(row, others) if _covers(line)]
        return _model(str(row), [texts[row], *lines])

    made = [(model, row) for row in map(int, chosen) if (model := model_of(row)) is not None]
    rows = np.array([row for _, row in made], dtype=np.int64)
    return Profiles(tuple(model for model, _ in made), rows)


def _covers(line: str) -> bool:
    return len(line) - line.count("-") >= LEAST_COVERED * len(line)


def _model(name: str, lines: Sequence[str]) -> Any:
    """Return the model of aligned sequences; None of one alone, and where HMMER can fit none."""
    if len(lines) < LEAST_MEMBERS:
        return None
    rows = [
        easel.TextSequence(name=str(at), sequence=_letters(line)) for at, line in enumerate(lines)
    ]
    msa = easel.TextMSA(name=name, sequences=rows).digitize(AMINO)
    try:
        return plan7.Builder(AMINO, seed=SEED).build_msa(msa, plan7.Background(AMINO))[0]
    except (errors.EaselError, SystemError, ValueError):  # of a few letters alone, for example
        return None


def _digital(name: str, text: str) -> Any:
    return easel.TextSequence(name=name, sequence=_letters(text)).digitize(AMINO)


def _letters(text: str) -> str:
    return text.replace("*", "X")
