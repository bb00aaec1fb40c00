"""Length and sums over the residues of a protein, from Biopython's tables."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from Bio.Data import IUPACData
from Bio.SeqUtils import IsoelectricPoint, ProtParamData

from credence.predictions import Floats, Strings

CHEMISTRY = (
    *("log length", "mean residue weight", "aromaticity", "isoelectric point"),
    *("instability index", "hydropathy", "extinction reduced", "extinction cystines"),
)
AROMATIC = "FWY"
# Molar extinction at 280 nm, 1/(M cm): Gill & von Hippel 1989 (doi 10.1016/0003-2697(89)90602-7).
TRYPTOPHAN, TYROSINE, CYSTINE = 5_500.0, 1_490.0, 125.0
INSTABILITY_SCALE = 10.0  # Guruprasad et al. 1990 (doi 10.1093/protein/4.2.155)
# Biopython looks for the isoelectric point between these, to 0.0001.
LEAST_PH, GREATEST_PH, HALVINGS = 4.05, 12.0, 17
PROTEINS_AT_ONCE = 4_096


def chemistry(sequences: Strings, residues: str) -> Floats:
    """Return length and chemistry of each protein, columns as in `CHEMISTRY`.

    NaN, but for the length, where a protein has none of the twenty residues.

    Parameters
    ----------
    sequences : array of str, shape (n_proteins,)
        Residues in one-letter code, capitals.
    residues : str
        The twenty letters that are counted.

    Notes
    -----
    Each is what Biopython's ``ProteinAnalysis`` gives for the protein without
    the letters that are no residues: mean residue weight is the molecular weight
    over the length, extinction is per residue, length the logarithm of the number
    of all letters.
    """
    answer = np.full((len(sequences), len(CHEMISTRY)), np.nan)
    for start in range(0, len(sequences), PROTEINS_AT_ONCE):
        rows = slice(start, start + PROTEINS_AT_ONCE)
        answer[rows] = _chemistry(sequences[rows], residues)
    return answer


def _chemistry(sequences: Strings, residues: str) -> Floats:
    other = "".join(sorted(set("".join(sequences)) - set(residues)))
    drop = str.maketrans("", "", other)
    kept = [sequence.translate(drop) for sequence in sequences]
    count = np.array([[sequence.count(letter) for letter in residues] for sequence in kept])
    count = count.reshape(len(kept), len(residues)).astype(np.float64)
    n = count.sum(axis=1)
    column = {letter: count[:, place] for place, letter in enumerate(residues)}
    weights, hydropathy = _tables(residues)
    reduced = TRYPTOPHAN * column["W"] + TYROSINE * column["Y"]
    cystines = reduced + CYSTINE * (column["C"] // 2)
    # Each bond between two residues gives off a water.
    weight = count @ weights - (n - 1) * _water()
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.column_stack(
            [
                np.log(np.array([len(sequence) for sequence in sequences], dtype=np.float64)),
                weight / n,
                sum(column[letter] for letter in AROMATIC) / n,
                _isoelectric_point(kept, column),
                INSTABILITY_SCALE * np.array([_instability(sequence) for sequence in kept]) / n,
                (count @ hydropathy) / n,
                reduced / n,
                cystines / n,
            ]
        )
    found[n == 0, 1:] = np.nan
    return found


@cache
def _tables(residues: str) -> tuple[Floats, Floats]:
    weights = np.array([IUPACData.protein_weights[letter] for letter in residues])
    return weights, np.array([ProtParamData.kd[letter] for letter in residues])


def _water() -> float:
    return float(2 * IUPACData.atom_weights["H"] + IUPACData.atom_weights["O"])


@cache
def _pairs() -> dict[str, float]:
    table = ProtParamData.DIWV
    return {first + second: table[first][second] for first in table for second in table[first]}


def _instability(sequence: str) -> float:
    pairs = _pairs()
    return sum(map(pairs.__getitem__, map("".join, itertools.pairwise(sequence))))


def _isoelectric_point(kept: list[str], column: dict[str, Floats]) -> Floats:
    first = [sequence[:1] for sequence in kept]
    last = [sequence[-1:] for sequence in kept]
    start, end = IsoelectricPoint.pKnterminal, IsoelectricPoint.pKcterminal
    default_start = IsoelectricPoint.positive_pKs["Nterm"]
    default_end = IsoelectricPoint.negative_pKs["Cterm"]
    n_terminus = np.array([start.get(letter, default_start) for letter in first])
    c_terminus = np.array([end.get(letter, default_end) for letter in last])
    low = np.full(len(kept), LEAST_PH)
    high = np.full(len(kept), GREATEST_PH)
    for _ in range(HALVINGS):
        ph = (low + high) / 2.0
        charge = 1.0 / (10.0 ** (ph - n_terminus) + 1.0) - 1.0 / (10.0 ** (c_terminus - ph) + 1.0)
        for letter, pk in IsoelectricPoint.positive_pKs.items():
            if letter in column:
                charge += column[letter] / (10.0 ** (ph - pk) + 1.0)
        for letter, pk in IsoelectricPoint.negative_pKs.items():
            if letter in column:
                charge -= column[letter] / (10.0 ** (pk - ph) + 1.0)
        low, high = np.where(charge > 0, ph, low), np.where(charge > 0, high, ph)
    return np.asarray((low + high) / 2.0)
