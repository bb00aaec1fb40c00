"""Does confidence have to fall with the distance to what is known, and what would make it right?

    PYTHONPATH=. python verification/distance.py --page docs/verification-distance.md
    PYTHONPATH=. python verification/distance.py --scores held.csv --fasta all.fasta \\
        --groups groups.tsv

The first makes worlds in which predictions of families far from all others are wrong more often
than their scores say, and worlds in which distance says nothing. The second looks at a table that
credence train wrote: each protein's distance is that to its best relative of another family (its
own left out), so that no protein has a near copy.

In each band of distance the mean confidence of proteins held out stands beside the share right.
Families are the units: draws of families for intervals, random signs of families for p, Holm over
bands. The remedy that is tried adds a constant to the log odds in each band that Holm names, held
to none by 50 families; it is cross-fitted by folds of families, and kept where the loss of
families left out is no greater.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.draws import encode_clusters, uniform
from credence.metrics.walk import holm
from credence.predictions import Floats, Integers, Labelled, from_scores, label
from credence.simulate import WorldSettings, draw_labelled
from report import write_section

EDGES = (0.3, 0.4, 0.6)  # identity with the best relative of another family
BANDS = ("none, or below 30 %", "30–40 %", "40–60 %", "60 % and more")
N_SIGNS, LEVEL, HELD_TO, N_FOLDS = 999, 0.05, 50.0, 5
FEWEST = 10  # families of a band: fewer show nothing
N_WORLDS, SIZE = 20, 3_000


def band_of(identity: Floats) -> Integers:
    """Return the band of each protein; no relative at all is the farthest."""
    return np.digitize(np.nan_to_num(identity), EDGES).astype(np.int64)


def tested(known: Labelled, held: Floats, band: Integers) -> list[dict[str, object]]:
    """Return of each band what is promised, what is right, and whether they differ."""
    rows: list[dict[str, object]] = []
    for at, name in enumerate(BANDS):
        own = (band == at) & ~np.isnan(held)
        code, keys = encode_clusters(known.cluster[own])
        off = known.is_correct[own] - held[own]
        row: dict[str, object] = {
            "identity": name,
            "proteins": int(own.sum()),
            "families": len(keys),
        }
        if len(keys) >= FEWEST:
            size, gap = np.bincount(code), np.bincount(code, weights=off)
            right = np.bincount(code, weights=known.is_correct[own])
            draws = np.stack([-np.log(uniform(keys, draw, "families")) for draw in range(N_SIGNS)])
            low, high = np.quantile((draws @ right) / (draws @ size), [0.025, 0.975])
            signs = np.stack([np.sign(uniform(keys, d, "signs") - 0.5) for d in range(N_SIGNS)])
            p = (1 + (np.abs(signs @ gap) >= abs(gap.sum())).sum()) / (N_SIGNS + 1)
            row |= {
                "promised": float(held[own].mean()),
                "right": float(known.is_correct[own].mean()),
            }
            row |= {"interval": f"{low:.3f}–{high:.3f}", "p": float(p)}
        rows.append(row)
    adjusted = holm(np.array([row.get("p", np.nan) for row in rows], dtype=np.float64))
    for row, value in zip(rows, adjusted, strict=True):
        row["p, Holm"] = float(value)
    return rows


def steps_of(known: Labelled, held: Floats, band: Integers) -> Floats:
    """Return what is added to the log odds in each band; 0 where nothing is named by Holm."""
    found = np.zeros(len(BANDS))
    for at, row in enumerate(tested(known, held, band)):
        if not row["p, Holm"] <= LEVEL:  # type: ignore[operator]
            continue
        own = (band == at) & ~np.isnan(held)
        odds, right = logit(np.clip(held[own], 1e-4, 1 - 1e-4)), known.is_correct[own]
        code, _ = encode_clusters(known.cluster[own])
        weight = 1.0 / np.bincount(code)[code]
        for _ in range(30):
            stated = expit(odds + found[at])
            slope = (weight * (stated - right)).sum() + HELD_TO * 0.25 * found[at] / 4.0
            found[at] -= slope / ((weight * stated * (1 - stated)).sum() + HELD_TO * 0.25 / 4.0)
    return found


def moved(held: Floats, steps: Floats, band: Integers) -> Floats:
    """Return confidences with the steps of their bands."""
    return np.asarray(expit(logit(np.clip(held, 1e-4, 1 - 1e-4)) + steps[band]))


def loss(known: Labelled, value: Floats) -> float:
    """Return the mean negative log-likelihood."""
    p = np.clip(np.where(known.is_correct, value, 1.0 - value), 1e-15, 1.0)
    return float(-np.nanmean(np.log(p)))


def remedy(known: Labelled, held: Floats, band: Integers) -> tuple[Floats, float, float]:
    """Return the steps, 0 if no better, and the loss held out without and with them."""
    fold = folds_by_class(known, N_FOLDS)
    after = held.copy()
    for at in range(N_FOLDS):
        here = fold == at
        rest = known.take(~here)
        after[here] = moved(held[here], steps_of(rest, held[~here], band[~here]), band[here])
    before, now = loss(known, held), loss(known, after)
    steps = steps_of(known, held, band)
    return (steps if now <= before else np.zeros_like(steps)), before, now


def held_of(known: Labelled, method: str) -> Floats:
    """Return confidences of proteins held out."""
    calibrator = parse_method(method, "method").build(FitOptions(n_draws=0))
    return out_of_fold(known, calibrator, folds_by_class(known, N_FOLDS)).value


def drawn(rng: np.random.Generator, harm: Sequence[float]) -> tuple[Labelled, Integers]:
    """Return a world in which so many right predictions of each band are wrong."""
    known = draw_labelled(WorldSettings(n_calibration=SIZE), rng)
    code, keys = encode_clusters(known.cluster)
    band = rng.choice(len(BANDS) - 1, size=len(keys), p=[0.4, 0.3, 0.3])[code]
    true = known.true_class.copy()
    fails = rng.random(len(keys))[code] < np.asarray(harm)[band]  # relatives fail together
    fails &= known.is_correct
    true[fails] = (true[fails] + 1) % known.predictions.n_classes
    return replace(known, true_class=true), band


def worlds() -> list[dict[str, object]]:
    """Return a row of each kind of world."""
    rows = []
    for name, harm in (
        ("distance says nothing", (0.0, 0.0, 0.0)),
        ("far ones fail a tenth more", (0.1, 0.0, 0.0)),
        ("far ones fail three tenths more", (0.3, 0.1, 0.0)),
    ):
        named, gaps, gains = [], [], []
        for seed in range(N_WORLDS):
            rng = np.random.default_rng([seed, int(100 * harm[0])])
            known, band = drawn(rng, harm)
            held = held_of(known, "beta")
            named.append([row["p, Holm"] <= LEVEL for row in tested(known, held, band)])  # type: ignore[operator]
            steps, before, after = remedy(known, held, band)
            gains.append(after - before if steps.any() else 0.0)
            fresh, there = drawn(rng, harm)
            calibrator = parse_method("beta", "method").build(FitOptions(n_draws=0)).fit(known)
            value = calibrator.confidence(fresh.predictions).value
            after_value = moved(value, steps, there)
            gaps.append(
                [
                    [
                        np.nanmean(one[there == at] - fresh.is_correct[there == at])
                        for at in range(3)
                    ]
                    for one in (value, after_value)
                ]
            )
        mean = np.mean(gaps, axis=0)
        row: dict[str, object] = {"world": name}
        for at in range(3):
            row[BANDS[at]] = f"{mean[0, at]:+.3f} → {mean[1, at]:+.3f}"
        row["bands named"] = " / ".join(f"{share:.2f}" for share in np.mean(named, axis=0)[:3])
        row["loss held out"] = f"{np.mean(gains):+.4f}"
        rows.append(row)
        print(row, flush=True)
    return rows


def real(scores: Path, fasta: Path, groups: Path, method: str) -> None:
    """Print the bands of a table that credence train wrote, and what the remedy does."""
    from credence.relatives.closest import KnownSequences, search_for

    table = pd.read_csv(scores)
    names = tuple(table.columns[1:])
    ids = table.iloc[:, 0].astype(str).to_numpy(dtype=object)
    cluster_of = pd.read_csv(groups, sep="\t", dtype=str).set_index("id").cluster
    text: dict[str, str] = {}
    for line in fasta.read_text().splitlines():
        if line.startswith(">"):
            name = line[1:].split()[0]
            text[name] = ""
        else:
            text[name] += line.strip()
    values = table.iloc[:, 1:].to_numpy(np.float64)
    scale = float(np.median(values.sum(axis=1)).round())
    true = np.array([names.index(one.rsplit("_", 1)[0]) for one in ids])
    cluster = cluster_of.reindex(ids).to_numpy(dtype=object)
    known = label(from_scores(ids, names, values, scale, 0.01), true, cluster=cluster)
    texts = np.array([text[one] for one in ids], dtype=object)
    family, _ = encode_clusters(cluster)
    library = KnownSequences(texts, family, search_for(texts, family))
    identity = library.closest(texts, (family, family)).identity
    held, band = held_of(known, method), band_of(identity)
    for row in tested(known, held, band):
        print(row)
    print("loss held out, without and with the steps:", *remedy(known, held, band))


def main() -> None:
    """Look at worlds, or at a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", type=Path)
    parser.add_argument("--method", default="auto")
    for name in ("--scores", "--fasta", "--groups"):
        parser.add_argument(name, type=Path)
    asked = parser.parse_args()
    if asked.scores is not None:
        real(asked.scores, asked.fasta, asked.groups, asked.method)
        return
    rows = worlds()
    if asked.page is not None:
        write_section(asked.page, "Does confidence have to fall with distance?", TEXT, rows)


TEXT = (
    "Mean confidence minus share right on families that nobody fitted, without → with the steps; "
    "how often Holm names each of the three bands; the change of the loss of families left out."
)

if __name__ == "__main__":
    main()
