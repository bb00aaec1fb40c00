"""Inputs that are no proteins of any class, made of proteins that are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from credence.calibrators.draws import keys_of
from credence.predictions import Strings

STANDARD = "ACDEFGHIKLMNPQRSTVWY"


def natural_shares(sequences: Strings) -> dict[str, float]:
    """Return how common each residue is; letters that are none of the twenty are left out.

    Parameters
    ----------
    sequences : array of str
        Residues in one-letter code, capitals.
    """
    text = "".join(sequences)
    counts = {residue: text.count(residue) for residue in STANDARD}
    total = max(sum(counts.values()), 1)
    return {residue: count / total for residue, count in counts.items()}


def reversed_(sequences: Strings) -> Strings:
    """Return each protein read from its end.

    Parameters
    ----------
    sequences : array of str
        Proteins.
    """
    return np.array([sequence[::-1] for sequence in sequences], dtype=object)


def shuffled(sequences: Strings, ids: Strings) -> Strings:
    """Return each protein's own residues in an order fixed by its name.

    Parameters
    ----------
    sequences, ids : array of str
        Proteins and their names.
    """

    def one(sequence: str, rng: np.random.Generator) -> str:
        return "".join(np.array(list(sequence))[rng.permutation(len(sequence))])

    return _each(sequences, ids, "shuffled", one)


def random_(sequences: Strings, ids: Strings, shares: dict[str, float]) -> Strings:
    """Return random residues as many as each protein has.

    Parameters
    ----------
    sequences, ids : array of str
        Proteins and their names.
    shares : dict of str to float
        How common residues are.
    """

    def one(sequence: str, rng: np.random.Generator) -> str:
        return _residues(len(sequence), shares, rng)

    return _each(sequences, ids, "random", one)


def mutated(sequences: Strings, ids: Strings, shares: dict[str, float], part: float) -> Strings:
    """Return proteins of which a part of the residues was drawn anew.

    More parts mutate more of the same places, so that a curve over parts follows
    each protein on one way.

    Parameters
    ----------
    sequences, ids : array of str
        Proteins and their names.
    shares : dict of str to float
        How common residues are.
    part : float
        Share of the residues that are drawn.
    """

    def one(sequence: str, rng: np.random.Generator) -> str:
        place = rng.random(len(sequence)) < part
        drawn = np.array(list(_residues(len(sequence), shares, rng)))
        return "".join(np.where(place, drawn, np.array(list(sequence))))

    return _each(sequences, ids, "mutated", one)


def _residues(n: int, shares: dict[str, float], rng: np.random.Generator) -> str:
    residues = np.array(list(shares))
    return "".join(residues[rng.choice(len(residues), n, p=np.array(list(shares.values())))])


def _each(
    sequences: Strings,
    ids: Strings,
    kind: str,
    one: Callable[[str, np.random.Generator], str],
) -> Strings:
    stream = int(keys_of([kind])[0])
    return np.array(
        [
            one(sequence, np.random.default_rng([stream, int(key)]))
            for sequence, key in zip(sequences, keys_of(ids), strict=True)
        ],
        dtype=object,
    )
