"""A space in which proteins of like composition lie near each other."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from Bio.Data import IUPACData
from Bio.SeqUtils import IsoelectricPoint, ProtParamData
from numpy.typing import NDArray
from scipy import sparse

from credence.novelty.neighbours import singles
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.progress import each
from credence.records import PackedFloats

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
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
WEIGHTS = np.array([IUPACData.protein_weights[letter] for letter in AMINO_ACIDS])
HYDROPATHY = np.array([ProtParamData.kd[letter] for letter in AMINO_ACIDS])
INSTABILITY = np.array(
    [[ProtParamData.DIWV[first][second] for second in AMINO_ACIDS] for first in AMINO_ACIDS]
)


def _residues(sequences: Strings) -> tuple[NDArray[np.uint8], Integers, Integers]:
    """Return the twenty residues of proteins one after the other, whose each is, and counts."""
    raw, protein = one_array(sequences)
    letter = KINDS_OF_WORDS[1].letters()[raw]
    is_residue = letter != NO_RESIDUE
    letter, protein = letter[is_residue], protein[is_residue]
    shape = len(sequences), len(AMINO_ACIDS)
    count = np.bincount(protein * shape[1] + letter, minlength=shape[0] * shape[1])
    return letter, protein, count.reshape(shape)


def chemistry(sequences: Strings) -> Floats:
    """Return length and chemistry of each protein, columns as in `CHEMISTRY`.

    As Biopython's ``ProteinAnalysis`` gives it without the letters that are no residues: molecular
    weight and extinction per residue, the logarithm of the number of all letters. NaN, but for the
    length, where a protein has none of the twenty residues.
    """
    letter, protein, count = _residues(sequences)
    n = count.sum(axis=1)
    stop = np.cumsum(n)
    column = dict(zip(AMINO_ACIDS, count.T, strict=True))
    reduced = TRYPTOPHAN * column["W"] + TYROSINE * column["Y"]
    cystines = reduced + CYSTINE * (column["C"] // 2)
    # Each bond between two residues gives off a water.
    water = float(2 * IUPACData.atom_weights["H"] + IUPACData.atom_weights["O"])
    weight = count @ WEIGHTS - (n - 1) * water
    bond = INSTABILITY[letter[:-1], letter[1:]] * (protein[:-1] == protein[1:])
    instability = np.bincount(protein[:-1], bond, minlength=len(sequences))
    letter = np.append(letter, 0)  # where no protein has a residue
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = np.column_stack(
            [
                np.log(np.array([len(sequence) for sequence in sequences], dtype=np.float64)),
                weight / n,
                sum(column[letter] for letter in AROMATIC) / n,
                _isoelectric_point(letter[stop - n], letter[stop - 1], column),
                INSTABILITY_SCALE * instability / n,
                (count @ HYDROPATHY) / n,
                reduced / n,
                cystines / n,
            ]
        )
    columns[n == 0, 1:] = np.nan
    return columns


def _isoelectric_point(
    first: NDArray[np.uint8], last: NDArray[np.uint8], column: dict[str, Floats]
) -> Floats:
    start, end = IsoelectricPoint.pKnterminal, IsoelectricPoint.pKcterminal
    default_start = IsoelectricPoint.positive_pKs["Nterm"]
    default_end = IsoelectricPoint.negative_pKs["Cterm"]
    n_terminus = np.array([start.get(letter, default_start) for letter in AMINO_ACIDS])[first]
    c_terminus = np.array([end.get(letter, default_end) for letter in AMINO_ACIDS])[last]
    low = np.full(len(first), LEAST_PH)
    high = np.full(len(first), GREATEST_PH)
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


SIDE_CHAINS = ("AILMV", "NQST", "GP", "C", "HKR", "DE", "FWY")
LEAST_RESIDUES = 10  # of the twenty; in fewer, words say nothing about composition
PROTEINS_AT_ONCE = 4_096
NO_RESIDUE = 255


@dataclass(frozen=True, kw_only=True)
class WordFeatures:
    """One kind of word."""

    groups: tuple[str, ...]  # Residues that are one letter
    length: int  # Letters of a word

    @property
    def n_words(self) -> int:
        """Number of different words."""
        return int(len(self.groups) ** self.length)

    def letters(self) -> NDArray[np.uint8]:
        """Return the letter of each byte, `NO_RESIDUE` where it is no residue."""
        table = np.full(256, NO_RESIDUE, dtype=np.uint8)
        for letter, group in enumerate(self.groups):
            for residue in group:
                table[ord(residue)] = letter
        return table

    def counts(
        self, raw: NDArray[np.uint8], protein: Integers, n_proteins: int
    ) -> sparse.csr_array:
        """Return how often each word stands in each protein of :func:`one_array`."""
        letters = self.letters()[raw]
        n_starts = max(0, len(raw) - self.length + 1)
        code = np.zeros(n_starts, dtype=np.int64)
        is_word = np.ones(n_starts, dtype=np.bool_)
        for place in range(self.length):
            here = slice(place, place + n_starts)
            code = code * len(self.groups) + letters[here]
            is_word &= (letters[here] != NO_RESIDUE) & (protein[here] == protein[:n_starts])
        words = protein[:n_starts][is_word] * self.n_words + code[is_word]
        place, count = np.unique(words, return_counts=True)
        cells = np.divmod(place, self.n_words)
        return sparse.csr_array((count, cells), shape=(n_proteins, self.n_words))


KINDS_OF_WORDS = (
    WordFeatures(groups=SIDE_CHAINS, length=4),
    WordFeatures(groups=tuple(AMINO_ACIDS), length=2),
    WordFeatures(groups=tuple(AMINO_ACIDS), length=3),
)
WIDTHS_OF_BLOCKS = (*(kind.n_words for kind in KINDS_OF_WORDS), len(CHEMISTRY))


def composition(sequences: Strings) -> tuple[sparse.csr_array, Booleans]:
    """Return what proteins are made of, and whether each has residues enough to be placed.

    Words of each kind stand side by side as square roots of their shares, whose variance hardly
    depends on the share (the distance between two such rows is Hellinger's); chemistry comes last.
    """
    starts = range(0, max(len(sequences), 1), PROTEINS_AT_ONCE)
    parts = [
        _composition(sequences[start : start + PROTEINS_AT_ONCE])
        for start in each(starts, len(starts))
    ]
    features, is_placed = zip(*parts, strict=True)
    return sparse.csr_array(sparse.vstack(features, format="csr")), np.concatenate(is_placed)


def one_array(sequences: Strings) -> tuple[NDArray[np.uint8], Integers]:
    """Return the letters of proteins one after the other, and the protein of each letter."""
    raw = np.frombuffer("".join(sequences).encode("ascii", "replace"), dtype=np.uint8)
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
    return raw, np.repeat(np.arange(len(sequences)), lengths)


def _composition(sequences: Strings) -> tuple[sparse.csr_array, Booleans]:
    raw, protein = one_array(sequences)
    is_residue = KINDS_OF_WORDS[1].letters()[raw] != NO_RESIDUE
    n_residues = np.bincount(protein[is_residue], minlength=len(sequences))
    words = [_root_shares(kind.counts(raw, protein, len(sequences))) for kind in KINDS_OF_WORDS]
    numbers = sparse.csr_array(np.nan_to_num(chemistry(sequences)).astype(np.float32))
    return sparse.hstack([*words, numbers], format="csr"), n_residues >= LEAST_RESIDUES


def _root_shares(counts: sparse.csr_array) -> sparse.csr_array:
    total = np.repeat(np.asarray(counts.sum(axis=1)), np.diff(counts.indptr))
    counts.data = np.sqrt(counts.data / total).astype(np.float32)
    return counts


MOST_FITTED = 20_000  # proteins that the axes are learnt from; more turn them by little
# Of the randomised search for the axes: Halko, Martinsson & Tropp 2011, section 4.5
# (doi 10.1137/090771806).
OVERSAMPLING = 10
POWER_STEPS = 4
SEED_OF_BASIS = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Space:
    """Axes along which proteins differ most, and where their origin is."""

    kind: str  # ``composition``, or ``vectors`` that a user brings
    scale: PackedFloats  # What each feature is multiplied by
    axes: PackedFloats  # Of scaled features
    origin: PackedFloats  # Where the proteins that were fitted are on average
    explained: PackedFloats  # Share of the variance along each axis

    @property
    def n_components(self) -> int:
        """Number of axes."""
        return int(self.axes.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features of a protein."""
        return len(self.scale)

    def place(self, features: Any) -> Floats:
        """Return the points of features, in single precision."""
        return singles(features @ (self.axes * self.scale[:, None]) - self.origin)

    def of_sequences(self, sequences: Strings, threads: int = 1) -> Floats:
        """Return the points of proteins; NaN where one is too short."""
        points = np.full((len(sequences), self.n_components), np.nan)

        def fill(start: int) -> None:
            features, is_placed = _composition(sequences[start : start + PROTEINS_AT_ONCE])
            place = np.flatnonzero(is_placed)
            points[start + place] = self.place(features[place])

        starts = range(0, len(sequences), PROTEINS_AT_ONCE)
        with ThreadPoolExecutor(threads) as pool:
            list(each(pool.map(fill, starts), len(starts)))
        return points


def fit_composition(sequences: Strings, n_components: int) -> Space:
    """Return the space of proteins, from what they are made of.

    Each kind of words, and chemistry, has a total variance of 1. Axes are those of greatest
    variance, by a randomised search from a fixed start, over proteins in an order of their own;
    each points to where its largest entry is positive: no order and no core changes a bit.
    """
    order = np.array(sorted(range(len(sequences)), key=sequences.__getitem__), dtype=np.int64)
    features, is_placed = composition(sequences[spread(order, MOST_FITTED)])
    features = features[np.flatnonzero(is_placed)]
    if features.shape[0] < 2:
        width = sum(WIDTHS_OF_BLOCKS)
        return Space(
            kind="composition",
            scale=np.zeros(width),
            axes=np.empty((width, 0)),
            origin=np.empty(0),
            explained=np.empty(0),
        )
    return _fit("composition", features, block_scale(features, WIDTHS_OF_BLOCKS), n_components)


def fit_vectors(vectors: Floats, n_components: int) -> Space:
    """Return the space of a user's vectors, not scaled: a language model's are comparable."""
    values = vectors[spread(np.lexsort(vectors.T[::-1]), MOST_FITTED)]
    return _fit("vectors", values, np.ones(values.shape[1]), n_components)


def spread(order: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return at most so many of some rows, evenly spread over them."""
    return order if len(order) <= most else order[np.arange(most) * len(order) // most]


def block_scale(features: sparse.csr_array, widths: tuple[int, ...]) -> Floats:
    """Return what makes every block's variance 1, in chemistry (the last) every column's alike."""
    mean = np.asarray(features.mean(axis=0)).ravel()
    square = np.asarray(features.multiply(features).mean(axis=0)).ravel()
    variance = np.maximum(square - mean**2, 0.0).astype(np.float64)
    *blocks, last = np.split(variance, np.cumsum(widths[:-1]))
    totals = [block.sum() for block in blocks]
    is_varied = last > 0
    last_scale = np.zeros(len(last))
    last_scale[is_varied] = 1.0 / np.sqrt(last[is_varied] * len(last))
    scales = [1.0 / np.sqrt(total) if total > 0 else 0.0 for total in totals]
    return np.concatenate([np.repeat(scales, widths[:-1]), last_scale])


def _fit(kind: str, features: Any, scale: Floats, n_components: int) -> Space:
    # Held in single precision, so that the space that was read back is this one.
    scale = singles(scale[None, :])[0]
    scaled = features * scale[None, :].astype(np.float32)
    if sparse.issparse(scaled):
        # A product with a row is a list of coordinates, and slow to multiply.
        scaled = sparse.csr_array(scaled)
    axes, variance, total = principal_axes(scaled, n_components)
    axes = singles(axes)
    mean = np.asarray(scaled.mean(axis=0), dtype=np.float64).ravel()
    explained = variance / total if total > 0 else np.zeros_like(variance)
    return Space(
        kind=kind,
        scale=scale,
        axes=axes,
        origin=singles((mean @ axes)[None, :])[0],
        explained=singles(explained[None])[0],
    )


def principal_axes(features: Any, n_components: int) -> tuple[Floats, Floats, float]:
    """Return the axes of greatest variance, that variance, and the total."""
    n, width = features.shape
    mean = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
    n_kept = min(n_components, n - 1, width)
    n_tried = min(n_kept + OVERSAMPLING, n, width)
    basis = np.random.default_rng(SEED_OF_BASIS).standard_normal((width, n_tried))
    for _ in range(POWER_STEPS):
        image, _ = np.linalg.qr(features @ basis - (mean @ basis)[None, :])
        basis, _ = np.linalg.qr(features.T @ image - np.outer(mean, image.sum(axis=0)))
    image = features @ basis - (mean @ basis)[None, :]
    _, singular, right = np.linalg.svd(np.asarray(image, dtype=np.float64), full_matrices=False)
    axes = (basis @ right.T)[:, :n_kept]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    axes = axes * np.where(largest < 0, -1.0, 1.0)
    square = features.multiply(features) if sparse.issparse(features) else features**2
    total = float(square.sum(dtype=np.float64)) / n - float(mean @ mean)
    return axes, (singular[:n_kept] ** 2) / n, total
