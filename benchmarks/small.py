"""Small sets: `auto`, its members, other methods and peers, on real tables.

    python -m benchmarks.run small [--sizes 100 600] [--draws 2] [--kept]

Rows that calibrate are drawn from one half of a table, at random or by whole blocks of relatives;
the other half judges. Every answer is kept below `benchmarks/out/small`, so that a run that was
ended goes on where it was; the page is made of all that is kept and up to date (`--kept`: of that
alone).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks import stack
from benchmarks.data import halves, real_table, ten_networks
from benchmarks.peers import Fit, mapie_fit, probmetrics_fit, venn_abers_fit
from benchmarks.run import OUT, table

import credence.calibrators
from credence.calibrators.auto import MEMBERS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Note
from credence.metrics.binned import DEBIASED
from credence.metrics.metric import Judged
from credence.predictions import Booleans, Floats, Labelled

FULL = 0  # as a size: all rows of the half that calibrates
SIZES = (100, 150, 300, 600, 1_200, 4_680, FULL)
FEW_ROWS = 1_000  # sizes below have ten subsets, others two, all rows one
DRAWS_OF_FEW, DRAWS_OF_MANY = 10, 2
# Proteins that judge, at most: many where the differences are small.
JUDGING_FEW, JUDGING_MANY = 4_000, 12_000
TREES = ("histogram boosting", "LightGBM", "CatBoost", "random forest")
MEAN_OF_TREES = "mean of the four"
# Modules of intervals, which are not asked for here.
OF_INTERVALS = ("intervals.py", "spread.py")
OURS = ("auto", *MEMBERS, "isotonic", "venn_abers")


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """What answers, and what it is known to be the same by."""

    answer: stack.Answer | None  # None where it is not installed
    version: str  # Or why it is absent


@dataclass(frozen=True, kw_only=True, eq=False)
class Answered:
    """Confidences of what judges, and what they took."""

    confidence: Floats
    seconds: float  # Of the processor, to fit and to answer
    failure: str  # Why there are none, or nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """One subset of one table."""

    size: int  # Rows that calibrate
    draw: int
    seen: Labelled
    unseen: Labelled

    @property
    def is_scarce(self) -> Booleans:
        """Whether a prediction is of a class with few predictions, or only right or wrong ones."""
        share = parse_method("class_only", "benchmarks").build(FitOptions(n_draws=0))
        note = share.fit(self.seen).confidence(self.unseen.predictions).note
        return np.asarray(note & int(Note.SCARCE | Note.ONE_SIDED | Note.UNSEEN_CLASS) > 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class SmallTable:
    """A table in two halves."""

    title: str
    name: str  # Of its folder
    rows: Labelled  # To draw from
    judging: Labelled

    def cell(self, size: int, draw: int) -> Cell | None:
        """Return a subset of so many rows, or None where there are fewer, or it was drawn."""
        n_rows = self.rows.n_samples
        if size > n_rows or (size == FULL and draw > 0):
            return None
        most = JUDGING_FEW if 0 < size < FEW_ROWS else JUDGING_MANY
        is_many = self.judging.n_samples > most
        return Cell(
            size=size or n_rows,
            draw=draw,
            seen=self.rows if size == FULL else stack.some_rows(self.rows, size, draw),
            unseen=stack.some_rows(self.judging, most, 0) if is_many else self.judging,
        )


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """How one contestant did in one size of one table, over its subsets."""

    nll: float
    gap: float  # NLL less that of `auto`
    error: float  # Of it, paired
    scarce: float  # NLL in scarce classes, NaN where there are none
    scarce_gap: float
    scarce_error: float
    brier: float
    debiased: float  # Calibration error
    seconds: float
    n_draws: int
    n_failed: int


def with_class_offsets(seen: Labelled, unseen: Labelled) -> Floats:
    """Return answers of a logistic regression on the log odds of the score and the class."""
    from sklearn.linear_model import LogisticRegression

    def design(labelled: Labelled) -> Floats:
        predictions = labelled.predictions
        share = np.clip(predictions.top_score / predictions.scale, 1e-6, 1.0 - 1e-6)
        is_class = np.eye(predictions.n_classes)[predictions.predicted_class]
        return np.column_stack([np.log(share) - np.log1p(-share), is_class])

    model = LogisticRegression(max_iter=2000).fit(design(seen), seen.is_correct)
    return model.predict_proba(design(unseen))[:, list(model.classes_).index(True)]


def by_fit(fit: Fit) -> stack.Answer:
    """Return a contestant of the other comparison as one of this."""
    return lambda seen, unseen: fit(seen)(unseen)


def version_of_methods() -> str:
    """Return a digest of the package's calibrators: other ones have other answers."""
    folder = Path(credence.calibrators.__file__).parent
    paths = (path for path in sorted(folder.glob("*.py")) if path.name not in OF_INTERVALS)
    content = b"".join(path.read_bytes() for path in paths)
    return hashlib.blake2b(content, digest_size=6).hexdigest()


