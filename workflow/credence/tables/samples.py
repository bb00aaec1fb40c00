"""Score tables as checked samples, whole or chunk by chunk.

Reading turns a file into arrays or raises every problem it found. A stream
reads the file twice, once to check all of it and once to give its chunks, so
that no chunk comes out of a table that is refused further down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import (
    UNKNOWN_CLASS,
    Booleans,
    Floats,
    Integers,
    Predictions,
    Strings,
    from_scores,
)
from credence.problems import InputError, ProblemList, refuse
from credence.tables.formats import Gathering
from credence.tables.networks import (
    gather,
    in_order,
    pool,
    pooled_scale,
    report_missing,
    report_truths,
)
from credence.tables.scan import (
    KEY,
    KnownIds,
    Metadata,
    Part,
    Remembers,
    RowRange,
    Scan,
    genomes_of,
)
from credence.tables.source import MemoryTable
from credence.tables.table_spec import TableSpec
from credence.tables.writing import write_table


@dataclass(frozen=True, eq=False)
class Samples:
    """What a score table says, checked."""

    predictions: Predictions  # What the classifier predicted
    # Index into the class names, `UNKNOWN_CLASS` where empty; None where the table has no labels
    # at all.
    true_class: Integers | None
    # Line on which each row begins, as an editor shows it; for Parquet and arrays the number of
    # the row.
    lines: Integers
    # Proteins without scores of the tool, as its format allows (phold without a hit,
    # Phynteny's NA). They are in no other field.
    unscored_ids: Strings = field(default_factory=lambda: np.empty(0, dtype=object))
    # Their lines.
    unscored_lines: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    # Genome, contig or sample of each protein, where a column names it; one without any
    # has its own id.
    genome: Strings | None = None
    # Whether a table of networks had to be read whole to have these pieces of it, as the rows of
    # its proteins do not stand together.
    is_apart: bool = False

    @property
    def n_samples(self) -> int:
        """Number of proteins with scores."""
        return self.predictions.n_samples

    def notices(self) -> list[str]:
        """Return what a user has to know of a table that was accepted."""
        first = None
        if len(self.unscored_ids):
            first = str(self.unscored_ids[0]), int(self.unscored_lines[0])
        n_unscored = len(self.unscored_ids)
        return notices_of(self.n_samples, self.predictions.n_ties, n_unscored, first)


def notices_of(
    n_samples: int, n_ties: int, n_unscored: int, first_unscored: tuple[str, int] | None
) -> list[str]:
    """Return what a user has to know of a table that was accepted."""
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
    """Return checked parts as samples."""
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
    first, cube = gather(ids, network, names, [part.numbers for part in parts])
    step = scan.step().resolution
    scores, scale = pool(cube, scan.pooling, step)
    genome = genomes_of(parts, ids)
    predictions = from_scores(
        ids[first],
        scan.class_names,
        scores,
        scale,
        step if scan.pooling == "sum" else 0.0,
        is_distribution=scan.sum_to_scale,
        network_scores=cube,
    )
    return Samples(
        predictions,
        None if truth is None else truth[first],
        lines[first],
        genome=None if genome is None else genome[first],
    )


def require_scale(scan: Scan, n_networks: int) -> None:
    """Refuse a stated scale that pooled networks do not have."""
    scale, stated = pooled_scale(scan.pooling, n_networks), scan.spec.scale
    if stated is not None and stated != scale:
        raise refuse(
            scan.where,
            f"the networks pooled by {scan.pooling!r} have the scale {scale:g}, "
            f"{stated:g} is stated.",
            "Leave the scale out, or correct it.",
        )


class NetworkRows:
    """What a first reading tells of a table with a row per protein and network.

    Of each protein 8 bytes are kept, a hash of its id.
    """

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}  # of networks
        self._hashes: list[NDArray[np.int64]] = []
        self._is_repeated = False
        self._fewest: int | None = None  # rows of one protein
        self.has_other_truths = False
        # Of the protein that was read last: more of its rows may follow.
        self._last: str | None = None
        self._last_networks: set[int] = set()
        self._last_truth = 0

    @property
    def networks(self) -> tuple[str, ...]:
        """Names of all networks, in order."""
        return in_order(self._code_of)

    @property
    def lacks_networks(self) -> bool:
        """Whether some protein has no row of some network, where no row stands twice."""
        n_last = len(self._last_networks)
        fewest = n_last if self._fewest is None else min(self._fewest, n_last)
        return fewest < len(self._code_of)

    def hashes(self) -> NDArray[np.int64]:
        """Return a hash of the id of each protein, in the order of the table."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._hashes])

    def stand_together(self) -> bool:
        """Return whether the rows of each protein follow each other, none of them twice.

        Two ids of one hash count as one whose rows stand apart.
        """
        hashes = np.sort(self.hashes())
        return not self._is_repeated and not (hashes[1:] == hashes[:-1]).any()

    def see(self, part: Part) -> None:
        """Take some rows into account, in the order of the table."""
        assert part.network is not None
        is_first = begins_protein(part.ids, self._last)
        self._hashes.append(np.fromiter(map(hash, part.ids[is_first]), np.int64))
        code_of = self._code_of
        network = np.array([code_of.setdefault(name, len(code_of)) for name in part.network])
        # Proteins of this part; 0 is the last one of the part before, which may go on.
        protein = np.cumsum(is_first, dtype=np.int64)
        self._see_networks(protein, network)
        if part.truth is not None:
            known = np.concatenate([[self._last_truth], part.truth[is_first]])
            self.has_other_truths |= bool((part.truth != known[protein]).any())
            self._last_truth = int(known[-1])
        self._last = part.ids[-1]

    def _see_networks(self, protein: Integers, network: Integers) -> None:
        going_on = set(network[protein == 0].tolist())
        pairs = np.unique(protein * len(self._code_of) + network)
        self._is_repeated |= len(pairs) < len(network) or bool(going_on & self._last_networks)
        n_rows = np.bincount(protein)
        n_rows[0] += len(self._last_networks)
        whole = n_rows[0 if self._last is not None else 1 : -1]
        if len(whole):
            fewest = int(whole.min())
            self._fewest = fewest if self._fewest is None else min(self._fewest, fewest)
        if len(n_rows) == 1:
            self._last_networks |= going_on
        else:
            self._last_networks = set(network[protein == protein[-1]].tolist())


