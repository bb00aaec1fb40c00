"""``credence cluster``: which proteins are relatives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import both_sides_option, chance_option, match_option, out_option

if TYPE_CHECKING:
    from credence.proteins import Proteins
    from credence.relatives.engine import ClusteringEngine
    from credence.relatives.pairs import Thresholds


@click.command(
    epilog="Example: credence cluster demo/proteins.fasta --training demo/training.fasta "
    "--relatives relatives.tsv --out clusters.tsv"
)
@click.argument("proteins")
@click.option("--training", help="FASTA file of the classifier's training set.")
@match_option
@click.option("--engine", default="mmseqs", show_default=True, help="What finds relatives.")
@click.option("--clstr", help="A .clstr file of CD-HIT; then nothing is clustered.")
@click.option(
    "--identity",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    default=0.4,
    show_default=True,
    help="Least share of identical residues of relatives.",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    default=0.8,
    show_default=True,
    help="Least share of the shorter protein that is aligned.",
)
@chance_option
@both_sides_option
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--timeout", type=click.FloatRange(1.0), help="Seconds that the engine may take.")
@click.option("--relatives", help="Also write which proteins have a relative in training.")
@out_option("The clusters: id, cluster, representative, identity, coverage.")
def command(
    proteins: str,
    training: str | None,
    match: str,
    engine: str,
    clstr: str | None,
    identity: float,
    coverage: float,
    chance: float | None,
    both_sides: bool,
    threads: int,
    timeout: float | None,
    relatives: str | None,
    out: str,
) -> None:
    """Find which PROTEINS are relatives, with each other and with training."""
    from credence.problems import refuse
    from credence.proteins import Proteins, join
    from credence.relatives.pairs import Thresholds
    from credence.stages.reading import read_proteins, require_other, training_ids
    from credence.tables.contract import Clusters, write_contract

    if relatives is not None and training is None:
        raise refuse(
            "--relatives", "there is no training set.", "Give --training, or leave it out."
        )
    for written in filter(None, (out, relatives)):
        require_other(written, [proteins, training, clstr])
    fasta = read_proteins(proteins, match)
    parts = [Proteins(fasta.ids, fasta.sequences)]
    if training is not None:
        trained = read_proteins(training, match)
        parts.append(Proteins(training_ids(trained.ids, fasta.ids), trained.sequences))
    everything = join(parts)
    thresholds = Thresholds(identity, coverage, both_sides, chance)
    chosen = (
        _given(Path(clstr), everything, match)
        if clstr is not None
        else _engine(engine, thresholds, threads, timeout)
    )
    found = chosen.cluster(everything)
    if relatives is not None:
        _write_relatives(Path(relatives), parts, chosen, thresholds, threads)
    write_contract(
        Path(out),
        Clusters(
            everything.ids, found.cluster, found.representative, found.identity, found.coverage
        ),
    )
    _notify(out, everything, found.cluster.tolist())


def _notify(out: str, proteins: Proteins, cluster: list[str]) -> None:
    from collections import Counter

    sizes = Counter(cluster)
    largest = max(sizes.values(), default=0)
    share = 100.0 * largest / max(proteins.n_proteins, 1)
    click.echo(
        f"Wrote {out}: {proteins.n_proteins} proteins, {len(sizes)} clusters; "
        f"the largest has {largest} ({share:.1f} %).",
        err=True,
    )


def _engine(
    name: str, thresholds: Thresholds, threads: int, timeout: float | None
) -> ClusteringEngine:
    from dataclasses import replace

    from credence.problems import nearest, refuse
    from credence.relatives.all_engines import BY_NAME, PROGRAMS
    from credence.relatives.graph import GraphEngine

    known = [entry.name for entry in BY_NAME.values() if not entry.needs_table]
    if name not in known:
        raise refuse("--engine", f"{name!r} is no engine.", nearest(name, known))
    entry = BY_NAME[name]
    options: dict[str, Any] = {
        "identity": thresholds.identity,
        "coverage": thresholds.coverage,
    }
    if entry in PROGRAMS:
        options |= {"threads": threads, "timeout": timeout}
    chosen = entry.build(**options)
    return replace(chosen, thresholds=thresholds) if isinstance(chosen, GraphEngine) else chosen


def _given(path: Path, proteins: Proteins, match: str) -> ClusteringEngine:
    from credence.problems import InputError, Problem
    from credence.relatives.cdhit import parse_clstr
    from credence.relatives.kmers import GivenEngine
    from credence.tables.text import lines_of

    ids, names = parse_clstr(lines_of(path), str(path), whole_header=match == "full")
    known = set(ids)
    problems = [
        Problem(str(path), f"{id_!r} is in none of its clusters.", "Cluster all proteins.")
        for id_ in proteins.ids
        if id_ not in known
    ]
    if problems:
        raise InputError(problems)
    return GivenEngine(ids, names)


def _write_relatives(
    path: Path,
    parts: list[Proteins],
    engine: ClusteringEngine,
    thresholds: Thresholds,
    threads: int,
) -> None:
    """Write the closest training relative of each protein that has one."""
    from credence.relatives.exact import ExactFinder
    from credence.relatives.graph import GraphEngine, relatives_in
    from credence.tables.contract import RelativesTable, write_relatives

    finder = engine.finder if isinstance(engine, GraphEngine) else ExactFinder(threads)
    ours, training = parts
    found = relatives_in(ours, training, finder, thresholds, threads)
    write_relatives(
        path,
        RelativesTable(
            ours.ids[found.first], training.ids[found.second], found.identity, found.coverage
        ),
    )
    click.echo(f"Wrote {path}: {found.n_pairs} with a relative in training.", err=True)
