"""What a table of confidences says of how far its proteins are from those known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from credence.confidence import Confidence, Note
from credence.evaluation.use_sets import NovelSet
from credence.findings import to_record
from credence.predictions import Predictions
from credence.problems import nearest, refuse
from credence.stages.reading import Features
from credence.tables.contract import NOVELTY_NAMES
from credence.tables.samples import Samples
from credence.tables.scan import RowRange, rows_of_part
from credence.tables.stage_files import read_novelty


class Newcomers:
    """Proteins of a use-set beside those of a novelty file."""

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

    def message(
        self, predictions: Predictions, confidence: Confidence
    ) -> tuple[Confidence, dict[str, Any]]:
        """Return the confidences with what notes say of novelty, and further columns."""
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
    """Return the proteins of a use-set beside those known; None where none are."""
    if novelty is not None:
        return Newcomers(novelty, proteins, vectors, match, name)
    if proteins is not None or vectors is not None:
        raise refuse(
            "--novelty", "nothing says what is known.", "Give what credence novelty wrote."
        )
    return None


PART = re.compile(r"(?P<number>[0-9]{1,9})/(?P<n_parts>[0-9]{1,9})")


def row_range(part: str, tables: Sequence[str], summary: str | None) -> RowRange:
    """Return the rows of one part of a table that was checked."""
    from credence.stages.check import read_summary

    found = PART.fullmatch(part)
    if found is None or not 1 <= int(found["number"]) <= int(found["n_parts"]):
        raise refuse("--part", f"{part!r} names no part.", "Write 2/8 for the second of eight.")
    if len(tables) != 1:
        raise refuse("--part", f"there are {len(tables)} tables.", "Annotate one at a time.")
    if summary is None:
        raise refuse(
            "--part",
            f"the rows of {tables[0]} were not counted.",
            f"Check it first: credence check {tables[0]} --out check.json, then give --check.",
        )
    checked = read_summary(Path(summary))
    # Of networks, a row of what is annotated is a protein.
    n_rows = checked.n_samples + (0 if checked.n_networks else checked.n_unscored)
    start, stop = rows_of_part(n_rows, int(found["number"]), int(found["n_parts"]))
    return RowRange(start, stop, checked.resolution)


def calibration_or_release(calibration: str | None, release: str | None, config: str) -> str:
    """Return the calibration file that a user names, or that of a release."""
    if (calibration is None) == (release is None):
        raise refuse(
            "--calibration",
            "a calibration is named by its file or by its release.",
            "Give --calibration or --release, one of the two.",
        )
    if calibration is not None:
        return calibration
    assert release is not None
    folder = Path(release)
    if folder.is_dir():
        files = [folder / "calibration.json", *sorted((folder / "calibrations").glob("*.json"))]
        found = [file for file in files if file.exists()]
        if len(found) == 1 or (found and found[0] == files[0]):
            return str(found[0])
        what = "several calibrations are" if found else "no calibration is"
        raise refuse(release, f"{what} in this folder.", "Name the file with --calibration.")
    return _by_name(release, config)


def _by_name(release: str, config: str) -> str:
    from credence.app import configuration

    settings = configuration.load(config)
    name_of = {folder: folder.split("-", 1)[1] for folder in settings.releases}
    chosen = [folder for folder, name in name_of.items() if release in (folder, name)]
    if not chosen:
        raise refuse(
            "--release",
            f"{release!r} is no release of {config}.",
            nearest(release, list(name_of.values())),
        )
    method = configuration.slug(settings.method)
    path = Path("results", settings.run, "releases", chosen[0], "calibrations", f"{method}.json")
    if not path.exists():
        what = f"release {release!r} was not derived yet: there is no file {path}."
        raise refuse("--release", what, f"Run credence run --config {config} first.")
    return str(path)
