"""``credence cluster``: which proteins are relatives."""

from __future__ import annotations

from pathlib import Path

import click

from credence.cli.shared import match_option, out_option


@click.command(
    epilog="Example: credence cluster demo/proteins.fasta --training demo/training.fasta "
    "--out clusters.tsv"
)
@click.argument("proteins")
@click.option("--training", help="FASTA file of the classifier's training set.")
@match_option
@click.option("--engine", default="kmer", show_default=True, help="What finds relatives.")
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
@out_option("The clusters: id, cluster, representative, identity, coverage.")
def command(
    proteins: str,
    training: str | None,
    match: str,
    engine: str,
    identity: float,
    coverage: float,
    out: str,
) -> None:
    """Find which PROTEINS are relatives, with each other and with training."""
    from credence.cli.proteins import read_proteins, training_ids
    from credence.problems import nearest, refuse
    from credence.sequences.proteins import Proteins, join
    from credence.sequences.registry import BY_NAME
    from credence.tables.contract import Clusters, write_contract

    if engine not in BY_NAME:
        raise refuse("--engine", f"{engine!r} is no engine.", nearest(engine, list(BY_NAME)))
    fasta = read_proteins(proteins, match)
    parts = [Proteins(fasta.ids, fasta.sequences)]
    if training is not None:
        trained = read_proteins(training, match)
        parts.append(Proteins(training_ids(trained.ids, fasta.ids), trained.sequences))
    everything = join(parts)
    found = BY_NAME[engine].build(identity=identity, coverage=coverage).cluster(everything)
    write_contract(
        Path(out),
        Clusters(
            everything.ids, found.cluster, found.representative, found.identity, found.coverage
        ),
    )
    n_clusters = len(set(found.cluster.tolist()))
    click.echo(f"Wrote {out}: {everything.n_proteins} proteins, {n_clusters} clusters.", err=True)
