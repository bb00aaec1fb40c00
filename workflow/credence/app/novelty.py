"""``credence novelty``: the proteins that are known, and the space in which they lie."""

from __future__ import annotations

from pathlib import Path

import click

from credence.app.shared import match_option, out_option, table_options


@click.command(
    epilog="Example: credence novelty demo/calibration.csv --format phanns-labelled "
    "--proteins demo/proteins.fasta --out novelty.json"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option("--groups", help="Table of groups; only the role calibration is known.")
@click.option("--clusters", help="Table of clusters, in place of those of the groups.")
@click.option("--proteins", multiple=True, help="FASTA file of the proteins; repeat it.")
@click.option("--vectors", help="In its place: npz or Parquet with an id and a vector for each.")
@match_option
@click.option("--training", help="FASTA file, or vectors, of what the classifier was trained on.")
@click.option(
    "--components",
    type=click.IntRange(2, 1000),
    default=32,
    show_default=True,
    help="Greatest number of axes of the space.",
)
@click.option(
    "--flag",
    type=click.FloatRange(0.0, 1.0),
    default=0.99,
    show_default=True,
    help="Novelty above which a protein is flagged.",
)
@out_option("The novelty file, JSON; credence annotate and credence fit read it.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    groups: str | None,
    clusters: str | None,
    proteins: tuple[str, ...],
    vectors: str | None,
    match: str,
    training: str | None,
    components: int,
    flag: float,
    out: str,
) -> None:
    """Learn where labelled proteins lie, so that it is seen how far others are.

    Proteins are told by what they are made of: words of residues, length and
    chemistry; or by vectors of your own, as a protein language model gives them.
    """
    import numpy as np

    from credence.novelty.reference import build
    from credence.problems import refuse
    from credence.stages.reading import (
        Features,
        calibration_set,
        json_settings,
        read_set,
        require_features,
        require_other,
        table_spec,
    )
    from credence.tables.digests import sha256_of
    from credence.tables.stage_files import NoveltyFile, write_novelty

    files = [*tables, *proteins, *filter(None, (groups, clusters, vectors, training))]
    require_other(out, files)
    samples = read_set(tables, table_spec(tables, format_, json_settings(spec_json, "--spec")))
    labelled = calibration_set(samples, tables[0], groups, clusters, "none").labelled
    predictions, true_class = samples.predictions, samples.true_class
    assert true_class is not None
    features = Features(proteins, vectors, match)
    require_features(features, labelled.predictions.ids, tables[0])
    space = features.space(labelled.predictions.ids, components)
    if space.n_components < 1:
        raise refuse(
            features.where, "fewer than two proteins can be told apart.", "Give more proteins."
        )
    trained = None
    if training is not None:
        other = Features(
            () if vectors is not None else (training,),
            None if vectors is None else training,
            match,
        )
        other.require_space(space, features.where)
        trained = other.places(space, other.ids)
    names = np.array(predictions.class_names, dtype=object)
    cluster = dict(zip(labelled.predictions.ids, labelled.cluster, strict=True))
    is_calibration = np.array([id_ in cluster for id_ in predictions.ids], dtype=np.bool_)
    reference = build(
        space,
        predictions.ids,
        names[true_class],
        features.places(space, predictions.ids),
        np.array([cluster.get(id_, id_) for id_ in predictions.ids], dtype=object),
        is_calibration,
        trained,
        flag,
    )
    digests = {Path(path).name: sha256_of(Path(path)) for path in files}
    write_novelty(Path(out), NoveltyFile(reference, digests))
    n_known = len(reference.calibration_rows)
    message = int(is_calibration.sum()) - n_known
    click.echo(
        f"Wrote {out}: {n_known} proteins along {space.n_components} axes"
        + (f", {message} too short to have a place" if message else "")
        + ".",
        err=True,
    )
