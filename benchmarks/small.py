"""Small sets: `auto`, its members and peers; and what shrinking the kernel curve changes.

For worlds of three sizes: held-out error of the kernel method with the paper's
formula (`prior_weight=0`), with the default, and of the class-only share. The
truth is known in the simulated world, so the error is the distance to it.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from benchmarks import stack
from benchmarks.data import halves, real_table
from benchmarks.peers import Fit, mapie_fit, probmetrics_fit, venn_abers_fit
from benchmarks.run import table
from verification.in_memory import draw_labelled
from verification.world_truth import truth

from credence.calibrators.auto import MEMBERS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Note
from credence.predictions import Labelled
from credence.simulate.law import WorldSettings

SIZES = (46_801, 4_680, 1_200)
N_WORLDS = 20
N_FRESH = 20_000
SPECS = ("class_only", "kernel(prior_weight=0)", "kernel")
FEW = 100  # predictions: below, a class counts as small
EXTREME = 1e-3  # a confidence closer than this to 0 or 1 is called extreme


def true_confidence(labelled: Labelled) -> np.ndarray:
    """Return P(right) of the world at each prediction's class and score."""
    predictions = labelled.predictions
    value = np.empty(labelled.n_samples)
    for class_ in range(predictions.n_classes):
        rows = predictions.predicted_class == class_
        value[rows] = truth().probability_correct(class_, predictions.top_score[rows])
    return value


def divergence(confidence: np.ndarray, truth_: np.ndarray) -> np.ndarray:
    """Return the excess NLL over the truth's, in expectation over the outcome."""
    kept = np.clip(confidence, 1e-15, 1 - 1e-15)
    real = np.clip(truth_, 1e-15, 1 - 1e-15)
    return real * np.log(real / kept) + (1 - real) * np.log((1 - real) / (1 - kept))


def small_classes() -> str:
    """Return a table: size × method, over all rows and over small classes."""
    rows = []
    for size in SIZES:
        sums = {spec: np.zeros(6) for spec in SPECS}
        for world in range(N_WORLDS):
            rng = np.random.default_rng([size, world])
            fitted = draw_labelled(WorldSettings(n_calibration=size), rng)
            fresh = draw_labelled(WorldSettings(n_calibration=N_FRESH), rng)
            real = true_confidence(fresh)
            counts = np.bincount(fitted.predictions.predicted_class, minlength=11)
            is_small = counts[fresh.predictions.predicted_class] < FEW
            for spec in SPECS:
                calibrator = parse_method(spec, "benchmarks").build(FitOptions(n_draws=0))
                value = calibrator.fit(fitted).confidence(fresh.predictions).value
                known = ~np.isnan(value)
                excess = divergence(value[known], real[known])
                few = is_small[known]
                wild = np.minimum(value[known], 1 - value[known]) < EXTREME
                sums[spec] += [
                    excess.sum(), known.sum(), excess[few].sum(), few.sum(),
                    np.abs(value - real)[known][few].sum(), wild[few].sum(),
                ]  # fmt: skip
        for spec, sum_ in sums.items():
            n_few = max(sum_[3], 1.0)
            small = ["–"] * 3 if sum_[3] == 0 else [
                f"{sum_[2] / n_few:.4f}", f"{sum_[4] / n_few:.3f}", f"{sum_[5] / n_few:.1%}"
            ]  # fmt: skip
            rows.append([f"{size:,}", f"`{spec}`", f"{sum_[0] / sum_[1]:.4f}", *small])
    header = [
        "calibration rows",
        "method",
        "excess NLL, all",
        f"excess NLL, classes under {FEW}",
        "mean distance to the truth there",
        "within 0.001 of 0 or 1 there",
    ]
    return (
        f"{N_WORLDS} simulated worlds a size, judged on {N_FRESH:,} new proteins against the "
        "world's true probability; the excess is over the truth's own NLL.\n\n"
        + table(header, rows)
    )


SIZES_OF_SETS = (100, 150, 300, 600)
N_DRAWS = 10
N_JUDGING = 4_000  # at most
TREES = ("histogram boosting", "random forest", "randomised trees", "LightGBM", "CatBoost")
MEAN_OF_TREES = "mean of the tree ensembles"


@dataclass(frozen=True, kw_only=True)
class SmallSets:
    """What is fitted and judged: `python -m benchmarks.run small --sizes 100 600 --draws 2`."""

    sizes: tuple[int, ...] = SIZES_OF_SETS
    draws: int = N_DRAWS  # subsets of each size


@dataclass(eq=False, kw_only=True)
class Sums:
    """What one contestant lost in one set, draw after draw."""

    loss: list[float] = field(default_factory=list)  # NLL less that of `auto`
    error: list[float] = field(default_factory=list)  # of it, blocks taken together
    scarce: list[float] = field(default_factory=list)  # the same in scarce classes
    nll: list[float] = field(default_factory=list)
    brier: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def with_class_offsets(seen: Labelled, unseen: Labelled) -> np.ndarray:
    """Return answers of a logistic regression on the log odds of the score and the class."""
    from sklearn.linear_model import LogisticRegression

    def design(labelled: Labelled) -> np.ndarray:
        predictions = labelled.predictions
        share = np.clip(predictions.top_score / predictions.scale, 1e-6, 1.0 - 1e-6)
        is_class = np.eye(predictions.n_classes)[predictions.predicted_class]
        return np.column_stack([np.log(share) - np.log1p(-share), is_class])

    model = LogisticRegression(max_iter=2000).fit(design(seen), seen.is_correct)
    return model.predict_proba(design(unseen))[:, list(model.classes_).index(True)]


