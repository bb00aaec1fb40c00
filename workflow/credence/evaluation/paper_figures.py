"""The figures of the calibration paper, as records, from any labelled set.

Numbers and subjects are those of Salamon et al. 2023 (doi 10.3390/make5030043). What a figure
shows and was not fitted is fitted here; drawing reads the records and nothing else.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial

import numpy as np
from scipy.special import expit

from credence.calibrators.all_methods import METHODS
from credence.calibrators.classwise import class_samples
from credence.calibrators.crossfit import folds_by_class
from credence.calibrators.kernel import LOWEST, Kernel, local_sums
from credence.calibrators.masses import Nodes
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Calibration, ClassSample, FitOptions, Method, Need
from credence.draws import keys_of, uniform
from credence.evaluation.describing import confusion_of
from credence.evaluation.evaluate import cross_fit
from credence.findings import FigurePanel, FigureRecord, FigureSeries, Findings
from credence.metrics.all_metrics import METRICS_BY_NAME as METRICS
from credence.metrics.binned import N_SCORE_BINS, bin_of
from credence.metrics.metric import Judged, divide, sum_by
from credence.predictions import Floats, Labelled

SALAMON_PAPER = "Salamon et al. 2023 (doi 10.3390/make5030043)"
MON0, MON2, MON4, LOO = (  # Exactly as published
    f"kernel(bandwidth={rule}, prior_weight=0, safeguards=false)"
    for rule in ("mon", "mon2", "mon4", "loo")
)
PAPER_BINS = 10  # of the paper's histograms, of equal width
METHODS_OF_PAPER = {  # The paper's names of methods, and what is fitted for each
    "histogram": f"histogram(n_bins={PAPER_BINS})",
    "b_mon": MON0,
    "b_mon2": MON2,
    "STS": "sts",
    "CSTS": "csts",
    "TSwA": "tswa",
    "CSTSwA": "cstswa",
    "Cum*": "cumulative_optimal",
    "uncalibrated": "uncalibrated",
}
N_FIGURE_GRID = 201
FEW_BELOW = 0.01  # of the predictions: more below the beginning of the axis, and it begins at 0
CLOUD_POINTS = 800  # of a cloud; more hide each other
LEAST_FITTED = 10.0  # predictions; fewer have one share for all scores
FOLDS = 5
PER_PROTEIN = ("score", "is_correct", "weight", "cluster")  # of a class, one entry a protein
FALLBACK = 0.03  # of the scale: bandwidth of densities where a class has no kernel
OUTSIDE_BOUND = 0.05  # chance that one interval or more lies outside the bound
STEP_BELOW = 0.05  # of the scores' range: free at the left of an axis that begins at the least
MUCH = 0.05  # of a class's right predictions: a trove that adds fewer moves nothing to be seen
ABOVE = 1.1  # times the greatest loss: where the axis ends that has room for all
HIGHEST = 4.0  # times the median loss: where an axis of losses ends
BESIDE_LOSS = 0.16  # of a place on the axis: between in sample and held out
SATURATED, NEARLY_TOP = 0.95, 0.99  # of the predictions, and of the scale
WIDE_BOUND = 0.5  # of all precisions: a wider bound says little, and is not drawn
TELLING_WIDTH = 0.3  # on average over the scores drawn: a wider interval holds nearly any of them
BAND_DRAWS = 200  # bootstrap resamples of the interval that a raw score is compared with
NUMBERS_FITTED = {  # by a method on the whole vector: for all classes, and for each
    "STS": (1, 0),
    "CSTS": (0, 1),
    "TSwA": (1, 1),
    "CSTSwA": (0, 2),
    "uncalibrated": (0, 0),
}
OF_SCORE, OF_VECTOR = "scores of the predicted classes", "scores of all classes"


@dataclass(frozen=True, kw_only=True, eq=False)
class FigureSource:
    """What figures are made of."""

    labelled: Labelled | None  # Proteins that calibrate; None: a run's findings alone
    findings: Findings | None = None
    troves: Mapping[str, tuple[Labelled, Labelled]] = field(default_factory=dict)  # before, after
    second: Labelled | None = None  # Another set of the same tool's, where there is one
    is_near_top: bool = False  # Whether axes begin at the least score

    @property
    def known(self) -> Labelled:
        """Those proteins, where there are any."""
        assert self.labelled is not None
        return self.labelled

    @cached_property
    def fitted(self) -> Callable[[str], Calibration]:
        """How a method is fitted, once."""
        return cache(partial(_fit, labelled=self.known))

    @cached_property
    def samples(self) -> dict[int, ClassSample]:
        """The predictions of each class that has any with a score."""
        if self.labelled is None or self.labelled.predictions.top_score is None:
            return {}
        entries = enumerate(class_samples(self.labelled))
        return {class_: sample for class_, sample in entries if sample is not None}

    @property
    def has_vectors(self) -> bool:
        """Whether every class is scored, rows adding up to the scale."""
        return self.labelled is not None and self.labelled.predictions.has_vectors

    @property
    def is_saturated(self) -> bool:
        """Whether nearly all top scores are at the top of the scale."""
        if not self.samples:
            return False
        score = np.concatenate([sample.score for sample in self.samples.values()])
        return float((score > NEARLY_TOP * self.edges[-1]).mean()) >= SATURATED

    @property
    def names(self) -> tuple[str, ...]:
        """The classes."""
        return self.known.predictions.class_names

    @cached_property
    def grid(self) -> Floats:
        """Scores at which curves are known: from 0.15 of the scale, or from 0."""
        score = np.concatenate([sample.score for sample in self.samples.values()])
        end, start = float(self.edges[-1]), LOWEST * float(self.edges[-1])
        if self.is_near_top:
            start = float(score.min()) - STEP_BELOW * (end - float(score.min()))
        elif float((score < start).mean()) > FEW_BELOW:
            start = 0.0
        return np.linspace(start, end, N_FIGURE_GRID)

    def curve(
        self, method: str, class_: int, name: str, look: str, kind: str = "line"
    ) -> "Series":
        """Return a method's confidence over the scores seen of a class, as its formula has it."""
        entry = self.fitted(method).classes[self.names[class_]]  # type: ignore[attr-defined]
        value = self.where_seen(class_, self.grid, entry.curve.value(self.grid))
        return series_of(name, kind, look, self.grid, value)

    def where_seen(self, class_: int, grid: Floats, value: Floats) -> Floats:
        """Return values at scores between the least and the greatest of the class, else NaN."""
        seen, step = self.samples[class_].score, grid[1] - grid[0]
        is_seen = (grid > seen[0] - step) & (grid < seen[-1] + step)
        return np.where(is_seen, value, np.nan)

    def kernel(self, class_: int) -> "Series":
        """Return the kernel confidence as the paper has it, without a prior."""
        return self.curve(MON2, class_, "kernel (b_mon2)", "kernel")

    def bandwidth(self, class_: int) -> float:
        """Return the bandwidth of a class's kernel; NaN where it has none."""
        curve = self.fitted(MON2).classes[self.names[class_]].learnt  # type: ignore[attr-defined]
        return float(getattr(curve, "bandwidth", math.nan))

    def width(self, class_: int) -> float:
        """Return the bandwidth of a class's densities: that of its kernel confidence."""
        bandwidth = self.bandwidth(class_)
        return bandwidth if math.isfinite(bandwidth) else FALLBACK * float(self.grid[-1])

    def histogram(self, class_: int) -> "Series":
        """Return the precision in each interval of the score."""
        return shares_of(self.samples[class_], self.edges)

    @property
    def edges(self) -> Floats:
        """Ends of the intervals of histograms."""
        return self.known.predictions.score_grid(PAPER_BINS + 1)

    def band(self, class_: int, score: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the 95 % interval of a class's kernel, at its bandwidth."""
        curve = self.fitted(MON2).classes[self.names[class_]].learnt  # type: ignore[attr-defined]
        settings = Kernel(bandwidth=self.bandwidth(class_), prior_weight=0.0, safeguards=False)
        options = FitOptions(n_draws=BAND_DRAWS)
        band = settings.fit_band(self.samples[class_], curve, options)
        lower, upper = (np.interp(score, band.score, end) for end in (band.lower, band.upper))
        return lower, upper

    @cached_property
    def losses(self) -> "list[Losses]":
        """Mean losses of the paper's methods that the scores allow, of all and of each class."""
        return losses_of(self, methods_of(self))

    def judged(self, methods: Mapping[str, str]) -> tuple[Labelled, dict[str, Floats]]:
        """Return proteins that fits did not see, and each method's confidence of them.

        They are the second set, where there is one; else each protein is judged by fits of
        other families.
        """
        if self.second is not None:
            unseen = self.second.predictions
            return self.second, {
                name: self.fitted(text).confidence(unseen).value for name, text in methods.items()
            }
        options = FitOptions(min_positives=LEAST_FITTED, n_draws=0)
        calibrators = {
            name: parse_method(text, "figures").build(options) for name, text in methods.items()
        }
        fold = folds_by_class(self.known, FOLDS)
        return self.known, cross_fit(self.known, calibrators, fold)[0]

    def cloud(self, method: str, class_: int) -> "tuple[Series, ...]":
        """Return a point a protein: its confidence over its score, right and wrong."""
        proteins = self.known.take(self.known.predictions.predicted_class == class_)
        value = self.fitted(method).confidence(proteins.predictions).value
        order = np.argsort(keys_of(proteins.predictions.ids), kind="stable")[:CLOUD_POINTS]
        score, series = proteins.predictions.top_score, []
        assert score is not None
        for word, is_right in (("right", True), ("wrong", False)):
            rows = order[proteins.is_correct[order] == is_right]
            series.append(series_of(f"{word} prediction", "cloud", word, score[rows], value[rows]))
        return tuple(series)


Series = FigureSeries
Parts = tuple[FigurePanel, ...]


def series_of(
    name: str, kind: str, look: str, x: Floats, y: Floats, n: tuple[int, ...] = ()
) -> Series:
    """Return a series of arrays."""
    return FigureSeries(
        name=name, kind=kind, look=look, x=tuple(x.tolist()), y=tuple(y.tolist()), n=n
    )


def _fit(method: str, labelled: Labelled) -> Calibration:
    options = FitOptions(min_positives=LEAST_FITTED, n_draws=0)
    return parse_method(method, "figures").build(options).fit(labelled)


def shares_of(sample: ClassSample, edges: Floats) -> Series:
    """Return the precision in each interval of the score, as steps."""
    where, n = bin_of(sample.score, edges), len(edges) - 1
    right, total = (sum_by(where, weight, n) for weight in (sample.weight_correct, sample.weight))
    share = divide(right, total)
    counts = tuple(np.bincount(where, minlength=n).tolist())
    return series_of("histogram", "steps", "histogram", edges, share, counts)


def log_density(score: Floats, weight: Floats, grid: Floats, bandwidth: float) -> Floats:
    """Return the log of the sum of Gaussians, of height 1 times the weight, at each point."""
    if len(score) == 0:
        return np.full(len(grid), -np.inf)
    places, of_row = np.unique(score, return_inverse=True)
    nodes = Nodes(score=places, mass=sum_by(of_row, weight, len(places)))
    return local_sums(grid, nodes, bandwidth)[0]


def scaled(parts: Sequence[tuple[str, str, str, Floats]], grid: Floats) -> tuple[Series, ...]:
    """Return densities as parts of the greatest of them, from name, kind, look and logs."""
    most = max(float(logs.max()) for *_, logs in parts)
    return tuple(
        series_of(name, kind, look, grid, np.exp(logs - most)) for name, kind, look, logs in parts
    )


# What each figure shows. A function returns None where a class, or the set, allows none.


def _over_scores(
    source: FigureSource,
    panels: Sequence[FigurePanel],
    across: int = 1,
    upright: str = "confidence",
) -> FigureRecord | None:
    """Return panels on the axis of the score."""
    if not panels:
        return None
    return FigureRecord(
        panels=tuple(panels), across=across, axis="score of the predicted class",
        upright=upright, start=float(source.grid[0]), end=float(source.grid[-1]),
    )  # fmt: skip


def _pairs(source: FigureSource, panels: Callable[[int], Parts]) -> FigureRecord | None:
    """Return two panels a class, of which only the right one shows confidences."""
    return _over_scores(source, [panel for k in source.samples for panel in panels(k)], 2, "")


def _per_class(
    source: FigureSource, series: Callable[[int], Sequence[Series]]
) -> FigureRecord | None:
    """Return one panel a class with several series."""
    panels = [FigurePanel(title=source.names[k], series=tuple(series(k))) for k in source.samples]
    return _over_scores(source, panels)


def matrices(source: FigureSource, kind: int) -> FigureRecord | None:
    """Return joint counts (0), each row's shares (1), or each column's (2)."""
    labelled = source.labelled
    if labelled is None:
        if source.findings is None or not source.findings.results.confusion:
            return None
        results = source.findings.results
        names = results.class_names
        tables = (results.confusion, results.given_true, results.given_predicted)
    elif (labelled.true_class >= 0).all():
        names, tables = source.names, confusion_of(labelled)
    elif kind == 1:  # of counts, what a wrong prediction truly is is not known
        return None
    else:
        names = source.names
        right, every = (
            sum_by(labelled.predictions.predicted_class, weight, len(names))
            for weight in (labelled.is_correct.astype(np.float64), np.ones(labelled.n_samples))
        )
        diagonal = np.full((len(names),) * 2, math.nan)
        np.fill_diagonal(diagonal, right if kind == 0 else divide(right, every))
        tables = (tuple(map(tuple, diagonal.tolist())),) * 3
    numbers = tuple(tuple(map(float, row)) for row in tables[kind])
    key = "share" if kind else "proteins"
    return FigureRecord(names=names, matrix=numbers, key=key)


def sees_vectors(method: Method) -> bool:
    """Return whether a method looks at the scores of all classes where it is given them."""
    return method.needs.is_vector or getattr(method.settings(), "sees", "") == "vector"


def scheme(source: FigureSource) -> FigureRecord | None:
    """Return, for each kind of classifier, the confidence it allows and the methods for it."""
    kinds = (
        (Need.CLASS, "gives a class", "Conf1"),
        (Need.TOP_SCORE, "gives a class and its score", "Conf(S)"),
        (Need.VECTOR, "gives the score of every class", "Conf3"),
    )
    panels, kind = [], -1
    if source.labelled is not None:
        kind = 2 if source.has_vectors else int(source.known.predictions.top_score is not None)
    for place, (need, title, confidence) in enumerate(kinds):
        words = [FigureSeries(name=confidence, kind="word", look="heading")]
        words += [
            FigureSeries(name=method.name, kind="word", look="plain")
            for method in METHODS
            if (Need.VECTOR if sees_vectors(method) else method.needs) is need
        ]
        if place == kind:
            words.append(FigureSeries(name="this tool", kind="word", look="mark"))
        panels.append(FigurePanel(title=title, series=tuple(words)))
    return FigureRecord(panels=tuple(panels), across=len(panels))


def score_counts(source: FigureSource) -> FigureRecord | None:
    """Return right and wrong predictions in intervals of the score, and the precision."""

    def panel(class_: int) -> Parts:
        sample, edges = source.samples[class_], source.edges
        where, n, bars = bin_of(sample.score, edges), len(edges) - 1, []
        kinds = (sample.is_correct, ~sample.is_correct)
        counts = [np.bincount(where[rows], minlength=n) for rows in kinds]
        most = max(1, *(int(count.max()) for count in counts))
        for word, count in zip(("right", "wrong"), counts, strict=True):
            n_each = tuple(count.tolist())
            bars.append(series_of(word, "bars", word, edges, count / most, n_each))
        name = source.names[class_]
        left = FigurePanel(title=f"{name}: top bar {most:,}", series=tuple(bars))
        steps = source.histogram(class_)
        # Gupta and Ramdas' bound of all intervals at once (ICML 2021): √(ln(2B/α) / 2n) around
        # each share, of B intervals that hold any, n families each.
        pairs = np.unique(np.column_stack([where, sample.cluster]), axis=0)
        families = np.bincount(pairs[:, 0], minlength=n).astype(np.float64)
        n_filled, share = int((families > 0).sum()), np.array(steps.y)
        half = np.sqrt(divide(np.full(n, np.log(2.0 * n_filled / OUTSIDE_BOUND)), 2.0 * families))
        low, high = np.maximum(share - half, 0.0), np.minimum(share + half, 1.0)
        says_much = high - low <= WIDE_BOUND
        lower, upper = (tuple(np.where(says_much, end, np.nan).tolist()) for end in (low, high))
        steps = replace(steps, lower=lower, upper=upper)
        return left, FigurePanel(title=f"{name}: precision", series=(steps,))

    return _pairs(source, panel)


def half_histograms(source: FigureSource) -> FigureRecord | None:
    """Return histograms of two sets: halves that share no family, where there is one set."""
    second = None
    if source.second is not None:
        second = FigureSource(labelled=source.second)

    def parts(class_: int) -> list[Series]:
        sample, looks = source.samples[class_], ("kernel", "cumulative")
        if second is not None:
            series, names = [source.histogram(class_)], ("first set", "second set")
            if class_ in second.samples:
                series.append(second.histogram(class_))
        else:
            turn = np.empty(len(sample.cluster_key), dtype=np.int64)  # clusters take turns
            order = np.argsort(uniform(sample.cluster_key, 0, "halves"), kind="stable")
            turn[order] = np.arange(len(order)) % 2
            series, names = [], ("first half", "second half")
            for half in range(2):
                rows = turn[sample.cluster] == half
                part = {name: getattr(sample, name)[rows] for name in PER_PROTEIN}
                series.append(shares_of(replace(sample, **part), source.edges))
        return [
            replace(steps, name=name, look=look, kind=kind)
            for steps, name, look, kind in zip(
                series, names, looks, ("steps", "dashed steps"), strict=False
            )
        ]

    record = _per_class(source, parts)
    word = "halves of the calibration set" if second is None else "two independent test sets"
    return record and replace(record, caption=f"They are {word}: the difference is noise.")


def log_densities(
    source: FigureSource, class_: int, grid: Floats, width: float
) -> dict[str, Floats]:
    """Return the logs of the densities of right and of wrong predictions."""
    sample = source.samples[class_]
    score, weight = sample.score, sample.weight
    kinds = (("right", sample.is_correct), ("wrong", ~sample.is_correct))
    return {word: log_density(score[rows], weight[rows], grid, width) for word, rows in kinds}


def kernels(source: FigureSource, has_others: bool = False) -> FigureRecord | None:
    """Return densities of right and wrong predictions, and their ratio on the histogram.

    With others: of the class's score among proteins not predicted to be in it too, and what the
    confidence would be if they counted.
    """
    if has_others and not source.has_vectors:
        return None

    def panel(class_: int) -> Parts:
        grid, width, name = source.grid, source.width(class_), source.names[class_]
        logs = log_densities(source, class_, grid, width)
        parts = [(word, "line", word, values) for word, values in logs.items()]
        right = [source.histogram(class_), source.kernel(class_)]
        if has_others:
            predictions, weight = source.known.predictions, source.known.weight
            others = predictions.predicted_class != class_
            assert predictions.scores is not None
            rest = log_density(predictions.scores[others, class_], weight[others], grid, width)
            parts.append(("not predicted so", "line", "histogram", rest))
            share = np.exp(logs["right"] - np.logaddexp.reduce([*logs.values(), rest]))
            right[0] = series_of("if all counted", "line", "all", grid, share)
        return (
            FigurePanel(title=f"{name}: densities", series=scaled(parts, grid)),
            FigurePanel(title=f"{name}: confidence", series=tuple(right)),
        )

    return _pairs(source, panel)


def nearly_calibrated(source: FigureSource) -> FigureRecord | None:
    """Return two classes whose score over the scale lies near the kernel confidence.

    Those come first in which it is within the confidence's interval at each protein, and that
    interval is narrow enough to tell.
    """
    places = {}
    for class_, sample in source.samples.items():
        if not math.isfinite(source.bandwidth(class_)):
            continue
        predictions = source.known.predictions.at_scores(class_, sample.score)
        raw = np.clip(sample.score / predictions.scale, 0.0, 1.0)
        kernel = source.fitted(MON2).confidence(predictions).value
        lower, upper = source.band(class_, sample.score)
        outside = (raw < lower) | (raw > upper)
        apart = float(np.average(np.abs(raw - kernel), weights=sample.weight))
        share_outside = float(np.average(outside, weights=sample.weight))
        low, high = source.band(class_, source.grid)
        width = source.where_seen(class_, source.grid, high - low)
        is_wide = float(np.nanmean(width)) > TELLING_WIDTH
        title = "nearly calibrated"
        if share_outside:
            percent = max(100 * share_outside, 1)
            title = f"{percent:.0f} % of raw scores outside the interval"
        elif is_wide:
            title = "interval too wide to tell"
        places[class_] = (is_wide or share_outside > 0.0, apart, title)
    nearest = sorted(places, key=places.__getitem__)
    panels = []
    for class_ in nearest[:2]:
        title = places[class_][2]
        clouds = source.cloud("tswa", class_) if source.has_vectors else ()
        line = source.curve("uncalibrated", class_, "score over scale", "score", "dashed")
        ends = [
            tuple(source.where_seen(class_, source.grid, end).tolist())
            for end in source.band(class_, source.grid)
        ]
        kernel_line = replace(source.kernel(class_), lower=ends[0], upper=ends[1])
        series = (*clouds, source.histogram(class_), kernel_line, line)
        panels.append(FigurePanel(title=f"{source.names[class_]}: {title}", series=series))
    return _over_scores(source, panels, 2)


def cumulatives(source: FigureSource) -> FigureRecord | None:
    """Return Cum, Cum+ and Cum* of the class that a cut-off helps most."""
    gains = {}
    for class_, sample in source.samples.items():
        if not 0.0 < sample.share_correct < 1.0:
            continue
        at, weight = source.known.predictions.at_scores(class_, sample.score), sample.weight
        fitted = (source.fitted(method) for method in ("cumulative", "cumulative_optimal"))
        losses = [
            nll(calibration.confidence(at).value, sample.is_correct, weight)
            for calibration in fitted
        ]
        gains[class_] = (losses[0] - losses[1]) * math.sqrt(float(weight.sum()))
    if not gains:
        return None
    best = max(gains, key=gains.__getitem__)
    panels = []
    for name, method in (
        ("Cum", "cumulative"),
        ("Cum+ (median)", "cumulative_plus"),
        ("Cum* (best)", "cumulative_optimal"),
    ):
        line = source.curve(method, best, "cumulative", "cumulative")
        series = (source.histogram(best), source.kernel(best), line)
        panels.append(FigurePanel(title=name, series=series))
    record = _over_scores(source, panels, len(panels))
    return record and replace(record, caption=f"The class is {source.names[best]}.")


def nll(confidence: Floats, is_correct: np.ndarray, weight: Floats) -> float:
    """Return the mean negative log-likelihood of confidences that are known."""
    known = ~np.isnan(confidence)
    judged = Judged(
        confidence=confidence[known], is_correct=is_correct[known], weight=weight[known]
    )
    return METRICS["nll"].compute(judged)


def optimal(source: FigureSource) -> FigureRecord | None:
    """Return Cum* on the histogram and the kernel, class by class."""
    cum = partial(source.curve, "cumulative_optimal", name="Cum*", look="cumulative")
    return _per_class(source, lambda k: (source.histogram(k), source.kernel(k), cum(class_=k)))


def clouds(source: FigureSource, method: str) -> FigureRecord | None:
    """Return a method that looks at the whole vector: a point a protein."""
    if not source.has_vectors:
        return None
    return _per_class(source, lambda k: (*source.cloud(method, k), source.histogram(k)))


def wiggles(source: FigureSource) -> FigureRecord | None:
    """Return the bandwidth of least left-out loss where it makes the most wiggles."""

    def excess(class_: int) -> float:
        curves = (source.curve(method, class_, "", "").y for method in (LOO, MON2))
        rough, smooth = (float(np.nansum(np.abs(np.diff(values)))) for values in curves)
        return rough - smooth

    panels = []
    by_class = {
        class_: excess(class_)
        for class_ in source.samples
        if math.isfinite(source.bandwidth(class_))
    }
    for class_ in sorted(by_class, key=by_class.__getitem__, reverse=True)[:2]:
        rough = source.curve(LOO, class_, "b_opt", "wrong")
        series = (source.histogram(class_), rough, source.kernel(class_))
        panels.append(FigurePanel(title=source.names[class_], series=series))
    record = _over_scores(source, panels, 2)
    n_rougher = sum(value > 0.0 for value in by_class.values())
    sentence = f"Here b_opt goes up and down more in {n_rougher} of {len(by_class)} classes."
    return record and replace(record, caption=sentence)


def steadiest(source: FigureSource) -> FigureRecord | None:
    """Return the kernel that only rises or falls beside the one that may turn twice."""
    mon = partial(source.curve, MON0, name="b_mon", look="cumulative", kind="dashed")
    return _per_class(source, lambda k: (source.kernel(k), mon(class_=k)))


def troves(source: FigureSource) -> FigureRecord | None:
    """Return densities and confidences before and after each trove, of classes that it touched."""
    panels: list[FigurePanel] = []
    last = source
    for trove, sets in source.troves.items():
        before, after = (FigureSource(labelled=labelled) for labelled in sets)
        for class_, sample in after.samples.items():
            old = before.samples.get(class_)
            before_it = 0 if old is None else int(old.is_correct.sum())
            if int(sample.is_correct.sum()) <= (1.0 + MUCH) * before_it:
                continue
            panels += _before_and_after(before, after, class_, trove)
            last = after
    return _over_scores(last, panels, 2, "")


def _before_and_after(before: FigureSource, after: FigureSource, class_: int, trove: str) -> Parts:
    """Return densities and their ratio, with one bandwidth, so that they can be compared."""
    width, densities, lines = after.width(class_), [], []
    for sets, when, kind in ((before, "before", "dashed"), (after, "after", "line")):
        if class_ not in sets.samples:
            continue
        logs = log_densities(sets, class_, after.grid, width)
        densities += [(f"{word}, {when}", kind, word, values) for word, values in logs.items()]
        share = sets.where_seen(class_, after.grid, expit(logs["right"] - logs["wrong"]))
        lines.append(series_of(f"confidence {when}", kind, "kernel", after.grid, share))
    title = f"{after.names[class_]}, trove {trove}"
    return (
        FigurePanel(title=f"{title}: densities", series=scaled(densities, after.grid)),
        FigurePanel(title=f"{title}: confidence", series=tuple(lines)),
    )


def trained(source: FigureSource) -> FigureRecord | None:
    """Return the joint counts of a tool trained to the end."""
    return matrices(source, kind=0) if source.is_saturated else None


REMEDIES = {"b_mon2": MON2, "Conf1": "class_only", "b_mon": MON0, "Cum*": "cumulative_optimal"}


def saturated(source: FigureSource) -> FigureRecord | None:
    """Return b_mon2 where nearly all scores are at the top, what the paper advises, and losses."""
    if not source.is_saturated:
        return None
    source = replace(source, is_near_top=True)
    looks = (("wrong", "line"), ("score", "dotted"), ("kernel", "line"), ("cumulative", "dashed"))

    def curves(class_: int) -> list[Series]:
        return [
            source.curve(method, class_, name, look, kind)
            for (name, method), (look, kind) in zip(REMEDIES.items(), looks, strict=True)
        ]

    record = _per_class(source, curves)
    unseen, confidence = source.judged(REMEDIES)
    loss = {
        name: nll(value, unseen.is_correct, unseen.weight) for name, value in confidence.items()
    }
    ranked = sorted(loss, key=loss.__getitem__)
    where = "on the second set" if source.second is not None else "held-out by family"
    listed = ", ".join(f"{name} {loss[name]:.3f}" for name in ranked)
    sentence = f"Here the mean NLL {where} is, best first: {listed}."
    return record and replace(record, caption=sentence)


def methods_of(source: FigureSource) -> dict[str, str]:
    """Return the paper's methods that the scores allow."""
    return {
        name: text
        for name, text in METHODS_OF_PAPER.items()
        if source.has_vectors or not parse_method(text, "figures").needs.is_vector
    }


@dataclass(frozen=True, kw_only=True)
class Losses:
    """Mean losses of the methods, of one class or of all."""

    title: str
    n: int  # Proteins that the methods are fitted on
    n_held_out: int  # Proteins that they are judged on
    in_sample: tuple[float, ...]  # One a method
    held_out: tuple[float, ...]


def losses_of(source: FigureSource, methods: Mapping[str, str]) -> list[Losses]:
    """Return the mean losses of methods, of all classes and then of each."""
    known = source.known
    seen = {name: source.fitted(text).confidence(known.predictions).value
            for name, text in methods.items()}  # fmt: skip
    unseen, judged = source.judged(methods)
    answers = []
    for class_ in (None, *source.samples):
        numbers, counts = [], []
        for labelled, confidences in ((known, seen), (unseen, judged)):
            rows = np.ones(labelled.n_samples, dtype=np.bool_)
            if class_ is not None:
                rows = labelled.predictions.predicted_class == class_
            right, weight = labelled.is_correct[rows], labelled.weight[rows]
            numbers.append(tuple(nll(confidences[name][rows], right, weight) for name in methods))
            counts.append(int(rows.sum()))
        answers.append(
            Losses(
                title="all classes" if class_ is None else source.names[class_],
                n=counts[0],
                n_held_out=counts[1],
                in_sample=numbers[0],
                held_out=numbers[1],
            )
        )
    return answers


def losses(source: FigureSource) -> FigureRecord | None:
    """Return the mean loss of the paper's methods by class, in sample and held out."""
    if not source.samples:
        return None
    methods = methods_of(source)
    panels = []
    for entry in source.losses:
        series = (
            beside(entry.in_sample, IN_SAMPLE_LOOK, -BESIDE_LOSS, entry.n),
            beside(entry.held_out, HELD_OUT_LOOK, BESIDE_LOSS, entry.n_held_out),
        )
        panels.append(FigurePanel(title=entry.title, series=series))
    return _over_methods(panels, tuple(methods))


IN_SAMPLE_LOOK = ("in sample", "hollow", "histogram")
HELD_OUT_LOOK = ("held-out", "points", "kernel")
AIC_LOOK = ("AIC / 2n", "points", "cumulative")


def beside(values: Sequence[float], look: tuple[str, str, str], aside: float, n: int) -> Series:
    """Return marks of methods, a little aside of their places on the axis."""
    name, kind, colour = look
    x = tuple(place + aside for place in range(len(values)))
    return FigureSeries(
        name=name, kind=kind, look=colour, x=x, y=tuple(values), n=(n,) * len(values)
    )


def _over_methods(panels: Sequence[FigurePanel], names: tuple[str, ...]) -> FigureRecord:
    """Return panels of losses on an axis of methods, which ends where most of them do."""
    known = [y for panel in panels for part in panel.series for y in part.y if math.isfinite(y)]
    return FigureRecord(
        panels=tuple(panels), upright="mean NLL per protein", start=-0.6, end=len(names) - 0.4,
        top=HIGHEST * float(np.median(known)) if known else 1.0, ticks=names,
    )  # fmt: skip


def n_parameters(source: FigureSource, name: str) -> float:
    """Return how many numbers a method fits; for a curve, how many its flexibility amounts to.

    That is the trace of its smoother, the sum over proteins of how much the outcome of each moves
    its own confidence, with the bandwidth or cut-off, which is chosen too.
    """
    total = 0.0
    if name in NUMBERS_FITTED:
        total, each = NUMBERS_FITTED[name]
        return float(total + each * len(source.samples))
    for class_, sample in source.samples.items():
        learnt = source.fitted(METHODS_OF_PAPER[name]).classes[source.names[class_]].learnt  # type: ignore[attr-defined]
        score, weight = sample.score, sample.weight
        bandwidth, cutoff = (getattr(learnt, word, math.nan) for word in ("bandwidth", "cutoff"))
        if learnt is not None and name == "histogram":
            total += len(np.unique(bin_of(score, source.edges)))
        elif math.isfinite(bandwidth):
            logs = log_density(score, weight, score, bandwidth)
            total += 1.0 + float((weight * np.exp(-logs)).sum())
        elif learnt is not None and name == "Cum*":
            places, of_row = np.unique(score, return_inverse=True)
            mass = sum_by(of_row, weight, len(places))
            or_better = np.cumsum(mass[::-1])[::-1]
            above = places >= cutoff if math.isfinite(cutoff) else np.ones(len(places), np.bool_)
            total += 1.0 + float((~above).any()) + float((mass / or_better)[above].sum())
        else:
            total += 1.0  # the share of the class
    return total


def parameters(source: FigureSource) -> FigureRecord | None:
    """Return the mean loss of all classes, methods by their number of parameters, with AIC."""
    if not source.samples:
        return None
    names, whole = list(methods_of(source)), source.losses[0]
    number = np.array([n_parameters(source, name) for name in names])
    order = np.argsort(number, kind="stable")
    number = number[order]
    seen, unseen = (np.array(values)[order] for values in (whole.in_sample, whole.held_out))
    series = (
        beside(seen.tolist(), IN_SAMPLE_LOOK, -2 * BESIDE_LOSS, whole.n),
        beside((seen + number / whole.n).tolist(), AIC_LOOK, 0.0, whole.n),
        beside(unseen.tolist(), HELD_OUT_LOOK, 2 * BESIDE_LOSS, whole.n_held_out),
    )
    panel = FigurePanel(title=whole.title, series=series)
    ticks = [f"{names[at]} ({fitted:.0f})" for at, fitted in zip(order, number, strict=True)]
    highest = max(y for part in series for y in part.y if math.isfinite(y))
    return replace(_over_methods([panel], tuple(ticks)), top=ABOVE * highest)


def reliabilities(source: FigureSource) -> FigureRecord | None:
    """Return the chosen method's held-out precision over its confidence, class by class."""
    if source.findings is None:
        return None
    panels = []
    for entry in source.findings.results.reliability:
        is_shown = entry.method == source.findings.chosen and entry.sample == "held_out"
        if not is_shown or sum(entry.bins.n) == 0:
            continue
        points = FigureSeries(
            name="held-out",
            kind="points",
            look="kernel",
            x=entry.bins.mean,
            y=entry.bins.share,
            lower=entry.bins.lower,
            upper=entry.bins.upper,
            n=entry.bins.n,
        )
        line = FigureSeries(
            name="perfect", kind="dotted", look="score", x=(0.0, 1.0), y=(0.0, 1.0)
        )
        panels.append(FigurePanel(title=entry.class_name or "all classes", series=(line, points)))
    return FigureRecord(panels=tuple(panels), axis="confidence (mean of bin)", upright="precision")


def given_out(source: FigureSource) -> FigureRecord | None:
    """Return the run's chosen confidence with its interval, class by class."""
    if source.findings is None:
        return None
    results, panels = source.findings.results, []
    shares = {entry.class_name: entry.shares for entry in results.histograms}
    for curve in results.curves:
        if curve.method != source.findings.chosen or curve.class_name not in shares:
            continue
        bins, counts = shares[curve.class_name], shares[curve.class_name].n
        steps = FigureSeries(
            name="histogram", kind="steps", look="histogram", x=bins.edges, y=bins.share, n=counts
        )
        line = FigureSeries(
            name="confidence",
            kind="line" if curve.is_function else "hollow",
            look="kernel",
            x=curve.score,
            y=curve.value,
            lower=curve.lower,
            upper=curve.upper,
        )
        panels.append(FigurePanel(title=curve.class_name, series=(steps, line)))
    if not panels:
        return None
    return FigureRecord(
        panels=tuple(panels), axis="score of the predicted class",
        upright="confidence", end=max(entry.edges[-1] for entry in shares.values()),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FigureSpec:
    """One figure of the list."""

    number: str  # So that they sort: ``09`` and ``16b``
    name: str
    caption: str  # Its first sentence says what the figure shows
    build: Callable[[FigureSource], FigureRecord | None]
    needs: str = OF_SCORE  # What there has to be, or there is no such figure


STEPS_CAPTION = (
    f"Steps: precision in {PAPER_BINS} equal intervals of the score, the lowest dotted."
)
CLOUD_CAPTION = (
    f"One point a protein (of a class with more than {CLOUD_POINTS}, so many chosen by name): at "
    "one score there is a range of confidences, since the rest of the vector matters. "
    f"{STEPS_CAPTION}"
)
OF_RUN, TRUE = "findings of a run", "true classes"
_joint, _by_row, _by_column = (partial(matrices, kind=kind) for kind in range(3))
_sts, _csts, _tswa = (partial(clouds, method=method) for method in ("sts", "csts", "tswa"))
_COUNTS = "Proteins by true (rows) and predicted class (columns)."
_ROWS = "What becomes of each true class, as shares of its row; the diagonal is marked."
_COLUMNS = (
    "What predictions of each class truly are, as shares of the column. Its diagonal, marked, is "
    "Conf1, the confidence that the class alone gives."
)
_KINDS = (
    "Three kinds of classifier by what they give out, the confidence that each allows, and the "
    "methods that offer it. A tool can use those of its own kind and of the kinds left of it."
)
PUBLISHED_CAPTION = (
    "Kernels exactly as published: no prior weight, and without the safeguards that are the "
    "default elsewhere."
)
_STEPS = (
    f"How a histogram confidence comes about. Left: right and wrong predictions in {PAPER_BINS} "
    "equal intervals of the score, as parts of the top bar, whose count stands above. Right: "
    "the precision in each; whiskers: Gupta and Ramdas' distribution-free bound (2021), 95 % for "
    "all intervals of a class, by families. There is no whisker where the bound is wider than "
    "0.5: too few families."
)
_HALVES = (
    f"Histogram confidence ({PAPER_BINS} equal intervals of the score) from two sets that share "
    "no family, over each other (solid and dashed)."
)
_KERNELS = (
    "Kernel densities of right and wrong predictions, and the confidence that is their ratio. "
    f"Left: densities as parts of the greatest value. Right: right to all. {STEPS_CAPTION} "
    f"{PUBLISHED_CAPTION}"
)
_COUNTING = (
    "Kernel densities with those of proteins that are predicted to be of another class, and what "
    "the confidence would be if these counted. Left: of the class's own score; all as parts of "
    "the greatest value that is shown."
)
_NEARLY = (
    "Two classes whose raw score is near the kernel confidence. A class is called nearly "
    "calibrated only where the raw score lies within the confidence's 95 % interval (band, at "
    f"this bandwidth) at each prediction's score, and the interval is narrower than "
    f"{TELLING_WIDTH} on average over the scores drawn. Points, where every class is scored: "
    f"TSwA, one a protein. {STEPS_CAPTION} {PUBLISHED_CAPTION}"
)
_CUMULATIVE = (
    "Cumulative confidence of one class: Cum, Cum+ (cut-off at the median of the scores) and Cum* "
    "(best cut-off). It is a class that the best cut-off helps much. Cum is the confidence at a "
    f"score or better, so it lies above that at the score. {STEPS_CAPTION}"
)
_TROVES = (
    "New proteins of known class, before and after each trove. Left: densities of right and wrong "
    "predictions, before (dashed) and after (solid), with one bandwidth. Right: the confidence. "
    "Classes whose right predictions became more by a twentieth or more."
)
_WARNING = (
    "b_mon2 used blindly where nearly all scores are at the top, as a warning. Beside it what the "
    "paper advises there: Conf1, b_mon, which may be flat, or Cum*."
)
_LOSSES = (
    "Mean negative log-likelihood (NLL) per protein of each method, class by class. In sample, as "
    "in the paper (open), and for proteins of families, or of a set, that the fit did not see "
    f"(filled). An arrow: above the axis, with its value. Histogram of {PAPER_BINS} equal "
    f"intervals. {PUBLISHED_CAPTION}"
)
_PARAMETERS = (
    "Mean NLL per protein against the number of parameters, which stands in brackets and grows to "
    "the right. In sample (open); Akaike's criterion as NLL + parameters / proteins, so that it "
    "can be compared (triangles); and for proteins that the fit did not see (filled squares). Of "
    "curves the number is the trace of the smoother, with the bandwidth or cut-off. AIC takes all "
    "proteins as independent, so with relatives among them it is too small."
)
_LOO = (
    "The bandwidth of least left-out loss (b_opt), which can follow noise, and b_mon2, in the two "
    "classes in which b_opt goes up and down most beyond b_mon2."
)
_BOTH = (
    "Kernel confidence that never turns (b_mon) against one that may turn twice (b_mon2). "
    f"{PUBLISHED_CAPTION}"
)
_BEST = f"Cumulative confidence with the best cut-off (Cum*), class by class. {STEPS_CAPTION}"
_TRAINED = "Joint counts of the classifier of the next figure."
_RELIABLE = "Precision over the confidence given out, held-out, with intervals over families."
_GIVEN = (
    "The confidence that is given out, class by class. Band: pointwise interval. Steps: precision "
    f"in {N_SCORE_BINS} equal intervals of the score, the lowest dotted."
)
OF_TRAINED = "a tool trained to the end, 95 % of its top scores above 0.99 of the scale"
NEEDS_SOME = f"{OF_SCORE}, and a class with 10 predictions, right and wrong"
NEEDS_TROVE = "a trove that added predictions, and the samples of the release before it"
FIGURES: tuple[FigureSpec, ...] = (
    FigureSpec(number="01a", name="counts", caption=_COUNTS, build=_joint, needs=TRUE),
    FigureSpec(
        number="01b",
        name="confusion",
        caption=_ROWS,
        build=_by_row,
        needs="the true classes of wrong predictions",
    ),
    FigureSpec(
        number="01c", name="reverse-confusion", caption=_COLUMNS, build=_by_column, needs=TRUE
    ),
    FigureSpec(number="02", name="kinds", caption=_KINDS, build=scheme),
    FigureSpec(number="03", name="histograms", caption=_STEPS, build=score_counts),
    FigureSpec(number="04", name="halves", caption=_HALVES, build=half_histograms),
    FigureSpec(number="05", name="densities", caption=_KERNELS, build=kernels),
    FigureSpec(
        number="06",
        name="counting",
        caption=_COUNTING,
        build=partial(kernels, has_others=True),
        needs=OF_VECTOR,
    ),
    FigureSpec(
        number="07",
        name="nearly-calibrated",
        caption=_NEARLY,
        build=nearly_calibrated,
        needs=NEEDS_SOME,
    ),
    FigureSpec(
        number="08", name="cumulative", caption=_CUMULATIVE, build=cumulatives, needs=NEEDS_SOME
    ),
    FigureSpec(number="09", name="optimal-cutoff", caption=_BEST, build=optimal),
    FigureSpec(
        number="10",
        name="sts",
        caption=f"One temperature (STS). {CLOUD_CAPTION}",
        build=_sts,
        needs=OF_VECTOR,
    ),
    FigureSpec(
        number="11",
        name="csts",
        caption=f"One for each class (CSTS). {CLOUD_CAPTION}",
        build=_csts,
        needs=OF_VECTOR,
    ),
    FigureSpec(
        number="12",
        name="tswa",
        caption=f"One, and awards (TSwA). {CLOUD_CAPTION}",
        build=_tswa,
        needs=OF_VECTOR,
    ),
    FigureSpec(
        number="13",
        name="bandwidth",
        caption=f"{_LOO} {STEPS_CAPTION} {PUBLISHED_CAPTION}",
        build=wiggles,
        needs=NEEDS_SOME,
    ),
    FigureSpec(number="14", name="steadiest", caption=_BOTH, build=steadiest),
    FigureSpec(number="15", name="troves", caption=_TROVES, build=troves, needs=NEEDS_TROVE),
    FigureSpec(
        number="16a", name="saturated-counts", caption=_TRAINED, build=trained, needs=OF_TRAINED
    ),
    FigureSpec(
        number="16b", name="saturated", caption=_WARNING, build=saturated, needs=OF_TRAINED
    ),
    FigureSpec(number="17", name="nll", caption=_LOSSES, build=losses),
    FigureSpec(number="17b", name="parameters", caption=_PARAMETERS, build=parameters),
    FigureSpec(
        number="18", name="reliability", caption=_RELIABLE, build=reliabilities, needs=OF_RUN
    ),
    FigureSpec(number="19", name="confidence", caption=_GIVEN, build=given_out, needs=OF_RUN),
)
LAST = "17"  # Further figures are not in the paper


def make_figures(
    source: FigureSource, only: Sequence[FigureSpec] = FIGURES
) -> Iterator[FigureRecord]:
    """Yield the record of each figure; what cannot be made names what it lacks."""
    for spec in only:
        record = spec.build(source)
        shows = spec.caption.partition(". ")[0].rstrip(".") + "."
        if record is None or not (record.panels or record.matrix):
            yield FigureRecord(number=spec.number, name=spec.name, shows=shows, lacks=spec.needs)
            continue
        sentences = [spec.caption, record.caption, _evidence(source)]
        if spec.number[:2] <= LAST:
            sentences.append(f"After Fig. {int(spec.number[:2])} of {SALAMON_PAPER}.")
        caption = " ".join(filter(None, sentences))
        yield replace(record, number=spec.number, name=spec.name, shows=shows, caption=caption)


def _evidence(source: FigureSource) -> str:
    """Return what the numbers rest on, and whether it was simulated."""
    if source.labelled is not None:
        n, n_families = source.labelled.n_samples, len(set(source.labelled.cluster.tolist()))
    elif source.findings is not None:
        n, n_families = source.findings.results.n_samples, source.findings.results.n_clusters
    else:
        return ""
    families = "families unknown" if n == n_families else f"{n_families:,} families"
    is_simulated = source.findings is not None and source.findings.provenance.is_simulated
    return f"{n:,} proteins, {families}.{' Simulated data.' if is_simulated else ''}"