def contestants() -> dict[str, Contestant]:
    """Return `auto`, its members, other methods and peers."""
    ours, version = stack.method_answers(), version_of_methods()
    found = {name: Contestant(answer=ours[name], version=version) for name in OURS}
    for name, peer in stack.peers().items():
        package = {"LightGBM": "lightgbm", "CatBoost": "catboost"}.get(name, "scikit-learn")
        found[name] = (
            Contestant(answer=None, version=peer)
            if isinstance(peer, str)
            else Contestant(answer=peer, version=importlib.metadata.version(package))
        )
    found["logistic regression, class offsets"] = Contestant(
        answer=with_class_offsets, version=importlib.metadata.version("scikit-learn")
    )
    for name, package, fit in (
        ("venn-abers", "venn-abers", venn_abers_fit),
        ("MAPIE isotonic", "mapie", mapie_fit("isotonic")),
        ("probmetrics SMS", "probmetrics", probmetrics_fit("sms")),
    ):
        is_there = importlib.util.find_spec(package.replace("-", "_")) is not None
        found[name] = (
            Contestant(answer=by_fit(fit), version=importlib.metadata.version(package))
            if is_there
            else Contestant(answer=None, version=f"No module named {package!r}")
        )
    return found


def small_set_tables() -> Iterator[SmallTable]:
    """Yield the tables."""
    for title, name, labelled in (
        ("PhANNs' first table", "first", real_table()),
        ("PhANNs' ten networks", "networks", ten_networks()),
    ):
        if labelled is None:
            continue
        alone = replace(labelled, cluster=labelled.predictions.ids)
        rows, judging = stack.at_random(alone, 1)
        yield SmallTable(
            title=f"{title} at random", name=f"{name}-random", rows=rows, judging=judging
        )
        rows, judging = halves(labelled)
        yield SmallTable(
            title=f"{title} by blocks", name=f"{name}-blocks", rows=rows, judging=judging
        )
    for name, labelled in stack.small_tables().items():
        rows, judging = stack.at_random(labelled, 1)
        yield SmallTable(title=f"scikit-learn's {name}", name=name, rows=rows, judging=judging)


