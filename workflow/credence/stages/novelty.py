"""The stage `novelty`: where labelled proteins lie, so that it is seen how far others are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from credence.novelty.reference import build
from credence.problems import refuse
from credence.stages.reading import Features, LabelledTables, require_other
from credence.stages.settings import Settings
from credence.tables.digests import sha256_of
from credence.tables.stage_files import NOVELTY, NoveltyFile


def learn_novelty(
    given: LabelledTables,
    out: str,
    settings: Settings,
    proteins: Sequence[str],
    vectors: str | None,
    match: str,
    training: str | None,
) -> None:
    """Write the space of the proteins that calibrate, and where all known ones lie in it."""
    files = [*given.files, *proteins, *filter(None, (vectors, training))]
    require_other((out,), files)
    samples = given.samples()
    labelled = given.calibrating(samples, "none").labelled
    predictions, true_class = samples.predictions, samples.true_class
    assert true_class is not None
    features = Features(proteins, vectors, match)
    features.require(labelled.predictions.ids, given.tables[0])
    space = features.space(labelled.predictions.ids, settings.novelty.components)
    if space.n_components < 1:
        what = "fewer than two proteins can be distinguished."
        raise refuse(features.where, what, "Give more proteins.")
    trained = None
    if training is not None:
        sequences, others = ((training,), None) if vectors is None else ((), training)
        other = Features(sequences, others, match)
        other.require_space(space, features.where)
        trained = other.places(space, other.ids)
    cluster = dict(zip(labelled.predictions.ids, labelled.cluster, strict=True))
    is_calibration = np.array([id_ in cluster for id_ in predictions.ids], dtype=np.bool_)
    ids, names = predictions.ids, np.array(predictions.class_names, dtype=object)[true_class]
    clusters = np.array([cluster.get(id_, id_) for id_ in ids], dtype=object)
    of_known = (ids, names, features.places(space, ids), clusters, is_calibration)
    reference = build(space, *of_known, trained, settings.novelty.flag)
    file = NoveltyFile(
        reference=reference, inputs={Path(path).name: sha256_of(Path(path)) for path in files}
    )
    NOVELTY.write(Path(out), file)
    n_placed = len(reference.calibration_rows)
    n_short = int(is_calibration.sum()) - n_placed
    short = f", {n_short} too short to have a place" if n_short else ""
    what = f"{n_placed} proteins along {space.n_components} axes{short}"
    click.echo(f"Wrote {out}: {what}.", err=True)
