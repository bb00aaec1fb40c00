"""Where proteins lie: from a novelty file, from FASTA, or from vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from credence.cli.proteins import read_proteins
from credence.novelty.reference import Reference
from credence.novelty.space import Space, fit_composition, fit_vectors
from credence.predictions import Floats, Strings
from credence.problems import InputError, Problem, refuse
from credence.tables.novelty_file import read_novelty
from credence.tables.samples import Samples
from credence.tables.vectors import read_vectors


class Features:
    """What proteins are told by: their sequences, or vectors that a user brings.

    Parameters
    ----------
    proteins : sequence of str
        FASTA files; none where vectors are given.
    vectors : str, optional
        File of vectors.
    match : str
        How ids meet FASTA headers.
    """

    def __init__(self, proteins: Sequence[str], vectors: str | None, match: str) -> None:
        if bool(proteins) == (vectors is not None):
            raise refuse(
                "--proteins", "the proteins' features are not named once.",
                "Give --proteins or --vectors.",
            )  # fmt: skip
        self.where = vectors if vectors is not None else proteins[0]
        self._vectors = None if vectors is None else read_vectors(Path(vectors))
        self._sequences: dict[str, str] = {}
        for number, path in enumerate(proteins):
            if number > 0 and Path(path).stat().st_size == 0:
                continue  # what a trove added of which no protein joined
            fasta = read_proteins(path, match)
            self._sequences.update(zip(fasta.ids, fasta.sequences, strict=True))

    @property
    def kind(self) -> str:
        """``composition`` or ``vectors``."""
        return "composition" if self._vectors is None else "vectors"

    @property
    def ids(self) -> Strings:
        """All proteins, in the order of the files."""
        if self._vectors is not None:
            return self._vectors.ids
        return np.array(list(self._sequences), dtype=object)

    def known(self, ids: Strings) -> list[bool]:
        """Return of which proteins there are features."""
        names = self._sequences if self._vectors is None else self._vectors.row_of
        return [id_ in names for id_ in ids]

    def space(self, ids: Strings, n_components: int) -> Space:
        """Return the space of some proteins.

        Parameters
        ----------
        ids : array of str
            Proteins of which there are features.
        n_components : int
            Greatest number of axes.
        """
        if self._vectors is not None:
            return fit_vectors(self._vectors.of(ids), n_components)
        sequences = np.array([self._sequences[id_] for id_ in ids], dtype=object)
        return fit_composition(sequences, n_components)

    def places(self, space: Space, ids: Strings) -> Floats:
        """Return the places of proteins; NaN where there are no features.

        Parameters
        ----------
        space : Space
            Of the same kind.
        ids : array of str
            Names.
        """
        answer = np.full((len(ids), space.n_components), np.nan)
        rows = np.flatnonzero(self.known(ids))
        if self._vectors is not None:
            answer[rows] = space.place(self._vectors.of(ids[rows]))
        else:
            sequences = np.array([self._sequences[id_] for id_ in ids[rows]], dtype=object)
            answer[rows] = space.of_sequences(sequences)
        return answer

    def require_space(self, space: Space, where: str) -> None:
        """Refuse a space of other features.

        Parameters
        ----------
        space : Space
            From a novelty file.
        where : str
            That file, as the user named it.
        """
        if space.kind != self.kind:
            option = "--vectors" if space.kind == "vectors" else "--proteins"
            raise refuse(where, f"its space is one of {space.kind}.", f"Give {option}.")
        if self._vectors is not None and self._vectors.values.shape[1] != space.n_features:
            raise refuse(
                self.where,
                f"its vectors have {self._vectors.values.shape[1]} numbers, those of {where} "
                f"{space.n_features}.",
                "Give vectors of the same kind.",
            )


def with_places(samples: Samples, novelty: str | None) -> Samples:
    """Return samples that know where the proteins of a novelty file lie.

    Parameters
    ----------
    samples : Samples
        A score table.
    novelty : str, optional
        What credence novelty wrote; nothing is known without it.
    """
    if novelty is None:
        return samples
    reference: Reference = read_novelty(Path(novelty)).reference
    predictions = samples.predictions
    places = reference.places(predictions.ids)
    return replace(samples, predictions=replace(predictions, places=places))


def require_features(features: Features, ids: Strings, where: str) -> None:
    """Refuse proteins that calibrate and have no features.

    Parameters
    ----------
    features : Features
        What is there.
    ids : array of str
        The proteins.
    where : str
        Their table, as the user named it.
    """
    known = features.known(ids)
    missing = [id_ for id_, is_known in zip(ids, known, strict=True) if not is_known]
    if missing:
        raise InputError(
            Problem(
                where,
                f"{id_!r} is not in {features.where}.",
                "Add the protein there or remove this row.",
            )
            for id_ in missing
        )