def answer_of(contestant: stack.Answer, cell: Cell) -> Answered:
    """Return what a contestant says of one cell."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            confidence, failure = contestant(cell.seen, cell.unseen), ""
    except Exception as problem:  # a peer may fail in any way; the page says how often
        confidence, failure = np.empty(0), f"{type(problem).__name__}: {problem}"
    return Answered(confidence=confidence, seconds=time.process_time() - start, failure=failure)


def kept_answer(folder: Path, name: str, contestant: Contestant, cell: Cell) -> Answered:
    """Return what a contestant says of one cell, from an earlier run where there was one."""
    path = folder / f"{cell.size}-{cell.draw}" / f"{name} {contestant.version}.npz"
    if not path.is_file():
        assert contestant.answer is not None
        answered = answer_of(contestant.answer, cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npz")
        np.savez(part, **vars(answered))
        part.replace(path)
    with np.load(path) as kept:
        return Answered(
            confidence=kept["confidence"],
            seconds=float(kept["seconds"]),
            failure=str(kept["failure"]),
        )


def all_answers(
    folder: Path, everyone: Mapping[str, Contestant], cell: Cell
) -> dict[str, Answered]:
    """Return what everyone who is there says of one cell."""
    answers = {
        name: kept_answer(folder, name, contestant, cell)
        for name, contestant in everyone.items()
        if contestant.answer is not None
    }
    trees = [answers[name] for name in TREES if name in answers and not answers[name].failure]
    if trees:
        answers[MEAN_OF_TREES] = Answered(
            confidence=np.mean([tree.confidence for tree in trees], axis=0),
            seconds=sum(tree.seconds for tree in trees),
            failure="",
        )
    return answers


def paired(gaps: Sequence[Floats], cluster: np.ndarray) -> tuple[float, float]:
    """Return a mean difference over subsets and proteins, and its error.

    Proteins that judge are the same in all subsets: the error of them, blocks taken together, and
    that of the subsets are added in squares.
    """
    means = [float(np.nanmean(gap)) for gap in gaps if not np.isnan(gap).all()]
    rows = ~np.isnan(gaps).all(axis=0)
    if not means:
        return float("nan"), float("nan")
    of_rows = stack.paired_error(np.nanmean(np.array(gaps)[:, rows], axis=0), cluster[rows])
    of_draws = np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0
    return float(np.mean(means)), float(np.hypot(of_rows, of_draws))


def numbers_of(
    name: str, cells: Sequence[Cell], answers: Sequence[Mapping[str, Answered]]
) -> Numbers | None:
    """Return how one contestant did in cells of one size, None where it failed in all."""
    there = [
        (cell, of_cell)
        for cell, of_cell in zip(cells, answers, strict=True)
        if name in of_cell and not of_cell[name].failure
    ]
    if not there:
        return None
    nll, brier, debiased, gaps, scarce, scarce_gaps = [], [], [], [], [], []
    for cell, of_cell in there:
        of_auto, stated = of_cell["auto"].confidence, of_cell[name].confidence
        known = ~np.isnan(of_auto)
        # Where a contestant has no answer it has that of `auto`.
        p = np.where(np.isnan(stated), of_auto, stated)
        loss, is_correct = stack.losses(p, cell.unseen), cell.unseen.is_correct
        gap = loss - stack.losses(of_auto, cell.unseen)
        rows = known & cell.is_scarce
        nll.append(loss[known].mean())
        brier.append(((p - is_correct)[known] ** 2).mean())
        judged = Judged(
            confidence=p[known], is_correct=is_correct[known], weight=np.ones(int(known.sum()))
        )
        debiased.append(DEBIASED.compute(judged))
        gaps.append(np.where(known, gap, np.nan))
        scarce.append(loss[rows].mean() if rows.any() else np.nan)
        scarce_gaps.append(np.where(rows, gap, np.nan))
    cluster = cells[0].unseen.cluster
    gap, error = paired(gaps, cluster)
    scarce_gap, scarce_error = paired(scarce_gaps, cluster)
    is_any = not np.isnan(scarce).all()
    return Numbers(
        nll=float(np.mean(nll)),
        gap=gap,
        error=error,
        scarce=float(np.nanmean(scarce)) if is_any else float("nan"),
        scarce_gap=scarce_gap,
        scarce_error=scarce_error,
        brier=float(np.mean(brier)),
        debiased=float(np.mean(debiased)),
        seconds=float(np.mean([of_cell[name].seconds for _, of_cell in there])),
        n_draws=len(there),
        n_failed=len(cells) - len(there),
    )


def fewest_draws(size: int) -> int:
    """Return how many subsets of a size there are where nothing else is asked for."""
    if size == FULL:
        return 1
    return DRAWS_OF_FEW if size < FEW_ROWS else DRAWS_OF_MANY


def small_sets(
    sizes: Sequence[int] = (), draws: int | None = None, *, is_kept: bool = False
) -> str:
    """Fit what is not kept yet, subset after subset; return the page's section."""
    everyone, folder = contestants(), OUT / "small"
    tables = list(small_set_tables())
    if is_kept:
        return section(folder, everyone, tables)
    chosen = tuple(sizes) or SIZES
    n_draws = {size: draws or fewest_draws(size) for size in chosen}
    for draw in range(max(n_draws.values())):
        for size in (size for size in chosen if draw < n_draws[size]):
            for one in tables:
                cell = one.cell(size, draw)
                if cell is not None:
                    all_answers(folder / one.name, everyone, cell)
                    print(one.title, cell.size, draw, flush=True)
    return section(folder, everyone, tables)


def kept_cells(
    folder: Path, everyone: Mapping[str, Contestant], source: SmallTable, size: int
) -> list[Cell]:
    """Return the cells of a size that everyone has answered who is there."""
    cells = []
    for draw in range(fewest_draws(size)):
        cell = source.cell(size, draw)
        if cell is None:
            break
        place = folder / source.name / f"{cell.size}-{draw}"
        if all(
            (place / f"{name} {contestant.version}.npz").is_file()
            for name, contestant in everyone.items()
            if contestant.answer is not None
        ):
            cells.append(cell)
    return cells