def begins_protein(ids: Strings, before: str | None) -> Booleans:
    """Return which rows are of another protein than the row before them.

    >>> begins_protein(np.array(["a", "b", "b"], dtype=object), "a").tolist()
    [False, True, False]
    """
    is_first = np.ones(len(ids), dtype=np.bool_)
    is_first[0] = ids[0] != before
    is_first[1:] = ids[1:] != ids[:-1]
    return is_first


def whole_proteins(
    parts: Iterable[Part], n_proteins: int, start: int = 0, stop: int | None = None
) -> Iterator[list[Part]]:
    """Yield the rows of so many proteins at a time, of which each is whole."""
    held: list[Part] = []
    held_piece = 0
    last, number = None, -1  # of the protein that was read last
    for part in parts:
        numbers = number + np.cumsum(begins_protein(part.ids, last), dtype=np.int64)
        last, number = part.ids[-1], int(numbers[-1])
        end = number + 1 if stop is None else min(stop, number + 1)
        begin = max(int(numbers[0]), start)
        while begin < end:
            piece = (begin - start) // n_proteins
            if held and piece > held_piece:
                yield held
                held = []
            held_piece, after = piece, min(start + (piece + 1) * n_proteins, end)
            rows = np.searchsorted(numbers, [begin, after])
            held.append(part.rows(int(rows[0]), int(rows[1])))
            begin = after
        if stop is not None and number >= stop:
            break
    if held:
        yield held


# Scores of networks in a chunk: 100,000 proteins, ten networks and twelve classes. A chunk is
# held some five times over while it is made, 0.5 GB; more would not fit what rules ask for.
MOST_SCORES = 12_000_000


