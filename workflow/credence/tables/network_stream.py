"""Tables with a row per protein and network, read in pieces of whole proteins."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from credence.predictions import Integers, Strings
from credence.problems import InputError
from credence.tables.assembling import Samples, assemble, joined_codes, require_scale
from credence.tables.known_ids import KnownIds
from credence.tables.network_rows import NetworkRows, begins_protein, whole_proteins
from credence.tables.networks import report_missing, report_truths
from credence.tables.problem_list import ProblemList
from credence.tables.row_range import RowRange
from credence.tables.scan import Scan
from credence.tables.validation import Remembers

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

    Parameters
    ----------
    scan : Scan
        Of the table.
    chunk_rows : int
        At most so many rows are read at once, and so many proteins make a chunk.
    counted, known, rows
        See :func:`credence.tables.samples.stream_samples`.
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
        for ids, network, lines, _ in _proteins(scan, chunk_rows):
            report_missing(ids, network, found.networks, lines, problems)
    if found.has_other_truths and scan.has_truth:
        for ids, _, lines, truth in _proteins(scan, chunk_rows):
            report_truths(ids, truth, lines, problems)
    problems.raise_any()
    require_scale(scan, len(found.networks))


def _proteins(
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
