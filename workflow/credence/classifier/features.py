"""What a network sees of a protein: named sets of words and properties, as PhANNs has them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credence.novelty import space
from credence.novelty.space import CHEMISTRY
from credence.predictions import Integers, Strings
from credence.problems import refuse

Singles = NDArray[np.float32]
WORDS = {
    "di": space.WordFeatures(tuple(space.RESIDUES), 2),
    "tri": space.WordFeatures(tuple(space.RESIDUES), 3),
    "di_sc": space.WordFeatures(space.SIDE_CHAINS, 2),
    "tri_sc": space.WordFeatures(space.SIDE_CHAINS, 3),
    "tetra_sc": space.WordFeatures(space.SIDE_CHAINS, 4),
}
PROPERTIES, ALL = "p", "all"
PROTEINS_AT_ONCE = 2_048


@dataclass(frozen=True)
class FeatureSet:
    """A union of kinds of words, and the eight properties."""

    name: str  # As PhANNs writes it: ``tetra_sc_p``

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The kinds in it, or none where the name is not understood."""
        if self.name == ALL:
            return (*WORDS, PROPERTIES)
        words = self.name.replace("_sc", "-sc").split("_")
        found = tuple(word.replace("-sc", "_sc") for word in words)
        is_known = all(part in WORDS or part == PROPERTIES for part in found)
        return found if is_known and len(set(found)) == len(found) else ()

    @property
    def n_features(self) -> int:
        """Number of features."""
        return sum(WORDS[part].n_words if part in WORDS else len(CHEMISTRY) for part in self.parts)

    @property
    def longest_word(self) -> int:
        """Residues that a protein needs."""
        return max((WORDS[part].length for part in self.parts if part in WORDS), default=1)

    def of(self, sequences: Strings) -> Singles:
        """Return the features of proteins.

        A word's count is divided by the places where one could stand, L - k + 1; a word with a
        letter that is none of the twenty residues counts for none. Properties are those of the
        twenty residues; 0 where a protein has none of them.
        """
        found = np.zeros((len(sequences), self.n_features), dtype=np.float32)
        for start in range(0, len(sequences), PROTEINS_AT_ONCE):
            rows = slice(start, start + PROTEINS_AT_ONCE)
            self._fill(found[rows], sequences[rows])
        return found

    def _fill(self, found: Singles, sequences: Strings) -> None:
        raw, protein = space.one_array(sequences)
        lengths = np.bincount(protein, minlength=len(sequences))
        column = 0
        for part in self.parts:
            if part == PROPERTIES:
                found[:, column : column + len(CHEMISTRY)] = np.nan_to_num(
                    space.chemistry(sequences)
                )
                column += len(CHEMISTRY)
                continue
            kind = WORDS[part]
            places = np.maximum(lengths - kind.length + 1, 1).astype(np.float32)
            counts = kind.counts(raw, protein, len(sequences)).astype(np.float32).toarray()
            found[:, column : column + kind.n_words] = counts / places[:, None]
            column += kind.n_words


def feature_set(name: str, where: str) -> FeatureSet:
    """Return the set of a name; refuse what is none."""
    found = FeatureSet(name)
    if not found.parts:
        raise refuse(
            where,
            f"{name!r} is no set of features.",
            f"Join some of {', '.join((*WORDS, PROPERTIES))} with _, as in tetra_sc_p; "
            f"or write {ALL}.",
        )
    return found


def unknown_residues(sequences: Strings) -> Integers:
    """Return how many letters of each protein are none of the twenty residues."""
    raw, protein = space.one_array(sequences)
    is_unknown = WORDS["di"].letters()[raw] == space.NO_LETTER
    return np.bincount(protein[is_unknown], minlength=len(sequences))
