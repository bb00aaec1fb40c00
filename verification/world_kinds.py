"""Do the intervals of `auto` cover in each class, in small and lopsided worlds?

Worlds of four kinds and several sizes, in heavy-tailed families. The truth given predicted class
and top score is known (`world_truth.py`), so `auto(sees=score)` is asked, at sixty scores of each
class that divide its positives evenly, whether its interval holds the truth. Classes that are
scarce, or only right or only wrong, are apart from the others, and the commonest is shown alone.
What the width is compared with is that of one who knows how far the answers are from the truth:
2 · 1.96 times the root mean square of their gaps over the worlds.

    python verification/world_kinds.py --worlds 10 --proteins 150 500 2000
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from in_memory import draw_labelled
from world_truth import truth

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Note
from credence.predictions import Floats, Integers, Predictions
from credence.simulate.law import CLASS_NAMES, N_CLASSES, RESOLUTION, SCALE, WorldSettings
from report import write_section

SEED = 20261128
N_SCORES = 60  # asked of each class
Z = 1.96
SCARCE = int(Note.SCARCE | Note.ONE_SIDED | Note.UNSEEN_CLASS)
GROUPS = ("classes that are not scarce", "the commonest class", "scarce classes")
TITLE = "Do the intervals of auto cover in each class?"


def shares_of(of_class: dict[int, float], rest: float = 0.0) -> Floats:
    """Return the shares of all classes."""
    return np.array([of_class.get(class_, rest) for class_ in range(N_CLASSES)])


KINDS = {
    "even": shares_of({}, 1.0 / N_CLASSES),
    "skewed": shares_of({10: 0.90, 0: 0.05, 3: 0.03, 7: 0.02}),
    "rare": shares_of(dict.fromkeys((0, 3, 4, 5, 7, 9), 0.95 / 6), 0.01),
    "one dominating": shares_of({10: 0.80}, 0.02),
}


@dataclass(frozen=True, kw_only=True)
class ClassOutcome:
    """What the intervals of one class of one world hold."""

    kind: str
    n_proteins: int
    group: str
    held: float  # Share of its positives whose interval holds the truth
    width: float
    gap: Floats  # Answer less truth at each score asked


def asked(shares: Floats) -> tuple[Integers, Floats, Floats]:
    """Return class, score and truth of what is asked of every class that occurs."""
    mass, curves = truth().score_mass(shares), truth().curves(shares)
    classes = np.flatnonzero(shares > 0)
    part = (np.arange(N_SCORES) + 0.5) / N_SCORES
    below = [np.cumsum(mass[class_]) / mass[class_].sum() for class_ in classes]
    place = np.concatenate([np.searchsorted(sums, part) for sums in below])
    class_ = np.repeat(classes, N_SCORES)
    return class_, place * RESOLUTION, curves[class_, place]


def outcomes(kind: str, n_proteins: int, world: int) -> list[ClassOutcome]:
    """Return what intervals hold in one world."""
    shares = KINDS[kind]
    rng = np.random.default_rng([SEED, list(KINDS).index(kind), n_proteins, world])
    settings = WorldSettings(n_calibration=n_proteins, class_proportions="sampled")
    labelled = draw_labelled(settings, rng, shares)
    best = replace(labelled.predictions, scores=None, network_scores=None)
    # A class that does not occur is predicted too; what is predicted others does not hang on it.
    rows = np.flatnonzero(shares[best.predicted_class] > 0)
    labelled = replace(labelled, predictions=best).take(rows)
    class_, score, true_value = asked(shares)
    predictions = Predictions(
        ids=np.arange(len(class_)).astype(str).astype(object),
        class_names=CLASS_NAMES,
        scale=SCALE,
        resolution=RESOLUTION,
        predicted_class=class_,
        top_score=score,
    )
    stack = parse_method("auto(sees=score)", "study").build(FitOptions(n_draws=200))
    answer = stack.fit(labelled).confidence(predictions)
    commonest = np.bincount(labelled.predictions.predicted_class).argmax()
    found = []
    for one in np.unique(class_):
        rows = np.flatnonzero(class_ == one)
        lower, upper, real = answer.lower[rows], answer.upper[rows], true_value[rows]
        groups = [GROUPS[2] if (answer.note[rows] & SCARCE).any() else GROUPS[0]]
        groups += [GROUPS[1]] if one == commonest else []
        for group in groups:
            outcome = ClassOutcome(
                kind=kind,
                n_proteins=n_proteins,
                group=group,
                held=float(((lower <= real) & (real <= upper)).mean()),
                width=float((upper - lower).mean()),
                gap=answer.value[rows] - real,
            )
            found.append(outcome)
    return found


def table_of(found: list[ClassOutcome]) -> Iterator[dict[str, object]]:
    """Yield a row for each kind and size, over classes and worlds."""
    cells: defaultdict[tuple[str, int], defaultdict[str, list[ClassOutcome]]]
    cells = defaultdict(lambda: defaultdict(list))
    for outcome in found:
        cells[outcome.kind, outcome.n_proteins][outcome.group].append(outcome)
    for (kind, n_proteins), groups in cells.items():
        row: dict[str, object] = {"worlds": kind, "proteins": f"{n_proteins:,}"}
        for group in GROUPS:
            row[group] = cell_of(groups[group]) if groups[group] else "–"
        yield row


def cell_of(outcomes_: list[ClassOutcome]) -> str:
    """Return coverage with its standard error, width, and the width of one who knows the gaps."""
    held = np.array([outcome.held for outcome in outcomes_])
    width = float(np.mean([outcome.width for outcome in outcomes_]))
    squares = np.array([outcome.gap for outcome in outcomes_]) ** 2
    least = float(2.0 * Z * np.sqrt(squares.mean(axis=0)).mean())
    error = held.std() / np.sqrt(len(held))
    return f"{held.mean():.3f} ± {error:.3f}, {width:.3f} ({least:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--proteins", type=int, nargs="+", default=[150, 500, 2_000])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    cases = list(product(KINDS, given.proteins, range(given.worlds)))
    with ProcessPoolExecutor(given.jobs) as pool:
        parts = list(pool.map(outcomes, *zip(*cases, strict=True)))
    table = list(table_of([outcome for part in parts for outcome in part]))
    for row in table:
        print("\t".join(str(value) for value in row.values()))
    text = (
        f"{given.worlds} simulated worlds of each kind and size, in heavy-tailed families: share "
        "of a class's positives at which the interval of `auto(sees=score)` of 95 % holds the "
        "true probability (± its standard error over classes and worlds), mean width, and in "
        "brackets the width of one who knows how far the answers are from the truth "
        "(`verification/world_kinds.py`, decision 0041)."
    )
    if given.page is not None:
        write_section(given.page, TITLE, text, table)


if __name__ == "__main__":
    main()
