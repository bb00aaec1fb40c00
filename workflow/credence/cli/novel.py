"""What a table of confidences says of how far its proteins are from those known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from credence.cli.places import Features
from credence.confidence import Confidence, Note
from credence.evaluation.novel_sets import NovelSet
from credence.findings import to_record
from credence.predictions import Predictions
from credence.problems import refuse
from credence.tables.novelty_columns import NOVELTY_NAMES
from credence.tables.novelty_file import read_novelty
from credence.tables.samples import Samples


class Newcomers:
    """Proteins of a use-set beside those of a novelty file.

    Parameters
    ----------
    novelty : str
        What credence novelty wrote.
    proteins, vectors : str, optional
        The use-set's FASTA file, or its vectors.
    match : str
        How ids meet FASTA headers.
    name : str
        The use-set.
    """

    names = NOVELTY_NAMES

    def __init__(
        self, novelty: str, proteins: str | None, vectors: str | None, match: str, name: str
    ) -> None:
        self.reference = read_novelty(Path(novelty)).reference
        self.features = Features(() if proteins is None else (proteins,), vectors, match)
        self.features.require_space(self.reference.space, novelty)
        self._set = NovelSet(name, self.reference)

    def located(self, samples: Samples) -> Samples:
        """Return the samples with their places."""
        predictions = samples.predictions
        places = self.features.places(self.reference.space, predictions.ids)
        return replace(samples, predictions=replace(predictions, places=places))

    def told(
        self, predictions: Predictions, confidence: Confidence
    ) -> tuple[Confidence, dict[str, Any]]:
        """Return the confidences with what notes say of novelty, and further columns.

        Parameters
        ----------
        predictions : Predictions
            With places.
        confidence : Confidence
            The answer, row by row.
        """
        places = predictions.places
        assert places is not None
        look = self.reference.look(places)
        note = confidence.note.copy()
        note[~np.isfinite(places).all(axis=1)] |= int(Note.NO_PLACE)
        note[look.is_flagged] |= int(Note.NOVEL)
        note[look.is_repeat] |= int(Note.REPEAT)
        nearest = np.full(predictions.n_samples, "", dtype=object)
        known = look.nearest >= 0
        nearest[known] = self.reference.ids[look.nearest[known]]
        names = np.array(predictions.class_names, dtype=object)[predictions.predicted_class]
        self._set.add(predictions.ids, places, look, names, confidence.value)
        values = (look.novelty, look.distance, nearest, look.training_distance)
        return replace(confidence, note=note), dict(zip(self.names, values, strict=True))

    def record(self) -> Any:
        """Return what was found, for the page, as JSON data."""
        return to_record(self._set.finding())


def newcomers_of(
    novelty: str | None, proteins: str | None, vectors: str | None, match: str, name: str
) -> Newcomers | None:
    """Return the proteins of a use-set beside those known; None where none are.

    Parameters
    ----------
    novelty, proteins, vectors, match, name
        See :class:`Newcomers`.
    """
    if novelty is not None:
        return Newcomers(novelty, proteins, vectors, match, name)
    if proteins is not None or vectors is not None:
        raise refuse(
            "--novelty", "nothing says what is known.", "Give what credence novelty wrote."
        )
    return None
