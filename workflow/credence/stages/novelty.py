"""The stage `novelty`: where labelled proteins lie, so that it is seen how far others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from credence.confidence import Note
from credence.draws import encode_clusters, keys_of
from credence.evaluation.bands import BAND_NAMES, Seen, band_of, judged_bands
from credence.evaluation.queries import NovelSet
from credence.findings import DistanceBand
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.novelty.reference import Look, build, p_values
from credence.novelty.trust import Neighbours
from credence.predictions import UNKNOWN_CLASS, Booleans, Floats, Integers, Strings, is_among
from credence.problems import refuse
from credence.progress import echo
from credence.relatives.closest import KnownSequences, search_for
from credence.relatives.pairs import canonical_texts
from credence.stages.additions import Added, Addition, Chunk, Pieces
from credence.stages.reading import Features, LabelledFiles, require_other
from credence.stages.settings import Settings
from credence.tables import contract
from credence.tables.digests import sha256_of
from credence.tables.formats import ANY_OTHER_LABEL
from credence.tables.samples import Samples
from credence.tables.stage_files import NOVELTY_FILES, CalibrationFile, NoveltyFile


def learn_novelty(
    given: LabelledFiles,
    out: str,
    settings: Settings,
    proteins: Sequence[str],
    vectors: str | None,
    match: str,
    training: str | None,
    threads: int = 1,
) -> None:
    """Write the space of the proteins that calibrate, and where all known ones lie in it."""
    files = [*given.files, *proteins, *filter(None, (vectors, training))]
    require_other((out,), files)
    known_set = given.open()
    labelled = known_set.calibrating("none").labelled
    predictions, true_class = known_set.samples.predictions, known_set.samples.true_class
    assert true_class is not None
    is_of_calls = known_set.samples.is_of_calls
    if is_of_calls:  # a protein has a place, however many calls
        first = np.unique(predictions.ids.astype(str), return_index=True)[1]
        predictions, true_class = predictions.take(first), true_class[first]
        labelled = labelled.take(
            np.unique(labelled.predictions.ids.astype(str), return_index=True)[1]
        )
    features = Features(proteins, vectors, match)
    features.require(labelled.predictions.ids, given.tables[0])
    space = features.space(labelled.predictions.ids, settings.novelty.components)
    places = features.places(space, predictions.ids, threads)
    is_calibration = is_among(predictions.ids, labelled.predictions.ids)
    placed = places[is_calibration & np.isfinite(places).all(axis=1)]
    if len(np.unique(placed, axis=0)) < 2 or space.n_components < 1:
        reason = "fewer than two proteins can be distinguished."
        raise refuse(features.where, reason, "Give more proteins.")
    trained, sequences = None, dict[str, str]()
    if training is not None:
        paths, others = ((training,), None) if vectors is None else ((), training)
        other = Features(paths, others, match)
        sequences = other.sequences
        other.require_space(space, features.where)
        trained = other.places(space, other.ids, threads)
    cluster = dict(zip(labelled.predictions.ids, labelled.cluster, strict=True))
    ids, names = predictions.ids, np.array(predictions.class_names, dtype=object)[true_class]
    if is_of_calls:
        names = np.full(len(ids), "", dtype=object)
    clusters = np.array([cluster.get(id_) for id_ in ids], dtype=object)
    of_known = (ids, names, places, clusters)
    reference = build(space, *of_known, trained, settings.novelty.flag, threads)
    wrong = dict(zip(ids, true_class != predictions.predicted_class, strict=True))
    calibrating = reference.ids[reference.calibration_rows]
    file = NoveltyFile(
        reference=reference,
        inputs={Path(path).name: sha256_of(Path(path)) for path in files},
        is_wrong=None
        if is_of_calls
        else np.array([wrong[id_] for id_ in calibrating], dtype=np.bool_),
    )
    if vectors is None and len(calibrating):
        known = {id_: features.sequences[id_] for id_ in calibrating}
        file = _with_sequences(file, known, cluster, sequences, threads)
    NOVELTY_FILES.write(Path(out), file)
    n_placed = len(reference.calibration_rows)
    n_short = int(is_calibration.sum()) - n_placed
    short = f", {n_short} too short to have a place" if n_short else ""
    counts = f"{n_placed} proteins along {space.n_components} axes{short}"
    echo(f"Wrote {out}: {counts}.")


def _with_sequences(
    file: NoveltyFile,
    sequences: Mapping[str, str],
    cluster: Mapping[str, str],
    training: Mapping[str, str],
    threads: int,
) -> NoveltyFile:
    """Return what is known with the sequences of it, and how far families are from each other."""
    reference = file.reference
    ids = reference.ids[reference.calibration_rows]
    names = np.array([cluster[id_] for id_ in ids], dtype=object)
    codes, key = encode_clusters(names)
    family = np.concatenate([codes, np.full(len(training), -1)])
    every = np.array([*ids, *training], dtype=object)
    texts = np.array([*(sequences[id_] for id_ in ids), *training.values()], dtype=object)
    known = KnownSequences(ids=every, texts=texts, family=family, search=search_for(texts, family))
    closest = known.closest(known.texts[: len(ids)], (family[: len(ids)], family), threads)
    return replace(file, known=known, closest=closest, family_key=key)


def bands_of(
    file: NoveltyFile, held: HeldOut | None, class_names: Sequence[str]
) -> tuple[DistanceBand, ...]:
    """Return what a calibration promised and what was right, by identity; none if not known."""
    seen = seen_of(file, held, class_names)
    return () if seen is None else judged_bands(seen)


def seen_of(file: NoveltyFile, held: HeldOut | None, class_names: Sequence[str]) -> Seen | None:
    """Return what was stated of calibration proteins at which distance; None if not known.

    Both are sorted by a hash of ids; those held out may be fewer. So members of a family with one
    true class are the same where they are as many.
    """
    if held is None or file.known is None or file.closest is None or file.family_key is None:
        return None
    if ANY_OTHER_LABEL in class_names:  # held-out calls do not say of which protein they are
        return None
    rows = file.reference.calibration_rows
    order = np.argsort(keys_of(file.reference.ids[rows]), kind="stable")
    code_of = {name: code for code, name in enumerate(class_names)}
    names = file.reference.class_name[rows][order]
    true = np.array([code_of.get(name, UNKNOWN_CLASS) for name in names], dtype=np.int64)
    key = file.family_key[file.known.family[: len(rows)][order]]
    _, family = np.unique(np.concatenate([key, held.key[held.cluster]]), return_inverse=True)
    group = family * (len(class_names) + 1) + np.concatenate([true, held.true]) + 1
    known, stated = np.split(group, [len(rows)])
    n_groups = int(group.max(initial=-1)) + 1
    is_same = np.bincount(known, minlength=n_groups) == np.bincount(stated, minlength=n_groups)
    # In the order of families and classes, and in each of these in that of ids.
    first, second = (
        np.argsort(groups, kind="stable")[is_same[np.sort(groups)]] for groups in (known, stated)
    )
    ends = np.append(CONFIDENCE_STEPS, 1.0)
    confidence = (ends[held.step] + ends[held.step + 1]) / 2.0
    band = band_of(file.closest.identity[order][first])
    return Seen(
        stated=confidence[second],
        is_right=~held.is_wrong[second],
        family=family[len(rows) :][second],
        band=band,
    )


def look_at(file: NoveltyFile, points: Floats, sequences: Strings, threads: int = 1) -> Look:
    """Return how far the proteins of a sample are from those known, by all that is known."""
    look = file.reference.look(points, threads)
    placed = np.flatnonzero(np.isfinite(look.distance))
    if file.known is None or not len(placed):
        return look
    close = file.known.closest(canonical_texts(sequences[placed]), threads=threads)
    closest, held = look.closest.copy(), file.held_out_far
    closest[placed] = np.where(close.nearest < 0, "", file.known.ids[close.nearest])
    far, p, identity, coverage = np.full((4, len(points)), np.nan)
    far[placed], identity[placed], coverage[placed] = close.far, close.identity, close.coverage
    if len(held):
        p[placed] = p_values(held, close.far)
    is_learnt, is_calibrated = look.is_learnt.copy(), look.is_calibrated.copy()
    is_training = close.nearest >= file.n_calibrating
    is_learnt[placed] = close.is_relative & is_training
    is_calibrated[placed] = close.is_relative & ~is_training
    return replace(
        look,
        p=p,
        far=far,
        is_flagged=file.reference.is_flagged(p),
        closest=closest,
        identity=identity,
        coverage=coverage,
        is_learnt=is_learnt,
        is_calibrated=is_calibrated,
    )


class NoveltyColumns(Addition):
    """How far the proteins of a set are from those of a novelty file."""

    names = contract.NOVELTY_NAMES
    told = (Note.NOVEL, Note.NO_PLACE, Note.BAND_OFF)

    def __init__(
        self,
        path: str,
        file: NoveltyFile,
        features: Features,
        calibration: CalibrationFile,
        *,
        calibration_path: str,
        set_name: str,
        threads: int,
    ) -> None:
        self.file, self.features, self.threads = file, features, threads
        self.reference = self.file.reference
        features.require_space(self.reference.space, path)
        bands = bands_of(self.file, calibration.held_out, calibration.class_names)
        is_band_off = [band.is_off for band in bands] or [False] * len(BAND_NAMES)
        self.is_band_off = np.array(is_band_off, dtype=np.bool_)
        # All that is annotated is counted in one place, of however many sets.
        self.seen = NovelSet(
            name=set_name,
            reference=self.reference,
            held=self.file.held_out_far,
            knows_training=self.file.knows_training,
            by_sequences=self.file.known is not None,
        )
        fitted = calibration.known
        known = self.reference.ids[self.reference.calibration_rows]
        if fitted is not None and len(fitted.ids) and not fitted.notes(known, {}).any():
            sentence = f"none of its proteins is one on which {calibration_path} was fitted"
            self.remarks = ((path, sentence),)
        self._look_at(np.empty(0, dtype=object))

    def _look_at(self, ids: Strings) -> None:
        """Look at all proteins of a set at once."""
        ids = np.array(list(dict.fromkeys(ids.tolist())), dtype=object)  # of several calls, once
        texts = [self.features.sequences.get(id_, "") for id_ in ids]
        self.row_of = {id_: row for row, id_ in enumerate(ids)}
        self.places = self.features.places(self.reference.space, ids, self.threads)
        sequences = np.array(texts, dtype=object)
        self.look = look_at(self.file, self.places, sequences, self.threads)

    def of_set(self, pieces: Pieces) -> NoveltyColumns:
        """Return the same for the proteins of a set."""
        every = [piece.ids for piece in pieces()]
        for_set = copy(self)
        for_set._look_at(np.concatenate([np.empty(0, dtype=object), *every]))
        return for_set

    def is_learnt(self, ids: Strings) -> Booleans:
        """Return which proteins are homologues of what the classifier learnt from."""
        return self.look.is_learnt[self._rows(ids)]

    def _rows(self, ids: Strings) -> Integers:
        return np.array([self.row_of[id_] for id_ in ids], dtype=np.int64)

    def completed(self, samples: Samples) -> Samples:
        """Return rows with the places of their proteins."""
        places = self.places[self._rows(samples.predictions.ids)]
        return replace(samples, predictions=replace(samples.predictions, places=places))

    def added(self, chunk: Chunk) -> Added:
        """Return what is nearest to each, and notes on those that are far."""
        predictions = chunk.predictions
        rows = self._rows(predictions.ids)
        look, places = self.look.take(rows), self.places[rows]
        is_off = np.isfinite(look.distance) & self.is_band_off[band_of(look.identity)]
        note = np.zeros(predictions.n_samples, dtype=np.int64)
        note[~np.isfinite(places).all(axis=1)] |= int(Note.NO_PLACE)
        note[look.is_flagged] |= int(Note.NOVEL)
        note[is_off] |= int(Note.BAND_OFF)
        note[look.is_repeat] |= int(Note.REPEAT)
        note[look.is_learnt] |= int(Note.LEARNT)
        note[look.is_calibrated] |= int(Note.CALIBRATED)
        nearest = np.full(predictions.n_samples, "", dtype=object)
        is_known = look.nearest >= 0
        nearest[is_known] = self.reference.ids[look.nearest[is_known]]
        first = np.sort(np.unique(rows, return_index=True)[1])  # each protein once
        confidence = chunk.confidence.value
        if len(first) < len(rows):  # of several calls no one is the protein's
            confidence = np.full(len(rows), np.nan)
        self.seen.add(look.take(first), confidence[first], is_off[first])
        values = (
            *(look.p, look.distance, nearest, look.training_distance),
            *(look.closest, look.identity, look.coverage),
        )
        return Added(columns=dict(zip(self.names, values, strict=True)), note=note)


class NeighbourColumns(Addition):
    """What the calibration proteins around each protein show: trust score, MACEst's two parts."""

    names = contract.PARTS_NAMES

    def __init__(self, path: str, file: NoveltyFile, class_names: Sequence[str]) -> None:
        reference, is_wrong = file.reference, file.is_wrong
        rows = reference.calibration_rows
        if is_wrong is None or not len(rows):
            reason = "it does not keep which calibration proteins were predicted right."
            raise refuse(path, reason, "Make it again: credence novelty.")
        code_of = {name: code for code, name in enumerate(class_names)}
        codes = [code_of.get(name, UNKNOWN_CLASS) for name in reference.class_name[rows]]
        true_class = np.array(codes, dtype=np.int64)
        is_named = true_class != UNKNOWN_CLASS
        self.neighbours = Neighbours(
            points=reference.points[rows][is_named],
            true_class=true_class[is_named],
            is_wrong=is_wrong[is_named],
            n_classes=len(class_names),
        )

    def added(self, chunk: Chunk) -> Added:
        """Return the three columns."""
        predictions = chunk.predictions
        parts = self.neighbours.parts(predictions.required_places, predictions.predicted_class)
        return Added(columns=dict(zip(self.names, parts, strict=True)))
