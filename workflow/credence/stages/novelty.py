"""The stage `novelty`: where labelled proteins lie, so that it is seen how far others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from credence.draws import encode_clusters, keys_of
from credence.evaluation.bands import Seen, band_of, judged_bands
from credence.findings import DistanceBand
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.novelty.reference import Look, build, p_values
from credence.predictions import UNKNOWN_CLASS, Floats, Strings, is_among
from credence.problems import refuse
from credence.progress import echo
from credence.relatives.closest import KnownSequences, search_for
from credence.relatives.pairs import canonical_texts
from credence.stages.reading import Features, LabelledFiles, require_other
from credence.stages.settings import Settings
from credence.tables.digests import sha256_of
from credence.tables.stage_files import NOVELTY_FILES, NoveltyFile


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
    features = Features(proteins, vectors, match)
    features.require(labelled.predictions.ids, given.tables[0])
    space = features.space(labelled.predictions.ids, settings.novelty.components)
    places = features.places(space, predictions.ids, threads)
    is_calibration = is_among(predictions.ids, labelled.predictions.ids)
    placed = places[is_calibration & np.isfinite(places).all(axis=1)]
    if len(np.unique(placed, axis=0)) < 2 or space.n_components < 1:
        what = "fewer than two proteins can be distinguished."
        raise refuse(features.where, what, "Give more proteins.")
    trained, sequences = None, dict[str, str]()
    if training is not None:
        paths, others = ((training,), None) if vectors is None else ((), training)
        other = Features(paths, others, match)
        sequences = other.sequences
        other.require_space(space, features.where)
        trained = other.places(space, other.ids, threads)
    cluster = dict(zip(labelled.predictions.ids, labelled.cluster, strict=True))
    ids, names = predictions.ids, np.array(predictions.class_names, dtype=object)[true_class]
    clusters = np.array([cluster.get(id_) for id_ in ids], dtype=object)
    of_known = (ids, names, places, clusters)
    reference = build(space, *of_known, trained, settings.novelty.flag, threads)
    wrong = dict(zip(ids, true_class != predictions.predicted_class, strict=True))
    calibrating = reference.ids[reference.calibration_rows]
    file = NoveltyFile(
        reference=reference,
        inputs={Path(path).name: sha256_of(Path(path)) for path in files},
        is_wrong=np.array([wrong[id_] for id_ in calibrating], dtype=np.bool_),
    )
    if vectors is None and len(calibrating):
        known = {id_: features.sequences[id_] for id_ in calibrating}
        file = _with_sequences(file, known, cluster, sequences, threads)
    NOVELTY_FILES.write(Path(out), file)
    n_placed = len(reference.calibration_rows)
    n_short = int(is_calibration.sum()) - n_placed
    short = f", {n_short} too short to have a place" if n_short else ""
    what = f"{n_placed} proteins along {space.n_components} axes{short}"
    echo(f"Wrote {out}: {what}.")


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
        np.argsort(one, kind="stable")[is_same[np.sort(one)]] for one in (known, stated)
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
    return replace(
        look,
        p=p,
        far=far,
        is_flagged=file.reference.is_flagged(p),
        closest=closest,
        identity=identity,
        coverage=coverage,
    )
