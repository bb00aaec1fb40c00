"""The stage `annotate` on tables in shards: a file of confidences for each file of scores."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from credence import __version__
from credence.problems import MOST_PROBLEMS_KEPT, Problem, gathering, raise_any, refuse
from credence.progress import Progress, echo
from credence.stages.annotate import AnnotateInputs, echo_remarks
from credence.stages.reading import require_other
from credence.tables.digests import CHANGED_IN_STEP, KnownDigests
from credence.tables.formats import TableSpec
from credence.tables.joining import stream_tables
from credence.tables.samples import Samples, stream_samples
from credence.tables.shards import SEALS, Shard, shards_of
from credence.tables.writing import TableWriter

MOST_HELD = 20_000_000  # scores of a table that is read once, and held: 160 MB
DIGESTS = "digests.json"  # of what was read, for the next run


def annotate_shards(
    tables: Sequence[str],
    out: str,
    ending: str | None,
    ids_across: bool,
    for_whole: Mapping[str, Any],
    spreadsheet_safe: bool,
    six_decimals: bool,
    **options: Any,
) -> None:
    """Write the confidences of each table into a file of a folder; those that are there stay."""
    for option, value in for_whole.items():
        if value is not None:
            fault = "it is for one table of confidences, and --out is a folder."
            raise refuse(option, fault, "Leave it out, or let --out end in .tsv or .parquet.")
    shards = shards_of(tables, Path(out), ending)
    given = AnnotateInputs(tables=[shard.source for shard in shards], **options)
    _require_one_tool(given)
    annotation = given.annotation
    how: Any = {"spreadsheet_safe": spreadsheet_safe, "in_six_decimals": six_decimals}
    require_other((), [*given.tables, *given.files.values()])
    known = KnownDigests.remembered(Path(out, SEALS, DIGESTS))
    made_of = {
        "version of credence": __version__,
        "--six-decimals": str(six_decimals),
        "--parts": str(given.parts),
        "--match": given.match,
        "--spreadsheet-safe": str(spreadsheet_safe),
        "--spec": repr(given.stated_spec),
    }
    made_of |= {name: known.digest(path) for name, path in given.files.items() if path}
    problems: list[Problem] = []
    changed: list[str] = []
    count: Counter[str] = Counter()
    with Progress("annotate", "tables", len(shards)) as progress:
        for shard in shards:
            with gathering(problems):
                made_of_shard = {**made_of, "table": known.digest(shard.source)}
                if shard.is_finished(made_of_shard, known):
                    count["kept"] += 1
                elif _write(shard, given, made_of_shard, known, count, **how):
                    changed.append(shard.source)
            progress.add()
            if len(problems) >= MOST_PROBLEMS_KEPT:
                break
    known.remember(Path(out, SEALS, DIGESTS))
    if count["made"] or not problems:
        _tell(out, count, changed)
        if given.shift is None:
            echo(f"{out}: {NO_PROPORTIONS}")
        echo_remarks(annotation, count["rows"], out)
    if ids_across and not problems:
        with gathering(problems):
            deque(stream_tables(given.tables, given.spec), maxlen=0)
    raise_any(_in_turn(problems))


NO_PROPORTIONS = (
    "confidences are those for the class proportions of the calibration set, since tables one by "
    "one do not tell those of the whole. Give --shift, what credence shift wrote of all tables, "
    "or --shift none."
)


def _tell(out: str, count: Mapping[str, int], changed: Sequence[str]) -> None:
    echo(
        f"Wrote {count['made']} tables into {out}: {count['rows']} proteins, {count['unknown']} "
        f"without a confidence; {count['kept']} were there already. Without q-values, which "
        "need the rows of all tables at once."
    )
    if changed:
        remark = "of them have scores unlike those in calibration, as their notes say"
        echo(f"{out}: {len(changed)} {remark}; the first is {changed[0]}.")


def _require_one_tool(given: AnnotateInputs) -> None:
    if given.tool or given.file.tools is not None:
        fault = "the calibration is of several tools, which are combined one table at a time."
        raise refuse("--out", fault, "Let it end in .tsv or .parquet.")


def _in_turn(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first of each table before the second of any: of so many only some are shown."""
    seen: Counter[str] = Counter()
    turns: list[int] = []
    for problem in problems:
        turns.append(seen[problem.where])
        seen[problem.where] += 1
    return [problems[place] for place in np.argsort(turns, kind="stable")]


def _write(
    shard: Shard,
    given: AnnotateInputs,
    made_of: Mapping[str, str],
    known: KnownDigests,
    n: Counter[str],
    **how: Any,
) -> bool:
    """Write the confidences of a table; return whether its scores are unlike calibration's."""
    shard.begin()
    pieces = _held(shard.source, given.spec)
    annotation = given.annotation.of_set(lambda: (samples.predictions for samples in pieces()))
    with TableWriter(shard.target, annotation.names, **how) as writer:
        here = ((shard.source, samples) for samples in pieces())
        for columns in annotation.rows(here):
            writer.write(columns)
            n["rows"] += len(columns["id"])
            n["unknown"] += int(np.isnan(columns["confidence"]).sum())
    n["made"] += 1
    if known.digest(shard.source) != made_of["table"]:
        shard.begin()
        raise refuse(shard.source, *CHANGED_IN_STEP)
    shard.finish(made_of, known)
    return annotation.is_changed


def _held(source: str, spec: TableSpec) -> Callable[[], Iterator[Samples]]:
    """Return what gives the pieces of a table as often as is asked; one not too large is held."""
    held, size = [], 0
    for samples in stream_samples(Path(source), spec):
        held.append(samples)
        size += samples.n_samples * samples.predictions.n_classes
        if size > MOST_HELD:
            return lambda: stream_samples(Path(source), spec)
    return lambda: iter(held)