def stream_networks(
    scan: Scan,
    chunk_rows: int,
    counted: Callable[[int], object],
    known: KnownIds | None,
    rows: RowRange | None,
) -> Iterator[Samples]:
    """Yield the proteins of a table of networks chunk by chunk, after checking all of it.

    A first reading learns which networks there are and whether the rows of each
    protein stand together. Where they do not, or a row stands twice, the table
    is checked as any other and then read whole.
    """
    found = _looked_through(scan, chunk_rows)
    if found is None:
        yield from _whole(scan, chunk_rows, counted, known, rows)
        return
    names = found.networks
    _require_all(scan, found, chunk_rows)
    hashes = found.hashes()
    del found
    if known is not None:
        known.add(scan.where, hashes, lambda: _protein_ids(scan, chunk_rows))
    start, stop = (0, len(hashes)) if rows is None else (rows.start, rows.stop)
    del hashes
    counted(stop - start)
    n_scores = len(names) * len(scan.layout.classes)
    n_proteins = min(chunk_rows, max(1, MOST_SCORES // n_scores))
    for parts in whole_proteins(scan.again(chunk_rows), n_proteins, start, stop):
        samples = assemble(scan, parts, names)
        parts.clear()  # not held while the next ones are read
        yield samples
        del samples


def _looked_through(scan: Scan, chunk_rows: int) -> NetworkRows | None:
    """Return what a first reading tells; None where proteins do not stand together."""
    found = NetworkRows()
    try:
        for part in scan.checked(chunk_rows, remembers=Remembers.SUMS):
            found.see(part)
    except InputError:
        if found.stand_together():
            raise
    return found if found.stand_together() else None


def _require_all(scan: Scan, found: NetworkRows, chunk_rows: int) -> None:
    """Refuse a table in which a network or one truth of a protein is missing."""
    problems = ProblemList(scan.where)

    if found.lacks_networks:
        for ids, network, lines, _ in _whole_proteins(scan, chunk_rows):
            report_missing(ids, network, found.networks, lines, problems)
    if found.has_other_truths and scan.has_truth:
        for ids, _, lines, truth in _whole_proteins(scan, chunk_rows):
            report_truths(ids, truth, lines, problems)
    problems.raise_any()
    require_scale(scan, len(found.networks))


def _whole_proteins(
    scan: Scan, chunk_rows: int
) -> Iterator[tuple[Strings, Strings, Integers, Integers | None]]:
    """Yield ids, networks, lines and true classes of the rows of whole proteins."""
    for parts in whole_proteins(scan.again(chunk_rows), chunk_rows):
        yield (
            np.concatenate([part.ids for part in parts]),
            np.concatenate([part.network for part in parts if part.network is not None]),
            np.concatenate([part.lines for part in parts]),
            joined_codes([part.truth for part in parts], scan),
        )


def _whole(
    scan: Scan,
    chunk_rows: int,
    counted: Callable[[int], object],
    known: KnownIds | None,
    rows: RowRange | None,
) -> Iterator[Samples]:
    """Yield the proteins of a table that has to be read whole."""
    for _ in scan.checked(chunk_rows):  # refuses what is to be refused without holding it
        pass
    samples = assemble(scan, list(scan.again(chunk_rows)))
    ids = samples.predictions.ids
    if known is not None:
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
        known.add(scan.where, hashes, lambda: zip(samples.lines.tolist(), ids, strict=True))
    start, stop = (0, len(ids)) if rows is None else (rows.start, rows.stop)
    counted(stop - start)
    for begin in range(start, stop, chunk_rows):
        yield _rows_of(samples, np.arange(begin, min(begin + chunk_rows, stop)))


def _rows_of(samples: Samples, rows: Integers) -> Samples:
    truth, genome = samples.true_class, samples.genome
    return Samples(
        samples.predictions.take(rows),
        None if truth is None else truth[rows],
        samples.lines[rows],
        genome=None if genome is None else genome[rows],
        is_apart=True,
    )


def _protein_ids(scan: Scan, chunk_rows: int) -> Iterator[tuple[int, str]]:
    """Yield the first line and the id of each protein."""
    last = None
    for part in scan.again(chunk_rows):
        is_first = begins_protein(part.ids, last)
        last = part.ids[-1]
        yield from zip(part.lines[is_first].tolist(), part.ids[is_first], strict=True)


__all__ = ["Samples", "TableSpec", "read_samples", "stream_samples", "write_samples"]

CHUNK_ROWS = 100_000


def read_samples(path: Path | MemoryTable, spec: TableSpec) -> Samples:
    """Return the samples of a table, or raise all its problems."""
    scan = Scan(path, spec)
    parts = list(scan.checked(CHUNK_ROWS))
    return assemble(scan, parts)


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
    of a row in doubt); of a table of networks, 8 bytes a protein. Where the rows
    of a protein do not stand together, a table of networks is read whole.
    """
    scan = Scan(Path(path), spec, rows)
    if rows is not None and rows.start == rows.stop:
        counted(0)
    elif scan.has_networks:
        yield from stream_networks(scan, chunk_rows, counted, known, rows)
    else:
        counted(sum(len(part.ids) for part in scan.checked(chunk_rows, known)))
        for part in scan.again(chunk_rows):
            yield assemble(scan, [part])


def write_samples(path: Path, samples: Samples) -> None:
    """Write the contract table `samples`; the format `credence` reads it back.

    A Parquet file keeps scale, resolution and pooling in its metadata; of a TSV
    the scale has to be stated when it is read, and the resolution is that of
    the decimals in it, zeros at the end not being written. Networks are written in long
    form. Where a stored verdict breaks a tie otherwise than the first class, a
    column `predicted_class` follows the truth.
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
    write_table(path, columns, metadata={KEY: json.dumps(asdict(metadata))})


def _by_class(predictions: Predictions, scores: Floats) -> dict[str, Floats]:
    return {name: scores[:, place] for place, name in enumerate(predictions.class_names)}
