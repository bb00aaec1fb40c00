"""The calibration paper's claims on data at hand: every number of docs/paper.md.

Salamon et al. 2023 (doi 10.3390/make5030043). The recovered counts are the paper's own test
set; whole vectors are those of PhANNs' first table; the trove is half of HTJ in the table of
its ten networks. `data/README.md` of the shared folder says where each file comes from.

    python verification/paper.py                        # each number beside the paper's
    python verification/paper.py --page docs/paper.md   # the same into the page
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]  # so that it starts by itself

from benchmarks.data import REAL_TABLE, real_table
from verification.report import worded, write_section

from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.paper_figures import (
    FIGURES,
    LOO,
    METHODS_OF_PAPER,
    MON0,
    MON2,
    MON4,
    FigureSource,
    losses,
    make_figures,
    nll,
    troves,
)
from credence.findings import FigureRecord
from credence.predictions import Floats, Labelled, from_scores, label
from credence.tables.counts import read_counts

OF_COUNTS = {
    "histogram": METHODS_OF_PAPER["histogram"],
    "b_mon": MON0,
    "b_mon2": MON2,
    "b_mon4": MON4,
    "b_opt": LOO,
    "Cum": "cumulative",
    "Cum+": "cumulative_plus",
    "Cum*": "cumulative_optimal",
    "Conf1": "class_only",
    "raw": "uncalibrated",
}
TOTAL = 46_801  # proteins of the paper's test set
BLOCK = 20  # neighbouring rows of the networks' table that stay together: they are relatives
Row = dict[str, object]


@dataclass(frozen=True)
class Recovered:
    """The recovered test set, and what every method makes of it."""

    labelled: Labelled
    classes: list[Row]  # Counts, Conf1, bandwidths and cut-offs
    losses: list[Row]  # Mean NLL in sample, by class and method
    precision: float  # Greatest distance from the site's precision at the 101 thresholds
    nearest: list[str]  # The two classes whose raw score is nearest to the kernel's confidence


def recovered(data: Path) -> Recovered:
    """Return the recovered counts with the additive methods."""
    labelled = read_counts(data / "phanns_web_histogram.csv", 10.0, 1.0).labelled
    own = labelled.predictions
    options = FitOptions(n_draws=0)
    fits = {
        name: parse_method(text, "method").build(options).fit(labelled)
        for name, text in OF_COUNTS.items()
    }
    said = {name: fit.confidence(own).value for name, fit in fits.items()}
    classes, found = [], []
    for class_, name in [*enumerate(own.class_names), (-1, "all")]:
        rows = own.predicted_class == class_ if class_ >= 0 else np.ones(len(own.ids), np.bool_)
        right, weight = labelled.is_correct[rows], labelled.weight[rows]
        row: Row = {"class": name, "right": int(right.sum()), "wrong": int((~right).sum())}
        row["Conf1"] = float(right.mean())
        curves = {key: fit.classes[name].learnt for key, fit in fits.items() if class_ >= 0}
        for key in ("b_mon", "b_mon2", "b_mon4", "b_opt"):
            row[key] = float(curves[key].bandwidth) if curves else "–"
        for key in ("Cum+", "Cum*"):
            row[f"θ of {key}"] = float(curves[key].cutoff) if curves else "–"
        classes.append(row)
        found.append({"class": name} | {key: nll(said[key][rows], right, weight) for key in said})
    apart = np.abs(said["raw"] - said["b_mon2"])
    distance = {
        name: float(apart[own.predicted_class == class_].mean())
        for class_, name in enumerate(own.class_names)
    }
    return Recovered(
        labelled=labelled,
        classes=classes,
        losses=found,
        precision=_precision(labelled, data),
        nearest=sorted(distance, key=distance.__getitem__)[:2],
    )


def _precision(labelled: Labelled, data: Path) -> float:
    """Return how far precision at a threshold or better are from the site's table."""
    own = labelled.predictions
    names, most = {name: at for at, name in enumerate(own.class_names)}, 0.0
    assert own.top_score is not None
    with (data / "phanns_precision_web.csv").open(newline="") as handle:
        for row in csv.DictReader(handle):
            kept = own.predicted_class == names[row["class"]]
            kept &= own.top_score > float(row["threshold"]) - 1e-9
            if kept.any() and row["precision"]:
                share = float(labelled.is_correct[kept].mean())
                most = max(most, abs(share - float(row["precision"])))
    return most


def first_table(data: Path) -> list[Row]:
    """Return mean losses of the paper's methods on PhANNs' first table, in sample and held out."""
    labelled = real_table(data / "phanns_scores_2020.csv.gz")
    record = losses(FigureSource(labelled=labelled))
    assert record is not None
    rows: list[Row] = []
    for panel in record.panels:
        for series in panel.series:
            rows.append(
                {"class": panel.title, "measured": series.name}
                | dict(zip(METHODS_OF_PAPER, series.y, strict=True))
            )
    return rows


