"""Several tables of one set: as one in memory, one after the other in chunks, or counted."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from credence.composition.shifted_rows import RowCounts, row_counts, shifted_rows
from credence.draws import keys_of
from credence.predictions import UNKNOWN_CLASS, Integers, Predictions, Strings
from credence.problems import ONE_ID_EACH, Problem, ProblemList, gathering, raise_any, refuse
from credence.sentences import sentences_of_rows
from credence.tables import samples as reading
from credence.tables.formats import TableSpec, taken_as_one
from credence.tables.samples import CHUNK_ROWS, Counted, Samples, assemble
from credence.tables.scan import Scan

Seen = Callable[[Strings, Integers], object]  # is given ids and their lines
OF_EVERY_CLASS, OF_BEST_CLASS, NO_SCORES = "of every class", "of the best class", "none"


def require_different(paths: Sequence[str]) -> None:
    """Refuse a table that is given twice."""
    raise_any(
        Problem(where=path, what="this table is given twice.", remedy="Name it once.")
        for path in dict.fromkeys(paths)
        if paths.count(path) > 1
    )


def stream_tables(
    paths: Sequence[str], spec: TableSpec, counted: Counted = lambda n_rows: None
) -> Iterator[tuple[str, Samples]]:
    """Yield the tables of a set chunk by chunk, each checked whole before, by id and name.

    An id that stands in two tables is refused at the end.
    """
    require_different(paths)
    with KnownIds(paths, spec) as known:
        for path in paths:
            for samples in reading.stream_samples(Path(path), spec, counted=counted):
                known.see(samples.lines_and_ids[1])
                yield path, samples
        raise_any(known.shared())


N_BUCKETS = 64  # of hashes, of which one is in memory: 250 MB of 2,000,000,000 proteins
CLASHES_AT_ONCE = 10_000  # hashes that stand twice, looked at together


class KnownIds(ExitStack):
    """Hashes of the ids of several tables, none of which has an id twice, on the disk."""

    def __init__(self, tables: Sequence[str], spec: TableSpec) -> None:
        super().__init__()
        self._tables, self._spec = tables, spec
        # Of one table nothing is kept.
        n_buckets = N_BUCKETS if len(tables) > 1 else 0
        files = (TemporaryFile() for _ in range(n_buckets))  # noqa: SIM115 -- closed with this
        self._buckets = [self.enter_context(file) for file in files]

    def see(self, ids: Strings) -> None:
        """Take some ids of a table."""
        if self._buckets:
            keys = np.sort(keys_of(ids))
            bounds = np.arange(1, N_BUCKETS, dtype=np.uint64) << np.uint64(58)
            pieces = np.split(keys, keys.searchsorted(bounds))
            for bucket, piece in zip(self._buckets, pieces, strict=True):
                bucket.write(piece.tobytes())

    def shared(self) -> list[Problem]:
        """Return the ids that stand in two tables; those of one hash are compared as texts."""
        repeated = (key for bucket in self._buckets for key in _repeated(bucket))
        while some := list(islice(repeated, CLASHES_AT_ONCE)):
            if problems := self._alike(np.array(some, dtype=np.uint64)):
                return problems
        return []

    def _alike(self, wanted: Any) -> list[Problem]:
        """Return the ids of some hashes that stand in two tables."""
        problems, seen = [], dict[str, str]()
        for table in self._tables:
            for samples in reading.stream_samples(Path(table), self._spec):
                lines, ids = samples.lines_and_ids
                for row in np.flatnonzero(np.isin(keys_of(ids), wanted)):
                    first = seen.setdefault(ids[row], table)
                    if first != table:
                        defect = f"the id {ids[row]!r} is in {first} already."
                        problems.append(
                            Problem(
                                where=table, what=defect, remedy=ONE_ID_EACH, line=int(lines[row])
                            )
                        )
        return problems


def _repeated(bucket: IO[bytes]) -> Iterator[int]:
    bucket.seek(0)
    keys = np.sort(np.frombuffer(bucket.read(), dtype=np.uint64))
    yield from np.unique(keys[1:][keys[1:] == keys[:-1]]).tolist()


def concatenate(parts: Sequence[tuple[Path, Samples]]) -> Samples:
    """Return several tables of one set as one, or raise where they do not fit."""
    first_path, first = parts[0]
    facts, problems = census_of(first).facts, ProblemList(str(first_path))
    seen: dict[str, Path] = {}
    for path, samples in parts:
        problems.where = str(path)
        check_alike(census_of(samples).facts, facts, first_path, problems)
        for name, line in zip(samples.predictions.ids, samples.lines, strict=True):
            if seen.setdefault(name, path) != path:
                defect = f"the id {name!r} is in {seen[name]} already."
                problems.add(defect, ONE_ID_EACH, int(line))
    problems.raise_any()
    tables = [samples for _, samples in parts]
    predictions = [samples.predictions for samples in tables]
    truth = None
    if any(samples.true_class is not None for samples in tables):
        unknown = (np.full(samples.n_samples, UNKNOWN_CLASS) for samples in tables)
        pairs = zip(tables, unknown, strict=True)
        truth = np.concatenate([b if a.true_class is None else a.true_class for a, b in pairs])
    arrays = ("ids", "predicted_class", "top_score", "scores", "network_scores")
    whole = replace(
        predictions[0],
        resolution=min(part.resolution for part in predictions),
        is_distribution=all(part.is_distribution for part in predictions),
        places=None,
        **_joined(predictions, arrays),
    )
    return Samples(
        predictions=whole,
        true_class=truth,
        recased={text: name for samples in tables for text, name in samples.recased.items()},
        **_joined(tables, ("lines", "unscored_ids", "unscored_lines", "genome")),
    )


def _joined(records: Sequence[object], names: Iterable[str]) -> dict[str, Any]:
    """Return some arrays of records, each of all of them that have it; None where none does."""
    columns = {name: [getattr(record, name) for record in records] for name in names}
    known = {name: [part for part in parts if part is not None] for name, parts in columns.items()}
    return {name: np.concatenate(parts) if parts else None for name, parts in known.items()}


def check_alike(
    facts: Mapping[str, object],
    first: Mapping[str, object],
    first_path: Path,
    problems: ProblemList,
) -> None:
    """Report where a table is of another kind than the first one."""
    for name, value in facts.items():
        if value != first[name]:
            defect = f"the {name}: {_listed(value)} here, {_listed(first[name])} in {first_path}."
            problems.add(defect, "Give tables of one classifier, read alike.")


def _listed(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def score_kind(predictions: Predictions) -> str:
    """Return of what there are scores, in words."""
    networks = predictions.network_scores
    if networks is not None:
        return f"of {networks.shape[1]} networks"
    if predictions.scores is not None:
        return OF_EVERY_CLASS
    return OF_BEST_CLASS if predictions.top_score is not None else NO_SCORES


def match_rows(wanted: Strings, table: Strings, *, wanted_in: str, table_in: str) -> Integers:
    """Return the row of a table that each wanted id has there."""
    row_of = {id_: row for row, id_ in enumerate(table)}
    if len(wanted) > 1 and not any(id_ in row_of for id_ in wanted):
        defect = f"there is no row for any of the {len(wanted)} proteins of {wanted_in}."
        remedy = f"Make it anew with {wanted_in}, or check that ids are alike."
        raise refuse(table_in, defect, remedy)
    raise_any(
        Problem(
            where=table_in, what=f"there is no row for {id_!r} of {wanted_in}.", remedy="Add it."
        )
        for id_ in wanted
        if id_ not in row_of
    )
    return np.array([row_of[id_] for id_ in wanted], dtype=np.int64)


ROWS_APART = (
    "the rows of a protein do not stand together, so that the whole table is held in "
    "memory; sorted by id it is read in pieces"
)


@dataclass(frozen=True, kw_only=True)
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
    rows: RowCounts  # What shows whether rows stand under wrong ids
    # Whether the rows of a protein, of several networks, do not stand together.
    is_apart: bool = False
    # Labels and ids that were taken for others, which differ in capital letters alone.
    recased: Mapping[str, str] = field(default_factory=dict)

    def notices(self) -> list[str]:
        """Return what a user has to know of tables that were accepted."""
        notices = []
        if self.first_unscored is not None:
            name, line = self.first_unscored
            notices.append(
                f"{self.n_unscored} of {self.n_unscored + self.n_samples} proteins carry no "
                f"scores and get no confidence, the first is {name!r} in line {line}"
            )
        if self.n_ties:
            rows = "1 row has" if self.n_ties == 1 else f"{self.n_ties} rows have"
            notices.append(f"{rows} two best scores; the first class in order counts")
        if self.recased:
            notices.append(taken_as_one(self.recased))
        if (shifted := shifted_rows(self.rows)) is not None:
            notices += sentences_of_rows(shifted)
        return [*notices, ROWS_APART] if self.is_apart else notices

    @property
    def facts(self) -> Mapping[str, object]:
        """In what all tables of a set are alike."""
        return {"classes": self.class_names, "scale": self.scale, "kind of scores": self.kind}


def census_of(samples: Samples) -> Census:
    """Return the counts of samples in memory."""
    predictions, truth = samples.predictions, samples.true_class
    networks = predictions.network_scores

    def counted(codes: Integers) -> tuple[int, ...]:
        known = codes[codes > UNKNOWN_CLASS]
        return tuple(np.bincount(known, minlength=predictions.n_classes).tolist())

    unscored = zip(samples.unscored_ids, samples.unscored_lines.tolist(), strict=True)
    return Census(
        class_names=predictions.class_names,
        scale=float(predictions.scale),
        resolution=float(predictions.resolution),
        is_distribution=bool(predictions.is_distribution),
        kind=score_kind(predictions),
        n_networks=0 if networks is None else networks.shape[1],
        n_samples=predictions.n_samples,
        n_ties=predictions.n_ties,
        n_predicted=counted(predictions.predicted_class),
        n_true=() if truth is None else counted(truth),
        n_unscored=len(samples.unscored_ids),
        first_unscored=next(((str(id_), line) for id_, line in unscored), None),
        rows=row_counts(predictions, truth),
        is_apart=samples.is_apart,
        recased=samples.recased,
    )


def take_census(paths: Sequence[str], spec: TableSpec, seen: Seen | None = None) -> Census:
    """Return the counts of one table or several, read once; or raise all their problems."""
    require_different(paths)
    problems: list[Problem] = []
    censuses: list[Census] = []
    with KnownIds(paths, spec) as known:
        for path in paths:
            with gathering(problems):
                census = _census_of_table(Path(path), spec, known, seen)
                unlike = ProblemList(path)
                check_alike(census.facts, [*censuses, census][0].facts, Path(paths[0]), unlike)
                unlike.raise_any()
                censuses.append(census)
        raise_any(problems or known.shared())
    return reduce(_together, censuses)


def _census_of_table(path: Path, spec: TableSpec, known: KnownIds, seen: Seen | None) -> Census:
    """Return the counts of a table."""

    def census_of_piece(samples: Samples) -> Census:
        lines, ids = samples.lines_and_ids
        known.see(ids)
        if seen is not None:
            order = np.argsort(lines, kind="stable")
            seen(ids[order], lines[order])
        return census_of(samples)

    def with_next(first: Census, second: Census) -> Census:
        # The last piece knows the step of all of them.
        return replace(_together(first, second), resolution=second.resolution)

    return reduce(with_next, map(census_of_piece, _pieces_read_once(path, spec)))


def _pieces_read_once(path: Path, spec: TableSpec) -> Iterator[Samples]:
    """Return the pieces of a table as it is checked; one of networks is read twice, to pool."""
    scan = Scan(path, spec)
    if scan.has_networks:
        return reading.stream_samples(path, spec, chunk_rows=CHUNK_ROWS)
    return map(partial(assemble, scan), scan.checked(CHUNK_ROWS))


def _together(first: Census, second: Census) -> Census:
    """Return the counts of two parts of one set, of which the second may know more classes."""

    def summed(here: tuple[int, ...], there: tuple[int, ...]) -> tuple[int, ...]:
        if not here or not there:
            return here or there
        before = dict(zip(first.class_names, here, strict=True))
        named = zip(second.class_names, there, strict=True)
        return tuple(before.get(name, 0) + number for name, number in named)

    return replace(
        first,
        class_names=second.class_names,
        resolution=min(first.resolution, second.resolution),
        is_distribution=first.is_distribution and second.is_distribution,
        n_samples=first.n_samples + second.n_samples,
        n_ties=first.n_ties + second.n_ties,
        n_predicted=summed(first.n_predicted, second.n_predicted),
        n_true=summed(first.n_true, second.n_true),
        n_unscored=first.n_unscored + second.n_unscored,
        first_unscored=first.first_unscored or second.first_unscored,
        rows=first.rows.plus(second.rows, tuple(map(second.class_names.index, first.class_names))),
        is_apart=first.is_apart or second.is_apart,
        recased={**first.recased, **second.recased},
    )
