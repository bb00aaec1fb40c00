"""Options that several commands have, worded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def _together(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(function: Command) -> Command:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


table_options = _together(
    click.option("--format", "format_", help="Format of the table; see: credence check TABLE."),
    click.option(
        "--spec",
        "spec_json",
        default="{}",
        help="How the table is read, as JSON: keys of a set of the configuration.",
    ),
)

match_option = click.option(
    "--match",
    type=click.Choice(["full", "first_word"]),
    default="first_word",
    show_default=True,
    help="How ids meet FASTA headers.",
)

set_options = _together(
    click.option("--groups", help="Table of groups and roles; only `calibration` is used."),
    click.option("--clusters", help="Table of clusters; else those of --groups."),
    click.option(
        "--weights",
        type=click.Choice(["none", "cluster"]),
        default="none",
        show_default=True,
        help="none: each protein counts 1; cluster: each cluster counts 1.",
    ),
)

min_positives_option = click.option(
    "--min-positives",
    type=click.FloatRange(1.0),
    default=10.0,
    show_default=True,
    help="Below this effective number a class has its overall share only.",
)

fit_options = _together(
    min_positives_option,
    click.option(
        "--level",
        type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Coverage of the pointwise intervals.",
    ),
    click.option(
        "--draws",
        type=click.IntRange(0),
        default=200,
        show_default=True,
        help="Bootstrap draws over clusters; 0 gives no intervals.",
    ),
)

sets_options = _together(
    click.option(
        "--sets",
        "sets_level",
        type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
        help="Also fit prediction sets that hold the true class this often: 0.9, say.",
    ),
    click.option(
        "--sets-kind",
        type=click.Choice(["class_wise", "overall"]),
        default="class_wise",
        show_default=True,
        help="So often in each class, whatever the mix; or in the mix of all proteins.",
    ),
)


def _chance(context: click.Context, option: click.Parameter, value: str) -> float | None:
    """Return the number, or None for none."""
    if value == "none":
        return None
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise click.BadParameter(f"{value!r} is neither a number above 0 nor none.")
    return number


chance_option = click.option(
    "--chance",
    default="1e-6",
    show_default=True,
    callback=_chance,
    help="Pairs of random proteins that score like relatives, at most; none: not asked.",
)


both_sides_option = click.option(
    "--both-sides", is_flag=True, help="Both proteins of a pair have to be covered."
)


def out_option(text: str) -> Callable[[Command], Command]:
    """Return the option ``--out`` with its help."""
    return click.option("--out", "out", required=True, help=text)


also_option = click.option(
    "--also", help="A second file for the same rows, in another format: conf.parquet, say."
)
