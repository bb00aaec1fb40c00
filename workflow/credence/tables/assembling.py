"""Checked parts of a table as samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from credence.predictions import Floats, Integers, Predictions, Strings, from_scores
from credence.problems import refuse
from credence.tables.formats.format import Gathering
from credence.tables.networks import (
    gather,
    in_order,
    pool,
    pooled_scale,
    report_missing,
    report_truths,
)
from credence.tables.problem_list import ProblemList
from credence.tables.scan import Part, Scan, genomes_of


@dataclass(frozen=True, eq=False)
class Samples:
    """What a score table says, checked.

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    true_class : array of int, optional
        Index into the class names, `UNKNOWN_CLASS` where empty; None where the
        table has no labels at all.
    lines : array of int
        Line on which each row begins, as an editor shows it; for Parquet and
        arrays the number of the row.
    unscored_ids : array of str
        Proteins of which the tool said nothing, as its format allows (phold
        without a hit, Phynteny's NA). They are in no other field.
    unscored_lines : array of int
        Their lines.
    genome : array of str, optional
        Genome, contig or sample of each protein, where a column names it; one
        of which nothing is said has its own id.
    is_apart : bool
        Whether a table of networks had to be read whole to have these pieces of
        it, as the rows of its proteins do not stand together.
    """

    predictions: Predictions
    true_class: Integers | None
    lines: Integers
    unscored_ids: Strings = field(default_factory=lambda: np.empty(0, dtype=object))
    unscored_lines: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    genome: Strings | None = None
    is_apart: bool = False

    @property
    def n_samples(self) -> int:
        """Number of proteins with scores."""
        return self.predictions.n_samples

    def notices(self) -> list[str]:
        """Return what a user has to be told about a table that was accepted."""
        first = None
        if len(self.unscored_ids):
            first = str(self.unscored_ids[0]), int(self.unscored_lines[0])
        n_unscored = len(self.unscored_ids)
        return notices_of(self.n_samples, self.predictions.n_ties, n_unscored, first)


def notices_of(
    n_samples: int, n_ties: int, n_unscored: int, first_unscored: tuple[str, int] | None
) -> list[str]:
    """Return what a user has to be told about a table that was accepted.

    Parameters
    ----------
    n_samples, n_ties, n_unscored : int
        Proteins with scores, those whose best score is shared, those without scores.
    first_unscored : (str, int), optional
        Name and line of the first without scores.
    """
    found = []
    if first_unscored is not None:
        name, line = first_unscored
        found.append(
            f"{n_unscored} of {n_unscored + n_samples} proteins carry no scores and "
            f"get no confidence, the first is {name!r} in line {line}"
        )
    if n_ties:
        found.append(f"{n_ties} rows have two best scores; the first class in order counts")
    return found


def assemble(scan: Scan, parts: Sequence[Part], names: Sequence[str] | None = None) -> Samples:
    """Return checked parts as samples.

    Parameters
    ----------
    scan : Scan
        Of the table; it has been checked to its end.
    parts : sequence of Part
        Of a table of networks, all rows of each protein.
    names : sequence of str, optional
        All networks, in order, where the parts are known to lack none. Else the
        networks of the parts; what is missing is refused.
    """
    if scan.has_networks:
        return _of_networks(scan, parts, names)
    is_unscored = np.concatenate([part.is_unscored for part in parts])
    rows = ~is_unscored
    ids = np.concatenate([part.ids for part in parts])
    lines = np.concatenate([part.lines for part in parts])
    truth = joined_codes([part.truth for part in parts], scan) if scan.has_truth else None
    predicted = joined_codes([part.predicted for part in parts], scan)
    numbers = np.concatenate([part.numbers for part in parts])
    unscored = ids[is_unscored], lines[is_unscored]
    genome = genomes_of(parts, ids)
    if is_unscored.any():
        genome = None if genome is None else genome[rows]
        ids, lines, numbers = ids[rows], lines[rows], numbers[rows]
        truth = None if truth is None else truth[rows]
        predicted = None if predicted is None else predicted[rows]
    return Samples(_predictions(scan, ids, predicted, numbers), truth, lines, *unscored, genome)


def joined_codes(codes: Sequence[Integers | None], scan: Scan) -> Integers | None:
    """Return the codes of all parts, as indices into the class names.

    Parameters
    ----------
    codes : sequence of array of int
        Of each part; None where the table has no such column.
    scan : Scan
        Of the table; it has been checked to its end.
    """
    found = [part for part in codes if part is not None]
    if not found:
        return None
    joined = np.concatenate(found)
    if not isinstance(scan.lookup, Gathering):
        return joined
    place = {name: index for index, name in enumerate(scan.class_names)}
    meaning = np.array([place[name] for name in scan.lookup.names] + [-1], dtype=np.int64)
    return meaning[joined]


def _predictions(
    scan: Scan, ids: Strings, predicted: Integers | None, numbers: Floats
) -> Predictions:
    resolution = scan.step().resolution
    if scan.layout.classes and predicted is None:
        return from_scores(
            ids,
            scan.class_names,
            numbers,
            scan.scale,
            resolution,
            is_distribution=scan.sum_to_scale,
        )
    assert predicted is not None
    top_score: Floats | None = None
    scores: Floats | None = None
    if scan.layout.classes:
        top_score, scores = numbers[np.arange(len(ids)), predicted], numbers
    elif numbers.shape[1]:
        top_score = numbers[:, 0]
    return Predictions(
        ids=ids,
        class_names=scan.class_names,
        scale=scan.scale,
        resolution=resolution,
        predicted_class=predicted,
        top_score=top_score,
        scores=scores,
        is_distribution=scan.sum_to_scale and scores is not None,
    )


def _of_networks(scan: Scan, parts: Sequence[Part], names: Sequence[str] | None) -> Samples:
    """Return samples whose scores are pooled over the networks."""
    ids = np.concatenate([part.ids for part in parts])
    lines = np.concatenate([part.lines for part in parts])
    network = np.concatenate([part.network for part in parts if part.network is not None])
    truth = joined_codes([part.truth for part in parts], scan) if scan.has_truth else None
    if names is None:
        names = in_order(network)
        problems = ProblemList(scan.where)
        report_missing(ids, network, names, lines, problems)
        report_truths(ids, truth, lines, problems)
        problems.raise_any()
        require_scale(scan, len(names))
    proteins = gather(ids, network, names, [part.numbers for part in parts])
    step = scan.step().resolution
    scores, scale = pool(proteins.network_scores, scan.pooling, step)
    first, genome = proteins.first, genomes_of(parts, ids)
    predictions = from_scores(
        ids[first],
        scan.class_names,
        scores,
        scale,
        step if scan.pooling == "sum" else 0.0,
        is_distribution=scan.sum_to_scale,
        network_scores=proteins.network_scores,
    )
    return Samples(
        predictions,
        None if truth is None else truth[first],
        lines[first],
        genome=None if genome is None else genome[first],
    )


def require_scale(scan: Scan, n_networks: int) -> None:
    """Refuse a stated scale that pooled networks do not have.

    Parameters
    ----------
    scan : Scan
        Of the table.
    n_networks : int
        How many there are.
    """
    scale, stated = pooled_scale(scan.pooling, n_networks), scan.spec.scale
    if stated is not None and stated != scale:
        raise refuse(
            scan.where,
            f"the networks pooled by {scan.pooling!r} have the scale {scale:g}, "
            f"{stated:g} is stated.",
            "Leave the scale out, or correct it.",
        )
