"""``credence study``: what a question about method costs, answered on your own table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from credence.app import options

NOVELTY = ("uncalibrated", "class_only", "platt", "isotonic", "sts", "tswa", "matrix", "kernel")
TWO_SETS = ("class_only", "histogram", "kernel", "cumulative_optimal", "isotonic")


@click.group(epilog="Example: credence study two-sets --help")
def command() -> None:
    """Answer a question of method on a labelled table."""


def methods_option(default: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return the option of the methods that a study looks at."""
    text = "A method, as in credence fit; once for each."
    return click.option(
        "--method", "methods", multiple=True, default=default, show_default=True, help=text
    )


def count_option(name: str, least: int, default: int, text: str) -> Callable[[Any], Any]:
    """Return an option that is a whole number."""
    kind = click.IntRange(least)
    return click.option(name, type=kind, default=default, show_default=True, help=text)


@command.command(
    "two-sets",
    epilog="Example: credence study two-sets demo/calibration.csv --format phanns-labelled "
    "--method kernel --method isotonic --draws 20 --out two_sets.tsv",
)
@options.tables_argument
@options.table_options
@methods_option(TWO_SETS)
@options.group_options
@options.settings_options("two_sets")
@click.option("--scale", type=click.FloatRange(0.0, min_open=True), help="What a row sums to.")
@count_option("--draws", 1, 50, "How often the set is halved anew.")
@options.out_option("The table: medians by method, class and metric.")
def two_sets(**given: Any) -> None:
    """Fit on one half, measure on both: how much in-sample numbers flatter.

    Halves share no cluster; each draw halves the set anew. The table has the
    median of each metric on the fitted half and on the other, and the median
    and the 5 % and 95 % quantiles of their difference.
    """
    from credence.stages.study import study_two_sets

    study_two_sets(**given)


@command.command(
    "novelty",
    epilog="Example: credence study novelty --proteins demo/proteins.fasta --labels labels.tsv "
    "--clusters clusters.tsv --out reports/novelty",
)
@options.file_options(
    proteins="FASTA file of labelled proteins; else they are simulated.",
    labels="Table of their true classes: id and true_class.",
    clusters="Table of their clusters: id and cluster.",
    left_out="Class that classifier and methods do not learn: noise.",
)
@methods_option(NOVELTY)
@count_option("--families", 200, 2600, "Families that are simulated.")
@count_option("--seed", 0, 1, "Of those.")
@click.option(
    "--open-sets/--no-open-sets",
    default=True,
    show_default=True,
    help="Also on sets that scikit-learn ships or makes.",
)
@options.out_option("Folder of the page, its tables and its findings.")
def novelty_command(**given: Any) -> None:
    """Ask confidences about noise: random, shuffled, reversed, unknown, mutated.

    A small classifier is trained on a third of the families, methods learn on
    another, and both are judged on the last, and on noise made of it. MACEst
    and the trust score look at neighbours in a space of compositions.
    """
    from credence.stages.study import study_novelty

    study_novelty(**given)