def networks(data: Path) -> Labelled:
    """Return the proteins of the ten networks' table, scores summed as PhANNs does."""
    found = np.load(data / "phanns_ten_networks.npz", allow_pickle=False)
    names = tuple(found["class_names"].tolist())
    scores = found["softmax"].astype(np.float64).sum(axis=1)
    truth = np.array([names.index(name) for name in found["true_class"].tolist()])
    blocks = np.array([f"block {at // BLOCK}" for at in range(len(truth))], dtype=object)
    ids = found["id"].astype(object)
    return label(from_scores(ids, names, scores, 10.0, 1e-4), truth, cluster=blocks)


AT = (5.0, 6.0, 7.0, 8.0, 9.0, 9.9)


@dataclass(frozen=True)
class Trove:
    """Half of a class as a trove."""

    n_before: int  # Proteins of the class before, and added
    n_added: int
    wrong_moved: float  # Greatest change of the density of wrong predictions of the class
    least_rise: float  # Least change of its confidence, over all scores
    rows: list[Row]  # Confidence before and after
    others: float  # Greatest rise of another class's confidence, one bandwidth before and after


def half_as_trove(data: Path, name: str = "HTJ") -> Trove:
    """Return what a trove does: every second block of a class is left out, then added."""
    after = networks(data)
    class_ = after.predictions.class_names.index(name)
    number = np.array([int(block.split()[1]) for block in after.cluster])
    is_new = (after.true_class == class_) & (number % 2 == 1)
    before = after.take(~is_new)
    record = troves(FigureSource(labelled=after, troves={"half": (before, after)}))
    assert record is not None
    panels = {panel.title: panel for panel in record.panels}
    left, right = (panels[f"{name}, trove half: {word}"] for word in ("densities", "confidence"))
    density = {one.name: np.array(one.y) for one in left.series}
    curve = {one.name: np.array(one.y) for one in right.series}
    score, old, new = np.array(right.series[0].x), *curve.values()
    known = ~np.isnan(old) & ~np.isnan(new)
    return Trove(
        n_before=int((before.true_class == class_).sum()),
        n_added=int(is_new.sum()),
        wrong_moved=float(np.abs(density["wrong, before"] - density["wrong, after"]).max()),
        least_rise=float((new - old)[known].min()),
        rows=[
            {"score": f"{at:g}", "before": _at(score, old, at), "after": _at(score, new, at)}
            for at in AT
        ],
        others=_others(before, after, class_),
    )


def _at(score: Floats, value: Floats, at: float) -> float:
    return float(np.interp(at, score, value))


def _others(before: Labelled, after: Labelled, class_: int) -> float:
    """Return by how much another class's confidence rises at most, with one bandwidth."""
    most = -1.0
    build = BY_NAME["kernel"]
    settings = build.settings(bandwidth=0.5, prior_weight=0.0)
    fits = [
        build.build(settings, FitOptions(min_positives=0, n_draws=0)).fit(one)
        for one in (before, after)
    ]
    for other, name in enumerate(after.predictions.class_names):
        samples = [fit.classes[name].learnt for fit in fits]
        if other == class_ or None in samples:
            continue
        low = max(float(one.score[0]) for one in samples)
        grid = np.linspace(low, 10.0, 400)
        most = max(most, float((samples[1].value(grid) - samples[0].value(grid)).max()))
    return most


CUM_AT = 8.0  # a score
ORDER = ("b_mon", "b_mon2", "b_mon4", "b_opt")


def beside(found: Recovered, trove: Trove, data: Path) -> list[Row]:
    """Return each number that the paper or its site states, and ours."""
    own = found.labelled.predictions
    score = own.required_top_score
    with (data / "phanns_web_counts.csv").open(newline="") as handle:
        conf1 = {row["class"]: float(row["conf1"]) for row in csv.DictReader(handle)}
    with (data / "phanns_precision_web.csv").open(newline="") as handle:
        cum = {
            row["class"]: float(row["precision"])
            for row in csv.DictReader(handle)
            if float(row["threshold"]) == CUM_AT
        }
    rows: list[Row] = [
        {"number": "proteins of the test set", "paper": f"{TOTAL:,}", "here": f"{len(score):,}"},
        {"number": "Conf1 of Minor capsid (Fig. 1)", "paper": "0.07", "here": _conf1(found)},
    ]
    for class_, name in enumerate(own.class_names):
        kept = (own.predicted_class == class_) & (score > CUM_AT - 1e-9)
        ours = {"Conf1": float(found.classes[class_]["Conf1"])}  # type: ignore[arg-type]
        ours[f"Cum at {CUM_AT:g}"] = float(found.labelled.is_correct[kept].mean())
        for word, theirs in (("Conf1", conf1[name]), (f"Cum at {CUM_AT:g}", cum[name])):
            rows.append({"number": f"{word}, {name}", "paper": theirs, "here": ours[word]})
    ratio = {
        str(row["class"]): float(row["b_opt"]) / float(row["b_mon2"])  # type: ignore[arg-type]
        for row in found.classes[:-1]
    }
    total = found.losses[-1]
    grows = [float(total[name]) for name in ORDER]  # type: ignore[arg-type]
    rows += [
        {
            "number": "classes in which b_opt bends most (Fig. 13)",
            "paper": "HTJ, Major capsid",
            "here": ", ".join(sorted(ratio, key=ratio.__getitem__)[:2]),
        },
        {
            "number": "classes whose raw score is nearest to the kernel (Fig. 7)",
            "paper": "Minor tail, Portal",
            "here": ", ".join(sorted(found.nearest)),
        },
        {
            "number": "NLL in sample (Fig. A2)",
            "paper": " > ".join(ORDER),
            "here": " > ".join(map(worded, grows)) if grows == sorted(grows)[::-1] else "not so",
        },
        {
            "number": "a trove of HTJ: least change of its confidence (Fig. 15)",
            "paper": "above 0",
            "here": f"{trove.least_rise:+.1e}",
        },
        {
            "number": "wrong predictions that the trove moves",
            "paper": "none",
            "here": "none" if trove.wrong_moved == 0 else worded(trove.wrong_moved),
        },
    ]
    return rows + of_figures(found.labelled, real_table(data / "phanns_scores_2020.csv.gz"))