def section(folder: Path, everyone: Mapping[str, Contestant], tables: Sequence[SmallTable]) -> str:
    """Return the section of the page: a summary, then a table for each table and size."""
    absent = [f"{name} ({who.version})" for name, who in everyone.items() if who.answer is None]
    text, summary = [], []
    for source in tables:
        for size in SIZES:
            cells = kept_cells(folder, everyone, source, size)
            if not cells:
                continue
            answers = [all_answers(folder / source.name, everyone, cell) for cell in cells]
            found = {name: numbers_of(name, cells, answers) for name in (*everyone, MEAN_OF_TREES)}
            there = {name: numbers for name, numbers in found.items() if numbers is not None}
            n_rows = f"{cells[0].size:,}"
            summary.append(summary_line(source.title, n_rows, there))
            text.append(f"**{source.title}, {n_rows} proteins, subsets: {len(cells)}**\n")
            text.append(table(HEADER, [line_of(*entry) for entry in there.items()]))
    intro = (
        f"At most {JUDGING_FEW:,} proteins judge sets below {FEW_ROWS:,}, {JUDGING_MANY:,} the "
        "others, from the other half of the table. Numbers are means over subsets; a difference "
        "to `auto` is paired, its standard error that of proteins (blocks taken together) and of "
        "subsets. Scarce classes have fewer than ten predictions, or only right or only wrong "
        "ones. The debiased calibration error is that of Kumar et al. 2019. Where a contestant "
        "has no answer for a protein it has that of `auto`; one that fails on every subset is "
        f"not listed. Absent: {'; '.join(absent) or 'nobody'}.\n\n"
        "`auto` beside the best of all others, which is known only in hindsight; “better by more "
        "than one error” counts contestants whose paired difference says so.\n"
    )
    return "\n".join([intro, table(SUMMARY_HEADER, summary), *text])


SUMMARY_HEADER = [
    "table", "proteins", "subsets", "`auto`", "best other", "less that of `auto`",
    "better by more than one error", "best other in scarce classes", "less that of `auto` there",
    "better there by more than one error",
]  # fmt: skip


def summary_line(title: str, n_rows: str, there: Mapping[str, Numbers]) -> list[str]:
    """Return how `auto` did beside the best of all others."""
    others = {name: numbers for name, numbers in there.items() if name != "auto"}
    best = min(others, key=lambda name: others[name].nll)
    scarce = {name: n for name, n in others.items() if not np.isnan(n.scarce)}
    line = [
        title, n_rows, str(there["auto"].n_draws), f"{there['auto'].nll:.4f}",
        f"{label_of(best)} {others[best].nll:.4f}",
        with_error(others[best].gap, others[best].error),
        names_of(name for name, n in others.items() if n.gap < -n.error),
    ]  # fmt: skip
    if not scarce:
        return [*line, "–", "–", "–"]
    least = min(scarce, key=lambda name: scarce[name].scarce)
    return [
        *line,
        f"{label_of(least)} {scarce[least].scarce:.3f}",
        with_error(scarce[least].scarce_gap, scarce[least].scarce_error),
        names_of(name for name, n in scarce.items() if n.scarce_gap < -n.scarce_error),
    ]


def names_of(names: Iterator[str]) -> str:
    """Return names in one cell of a table."""
    return ", ".join(label_of(name) for name in names) or "nobody"


def label_of(name: str) -> str:
    """Return a contestant as the page writes it."""
    return f"`{name}`" if name in OURS else name


def with_error(gap: float, error: float) -> str:
    """Return a difference with its standard error."""
    return "–" if np.isnan(gap) else f"{gap:+.4f} ± {error:.4f}"


HEADER = [
    "contestant", "NLL", "less that of `auto`", "NLL in scarce classes",
    "less that of `auto` there",
    "Brier", "debiased error", "processor s",
]  # fmt: skip


def line_of(name: str, numbers: Numbers) -> list[str]:
    """Return a line of a table."""
    n_all = numbers.n_draws + numbers.n_failed
    failed = f" (fails in {numbers.n_failed} of {n_all})" if numbers.n_failed else ""
    is_auto = name == "auto"
    return [
        label_of(name) + failed,
        f"{numbers.nll:.4f}",
        "" if is_auto else with_error(numbers.gap, numbers.error),
        "–" if np.isnan(numbers.scarce) else f"{numbers.scarce:.3f}",
        "" if is_auto else with_error(numbers.scarce_gap, numbers.scarce_error),
        f"{numbers.brier:.4f}",
        f"{numbers.debiased:.4f}",
        f"{numbers.seconds:.1f}",
    ]
