"""Proteins with several labels: coverage, errors of lists and NLL beside rivals, in worlds.

    python verification/several_labels.py --worlds 10 --out several.json

Each world has a tool, a calibration set and a query set of other families; what is true of a call
is known, and so is its probability.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from verification.calls_world import CallsWorld, simulate

from credence.calibrators.coherent import CoherentCalibration
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Confidence
from credence.evaluation.calls import FREQUENT, RARE
from credence.lists.decision import CALLS, before_lists, scarcity_notes
from credence.lists.held_out import step_of
from credence.predictions import Floats, Labelled, Predictions, label
from credence.stages.fit import fit_chosen
from credence.stages.lists import ranking_of, step_counts
from credence.stages.reading import CalibrationSet
from credence.stages.settings import Settings
from credence.tables.formats import ANY_OTHER_LABEL
from credence.tree import LabelTree

RIVALS = ("uncalibrated", "class_only", "platt", "isotonic", "one curve for all labels")
METHOD = "hierarchical"


def calls_of(world: CallsWorld, tree: LabelTree) -> tuple[Labelled, Floats]:
    """Return the judged calls of a world, and the probability of each."""
    rows = np.flatnonzero(world.is_known)
    ids = np.array(world.ids, dtype=object)[world.protein[rows]]
    predictions = Predictions(
        ids=ids,
        class_names=(*world.hierarchy.names, ANY_OTHER_LABEL),
        scale=1.0,
        resolution=1e-4,
        predicted_class=world.label[rows].astype(np.int64),
        top_score=world.score[rows],
        is_distribution=False,
        tree=tree,
    )
    true = np.where(world.is_true[rows], predictions.predicted_class, -1)
    families = np.array([f"f{number}" for number in world.family], dtype=object)
    cluster = np.array([f"{id_[:9]}" for id_ in ids], dtype=object)
    cluster = families[world.protein[rows]]
    return label(predictions, true, cluster=cluster), world.probability[rows]


def nll(value: Floats, is_right: np.ndarray) -> Floats:  # type: ignore[type-arg]
    given = np.clip(np.where(is_right, value, 1.0 - value), 1e-15, 1.0)
    return np.asarray(-np.log(given))


def one_world(seed: int, n_proteins: int, n_labels: int) -> dict[str, object]:
    """Return what one world shows."""
    world = simulate(seed, n_proteins, n_labels)
    names, parents = world.hierarchy.names, world.hierarchy.parent
    tree = LabelTree(
        parents={
            name: () if above < 0 else (names[above],)
            for name, above in zip(names, parents.tolist(), strict=True)
        },
        has_branches=True,
    )
    known, _ = calls_of(world, tree)
    new = simulate(seed + 1000, 2 * n_proteins, n_labels, world.hierarchy)
    query, truth = calls_of(new, tree)
    settings = Settings().with_values({"calibration": {"method": METHOD, "resamples": 20}})
    chosen = CalibrationSet(labelled=known, set_aside={})
    fitted = fit_chosen(chosen, settings, "world")
    calibration = fitted.file.calibration
    assert isinstance(calibration, CoherentCalibration)
    published = calibration.confidence(query.predictions)
    plain = calibration.inner.confidence(query.predictions)
    label_ = query.predictions.predicted_class
    is_root = np.append(parents < 0, False)[label_]
    n_calls = np.bincount(known.predictions.predicted_class, minlength=len(names) + 1)[label_]
    kinds = {
        "rare": (n_calls > 0) & (n_calls < RARE),
        "middle": (n_calls >= RARE) & (n_calls < FREQUENT),
        "frequent": (n_calls >= FREQUENT) & ~is_root,
        "never called": n_calls == 0,
    }
    right = query.is_correct
    answers = {METHOD: published.value, f"{METHOD}, not coherent": plain.value}
    for name in RIVALS[:-1]:
        answers[name] = (
            parse_method(name, "x").build(FitOptions(n_draws=0)).fit(known)
            .confidence(query.predictions).value
        )  # fmt: skip
    merged = [
        Labelled(
            predictions=_together(part.predictions),
            true_class=np.where(part.is_correct, 0, -1),
            weight=part.weight,
            cluster=part.cluster,
        )
        for part in (known, query)
    ]
    platt = parse_method("platt", "x").build(FitOptions(n_draws=0)).fit(merged[0])
    answers[RIVALS[-1]] = platt.confidence(merged[1].predictions).value
    result: dict[str, object] = {"seed": seed, "n_calls": known.n_samples}
    for kind, rows in kinds.items():
        if not rows.any():
            continue
        at = {name: np.where(np.isnan(value), 0.5, value)[rows] for name, value in answers.items()}
        result[f"nll {kind}"] = {
            "n": int(rows.sum()),
            "truth": float(nll(truth[rows], right[rows]).mean()),
            **{name: float(nll(value, right[rows]).mean()) for name, value in at.items()},
        }
        result[f"coverage {kind}"] = _coverage(published, truth, rows, label_)
        result[f"coverage {kind}, not coherent"] = _coverage(plain, truth, rows, label_)
    result["lists"] = _lists(fitted.file, query, published, settings)
    return result


def _together(predictions: Predictions) -> Predictions:
    from dataclasses import replace

    zeros = np.zeros_like(predictions.predicted_class)
    return replace(predictions, predicted_class=zeros, tree=LabelTree())


def _coverage(
    answer: Confidence,
    truth: Floats,
    rows: np.ndarray,
    label_: np.ndarray,  # type: ignore[type-arg]
) -> dict[str, float]:
    """Return how often intervals hold the truth, over calls and over labels, and their width."""
    slack = 1e-9
    held = (answer.lower - slack <= truth) & (truth <= answer.upper + slack)
    labels = np.unique(label_[rows])
    of_label = [held[rows & (label_ == code)].mean() for code in labels]
    return {
        "calls": float(held[rows].mean()),
        "labels": float(np.mean(of_label)),
        "width": float((answer.upper - answer.lower)[rows].mean()),
        "n_labels": len(labels),
    }


def _lists(file, query: Labelled, published: Confidence, settings: Settings) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """Return how wrong the lists of calls are, by call and over families."""
    ranking = ranking_of(file, None, settings)
    assert ranking is not None
    code, step = query.predictions.predicted_class, step_of(published.value)
    note = published.note | scarcity_notes(published, code, ranking.rules.is_scarce)
    noted = Confidence(**{**vars(published), "note": note})
    may = before_lists(noted) == "check"
    counts = step_counts(code[may], step[may], len(file.class_names))
    grouped = ranking.rules.calls_and_background(counts)
    result: dict[str, object] = {}
    for error in (0.05, 0.1):
        ends = grouped.ends(CALLS, error)
        listed = may & (step >= ends[code])
        wrong = ~query.is_correct[listed]
        families = query.cluster[listed]
        _, places = np.unique(families.astype(str), return_inverse=True)
        by_family = np.bincount(places, wrong) / np.bincount(places)
        result[f"{error:g}"] = {
            "n": int(listed.sum()),
            "wrong": float(wrong.mean()),
            "wrong over families": float(by_family.mean()),
        }
    return result


def summary(worlds: Sequence[dict[str, object]]) -> dict[str, object]:
    """Return means over worlds."""
    gathered: defaultdict[str, list[float]] = defaultdict(list)

    def walk(path: str, value: object) -> None:
        if isinstance(value, dict):
            for name, part in value.items():
                walk(f"{path} / {name}" if path else name, part)
        else:
            gathered[path].append(float(value))  # type: ignore[arg-type]

    for world in worlds:
        walk("", world)
    return {name: round(float(np.mean(values)), 5) for name, values in gathered.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate worlds and write what they show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=10)
    parser.add_argument("--proteins", type=int, default=2000)
    parser.add_argument("--labels", type=int, default=150)
    parser.add_argument("--out", type=Path, default=Path("several_labels.json"))
    given = parser.parse_args(arguments)
    worlds = []
    for seed in range(1, given.worlds + 1):
        worlds.append(one_world(seed, given.proteins, given.labels))
        record = {"mean": summary(worlds), "worlds": worlds}
        given.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
