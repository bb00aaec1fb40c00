"""Score tables as checked samples, whole or chunk by chunk.

A stream reads the file twice, once to check all of it and once to give its chunks, so that no
chunk comes out of a table that is refused further down.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import UNKNOWN_CLASS, Floats, Integers, Predictions, Strings, from_scores
from credence.problems import InputError, ProblemList, refuse
from credence.tables.calls import judged, truth_of_cells
from credence.tables.digests import CHANGED_IN_STEP, stamp_of
from credence.tables.formats import Gathering, TableSpec
from credence.tables.scan import KEY, Metadata, Part, Remembers, Scan, joined_rows
from credence.tables.source import MemoryTable, open_parquet
from credence.tables.writing import write_table

Counted = Callable[[int], object]  # is given how many rows or proteins there are


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """What a score table says, checked."""

    predictions: Predictions  # What the classifier predicted
    # Index into the class names, `UNKNOWN_CLASS` where empty; None without any labels.
    true_class: Integers | None
    # Line on which each row begins, as an editor shows it; else the number of the row.
    lines: Integers
    # Proteins without scores, as the format allows (Phynteny's NA); in no other field.
    unscored_ids: Strings = field(default_factory=lambda: np.empty(0, dtype=object))
    # Their lines.
    unscored_lines: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    # Genome, contig or sample of each protein, where a column names them; '' where it is empty.
    genome: Strings | None = None
    # Whether a table of networks had to be read whole, as rows of a protein stand apart.
    is_apart: bool = False
    # Labels and ids that were taken for others, which differ in capital letters alone.
    recased: Mapping[str, str] = field(default_factory=dict)
    # Of calls: their labels as they stand in the table, which may be of no known class.
    labels: Strings | None = None
    # Of calls that are not judged yet: cells with the true labels of a protein, by `true_class`.
    truth_cells: tuple[str, ...] = ()
    # Of judged calls: proteins and true labels that were not called, by index of the class.
    missed_ids: Strings = field(default_factory=lambda: np.empty(0, dtype=object))
    missed_class: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def n_samples(self) -> int:
        """Number of proteins with scores, or of calls."""
        return self.predictions.n_samples

    @property
    def is_of_calls(self) -> bool:
        """Whether rows are calls, of which a protein has several."""
        return self.predictions.tree is not None

    def by_protein(self, most_labels: int) -> tuple[Strings, Integers]:
        """Return the proteins of judged calls, each with the rarest of its true labels.

        Of so many labels at most, spread from the most frequent one to those of few proteins.
        """
        assert self.true_class is not None
        is_right = self.true_class != UNKNOWN_CLASS
        pairs = (self.predictions.ids[is_right], self.true_class[is_right])
        ids = np.concatenate([pairs[0], self.missed_ids]).tolist()
        labels = np.concatenate([pairs[1], self.missed_class])
        n_proteins = np.bincount(labels, minlength=self.predictions.n_classes)
        by_number = np.argsort(-n_proteins, kind="stable")[: int((n_proteins > 0).sum())]
        n_kept = min(most_labels, len(by_number))
        kept = by_number[np.linspace(0, len(by_number) - 1, n_kept).round().astype(np.int64)]
        rank = np.full(self.predictions.n_classes, UNKNOWN_CLASS)
        rank[kept] = np.arange(n_kept)
        proteins = dict.fromkeys(self.predictions.ids.tolist(), UNKNOWN_CLASS)
        for name, place in zip(ids, rank[labels].tolist(), strict=True):
            proteins[name] = max(proteins[name], place)
        # Who has none of them counts as what nobody has: the label that stands for any other.
        codes = np.append(kept, self.predictions.n_classes - 1)
        return (
            np.array(list(proteins), dtype=object),
            codes[np.array(list(proteins.values()), dtype=np.int64)],
        )

    @property
    def lines_and_ids(self) -> tuple[Integers, Strings]:
        """Line and id of each protein, at the end of those without scores."""
        ids = np.concatenate([self.predictions.ids, self.unscored_ids])
        return np.concatenate([self.lines, self.unscored_lines]), ids


def assemble(scan: Scan, part: Part, networks: Sequence[str] = ()) -> Samples:
    """Return checked rows as samples; those of networks, whose names may be given, are pooled."""
    samples = _assembled(scan, part, networks)
    if isinstance(scan.lookup, Gathering):
        return samples
    return replace(samples, recased=scan.lookup.recased)


def _assembled(scan: Scan, part: Part, networks: Sequence[str]) -> Samples:
    if scan.has_networks:
        return _pooled(scan, part, networks)
    if scan.tree is not None:
        return _calls(scan, part)
    scored = part.rows(~part.is_unscored) if part.is_unscored.any() else part
    return Samples(
        predictions=_predictions(scan, scored),
        true_class=_class_codes(scored.truth, scan) if scan.has_truth else None,
        lines=scored.lines,
        unscored_ids=part.ids[part.is_unscored],
        unscored_lines=part.lines[part.is_unscored],
        genome=scored.genome,
    )


def _calls(scan: Scan, part: Part) -> Samples:
    """Return calls: rows with a label and a score, or cells of classes that have one."""
    names, truth = np.array([*scan.class_names, ""], dtype=object), part.truth
    floor = scan.spec.floor
    if scan.layout.classes:
        is_call = part.numbers > 0 if floor is None else part.numbers >= floor
        rows, predicted = np.nonzero(is_call)
        score, labels = part.numbers[rows, predicted], names[predicted]
    else:
        is_call = (
            np.ones(len(part.ids), dtype=np.bool_)
            if floor is None
            else (part.numbers[:, 0] >= floor)
        )
        rows = np.flatnonzero(is_call & ~part.is_unscored)
        codes = _class_codes(part.predicted, scan)
        assert codes is not None and part.labels is not None
        score, predicted, labels = part.numbers[rows, 0], codes[rows], part.labels[rows]
    is_missed = part.is_unscored if scan.is_judged else np.zeros(len(part.ids), dtype=np.bool_)
    return Samples(
        predictions=Predictions(
            ids=part.ids[rows],
            class_names=scan.class_names,
            scale=scan.scale,
            resolution=scan.step().resolution,
            predicted_class=predicted.astype(np.int64),
            top_score=score,
            is_distribution=False,
            tree=scan.tree,
        ),
        true_class=truth[rows] if truth is not None and scan.has_truth else None,
        lines=part.lines[rows],
        genome=None if part.genome is None else part.genome[rows],
        labels=labels,
        truth_cells=() if scan.is_judged else tuple(scan.truths.names),
        missed_ids=part.ids[is_missed],
        missed_class=np.empty(0, dtype=np.int64) if truth is None else truth[is_missed],
    )


def _class_codes(codes: Integers | None, scan: Scan) -> Integers | None:
    if codes is None or not isinstance(scan.lookup, Gathering):
        return codes
    place = {name: index for index, name in enumerate(scan.class_names)}
    return np.array([place[name] for name in scan.lookup.names] + [-1], dtype=np.int64)[codes]


def _predictions(scan: Scan, part: Part) -> Predictions:
    numbers, predicted = part.numbers, _class_codes(part.predicted, scan)
    names, scale, resolution = scan.class_names, scan.scale, scan.step().resolution
    has_vectors = bool(scan.layout.classes)
    is_distribution = has_vectors and scan.sum_to_scale
    if predicted is None:  # the best score says it
        return from_scores(
            part.ids, names, numbers, scale, resolution, is_distribution=is_distribution
        )
    top_score = numbers[:, 0] if numbers.shape[1] else None
    if has_vectors:
        top_score = numbers[np.arange(len(numbers)), predicted]
    return Predictions(
        ids=part.ids,
        class_names=names,
        scale=scale,
        resolution=resolution,
        predicted_class=predicted,
        top_score=top_score,
        scores=numbers if has_vectors else None,
        is_distribution=is_distribution,
    )


def in_order(network: Iterable[str]) -> tuple[str, ...]:
    """Return the names of networks, each once, by their numbers: 1, 2, 10."""
    return tuple(sorted(set(network), key=lambda name: (len(name), name)))


def pool(network_scores: Floats, pooling: str, resolution: float) -> tuple[Floats, float]:
    """Return the pooled scores and the scale to which their rows sum."""
    if pooling == "sum":
        return network_scores.sum(axis=1), float(network_scores.shape[1])
    floor = resolution / 2 if resolution > 0 else float(np.finfo(np.float32).tiny)
    logs = np.maximum(network_scores, floor)
    logs = np.log(logs, out=logs).sum(axis=1)  # in place: there are many
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True), 1.0


def _pooled(scan: Scan, part: Part, names: Sequence[str]) -> Samples:
    protein, first = _proteins(part.ids)
    if not names:
        names = in_order(part.network)
        _require_whole(scan, [part], names)
    place = {name: index for index, name in enumerate(names)}
    member = np.array([place[name] for name in part.network.tolist()], dtype=np.int64)
    cube = np.full((len(first), len(names), part.numbers.shape[1]), np.nan)
    cube[protein, member] = part.numbers
    step = scan.step().resolution
    scores, scale = pool(cube, scan.pooling, step)
    resolution = step if scan.pooling == "sum" else 0.0
    predictions = from_scores(
        part.ids[first],
        scan.class_names,
        scores,
        scale,
        resolution,
        is_distribution=scan.sum_to_scale,
        network_scores=cube,
    )
    truth = part.truth[first] if part.truth is not None and scan.has_truth else None
    genome = None if part.genome is None else part.genome[first]
    return Samples(
        predictions=predictions, true_class=truth, lines=part.lines[first], genome=genome
    )


def _proteins(ids: Strings) -> tuple[Integers, Integers]:
    """Return the protein of each row, numbered as they first appear, and its first row."""
    code_of: dict[str, int] = {}
    protein = np.array([code_of.setdefault(name, len(code_of)) for name in ids], dtype=np.int64)
    return protein, np.unique(protein, return_index=True)[1]


def _require_whole(scan: Scan, parts: Iterable[Part], names: Sequence[str]) -> None:
    """Refuse proteins that lack a network or have two true classes, and a scale not theirs."""
    problems = ProblemList(scan.where)
    for part in parts:
        protein, first = _proteins(part.ids)
        is_short = np.bincount(protein) < len(names)
        given: dict[int, set[str]] = {code: set() for code in np.flatnonzero(is_short).tolist()}
        for row in np.flatnonzero(is_short[protein]).tolist():
            given[int(protein[row])].add(part.network[row])
        for code, known in given.items():
            for name in names:
                if name not in known:
                    defect = f"protein {part.ids[first[code]]!r} has no row of network {name!r}."
                    remedy = "Give the scores of every network for every protein."
                    problems.add(defect, remedy, int(part.lines[first[code]]))
        first_row = first[protein]
        truth = protein if part.truth is None else part.truth
        for row in np.flatnonzero(truth != truth[first_row]).tolist():
            defect = f"protein {part.ids[row]!r} has another true class than in line "
            defect += f"{part.lines[first_row[row]]}."
            problems.add(defect, "Give each protein one true class.", int(part.lines[row]))
    problems.raise_any()
    stated, scale = scan.spec.scale, float(len(names)) if scan.pooling == "sum" else 1.0
    if stated is not None and stated != scale:
        defect = f"the networks pooled by {scan.pooling!r} have the scale {scale:g}, "
        defect += f"{stated:g} is stated."
        raise refuse(scan.where, defect, "Leave the scale out, or correct it.")


def _begins_protein(ids: Strings, before: str | None = None) -> NDArray[np.bool_]:
    """Return which rows are of another protein than the row before them."""
    return np.concatenate([ids[:1] != before, ids[1:] != ids[:-1]])


def whole_proteins(parts: Iterable[Part], n_proteins: int) -> Iterator[Part]:
    """Yield the rows of so many proteins at a time, of which each is whole."""
    held: list[Part] = []
    held_piece = 0

    def whole() -> Part:
        block = joined_rows(held)
        held.clear()  # so that rows are not in memory twice while they are looked at
        return block

    last, number = None, -1  # of the protein that was read last
    for part in parts:
        numbers = number + np.cumsum(_begins_protein(part.ids, last), dtype=np.int64)
        last, number = part.ids[-1], int(numbers[-1])
        pieces = numbers // n_proteins
        bounds = [0, *(np.flatnonzero(np.diff(pieces)) + 1).tolist(), len(pieces)]
        for begin, end in pairwise(bounds):
            if held and pieces[begin] > held_piece:
                yield whole()
            held_piece = int(pieces[begin])
            held.append(part.rows(slice(begin, end)))
    if held:
        yield whole()


SOME_NETWORKS = 10  # so many rows of a protein are expected where proteins are only looked at
# Scores of networks in a chunk, which is held some five times over while it is made: 0.5 GB.
MOST_SCORES = 12_000_000


def _stream_networks(scan: Scan, chunk_rows: int, counted: Counted) -> Iterator[Samples]:
    """Yield the proteins of a table of networks in chunks, read whole where rows stand apart."""
    networks = _look_through(scan, chunk_rows)
    if networks is None:
        yield from _whole(scan, chunk_rows, counted)
        return
    names, n_all = networks
    counted(n_all)
    n_proteins = min(chunk_rows, max(1, MOST_SCORES // (len(names) * len(scan.layout.classes))))
    parts = whole_proteins(scan.again(chunk_rows), n_proteins)
    yield from map(partial(assemble, scan, networks=names), parts)


def _look_through(scan: Scan, chunk_rows: int) -> tuple[tuple[str, ...], int] | None:
    """Return the networks and the number of proteins; None where reading it whole tells why.

    A protein's rows stand apart then (as do those of two ids of one hash), or anything is wrong.
    """
    n_at_once = chunk_rows // SOME_NETWORKS or 1
    hashes = [np.empty(0, dtype=np.int64)]
    code_of: dict[str, int] = {}  # of networks
    fewest: set[int] = set()  # rows of one protein, in each piece
    is_ambiguous = False
    try:
        for part in whole_proteins(scan.checked(chunk_rows, remembers=Remembers.SUMS), n_at_once):
            first = _begins_protein(part.ids)
            hashes.append(np.fromiter(map(hash, part.ids[first]), np.int64))
            protein = np.cumsum(first) - 1
            network = np.array([code_of.setdefault(name, len(code_of)) for name in part.network])
            if len(np.unique(protein * len(code_of) + network)) < len(network):
                return None
            fewest.add(int(np.bincount(protein).min()))
            if part.truth is not None:
                is_ambiguous |= bool((part.truth != part.truth[first][protein]).any())
    except InputError:
        return None
    names, in_turn = in_order(code_of), np.sort(np.concatenate(hashes))
    if (in_turn[1:] == in_turn[:-1]).any():
        return None
    n_all = len(in_turn)
    del in_turn
    is_whole = min(fewest) == len(names) and not is_ambiguous
    again = () if is_whole else whole_proteins(scan.again(chunk_rows), n_at_once)
    _require_whole(scan, again, names)
    return names, n_all


def _whole(scan: Scan, chunk_rows: int, counted: Counted) -> Iterator[Samples]:
    for _ in scan.checked(chunk_rows):  # refuses what is to be refused without holding it
        pass
    samples = assemble(scan, joined_rows(list(scan.again(chunk_rows))))
    ids, truth, genome = samples.predictions.ids, samples.true_class, samples.genome
    counted(len(ids))
    for begin in range(0, len(ids), chunk_rows):
        here = np.arange(begin, min(begin + chunk_rows, len(ids)))
        yield Samples(
            predictions=samples.predictions.take(here),
            true_class=None if truth is None else truth[here],
            lines=samples.lines[here],
            genome=None if genome is None else genome[here],
            is_apart=True,
        )


CHUNK_ROWS = 100_000


def read_samples(path: Path | MemoryTable, spec: TableSpec) -> Samples:
    """Return the samples of a table, or raise all its problems."""
    scan = Scan(path, spec)
    samples = assemble(scan, joined_rows(list(scan.checked(CHUNK_ROWS))))
    if samples.is_of_calls and not scan.is_judged and samples.true_class is not None:
        return judged(samples, truth_of_cells(samples), spec, scan.where)
    return samples


def stream_samples(
    path: Path,
    spec: TableSpec,
    chunk_rows: int = CHUNK_ROWS,
    counted: Counted = lambda n_rows: None,
) -> Iterator[Samples]:
    """Yield the chunks of what :func:`read_samples` gives, after checking the whole table."""
    scan = Scan(Path(path), spec)
    stamp = stamp_of(Path(path))
    if scan.has_networks:
        yield from _stream_networks(scan, chunk_rows, counted)
    elif scan.tree is not None:
        yield from _stream_calls(scan, chunk_rows, counted)
    else:
        held, n_rows = list[Part](), 0
        for part in scan.checked(chunk_rows):
            n_rows += len(part.ids)
            held = [part] if n_rows == len(part.ids) else []  # of a table of one chunk
        counted(n_rows)
        yield from map(partial(assemble, scan), held or scan.again(chunk_rows))
    if stamp_of(Path(path)) != stamp:
        raise refuse(str(path), *CHANGED_IN_STEP)


def _stream_calls(scan: Scan, chunk_rows: int, counted: Counted) -> Iterator[Samples]:
    """Yield calls in chunks of whole proteins; all at once where a protein's stand apart."""
    hashes, n_rows, last = list[NDArray[np.int64]](), 0, None
    for part in scan.checked(chunk_rows):
        first = _begins_protein(part.ids, last)
        last, n_rows = part.ids[-1], n_rows + len(part.ids)
        hashes.append(np.fromiter(map(hash, part.ids[first]), np.int64))
    counted(n_rows)
    n_proteins = sum(map(len, hashes))
    if len(np.unique(np.concatenate(hashes))) < n_proteins:
        yield replace(assemble(scan, joined_rows(list(scan.again(chunk_rows)))), is_apart=True)
        return
    of_a_protein = max(1, round(n_rows / n_proteins))
    parts = whole_proteins(scan.again(chunk_rows), max(1, chunk_rows // of_a_protein))
    yield from (replace(assemble(scan, part), true_class=None) for part in parts)


COMBINED = "credence combined"  # stands in the metadata of a table of several tools


def is_combined(path: Path) -> bool:
    """Return whether tools were combined in a table; what cannot be read is refused elsewhere."""
    if path.suffix != ".parquet":
        return not path.is_file()
    try:
        with open_parquet(path) as file:
            return COMBINED.encode() in (file.schema_arrow.metadata or {})
    except (OSError, ValueError):
        return True


def write_samples(path: Path, samples: Samples, *, combined: bool = False) -> None:
    """Write the contract table `samples`; the format `credence` reads it back.

    Scale, resolution and pooling are metadata of Parquet; `predicted_class` is a column where a
    verdict breaks a tie otherwise than the first class.
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
        flat = predictions.network_scores.reshape(-1, predictions.n_classes)
        columns |= _by_class(predictions, flat)
        columns["network"] = np.tile(members, predictions.n_samples)
    elif predictions.scores is not None:
        if (predictions.scores.argmax(axis=1) != predictions.predicted_class).any():
            columns["predicted_class"] = names[predictions.predicted_class]
        columns |= _by_class(predictions, predictions.scores)
    else:
        columns["predicted_class"] = names[predictions.predicted_class]
        if predictions.top_score is not None:
            columns["score"] = predictions.top_score
    if samples.genome is not None and len(samples.genome) == len(columns["id"]):
        columns["genome"] = samples.genome
    if samples.is_of_calls:
        columns = _with_missed(columns, samples, names)
    metadata = Metadata(
        tree=predictions.tree,
        class_names=predictions.class_names if samples.is_of_calls else None,
        scale=predictions.scale,
        resolution=resolution,
        is_distribution=predictions.is_distribution,
        pooling=pooling,
    )
    marks = {COMBINED: "yes"} if combined else {}
    write_table(path, columns, metadata={KEY: json.dumps(asdict(metadata)), **marks})


def _with_missed(columns: dict[str, Any], samples: Samples, names: Strings) -> dict[str, Any]:
    """Return the columns of calls with true labels that were not called, which have no score."""
    n = len(samples.missed_ids)
    further = {"id": samples.missed_ids, "true_class": names[samples.missed_class]}
    return {
        name: np.append(
            values,
            further.get(name, np.full(n, np.nan if values.dtype == np.float64 else "", object)),
        ).astype(values.dtype)
        for name, values in columns.items()
    }


def _by_class(predictions: Predictions, scores: Floats) -> dict[str, Floats]:
    return {name: scores[:, place] for place, name in enumerate(predictions.class_names)}
