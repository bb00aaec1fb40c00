"""What score tables hold, counted piece by piece: no row is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import UNKNOWN_CLASS, Integers, Strings
from credence.problems import InputError, Problem, ProblemList, raise_any
from credence.tables.contract import CONFIDENCE_NAMES
from credence.tables.formats import Gathering
from credence.tables.joining import (
    NO_SCORES,
    OF_BEST_CLASS,
    OF_EVERY_CLASS,
    check_alike,
    kind_of,
    require_different,
)
from credence.tables.samples import CHUNK_ROWS, Samples, notices_of, stream_samples
from credence.tables.scan import KnownIds, Part, Scan
from credence.tables.table_spec import TableSpec

APART = (
    "the rows of a protein do not stand together, so that the whole table is held in "
    "memory; sorted by id it is read in pieces"
)


@dataclass(frozen=True)
class Census:
    """Counts of a set."""

    class_names: tuple[str, ...]  # Classes in the table's order
    scale: float  # What a row sums to, and the step between two scores
    resolution: float
    is_distribution: bool  # Whether every row sums to the scale
    kind: str  # Of what there are scores
    n_networks: int  # 0 where unknown
    n_samples: int  # Proteins, and those with a shared best score
    n_ties: int
    # Proteins predicted to be in each class, and in it; no `n_true` without labels.
    n_predicted: tuple[int, ...]
    n_true: tuple[int, ...]
    n_unscored: int  # Proteins without scores; in none of the other counts
    first_unscored: tuple[str, int] | None  # The first of them, and its line
    # Whether the rows of a protein, of several networks, do not stand together.
    is_apart: bool = False

    def notices(self) -> list[str]:
        """Return what a user has to know of tables that were accepted."""
        found = notices_of(self.n_samples, self.n_ties, self.n_unscored, self.first_unscored)
        return [*found, APART] if self.is_apart else found

    @property
    def facts(self) -> Mapping[str, object]:
        """In what all tables of a set are alike."""
        return {"classes": self.class_names, "scale": self.scale, "kind of scores": self.kind}


def census_of(samples: Samples) -> Census:
    """Return the counts of samples in memory."""
    predictions, truth = samples.predictions, samples.true_class
    networks = predictions.network_scores
    n_classes = predictions.n_classes
    first = None
    if len(samples.unscored_ids):
        first = str(samples.unscored_ids[0]), int(samples.unscored_lines[0])
    return Census(
        class_names=predictions.class_names,
        scale=float(predictions.scale),
        resolution=float(predictions.resolution),
        is_distribution=bool(predictions.is_distribution),
        kind=kind_of(predictions),
        n_networks=0 if networks is None else networks.shape[1],
        n_samples=predictions.n_samples,
        n_ties=predictions.n_ties,
        n_predicted=tuple(_counted(predictions.predicted_class, n_classes).tolist()),
        n_true=() if truth is None else tuple(_counted(truth, n_classes).tolist()),
        n_unscored=len(samples.unscored_ids),
        first_unscored=first,
        is_apart=samples.is_apart,
    )


def take_census(
    paths: Sequence[str],
    spec: TableSpec,
    seen: Callable[[Strings, Integers], object] | None = None,
) -> Census:
    """Return the counts of one table or several, read once; or raise all their problems."""
    require_different(paths)
    problems: list[Problem] = []
    found: list[Census] = []
    known = KnownIds() if len(paths) > 1 else None
    for path in paths:
        try:
            own = _census_of_table(Path(path), spec, known, seen)
            unlike = ProblemList(path)
            check_alike(own.facts, (found or [own])[0].facts, Path(paths[0]), unlike)
            unlike.raise_any()
            found.append(own)
        except InputError as error:
            problems += error.problems
    raise_any(problems)
    return reduce(_together, found)


class _Counts:
    """Rows counted as they come, by the codes of their classes."""

    def __init__(self) -> None:
        self.n_samples = self.n_ties = self.n_unscored = 0
        self.first_unscored: tuple[str, int] | None = None
        self.predicted = np.zeros(0, dtype=np.int64)
        self.truth = np.zeros(0, dtype=np.int64)

    def see(self, part: Part, *, has_vectors: bool) -> None:
        scored = ~part.is_unscored
        self.n_samples += int(scored.sum())
        if part.is_unscored.any():
            self.n_unscored += int(part.is_unscored.sum())
            row = int(part.is_unscored.argmax())
            first = str(part.ids[row]), int(part.lines[row])
            self.first_unscored = self.first_unscored or first
        predicted = part.predicted
        if has_vectors:
            numbers = part.numbers[scored]
            best = numbers.max(axis=1, keepdims=True)
            self.n_ties += int(((numbers == best).sum(axis=1) > 1).sum())
            predicted = part.numbers.argmax(axis=1) if predicted is None else predicted
        assert predicted is not None
        self.predicted = _added(self.predicted, predicted[scored])
        if part.truth is not None:
            self.truth = _added(self.truth, part.truth[scored])


def _counted(codes: Integers, n_codes: int = 0) -> Integers:
    """Return the number of rows of each code; those less than 0 are of no class."""
    return np.bincount(codes[codes > UNKNOWN_CLASS], minlength=n_codes)


def _added(counts: Integers, codes: Integers) -> Integers:
    more = _counted(codes, len(counts))
    more[: len(counts)] += counts
    return more


def _census_of_table(
    path: Path,
    spec: TableSpec,
    known: KnownIds | None,
    seen: Callable[[Strings, Integers], object] | None,
) -> Census:
    scan = Scan(path, spec)
    if scan.has_networks:
        return _census_of_networks(path, spec, known, seen)
    counts = _Counts()
    for part in scan.checked(CHUNK_ROWS, known):
        counts.see(part, has_vectors=bool(scan.layout.classes))
        if seen is not None:
            seen(part.ids, part.lines)
    return _census(scan, counts)


def _census_of_networks(
    path: Path,
    spec: TableSpec,
    known: KnownIds | None,
    seen: Callable[[Strings, Integers], object] | None,
) -> Census:
    """Return the counts of proteins: pooled scores are known on a second reading."""

    def counted() -> Iterator[Census]:
        for samples in stream_samples(path, spec, chunk_rows=CHUNK_ROWS, known=known):
            if seen is not None:
                seen(samples.predictions.ids, samples.lines)
            yield census_of(samples)

    return reduce(_together, counted())


def _census(scan: Scan, counts: _Counts) -> Census:
    kind = OF_BEST_CLASS if scan.layout.score is not None else NO_SCORES
    return Census(
        class_names=scan.class_names,
        scale=float(scan.scale),
        resolution=float(scan.step().resolution),
        is_distribution=scan.sum_to_scale and bool(scan.layout.classes),
        kind=OF_EVERY_CLASS if scan.layout.classes else kind,
        n_networks=0,
        n_samples=counts.n_samples,
        n_ties=counts.n_ties,
        n_predicted=_by_class(scan, counts.predicted),
        n_true=_by_class(scan, counts.truth) if scan.has_truth else (),
        n_unscored=counts.n_unscored,
        first_unscored=counts.first_unscored,
    )


def _by_class(scan: Scan, counts: Integers) -> tuple[int, ...]:
    """Return counts of codes in the order of the classes."""
    names = scan.class_names
    if isinstance(scan.lookup, Gathering):
        place = {name: code for code, name in enumerate(scan.lookup.names)}
        padded = _padded(counts, len(names))
        return tuple(int(padded[place[name]]) for name in names)
    return tuple(_padded(counts, len(names)).tolist())


def _padded(counts: Integers, n_codes: int) -> Integers:
    return np.pad(counts, (0, max(0, n_codes - len(counts))))


def _together(first: Census, second: Census) -> Census:
    """Return the counts of two parts of one set."""

    def summed(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
        if not one or not other:
            return one or other
        return tuple(a + b for a, b in zip(one, other, strict=True))

    return replace(
        first,
        resolution=min(first.resolution, second.resolution),
        is_distribution=first.is_distribution and second.is_distribution,
        n_samples=first.n_samples + second.n_samples,
        n_ties=first.n_ties + second.n_ties,
        n_predicted=summed(first.n_predicted, second.n_predicted),
        n_true=summed(first.n_true, second.n_true),
        n_unscored=first.n_unscored + second.n_unscored,
        first_unscored=first.first_unscored or second.first_unscored,
        is_apart=first.is_apart or second.is_apart,
    )


UNSCORED = "the classifier gave no scores: no confidence can be given"


def unscored_columns(ids: Strings, method: str) -> dict[str, Any]:
    """Return the rows of the table `confidences` for proteins without scores.

    >>> unscored_columns(np.array(["p1"], dtype=object), "kernel")["note"].tolist()
    ['the classifier gave no scores: no confidence can be given']
    """
    texts = {"id": ids, "predicted_class": "", "method": method, "note": UNSCORED}
    blank = {"support": 0.0}  # the rest is not known
    return {
        name: np.full(len(ids), texts[name], dtype=object)
        if name in texts
        else np.full(len(ids), blank.get(name, np.nan))
        for name in CONFIDENCE_NAMES
    }


def with_unscored(columns: dict[str, Any], samples: Samples, method: str) -> dict[str, Any]:
    """Return rows of `confidences` with those of the unscored, in the table's order."""
    if len(samples.unscored_ids) == 0:
        return columns
    unscored = unscored_columns(samples.unscored_ids, method)
    order = np.argsort(np.concatenate([samples.lines, samples.unscored_lines]), kind="stable")
    n_unscored = len(samples.unscored_ids)
    nothing = {True: np.full(n_unscored, "", dtype=object), False: np.full(n_unscored, np.nan)}
    return {
        name: np.concatenate([values, unscored.get(name, nothing[values.dtype == object])])[order]
        for name, values in columns.items()
    }
