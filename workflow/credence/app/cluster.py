"""``credence cluster``: which proteins are relatives."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import (
    file_options,
    match_option,
    out_option,
    settings_options,
    threads_option,
)


@click.command(
    epilog="Example: credence cluster demo/proteins.fasta --training demo/training.fasta "
    "--relatives relatives.tsv --out clusters.tsv"
)
@click.argument("proteins")
@file_options(
    training="FASTA file of the classifier's training set.",
    clstr="A .clstr file of CD-HIT; then nothing is clustered.",
    relatives="Also write which proteins have a relative in training.",
)
@match_option
@settings_options("cluster")
@threads_option
@click.option("--timeout", type=click.FloatRange(1.0), help="Seconds that the engine may take.")
@out_option("The clusters: id, cluster, representative, identity, coverage.")
def command(**given: Any) -> None:
    """Find which PROTEINS are relatives, with each other and with training."""
    from credence.stages.relatives import cluster_proteins

    cluster_proteins(**given)