def by_fit(fit: Fit) -> stack.Answer:
    """Return a contestant of the other comparison as one of this."""
    return lambda seen, unseen: fit(seen)(unseen)


def contestants_of_small_sets() -> dict[str, stack.Answer | str]:
    """Return `auto`, its members, other methods and peers, or why one is absent."""
    ours = stack.method_answers()
    names = ("auto", *MEMBERS, "isotonic", "venn_abers")
    found: dict[str, stack.Answer | str] = {name: ours[name] for name in names}
    found |= stack.peers() | {"logistic regression, class offsets": with_class_offsets}
    for name, package, fit in (
        ("venn-abers", "venn_abers", venn_abers_fit),
        ("MAPIE isotonic", "mapie", mapie_fit("isotonic")),
        ("probmetrics SMS", "probmetrics", probmetrics_fit("sms")),
    ):
        is_there = importlib.util.find_spec(package) is not None
        found[name] = by_fit(fit) if is_there else f"No module named {package!r}"
    return found


def small_set_tables() -> Iterator[tuple[str, Labelled, Labelled]]:
    """Yield a title, rows to draw from, and rows that judge."""
    real = real_table()
    if real is not None:
        alone = replace(real, cluster=real.predictions.ids)
        yield ("PhANNs' first table at random", *stack.at_random(alone, 1))
        yield ("PhANNs' first table by blocks", *halves(real))
    for name, table_ in stack.small_tables().items():
        yield (f"scikit-learn's {name}", *stack.at_random(table_, 1))


def judge_small_set(
    seen: Labelled, unseen: Labelled, contestants: dict[str, stack.Answer], found: dict[str, Sums]
) -> None:
    """Add what each contestant loses on one set."""
    answers: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    for name, answer in contestants.items():
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answers[name] = answer(seen, unseen)
        except Exception as problem:  # a peer may fail in any way; the page says how often
            print(f"{name}: {type(problem).__name__}: {problem}", flush=True)
            continue
        seconds[name] = time.process_time() - start
    trees = [name for name in TREES if name in answers]
    answers[MEAN_OF_TREES] = np.mean([answers[name] for name in trees], axis=0)
    seconds[MEAN_OF_TREES] = sum(seconds[name] for name in trees)
    share = parse_method("class_only", "benchmarks").build(FitOptions(n_draws=0)).fit(seen)
    is_scarce = share.confidence(unseen.predictions).note & int(Note.SCARCE) > 0
    known = ~np.isnan(answers["auto"])
    of_auto = stack.losses(answers["auto"], unseen)
    for name, answer in answers.items():
        # Where a contestant has no answer it has that of `auto`.
        p = np.where(np.isnan(answer), answers["auto"], answer)
        loss = stack.losses(p, unseen)
        gap = (loss - of_auto)[known]
        sums = found.setdefault(name, Sums())
        sums.loss.append(float(gap.mean()))
        sums.error.append(stack.paired_error(gap, unseen.cluster[known]))
        rows = known & is_scarce
        sums.scarce.append(float(loss[rows].mean()) if rows.any() else float("nan"))
        sums.nll.append(float(loss[known].mean()))
        sums.brier.append(float(((p - unseen.is_correct)[known] ** 2).mean()))
        sums.seconds.append(seconds[name])


def small_sets(options: SmallSets) -> str:
    """Return a table for each set of tables and size, `auto` first."""
    everyone = contestants_of_small_sets()
    absent = [f"{name} ({why})" for name, why in everyone.items() if isinstance(why, str)]
    present = {name: answer for name, answer in everyone.items() if not isinstance(answer, str)}
    text = [
        f"Sizes {', '.join(f'{size:,}' for size in options.sizes)}, {options.draws} subsets each, "
        f"at most {N_JUDGING:,} proteins judge. NLL and Brier score are means over subsets; the "
        "difference to `auto` is paired, ± the mean of its standard errors on one subset, blocks "
        "taken together; scarce classes have fewer than ten predictions, or only right or only "
        "wrong ones. A peer that fails on every set of a size is not listed there. "
        f"Absent: {'; '.join(absent) or 'nobody'}.\n"
    ]
    for title, rows, judging in small_set_tables():
        unseen = judging
        if judging.n_samples > N_JUDGING:
            unseen = stack.some_rows(judging, N_JUDGING, 0)
        for size in options.sizes:
            if size > rows.n_samples:
                continue
            found: dict[str, Sums] = {}
            for draw in range(options.draws):
                judge_small_set(stack.some_rows(rows, size, draw), unseen, present, found)
            print(title, size, flush=True)
            text.append(f"**{title}, {size:,} proteins**\n")
            text.append(table(HEADER, [line_of(*entry, options.draws) for entry in found.items()]))
    return "\n".join(text)


HEADER = ["contestant", "NLL", "less that of `auto`", "in scarce classes", "Brier", "processor s"]


def line_of(name: str, sums: Sums, draws: int) -> list[str]:
    """Return a line of a table."""
    is_ours = name in {"auto", *MEMBERS, "isotonic", "venn_abers"}
    n_failed = draws - len(sums.nll)
    label = f"`{name}`" if is_ours else name
    scarce = np.array(sums.scarce)
    is_there = ~np.isnan(scarce)
    return [
        f"{label} (fails in {n_failed} of {draws})" if n_failed else label,
        f"{np.mean(sums.nll):.4f}",
        "" if name == "auto" else f"{np.mean(sums.loss):+.4f} ± {np.mean(sums.error):.4f}",
        f"{scarce[is_there].mean():.3f}" if is_there.any() else "–",
        f"{np.mean(sums.brier):.4f}",
        f"{np.mean(sums.seconds):.1f}",
    ]
