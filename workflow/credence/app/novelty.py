"""``credence novelty``: the proteins that are known, and the space in which they lie."""

from __future__ import annotations

from typing import Any

import click

from credence.app import options


@click.command(
    epilog="Example: credence novelty demo/calibration.csv --format phanns-labelled "
    "--proteins demo/proteins.fasta --out novelty.json"
)
@options.tables_argument
@options.table_options
@options.group_options
@click.option("--proteins", multiple=True, help="FASTA file of the proteins; repeat it.")
@options.match_option
@options.file_options(
    vectors="In place of --proteins: npz or Parquet with an id and a vector for each.",
    training="FASTA file, or vectors, of what the classifier was trained on.",
)
@options.settings_options("novelty")
@options.out_option("The novelty file, JSON; credence annotate and credence fit read it.")
def command(**given: Any) -> None:
    """Learn where labelled proteins lie, so that it is seen how far others are.

    A protein's place is made of what it consists of: words of residues, length
    and chemistry; or of vectors of your own, as a protein language model gives
    them.
    """
    from credence.stages.novelty import learn_novelty

    learn_novelty(**given)
