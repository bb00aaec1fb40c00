"""The stage `cluster`: from FASTA files to a table of clusters of relatives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import numpy as np

from credence.problems import InputError, Problem, refuse
from credence.proteins import Proteins, join
from credence.relatives.across import relatives_in
from credence.relatives.all_engines import build_engine
from credence.relatives.cdhit import parse_clstr
from credence.relatives.graph import ClusteringEngine, GraphEngine
from credence.relatives.kmers import ExactFinder, GivenEngine
from credence.relatives.pairs import Thresholds
from credence.stages.reading import read_proteins, require_other, training_ids
from credence.stages.settings import Settings
from credence.tables.contract import Clusters, RelativesTable, write_contract
from credence.tables.text import lines_of


def cluster_proteins(
    proteins: str,
    out: str,
    settings: Settings,
    *,
    training: str | None = None,
    match: str = "first_word",
    clstr: str | None = None,
    relatives: str | None = None,
    threads: int = 1,
    timeout: float | None = None,
) -> Clusters:
    """Write which proteins are relatives, with each other and with training."""
    if relatives is not None and training is None:
        raise refuse(
            "--relatives", "there is no training set.", "Give --training, or leave it out."
        )
    require_other((out, relatives), [proteins, training, clstr])
    ours = read_proteins(proteins, match)
    learnt = read_training(training, match, ours)
    everything = join([ours, learnt])
    thresholds = thresholds_of(settings)
    engine: ClusteringEngine = (
        _given(clstr, everything, match)
        if clstr is not None
        else build_engine(settings.clustering.engine, thresholds, threads, timeout)
    )
    found = engine.cluster(everything)
    if relatives is not None:
        pairs = training_relatives(ours, learnt, engine, settings, threads)
        write_contract(Path(relatives), pairs)
        click.echo(f"Wrote {relatives}: {len(pairs.ids)} with a relative in training.", err=True)
    table = Clusters(
        everything.ids, found.cluster, found.representative, found.identity, found.coverage
    )
    write_contract(Path(out), table)
    sizes = Counter(found.cluster.tolist())
    largest = max(sizes.values(), default=0)
    share = 100.0 * largest / max(everything.n_proteins, 1)
    click.echo(
        f"Wrote {out}: {everything.n_proteins} proteins, {len(sizes)} clusters; "
        f"the largest has {largest} ({share:.1f} %).",
        err=True,
    )
    return table


def training_relatives(
    ours: Proteins, learnt: Proteins, engine: ClusteringEngine, settings: Settings, threads: int
) -> RelativesTable:
    """Return the closest training relative of each protein that has one."""
    finder = engine.finder if isinstance(engine, GraphEngine) else ExactFinder(threads)
    pairs = relatives_in(ours, learnt, finder, thresholds_of(settings), threads)
    names = ours.ids[pairs.first], learnt.ids[pairs.second]
    return RelativesTable(*names, pairs.identity, pairs.coverage)


def thresholds_of(settings: Settings) -> Thresholds:
    """Return from where on two proteins are relatives."""
    chosen = settings.clustering
    return Thresholds(chosen.identity, chosen.coverage, settings.split.both_sides, chosen.chance)


def read_training(path: str | None, match: str, beside: Proteins) -> Proteins:
    """Return what a classifier learnt from, under names that no protein beside it has."""
    if path is None:
        return join([])
    learnt = read_proteins(path, match)
    return Proteins(training_ids(learnt.ids, beside.ids), learnt.sequences)


def _given(clstr: str, proteins: Proteins, match: str) -> GivenEngine:
    """Return clusters that CD-HIT made before."""
    ids, names = parse_clstr(lines_of(Path(clstr)), clstr, whole_header=match == "full")
    missing = proteins.ids[~np.isin(proteins.ids.astype(str), ids.astype(str))]
    if len(missing):
        raise InputError(
            Problem(clstr, f"{id_!r} is in none of its clusters.", "Cluster all proteins.")
            for id_ in missing
        )
    return GivenEngine(ids, names)