NEAR = 0.005  # of the scale: scores that count as one


def of_figures(recovered: Labelled, first: Labelled) -> list[Row]:
    """Return what figures 4, 6 and 12 show, as numbers; the last two from whole vectors."""

    def figure(labelled: Labelled, number: str) -> FigureRecord:
        asked = [spec for spec in FIGURES if spec.number == number]
        return next(iter(make_figures(FigureSource(labelled=labelled), asked)))

    apart, by_chance = 0.0, 0.0
    for panel in figure(recovered, "04").panels:
        (one, other), (n, m) = (
            [np.array(getattr(series, name), dtype=float) for series in panel.series]
            for name in ("y", "n")
        )
        held = (n > 1) & (m > 1)
        share = (n * one + m * other)[held] / (n + m)[held]
        apart += np.abs(one - other)[held].sum()
        spread = np.sqrt(share * (1.0 - share) * (1.0 / n[held] + 1.0 / m[held]))
        by_chance += (np.sqrt(2.0 / np.pi) * spread).sum()
    lower = [
        np.array(panel.series[0].y) - np.array(panel.series[-1].y)
        for panel in figure(first, "06").panels
        if panel.title.endswith(": confidence")
    ]
    change = np.concatenate(lower)
    widest = 0.0
    for panel in figure(first, "12").panels:
        clouds = [series for series in panel.series if series.kind == "cloud"]
        x, y = (np.concatenate([getattr(part, name) for part in clouds]) for name in "xy")
        order = np.argsort(x, kind="stable")
        x, y = x[order], y[order]
        ends = np.searchsorted(x, x + NEAR * first.predictions.scale, side="right")
        ranges = [y[at:end].max() - y[at:end].min() for at, end in enumerate(ends)]
        widest = max(widest, *ranges)
    return [
        {
            "number": "distance of two halves' histograms over that of chance (Fig. 4)",
            "paper": "noise alone",
            "here": f"{apart / by_chance:.2f}",
        },
        {
            "number": "change of the confidence if proteins predicted otherwise counted (Fig. 6)",
            "paper": "lower at low scores",
            "here": f"{np.nanmin(change):+.2f} to {np.nanmax(change):+.2f}",
        },
        {
            "number": "widest range of TSwA's confidences at one score (Figs. 10 to 12)",
            "paper": "a range",
            "here": f"{widest:.2f}",
        },
    ]


def _conf1(found: Recovered) -> str:
    share = next(row["Conf1"] for row in found.classes if row["class"] == "Minor capsid")
    return f"{share:.3f}"


def main() -> None:
    """Work all out, print each number beside the paper's, and write the page where it is named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=REAL_TABLE.parent)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    found = recovered(given.data)
    trove = half_as_trove(given.data)
    rows = beside(found, trove, given.data)
    for row in rows:
        print(f"{row['number']}: paper {worded(row['paper'])}, here {worded(row['here'])}")
    if given.page is None:
        return
    write_section(
        given.page,
        "Each number beside the paper's",
        "What the paper and its site state, and what comes out here.",
        rows,
    )
    n = found.labelled.n_samples
    write_section(
        given.page,
        "The paper's test set, recovered",
        f"{n:,} predictions in tenths of a score. Precision at the site's 101 thresholds comes "
        f"out within {found.precision:.4f}. Bandwidths and cut-offs (θ) in score units.",
        found.classes,
    )
    write_section(
        given.page,
        "Mean NLL in sample on the recovered set",
        "By predicted class, each prediction spread evenly over its tenth.",
        found.losses,
    )
    write_section(
        given.page,
        "Mean NLL on the first table of 2020",
        "Whole vectors; cross-validated: five folds of blocks of 100 neighbouring rows.",
        first_table(given.data),
    )
    write_section(
        given.page,
        "Half of HTJ as a trove",
        f"{trove.n_before} HTJ proteins before, {trove.n_added} added, one bandwidth. The density "
        f"of wrong predictions moves by {trove.wrong_moved:.1e}; the confidence changes by "
        f"{trove.least_rise:+.1e} or more at every score; that of another class, at one "
        f"bandwidth, by {trove.others:+.1e} at most.",
        trove.rows,
    )


if __name__ == "__main__":
    main()
