"""Proteins with several labels: coverage, errors of lists and NLL beside rivals, in worlds.

    python verification/several_labels.py --worlds 10 --out several.json

Each world has a tool, a calibration set and a query set of other families; what is true of a call
is known, and so is its probability by label and score. What a coherent confidence claims is the
probability by label and that confidence, of which intervals are counted in a large population.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
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
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions, label
from credence.stages.fit import fit_chosen
from credence.stages.lists import ranking_of, step_counts
from credence.stages.reading import CalibrationSet
from credence.stages.settings import Settings
from credence.tables.formats import ANY_OTHER_LABEL
from credence.tree import LabelTree

RIVALS = ("uncalibrated", "class_only", "platt", "isotonic", "one curve for all labels")
METHOD = "hierarchical"
POPULATION_AT_ONCE = 10_000  # proteins
MOST_STEPS, LEAST_IN_STEP = 10, 300  # of a label's calls sorted by confidence


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
    cluster = families[world.protein[rows]]
    return label(predictions, true, cluster=cluster), world.probability[rows]


def nll(value: Floats, is_right: np.ndarray) -> Floats:  # type: ignore[type-arg]
    given = np.clip(np.where(is_right, value, 1.0 - value), 1e-15, 1.0)
    return np.asarray(-np.log(given))


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """Calls of many new proteins, and what was said of them."""

    label_: Integers
    family: Integers
    is_right: Booleans
    truth: Floats  # P(right | label, score)
    published: Confidence
    plain: Confidence  # Before coherence


def population_of(
    seed: int, n_proteins: int, world: CallsWorld, tree: LabelTree, fitted: CoherentCalibration
) -> Population:
    """Return many new calls of the tool of a world, with their confidences."""
    parts = []
    for number in range(-(-n_proteins // POPULATION_AT_ONCE)):
        new = simulate(
            seed + 10_000 * (number + 1),
            min(POPULATION_AT_ONCE, n_proteins),
            len(world.hierarchy.names),
            world.hierarchy,
        )
        calls, truth = calls_of(new, tree)
        parts.append(
            Population(
                label_=calls.predictions.predicted_class,
                family=new.family[new.protein[new.is_known]] + number * POPULATION_AT_ONCE,
                is_right=calls.is_correct,
                truth=truth,
                published=fitted.confidence(calls.predictions),
                plain=fitted.inner.confidence(calls.predictions),
            )
        )
    return Population(
        label_=np.concatenate([part.label_ for part in parts]),
        family=np.concatenate([part.family for part in parts]),
        is_right=np.concatenate([part.is_right for part in parts]),
        truth=np.concatenate([part.truth for part in parts]),
        published=_joined([part.published for part in parts]),
        plain=_joined([part.plain for part in parts]),
    )


def _joined(parts: Sequence[Confidence]) -> Confidence:
    names = (field.name for field in fields(Confidence))
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return Confidence(**columns)


def reliability(
    answer: Confidence, population: Population, labels: Integers
) -> dict[str, float] | None:
    """Return how often mean intervals of steps of a label's confidence hold the precision.

    Strictly, and with the share's 95 % sampling error over families: the first is too low by
    what the population leaves open, the second too high.
    """
    held: list[tuple[float, float, float, float, float]] = []
    by_label = []
    for code in labels.tolist():
        rows = np.flatnonzero(population.label_ == code)
        n_steps = min(MOST_STEPS, len(rows) // LEAST_IN_STEP)
        if n_steps == 0:
            continue
        rows = rows[np.argsort(answer.value[rows], kind="stable")]
        here = []
        for step in np.array_split(rows, n_steps):
            right = population.is_right[step]
            share, lower, upper = (
                float(values.mean()) for values in (right, answer.lower[step], answer.upper[step])
            )
            _, family = np.unique(population.family[step], return_inverse=True)
            error = float(np.sqrt((np.bincount(family, right - share) ** 2).sum())) / len(step)
            # Where all are right or all wrong: 3/n of n families (the rule of three).
            slack = max(1.96 * error, 3.0 / (int(family.max()) + 1))
            here.append(
                (
                    float(lower <= share <= upper),
                    float(lower - slack <= share <= upper + slack),
                    upper - lower,
                    error,
                    float(answer.value[step].mean()) - share,
                )
            )
        held += here
        by_label.append(np.mean(here, axis=0))
    if not held:
        return None
    strict, allowed, width, error, _ = np.mean(held, axis=0).tolist()
    return {
        "steps": strict,
        "steps, with sampling error": allowed,
        "labels": float(np.mean(by_label, axis=0)[0]),
        "labels, with sampling error": float(np.mean(by_label, axis=0)[1]),
        "width": width,
        "sampling error": error,
        "distance": float(np.abs([step[-1] for step in held]).mean()),
        "n_steps": float(len(held)),
        "n_labels": float(len(by_label)),
    }


def one_world(
    seed: int, n_proteins: int, n_labels: int, n_population: int
) -> tuple[dict[str, object], Population, Integers]:
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
    is_root = np.append(parents < 0, False)
    n_calls = np.bincount(known.predictions.predicted_class, minlength=len(names) + 1)
    labels_of = {
        "rare": (n_calls > 0) & (n_calls < RARE),
        "middle": (n_calls >= RARE) & (n_calls < FREQUENT),
        "frequent": (n_calls >= FREQUENT) & ~is_root,
        "never called": n_calls == 0,
    }
    kinds = {kind: is_of[label_] for kind, is_of in labels_of.items()}
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
    population = population_of(seed, n_population, world, tree, calibration)
    for kind, is_of in labels_of.items():
        labels = np.flatnonzero(is_of)
        for name, answer in (("published", population.published), ("curve", population.plain)):
            if (numbers := reliability(answer, population, labels)) is not None:
                result[f"reliability {kind}, {name}"] = numbers
    return result, population, n_calls


def _together(predictions: Predictions) -> Predictions:
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
    parser.add_argument("--first", type=int, default=1, help="seed of the first world")
    parser.add_argument("--population", type=int, default=60_000, help="proteins")
    parser.add_argument("--proteins", type=int, default=2000)
    parser.add_argument("--labels", type=int, default=150)
    parser.add_argument("--out", type=Path, default=Path("several_labels.json"))
    given = parser.parse_args(arguments)
    worlds = []
    for seed in range(given.first, given.first + given.worlds):
        shown, _, _ = one_world(seed, given.proteins, given.labels, given.population)
        worlds.append(shown)
        record = {"mean": summary(worlds), "worlds": worlds}
        given.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
