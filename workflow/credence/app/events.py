"""``credence events``: questions beyond the predicted class, learnt and judged."""

from __future__ import annotations

from typing import Any

import click

from credence.app import options


@click.command(
    epilog="Example: credence events demo/calibration.csv --format phanns-labelled --ask two_best "
    '--named \'{"tail": ["Major tail", "Minor tail"]}\' --calibration c.json --out events.json'
)
@options.tables_argument
@options.table_options
@options.settings_options("events")
@options.group_options
@options.file_options(
    calibration="What credence fit wrote: the confidence to agree with.",
    evidence="Table: id, length, distance, before, after.",
    novelty="What credence novelty wrote of this set: the feature distance.",
)
@options.out_option("The events, a JSON file, for credence annotate and credence report.")
def command(**given: Any) -> None:
    """Learn how probable events are: the two best classes, a group of classes, a rule.

    Forecasters are tuned and judged on whole clusters left out. Probabilities are
    made to contradict neither each other nor the confidence of the calibration.
    """
    from credence.stages.events import learn_events

    learn_events(**given)
