"""Score tables as checked samples, whole or chunk by chunk.

Reading turns a file into arrays or raises every problem it found. A stream
reads the file twice, once to check all of it and once to give its chunks, so
that no chunk comes out of a table that is refused further down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import (
    UNKNOWN_CLASS,
    Floats,
    Integers,
    Predictions,
    Strings,
    from_scores,
)
from credence.tables.formats.format import Gathering
from credence.tables.known_ids import KnownIds
from credence.tables.metadata import Metadata, write_metadata
from credence.tables.networks import gather, pool
from credence.tables.problem_list import ProblemList
from credence.tables.row_range import RowRange
from credence.tables.scan import Part, Scan, genomes_of
from credence.tables.spec import TableSpec
from credence.tables.writing import write_table

__all__ = [
    "Samples",
    "TableSpec",
    "read_samples",
    "stream_samples",
    "write_samples",
]

CHUNK_ROWS = 100_000


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
    """

    predictions: Predictions
    true_class: Integers | None
    lines: Integers
    unscored_ids: Strings = field(default_factory=lambda: np.empty(0, dtype=object))
    unscored_lines: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    genome: Strings | None = None

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


def read_samples(path: Path, spec: TableSpec) -> Samples:
    """Return the samples of a table, or raise all its problems.

    Parameters
    ----------
    path : Path
        CSV, TSV (plain, .gz, .zst), Parquet or npz, by its ending.
    spec : TableSpec
        Its format and what the user states about it.
    """
    scan = Scan(Path(path), spec)
    parts = list(scan.checked(CHUNK_ROWS))
    return _assemble(scan, parts)


def stream_samples(
    path: Path,
    spec: TableSpec,
    chunk_rows: int = CHUNK_ROWS,
    counted: Callable[[int], object] = lambda n_rows: None,
    known: KnownIds | None = None,
    rows: RowRange | None = None,
) -> Iterator[Samples]:
    """Yield the samples of a table chunk by chunk, after checking all of it.

    The chunks together are what :func:`read_samples` gives: class names,
    resolution and the presence of labels are those of the whole table. Beside a
    chunk, 8 bytes a row are kept while checking (24 where decimals leave the sum
    of a row in doubt). Tables of networks are read whole, since a protein's rows
    may stand anywhere.

    Parameters
    ----------
    path, spec
        As for :func:`read_samples`.
    chunk_rows : int
        At most so many proteins to a chunk.
    counted : callable, optional
        Is told the number of proteins, also without scores, once all are checked.
    known : KnownIds, optional
        Of the other tables of the set: none of their ids may stand here.
    rows : RowRange, optional
        The rows that are wanted, of a table that was checked whole before; of a
        table of networks, the proteins.
    """
    scan = Scan(Path(path), spec, rows)
    if scan.has_networks:
        samples = read_samples(path, spec)
        if known is not None:
            see_ids(known, scan.where, samples)
        start, stop = (0, samples.n_samples) if rows is None else (rows.start, rows.stop)
        counted(stop - start)
        yield from _slices(samples, chunk_rows, start, stop)
        return
    if rows is not None and rows.start == rows.stop:
        counted(0)
        return
    counted(sum(len(part.ids) for part in scan.checked(chunk_rows, known)))
    for part in scan.again(chunk_rows):
        yield _assemble(scan, [part])


def see_ids(known: KnownIds, where: str, samples: Samples) -> None:
    """Take the ids of samples in memory among those known, or raise those that are.

    Parameters
    ----------
    known : KnownIds
        Of the other tables of the set.
    where : str
        Their table, as the user named it.
    samples : Samples
        All of it, with scores for every protein.
    """
    ids = samples.predictions.ids
    hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
    known.add(where, hashes, lambda: zip(samples.lines.tolist(), ids, strict=True))


def _slices(samples: Samples, chunk_rows: int, first: int, end: int) -> Iterator[Samples]:
    """Yield samples from one place to another in chunks."""
    for start in range(first, end, chunk_rows):
        rows = np.arange(start, min(start + chunk_rows, end))
        truth = samples.true_class
        yield Samples(
            samples.predictions.take(rows),
            None if truth is None else truth[rows],
            samples.lines[rows],
            genome=None if samples.genome is None else samples.genome[rows],
        )


