"""``credence attach``: a trove joins a set whose proteins stay as they are."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import (
    file_options,
    match_option,
    settings_options,
    tables_argument,
    threads_option,
)


@click.command(
    epilog="Example: credence attach demo/trove_htj.csv --name htj --fasta demo/trove_htj.fasta "
    "--samples demo/calibration.csv --groups groups.tsv --proteins demo/proteins.fasta "
    "--training demo/training.fasta --out releases/01-htj"
)
@tables_argument
@click.option("--name", required=True, help="Name of the trove.")
@click.option("--spec", "spec_json", default="{}", help="How TABLE is read, as JSON.")
@click.option("--labels", "labels_json", default="null", help="Where its labels are, as JSON.")
@file_options(fasta="FASTA file of its proteins.")
@match_option
@click.option("--sha256", "sha256_json", default="{}", help="Digests of its files, as JSON.")
@click.option("--samples", "samples_file", required=True, help="Labelled table of the set.")
@click.option("--samples-format", help="Its format.")
@click.option("--groups", "groups_file", required=True, help="Table of its groups.")
@file_options(proteins="FASTA file of the set, without earlier troves.")
@click.option("--proteins-match", default="first_word", help="How its ids meet its headers.")
@click.option("--added", multiple=True, help="What an earlier trove added: added.fasta.")
@file_options(training="FASTA file of the classifier's training set.")
@click.option("--clusters", multiple=True, help="Table of given clusters; then nobody searches.")
@file_options(trove_clusters="The same of the trove.")
@settings_options("attach")
@threads_option
@click.option("--out", "out", required=True, help="Folder of the release.")
def command(**given: Any) -> None:
    """Attach the proteins of TABLE to a set: each joins a cluster or founds one.

    Writes samples.parquet, groups.tsv, attach.tsv, attach.json and added.fasta into
    the folder. Repeats, conflicts of labels, relatives of training and bridges
    between groups are not added; attach.tsv says of each why.
    """
    from credence.stages.troves import attach_tables

    attach_tables(**given)
