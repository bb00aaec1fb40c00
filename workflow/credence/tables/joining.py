"""Several tables of one set: as one in memory, or one after the other in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from credence.predictions import Floats, Integers, Predictions, Strings
from credence.problems import Problem, ProblemList, raise_any, refuse
from credence.tables import samples as reading
from credence.tables.samples import Samples
from credence.tables.scan import KnownIds, RowRange
from credence.tables.table_spec import TableSpec

OF_EVERY_CLASS, OF_BEST_CLASS, NO_SCORES = "of every class", "of the best class", "none"


def require_different(paths: Sequence[str]) -> None:
    """Refuse a table that is given twice."""
    problems = [
        Problem(path, "this table is given twice.", "Name it once.")
        for path in dict.fromkeys(paths)
        if paths.count(path) > 1
    ]
    raise_any(problems)


def stream_tables(
    paths: Sequence[str],
    spec: TableSpec,
    counted: Callable[[int], object] = lambda n_rows: None,
    rows: RowRange | None = None,
) -> Iterator[tuple[str, Samples]]:
    """Yield the tables of a set chunk by chunk, each with its name.

    A table is checked whole before its first chunk; one with an id that an
    earlier table has is refused. Beside a chunk, 8 bytes a row are kept.
    """
    require_different(paths)
    known = KnownIds() if len(paths) > 1 else None
    for path in paths:
        for samples in reading.stream_samples(
            Path(path), spec, counted=counted, known=known, rows=rows
        ):
            yield path, samples


def concatenate(parts: Sequence[tuple[Path, Samples]]) -> Samples:
    """Return several tables of one set as one, or raise where they do not fit."""
    first_path, first = parts[0]
    problems = ProblemList(str(first_path))
    seen: dict[str, Path] = {}
    for path, samples in parts:
        problems.where = str(path)
        check_alike(
            facts_of(samples.predictions), facts_of(first.predictions), first_path, problems
        )
        for name, line in zip(samples.predictions.ids, samples.lines, strict=True):
            if seen.setdefault(name, path) != path:
                problems.add(
                    f"the id {name!r} is in {seen[name]} already.",
                    "Give each protein its own id, or remove one of the rows.",
                    int(line),
                )
    problems.raise_any()
    return _concatenated([samples for _, samples in parts])


def facts_of(predictions: Predictions) -> Mapping[str, object]:
    """Return in what all tables of a set are alike."""
    return {
        "classes": predictions.class_names,
        "scale": predictions.scale,
        "kind of scores": kind_of(predictions),
    }


def check_alike(
    own: Mapping[str, object], first: Mapping[str, object], first_path: Path, problems: ProblemList
) -> None:
    """Report where a table is of another kind than the first one."""
    for name, value in own.items():
        if value != first[name]:
            problems.add(
                f"the {name}: {_listed(value)} here, {_listed(first[name])} in {first_path}.",
                "Give tables of one classifier, read alike.",
            )


def _listed(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def kind_of(predictions: Predictions) -> str:
    """Return of what there are scores, in words."""
    networks = predictions.network_scores
    if networks is not None:
        return f"of {networks.shape[1]} networks"
    if predictions.scores is not None:
        return OF_EVERY_CLASS
    return OF_BEST_CLASS if predictions.top_score is not None else NO_SCORES


def _concatenated(parts: Sequence[Samples]) -> Samples:
    """Return samples that fit as one."""
    every = [part.predictions for part in parts]

    def joined(values: Sequence[Floats | None]) -> Floats | None:
        given = [value for value in values if value is not None]
        return np.concatenate(given) if given else None

    predictions = Predictions(
        ids=np.concatenate([one.ids for one in every]),
        class_names=every[0].class_names,
        scale=every[0].scale,
        resolution=min(one.resolution for one in every),
        predicted_class=np.concatenate([one.predicted_class for one in every]),
        top_score=joined([one.top_score for one in every]),
        scores=joined([one.scores for one in every]),
        network_scores=joined([one.network_scores for one in every]),
        is_distribution=all(one.is_distribution for one in every),
    )
    truth: Integers | None = None
    if any(part.true_class is not None for part in parts):
        truth = np.concatenate(
            [
                np.full(part.n_samples, -1, dtype=np.int64)
                if part.true_class is None
                else part.true_class
                for part in parts
            ]
        )
    return Samples(
        predictions,
        truth,
        np.concatenate([part.lines for part in parts]),
        np.concatenate([part.unscored_ids for part in parts]),
        np.concatenate([part.unscored_lines for part in parts]),
    )


def match_rows(wanted: Strings, table: Strings, *, wanted_in: str, table_in: str) -> Integers:
    """Return the row of a table that each wanted id has there."""
    row_of = {id_: row for row, id_ in enumerate(table)}
    if len(wanted) > 1 and not any(id_ in row_of for id_ in wanted):
        what = f"there is no row for any of the {len(wanted)} proteins of {wanted_in}."
        raise refuse(
            table_in, what, f"Make it anew with {wanted_in}, or check that ids are alike."
        )
    problems = [
        Problem(table_in, f"there is no row for {id_!r} of {wanted_in}.", "Add it.")
        for id_ in wanted
        if id_ not in row_of
    ]
    raise_any(problems)
    return np.array([row_of[id_] for id_ in wanted], dtype=np.int64)