def _assemble(scan: Scan, parts: Sequence[Part]) -> Samples:
    """Return checked parts as samples."""
    is_unscored = np.concatenate([part.is_unscored for part in parts])
    rows = ~is_unscored
    ids = np.concatenate([part.ids for part in parts])
    lines = np.concatenate([part.lines for part in parts])
    truth = _join([part.truth for part in parts], scan) if scan.has_truth else None
    predicted = _join([part.predicted for part in parts], scan)
    numbers = np.concatenate([part.numbers for part in parts])
    unscored = ids[is_unscored], lines[is_unscored]
    genome = genomes_of(parts, ids)
    if is_unscored.any():
        genome = None if genome is None else genome[rows]
        ids, lines, numbers = ids[rows], lines[rows], numbers[rows]
        truth = None if truth is None else truth[rows]
        predicted = None if predicted is None else predicted[rows]
    if scan.has_networks:
        network = np.concatenate([part.network for part in parts if part.network is not None])
        pooled = _pooled(scan, ids, network[rows], lines, truth, numbers)
        if genome is None:
            return pooled
        genome_of = dict(zip(ids[::-1], genome[::-1], strict=True))  # that of its first row
        named = [genome_of[name] for name in pooled.predictions.ids]
        return replace(pooled, genome=np.array(named, dtype=object))
    return Samples(_predictions(scan, ids, predicted, numbers), truth, lines, *unscored, genome)


def _join(codes: Sequence[Integers | None], scan: Scan) -> Integers | None:
    """Return the codes of all parts, as indices into the class names."""
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


def _pooled(
    scan: Scan,
    ids: Strings,
    network: Strings,
    lines: Integers,
    truth: Integers | None,
    numbers: Floats,
) -> Samples:
    """Return samples whose scores are pooled over the networks."""
    problems = ProblemList(scan.where)
    proteins = gather(ids, network, lines, truth, numbers, problems)
    problems.raise_any()
    step = scan.step().resolution
    scores, scale = pool(proteins.network_scores, scan.pooling, step)
    stated = scan.spec.scale
    if stated is not None and stated != scale:
        problems.add(
            f"the networks pooled by {scan.pooling!r} have the scale {scale:g}, "
            f"{stated:g} is stated.",
            "Leave the scale out, or correct it.",
        )
    problems.raise_any()
    predictions = from_scores(
        proteins.ids,
        scan.class_names,
        scores,
        scale,
        step if scan.pooling == "sum" else 0.0,
        is_distribution=scan.sum_to_scale,
        network_scores=proteins.network_scores,
    )
    return Samples(predictions, proteins.truth, proteins.lines)


def write_samples(path: Path, samples: Samples) -> None:
    """Write the contract table `samples`; the format `credence` reads it back.

    A Parquet file keeps scale, resolution and pooling in its metadata; of a TSV
    the scale has to be stated when it is read, and the resolution is that of
    the decimals in it, zeros at the end not being written. Networks are written in long
    form. Where a stored verdict breaks a tie otherwise than the first class, a
    column `predicted_class` follows the truth.

    Parameters
    ----------
    path : Path
        Ends in .parquet, .tsv, .tsv.gz or .tsv.zst.
    samples : Samples
        What was read.
    """
    predictions = samples.predictions
    names = np.array([*predictions.class_names, ""], dtype=object)
    truth = np.full(predictions.n_samples, UNKNOWN_CLASS)
    columns: dict[str, Any] = {
        "id": predictions.ids,
        "true_class": names[truth if samples.true_class is None else samples.true_class],
    }
    pooling = None
    resolution: float | None = predictions.resolution
    if predictions.network_scores is not None:
        n_networks = predictions.network_scores.shape[1]
        pooling = "sum" if predictions.scale == n_networks else "log_sum"
        resolution = resolution if pooling == "sum" else None
        columns = {name: np.repeat(values, n_networks) for name, values in columns.items()}
        members = np.array([str(member + 1) for member in range(n_networks)], dtype=object)
        columns |= _by_class(
            predictions, predictions.network_scores.reshape(-1, predictions.n_classes)
        )
        columns["network"] = np.tile(members, predictions.n_samples)
    elif predictions.scores is not None:
        if (predictions.scores.argmax(axis=1) != predictions.predicted_class).any():
            columns["predicted_class"] = names[predictions.predicted_class]
        columns |= _by_class(predictions, predictions.scores)
    else:
        columns["predicted_class"] = names[predictions.predicted_class]
        if predictions.top_score is not None:
            columns["score"] = predictions.top_score
    metadata = Metadata(predictions.scale, resolution, predictions.is_distribution, pooling)
    write_table(path, columns, metadata=write_metadata(metadata))


def _by_class(predictions: Predictions, scores: Floats) -> dict[str, Floats]:
    return {name: scores[:, place] for place, name in enumerate(predictions.class_names)}
