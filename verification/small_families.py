"""Do confidences hold on new families where a small set of few families calibrates?

Proteins in families are divided into four groups of whole families. A random forest learns from
two groups; its scores of a third (some hundred proteins) calibrate; the fourth, of families that
nothing has seen, judges. All four rotations are put together. Families are simulated
(`verification/protein_world.py`), or real ones: FASTA files, one a class, and a table of clusters.

    PYTHONPATH=. python verification/small_families.py --seeds 6 --out verification/out/small.tsv
    PYTHONPATH=. python verification/small_families.py --fasta a.fasta b.fasta \\
        --clusters clusters.tsv

For each method and each step of confidence: proteins, families, mean confidence, precision, the
difference in standard errors that count families, and the loss.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from verification.protein_world import (
    RESIDUES,
    ProteinWorldSettings,
    StudyProteins,
    simulate_proteins,
)

from credence.calibrators.crossfit import fold_of
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.draws import encode_clusters
from credence.predictions import Floats, Labelled, from_scores
from credence.tables.fasta import read_fasta

N_GROUPS = 4
N_TREES = 200
STEPS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
CLIP = 1e-4  # of the loss
WEIGHTS = {  # how much a protein counts, by the size of its family
    "proteins": lambda size: np.ones(len(size)),
    "root": lambda size: size**-0.5,
    "families": lambda size: 1.0 / size,
}


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """Confidences of new families under one method, and what came true."""

    confidence: Floats
    is_correct: Floats
    family: Floats


def vectors_of(sequences: Sequence[str]) -> Floats:
    """Return shares of residues and of pairs of residues."""
    place = np.full(256, -1)
    place[[ord(letter) for letter in RESIDUES]] = np.arange(len(RESIDUES))
    n = len(RESIDUES)
    rows = np.zeros((len(sequences), n + n * n))
    for row, sequence in enumerate(sequences):
        code = place[np.frombuffer(sequence.encode(), dtype=np.uint8)]
        code = code[code >= 0]
        rows[row, :n] = np.bincount(code, minlength=n) / max(len(code), 1)
        pairs = code[:-1] * n + code[1:]
        rows[row, n:] = np.bincount(pairs, minlength=n * n) / max(len(pairs), 1)
    return rows


def rotations(proteins: StudyProteins, seed: int) -> Iterator[tuple[Labelled, Labelled]]:
    """Yield what calibrates and what judges, for each group that judges."""
    group = fold_of(proteins.cluster, proteins.true_class, N_GROUPS)
    vectors = vectors_of(proteins.sequences)
    for judged in range(N_GROUPS):
        calibrating = (judged + 1) % N_GROUPS
        is_learnt = (group != judged) & (group != calibrating)
        forest = RandomForestClassifier(N_TREES, min_samples_leaf=1, random_state=seed, n_jobs=1)
        forest.fit(vectors[is_learnt], proteins.true_class[is_learnt])
        scores = np.zeros((len(group), len(proteins.class_names)))
        scores[:, forest.classes_] = forest.predict_proba(vectors)
        predictions = from_scores(proteins.ids, proteins.class_names, scores, 1.0, 1.0 / N_TREES)
        labelled = Labelled(
            predictions=predictions,
            true_class=proteins.true_class,
            weight=np.ones(len(group)),
            cluster=proteins.cluster,
        )
        yield labelled.take(group == calibrating), labelled.take(group == judged)


def family_sizes(labelled: Labelled) -> Floats:
    """Return how many proteins the family of each has here."""
    code, _ = encode_clusters(labelled.cluster)
    return np.bincount(code)[code].astype(float)


def real_proteins(paths: Sequence[Path], clusters: Path, most: int) -> StudyProteins:
    """Return at most so many proteins of each FASTA file, whole families drawn by name."""
    cluster_of = pd.read_csv(clusters, sep="\t", dtype=str).set_index("id")["cluster"]
    ids, sequences, families, classes = [], [], [], []
    for class_, path in enumerate(paths):
        proteins = read_fasta(path)
        names = cluster_of.reindex(proteins.ids)
        order = np.random.default_rng(class_).permutation(names.unique())
        chosen = set(order[np.cumsum(names.value_counts()[order].to_numpy()) <= most])
        kept = names.isin(chosen).to_numpy()
        ids += list(proteins.ids[kept])
        sequences += list(proteins.sequences[kept])
        families += list(names[kept])
        classes += [class_] * int(kept.sum())
    return StudyProteins(
        ids=np.array(ids, dtype=object),
        sequences=np.array(sequences, dtype=object),
        cluster=np.array(families, dtype=object),
        true_class=np.array(classes, dtype=np.int64),
        class_names=tuple(path.stem for path in paths),
    )


def judge(
    worlds: Sequence[StudyProteins], methods: Sequence[str], weights: Sequence[str]
) -> dict[str, list[Outcomes]]:
    """Return the outcomes of each method and way to weigh, world by world and rotation."""
    outcomes: dict[str, list[Outcomes]] = defaultdict(list)
    n_families = 0
    for seed, proteins in enumerate(worlds):
        for known, new in rotations(proteins, seed):
            sizes = family_sizes(known)
            print(
                f"world {seed}: {known.n_samples} proteins of {len(np.unique(known.cluster))} "
                f"families calibrate, {known.is_correct.mean():.3f} right; "
                f"{new.n_samples} new ones, {new.is_correct.mean():.3f} right",
                file=sys.stderr,
                flush=True,
            )
            code, keys = encode_clusters(new.cluster)
            for method in methods:
                for way in weights:
                    calibrator = parse_method(method, "--methods").build(FitOptions(n_draws=0))
                    fitted = calibrator.fit(known.reweighted(WEIGHTS[way](sizes)))
                    name = method if way == "proteins" else f"{method}, weights: {way}"
                    outcomes[name].append(
                        Outcomes(
                            confidence=fitted.confidence(new.predictions).value,
                            is_correct=new.is_correct.astype(float),
                            family=code + n_families,
                        )
                    )
            n_families += len(keys)
    return outcomes


def rows_of(name: str, parts: Sequence[Outcomes]) -> Iterator[dict[str, object]]:
    """Yield what was stated and what was right in each step of confidence, and over all."""
    p, t, family = (
        np.concatenate([getattr(part, field) for part in parts])
        for field in ("confidence", "is_correct", "family")
    )
    known = np.isfinite(p)
    p, t, family = p[known], t[known], family[known]
    clipped = np.clip(p, CLIP, 1.0 - CLIP)
    loss = -np.where(t > 0, np.log(clipped), np.log1p(-clipped))
    steps = [("all", np.ones(len(p), dtype=bool))]
    for low, high in pairwise(STEPS):
        steps.append((f"{low:g}–{high:g}", (p >= low) & ((p < high) | (high == STEPS[-1]))))
    for step, inside in steps:
        if not inside.any():
            continue
        residual = (p - t)[inside]
        _, code = np.unique(family[inside], return_inverse=True)
        error = np.sqrt((np.bincount(code, weights=residual) ** 2).sum()) / inside.sum()
        yield {
            "method": name,
            "confidence": step,
            "proteins": int(inside.sum()),
            "families": int(code.max() + 1),
            "stated": p[inside].mean(),
            "right": t[inside].mean(),
            "too_high": residual.mean(),
            "standard_errors": residual.mean() / max(error, 1e-12),
            "nll": loss[inside].mean(),
        }


def main() -> None:
    """Judge methods on new families, and print what was stated and what was right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=["auto"])
    parser.add_argument("--weights", nargs="+", default=list(WEIGHTS), choices=list(WEIGHTS))
    parser.add_argument("--seeds", type=int, default=3, help="simulated worlds")
    parser.add_argument("--families", type=int, default=800, help="in a world")
    parser.add_argument("--classes", type=int, default=6)
    parser.add_argument("--fasta", nargs="+", type=Path, help="real proteins, one file a class")
    parser.add_argument("--clusters", type=Path, help="their clusters: id, cluster")
    parser.add_argument("--most", type=int, default=650, help="proteins of each real class")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    if chosen.fasta:
        worlds = [real_proteins(chosen.fasta, chosen.clusters, chosen.most)]
    else:
        worlds = [
            simulate_proteins(
                ProteinWorldSettings(
                    n_classes=chosen.classes, n_families=chosen.families, seed=seed
                )
            )
            for seed in range(1, chosen.seeds + 1)
        ]
    outcomes = judge(worlds, chosen.methods, chosen.weights)
    table = pd.DataFrame([row for name, parts in outcomes.items() for row in rows_of(name, parts)])
    print(table.to_string(index=False, float_format="{:.3f}".format))
    if chosen.out:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(chosen.out, sep="\t", index=False, float_format="%.6f")


if __name__ == "__main__":
    main()
