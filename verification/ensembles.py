"""Appendix A of the calibration paper: does tuning on the set that measures flatter a method?

Ensembles of networks that tell digits; each method is fitted on set 1 and measured on set 1 and
on set 2. Under-trained networks make many ensembles; ten fully trained ones make one. An
ensemble's scores are the softmax of its networks' summed logs. Further, a protein ensemble:
PhANNs' ten networks, sets 1 and 2 being halves of blocks of its table, drawn anew each time.

    PYTHONPATH=. python verification/ensembles.py --images t10k-images.gz \\
        --labels t10k-labels.gz --out ensembles

With the full set of 70,000 digits: both options twice, and --sizes 50000 10000 10000 --steps 100
--networks 1000. Writes medians.tsv (set 1, set 2, and the error that sampling images gives),
saturated.tsv, proteins.tsv, and for `credence figures --records`: records.json, figures A1 and A2,
and digits.json, figures 4, 10 to 12 and 14 of one under-trained ensemble and 16 of the fully
trained one.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.neural_network import MLPClassifier
from verification.two_sets import first_half

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.paper_figures import (
    FIGURES,
    LOO,
    MON0,
    MON2,
    MON4,
    SALAMON_PAPER,
    FigureSource,
    make_figures,
)
from credence.findings import FigurePanel, FigureRecord, FigureSeries, FiguresRecord
from credence.metrics.all_metrics import METRICS_BY_NAME
from credence.metrics.metric import Judged
from credence.predictions import Floats, Integers, Labelled, from_scores, label
from credence.tables.writing import write_record

SEED = 20231
HIDDEN, BATCH, RATE = (300, 100), 1000, 1e-3
TEN = 10  # networks of an ensemble
TOP, SATURATED, MOST_STEPS, LOOK = 0.99, 0.99, 10_000, 25
SAVED = 10  # ensembles after which tables are written, so that what is stopped has given something
A1 = {"STS": "sts", "CSTS": "csts", "TSwA": "tswa", "CSTSwA": "cstswa"}
A2 = {"b_mon": MON0, "b_mon2": MON2, "b_mon4": MON4, "b_opt": LOO}
REMEDIES = {"Conf1": "class_only", "Cum*": "cumulative_optimal", "uncalibrated": "uncalibrated"}
METRICS = {"NLL": "nll", "ECE1": "ece", "ECE2": "ece2"}
BLOCK = 20  # neighbouring rows of the protein table that stay together: they are relatives


def read_idx(path: Path) -> np.ndarray:
    """Return what an IDX file of bytes holds: images as rows, or labels."""
    content = gzip.decompress(path.read_bytes())
    n_axes = content[3]
    shape = np.frombuffer(content, ">i4", n_axes, 4)
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes)
    return values.reshape(shape[0], -1) if n_axes > 1 else values


def train(
    number: int, images: np.ndarray, digits: np.ndarray, n_train: int, steps: int | None
) -> Floats:
    """Return log-probabilities of all images past the first; None: trained until saturated."""
    rng = np.random.default_rng([SEED, number])
    model = MLPClassifier(
        HIDDEN, learning_rate_init=RATE, batch_size=BATCH, random_state=int(rng.integers(2**31))
    )
    for step in range(steps or MOST_STEPS):
        rows = rng.integers(0, n_train, BATCH)
        model.partial_fit(images[rows], digits[rows], classes=np.arange(10))
        if steps is None and step % LOOK == LOOK - 1:
            top = model.predict_proba(images[:n_train]).max(axis=1)
            if (top > TOP).mean() >= SATURATED:
                break
    probability = model.predict_proba(images[n_train:]).astype(np.float64)
    return np.log(np.maximum(probability, np.finfo(np.float32).tiny))


def pooled(logs: Floats, digits: Integers) -> Labelled:
    """Return the ensemble whose networks' log-probabilities are given."""
    total = logs.sum(axis=0)
    scores = np.exp(total - total.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    ids = np.arange(len(digits)).astype(str).astype(object)
    names = tuple(str(digit) for digit in range(scores.shape[1]))
    return label(from_scores(ids, names, scores, 1.0, 0.0), digits.astype(np.int64))


def measured(one: Labelled, confidence: Floats) -> list[float]:
    """Return each metric of each predicted class, then over all; last the mean loss's error."""
    found = []
    for class_ in (*range(one.predictions.n_classes), None):
        rows = ~np.isnan(confidence)
        if class_ is not None:
            rows &= one.predictions.predicted_class == class_
        judged = Judged(
            confidence=confidence[rows], is_correct=one.is_correct[rows], weight=one.weight[rows]
        )
        found += [METRICS_BY_NAME[name].compute(judged) for name in METRICS.values()]
        p = np.where(judged.is_correct, judged.confidence, 1.0 - judged.confidence)
        loss = -np.log(np.maximum(p, 1e-15))
        found.append(float(loss.std() / np.sqrt(max(len(loss), 1))))
    return found


def both_sets(first: Labelled, second: Labelled, methods: dict[str, str]) -> np.ndarray:
    """Return what each method, fitted on the first, measures on both: method, set, numbers."""
    answer = []
    for text in methods.values():
        fit = parse_method(text, "method").build(FitOptions(n_draws=0)).fit(first)
        answer.append(
            [measured(one, fit.confidence(one.predictions).value) for one in (first, second)]
        )
    return np.array(answer)


def one_ensemble(
    number: int, logs: Floats, digits: Integers, n_first: int, methods: dict[str, str]
) -> tuple[np.ndarray, float]:
    """Return the same of an ensemble of ten networks drawn at random, and its precision."""
    rng = np.random.default_rng([SEED, 1, number])
    ensemble = pooled(logs[rng.choice(len(logs), TEN, replace=False)], digits)
    rows = np.arange(len(digits)) < n_first
    second = ensemble.take(~rows)
    found = both_sets(ensemble.take(rows), second, methods)
    return found, float(second.is_correct.mean())


def table_of(values: np.ndarray, methods: dict[str, str], names: list[str]) -> pd.DataFrame:
    """Return medians over draws (the first axis) by method, class and metric."""
    kinds = [*METRICS, "error"]
    rows = []
    middle = np.nanmedian(values, axis=0)
    spread = np.nanquantile(values[:, :, 1] - values[:, :, 0], (0.05, 0.5, 0.95), axis=0)
    for m, method in enumerate(methods):
        for c, name in enumerate(names):
            errors = middle[m, :, c * len(kinds) + kinds.index("error")]
            for k, metric in enumerate(METRICS):
                at = c * len(kinds) + k
                rows.append(
                    {
                        "method": method,
                        "class": name,
                        "metric": metric,
                        "set_1": middle[m, 0, at],
                        "set_2": middle[m, 1, at],
                        "difference": spread[1, m, at],
                        "lower": spread[0, m, at],
                        "upper": spread[2, m, at],
                        "sampling_error": float(np.hypot(*errors)) if metric == "NLL" else np.nan,
                    }
                )
    return pd.DataFrame(rows)


MARKS = ("histogram", "kernel", "cumulative", "all")  # colours and marks of four methods
BETWEEN_METHODS, BETWEEN_SETS = 0.2, 0.05  # of a digit's place on the axis


def figures_of(
    table: pd.DataFrame, number: str, methods: dict[str, str], about: str
) -> list[FigureRecord]:
    """Return A1 or A2 for each metric: one panel, a mark for each method, digit and set."""
    names = [name for name in table["class"].unique() if name != "all"]
    places = np.arange(len(names), dtype=np.float64)
    records = []
    for letter, metric in zip("abc", METRICS, strict=True):
        series = []
        for at, (method, look) in enumerate(zip(methods, MARKS, strict=False)):
            rows = table[(table["metric"] == metric) & (table["method"] == method)]
            rows = rows.set_index("class").loc[names]
            centre = places + (at - (len(methods) - 1) / 2) * BETWEEN_METHODS
            series += [
                FigureSeries(
                    name=f"{method}, {word}",
                    kind=kind,
                    look=look,
                    x=tuple((centre + aside).tolist()),
                    y=tuple(rows[column].tolist()),
                )
                for word, kind, column, aside in (
                    ("set 1", "hollow", "set_1", -BETWEEN_SETS),
                    ("set 2", "points", "set_2", BETWEEN_SETS),
                )
            ]
        kind = "temperatures" if number == "A1" else "bandwidths"
        records.append(
            FigureRecord(
                number=f"{number}{letter}",
                name=f"{kind}-{metric.lower()}",
                shows="Methods tuned on test set 1, measured on it and on test set 2.",
                caption=f"{metric} of methods tuned on test set 1, measured there (open) and on "
                f"test set 2 (filled), by predicted class. {about} After Fig. {number} of "
                f"{SALAMON_PAPER}.",
                panels=(FigurePanel(title=metric, series=tuple(series)),),
                axis="predicted class",
                upright=f"median {metric}",
                start=-0.6,
                end=len(names) - 0.4,
                top=1.1 * max(max(part.y) for part in series),
                ticks=tuple(names),
            )
        )
    return records


OF_UNDER_TRAINED = ("04", "10", "11", "12", "14")  # Figures that the paper has of other tools
OF_TRAINED = ("16a", "16b")


def figures_of_sets(
    sets: tuple[Labelled, Labelled], numbers: tuple[str, ...], about: str
) -> list[FigureRecord]:
    """Return some figures of an ensemble, from its two test sets."""
    first, second = sets
    source = FigureSource(labelled=first, second=second)
    made = make_figures(source, [spec for spec in FIGURES if spec.number in numbers])
    evidence = f"{first.n_samples:,} proteins, families unknown."
    counted = f"{first.n_samples:,} digits."
    return [
        replace(
            record,
            caption=f"{record.caption.replace(evidence, counted)} {about}",
            key=record.key.replace("proteins", "digits"),
        )
        for record in made
    ]


def proteins(path: Path, draws: int, methods: dict[str, str]) -> pd.DataFrame:
    """Return the same of PhANNs' ten networks, by halves of blocks of its table."""
    data = np.load(path, allow_pickle=False)
    names = tuple(data["class_names"].tolist())
    truth = np.array([names.index(name) for name in data["true_class"].tolist()])
    total = np.log(np.maximum(data["softmax"].astype(np.float64), 5e-5)).sum(axis=1)
    scores = np.exp(total - total.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    block = np.array([f"block {at // BLOCK}" for at in range(len(truth))], dtype=object)
    one = label(
        from_scores(data["id"].astype(object), names, scores, 1.0, 0.0), truth, None, block
    )
    found = []
    for draw in range(draws):
        inside = first_half(one, draw)
        found.append(both_sets(one.take(inside), one.take(~inside), methods))
    return table_of(np.array(found), methods, [*names, "all"])


def main() -> None:
    """Train, fit, measure, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("--images", type=Path, nargs="+", help="IDX files, packed; of one set after the other")
    add("--labels", type=Path, nargs="+")
    add("--sizes", type=int, nargs=3, default=(5000, 2500, 2500), help="training, set 1, set 2")
    add("--networks", type=int, default=100)
    add("--steps", type=int, default=27, help="of training: under-trained, about 88 %% right")
    add("--ensembles", type=int, default=250, help="1000 take 12 to 16 minutes on two cores")
    add("--proteins", type=Path, help="networks of proteins: npz with softmax, true_class, id")
    add("--draws", type=int, default=20, help="halvings of the proteins")
    add("--cores", type=int, default=2)
    add("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    methods = A1 | A2
    if given.proteins is not None:
        found = proteins(given.proteins, given.draws, methods)
        found.to_csv(given.out / "proteins.tsv", sep="\t", index=False)
        print(found[found["class"] == "all"].to_string(index=False), flush=True)
    if not given.images:
        return
    digits_study(given, methods)


def digits_study(given: argparse.Namespace, methods: dict[str, str]) -> None:
    """Train networks on digits, fit and measure each method, and write medians and figures."""
    n_train, n_first, n_second = given.sizes
    n = n_train + n_first + n_second
    images = np.concatenate([read_idx(path) for path in given.images])[:n].astype(np.float32) / 255
    digits = np.concatenate([read_idx(path) for path in given.labels])[:n]
    begun, own = time.monotonic(), digits[n_train:]
    names = [*map(str, range(10)), "all"]
    with ProcessPoolExecutor(given.cores) as pool:
        learn = partial(train, images=images, digits=digits, n_train=n_train)
        logs = np.array(list(pool.map(partial(learn, steps=given.steps), range(given.networks))))
        print(f"{given.networks} networks: {time.monotonic() - begun:.0f} s", flush=True)
        measure = partial(one_ensemble, logs=logs, digits=own, n_first=n_first, methods=methods)
        found, right = [], []
        for values, share in pool.map(measure, range(given.ensembles)):
            found.append(values)
            right.append(share)
            if len(found) % SAVED == 0 or len(found) == given.ensembles:
                about = (
                    f"Medians over {len(found):,} ensembles of ten of {given.networks} networks, "
                    f"{100 * np.median(right):.1f} % right on set 2 ({n_first:,} and "
                    f"{n_second:,} digits)."
                )
                write_medians(given.out, np.array(found), methods, names, about)
                print(f"{about} {time.monotonic() - begun:.0f} s", flush=True)
        rows = np.arange(len(own)) < n_first
        young = pooled(logs[:TEN], own)
        figures = figures_of_sets(
            (young.take(rows), young.take(~rows)),
            OF_UNDER_TRAINED,
            f"Ten networks that tell digits, under-trained ({given.steps} steps); set 1.",
        )
        logs = np.array(list(pool.map(partial(learn, steps=None), range(1000, 1000 + TEN))))
    trained = pooled(logs, own)
    sets = trained.take(rows), trained.take(~rows)
    figures += figures_of_sets(
        sets, OF_TRAINED, "Ten networks that tell digits, trained to the end; set 1."
    )
    write_record(given.out / "digits.json", FiguresRecord(figures=tuple(figures)))
    top = [round(float((one.predictions.top_score > TOP).mean()), 4) for one in sets]
    values = both_sets(*sets, REMEDIES | methods)[None]
    table = table_of(values, REMEDIES | methods, names)
    table.to_csv(given.out / "saturated.tsv", sep="\t", index=False)
    wrong = [int((~one.is_correct).sum()) for one in sets]
    print(f"fully trained: {top} of top scores above {TOP}, {wrong} wrong", flush=True)
    print(table[table["class"] == "all"].to_string(index=False), flush=True)
    print(f"all: {time.monotonic() - begun:.0f} s", flush=True)


def write_medians(
    out: Path, found: np.ndarray, methods: dict[str, str], names: list[str], about: str
) -> None:
    """Write the table of medians and the records of A1 and A2."""
    table = table_of(found, methods, names)
    table.to_csv(out / "medians.tsv", sep="\t", index=False)
    figures = tuple(
        record
        for number, some in (("A1", A1), ("A2", A2))
        for record in figures_of(table, number, some, about)
    )
    write_record(out / "records.json", FiguresRecord(figures=figures))


if __name__ == "__main__":
    main()
