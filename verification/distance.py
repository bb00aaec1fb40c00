"""Does confidence have to fall with the distance to what is known, and what would make it right?

    PYTHONPATH=. python verification/distance.py --page docs/verification-distance.md
    PYTHONPATH=. python verification/distance.py --scores held.csv --fasta all.fasta \\
        --groups groups.tsv

The first makes worlds in which predictions of families far from all others are wrong more often
than their scores say, and worlds in which distance says nothing. The second looks at scores out of
fold in PhANNs' columns, ids being class_number (`examples/train-a-classifier` writes such scores):
each protein's distance is that to its best relative of another family (its own left out), so that
no protein has a near copy.

In each band of distance the mean confidence of proteins held out stands beside the share right.
Families are the units. The remedy is the product's, `credence.evaluation.bands`: a constant on the
log odds of each band that Holm names, kept where the loss of families left out is no greater.
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
from in_memory import draw_labelled

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.draws import encode_clusters
from credence.evaluation.bands import BANDS, LEVEL, Seen, band_of, judged_bands, kept_steps, moved
from credence.predictions import Floats, Integers, Labelled, from_scores, label
from credence.simulate.law import WorldSettings
from report import write_section

N_FOLDS, N_WORLDS, SIZE = 5, 20, 3_000


def seen(known: Labelled, held: Floats, band: Integers) -> Seen:
    """Return the proteins that have a confidence held out."""
    family, key = encode_clusters(known.cluster)
    every = Seen(held, known.is_correct, family, key, band)
    return every.take(~np.isnan(held))


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
            calibrating = seen(known, held, band)
            named.append([one.p <= LEVEL for one in judged_bands(calibrating)])
            steps, before, after = kept_steps(calibrating)
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
    """Print the bands of a table of scores out of fold, and what the remedy does."""
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
    calibrating = seen(known, held, band)
    for one in judged_bands(calibrating):
        print(one)
    print("steps, loss held out without and with them:", *kept_steps(calibrating))


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
