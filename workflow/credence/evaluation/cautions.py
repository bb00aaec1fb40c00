"""What has to be known before trusting the numbers of an evaluation."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from credence.calibrators.intervals import draws_needed
from credence.confidence import NOTE_TEXTS, Confidence, Note
from credence.findings import Caution, ClassCount, Reliability
from credence.metrics import metric as pointwise
from credence.predictions import Floats, Labelled

# With ten bins and 95 % intervals, three or more are off by chance once in 87 times.
MOST_BINS_OFF = 2

UNCALIBRATED_NAME = "uncalibrated"  # The method that learns nothing
FALLBACKS = (
    *(Note.SCARCE, Note.ONE_SIDED, Note.NO_BANDWIDTH, Note.NOT_CONVERGED),
    *(Note.SATURATED, Note.SATURATED_SHARE),
)


def cautions_of(
    labelled: Labelled,
    in_sample: Mapping[str, Confidence],
    held_out: Mapping[str, Floats],
    classes: Sequence[ClassCount],
    n_folds: int,
) -> Iterator[Caution]:
    """Yield everything that makes a number less sure than it looks; no folds: of a test set."""
    if labelled.predictions.n_ties > 0:
        yield Caution(kind="ties", counts={"proteins": labelled.predictions.n_ties})
    if len(np.unique(labelled.cluster)) == labelled.n_samples:
        yield Caution(kind="no relatives", is_warning=True)
    if len(np.unique(labelled.weight)) > 1:
        yield Caution(kind="weights")
    if n_folds:
        yield from _about_classes(classes, n_folds, UNCALIBRATED_NAME in in_sample)
    predicted = labelled.predictions.predicted_class
    for class_ in np.unique(predicted):
        rows = predicted == class_
        for flag in FALLBACKS:
            methods = tuple(
                name
                for name, confidence in in_sample.items()
                if (confidence.note[rows] & int(flag)).any()
            )
            if methods:
                yield Caution(
                    kind="fallback",
                    class_name=labelled.predictions.class_names[class_],
                    methods=() if len(methods) == len(in_sample) else methods,
                    note=NOTE_TEXTS[flag],
                    is_warning=True,
                )
    yield from _about_confidences(labelled, held_out)


def cautions_of_draws(n_draws: int, level: float) -> Iterator[Caution]:
    """Yield that there are too few draws for the quantiles asked for."""
    least = draws_needed((1.0 - level) / 2.0)
    if 0 < n_draws < least:
        yield Caution(kind="few draws", counts={"needed": least})


def cautions_of_reliability(
    reliability: Sequence[Reliability], method: str, sample: str
) -> Iterator[Caution]:
    """Yield a warning for each class whose held-out confidences are off."""
    for entry in reliability:
        if (entry.method, entry.sample) != (method, sample) or entry.class_name is None:
            continue
        bins = entry.bins
        known = [k for k, n in enumerate(bins.n) if n > 0 and not np.isnan(bins.lower[k])]
        n_off = sum(not bins.lower[k] <= bins.mean[k] <= bins.upper[k] for k in known)
        if n_off > MOST_BINS_OFF:
            yield Caution(
                kind="reliability",
                class_name=entry.class_name,
                methods=(method,),
                counts={"off": n_off, "bins": len(known)},
                is_warning=True,
            )


def _about_classes(
    classes: Sequence[ClassCount], n_folds: int, shows_raw: bool
) -> Iterator[Caution]:
    for entry in classes:
        name = entry.class_name
        if entry.n_predicted == 0:
            raw = (UNCALIBRATED_NAME,) if shows_raw else ()
            yield Caution(kind="unseen class", class_name=name, methods=raw, is_warning=True)
        elif entry.n_clusters < n_folds:
            yield Caution(
                kind="few clusters",
                class_name=name,
                counts={"proteins": entry.n_predicted, "independent": entry.n_clusters},
                is_warning=True,
            )
        if entry.n_true == 0 and entry.n_predicted > 0:
            yield Caution(kind="no true member", class_name=name, is_warning=True)


def _about_confidences(labelled: Labelled, held_out: Mapping[str, Floats]) -> Iterator[Caution]:
    for method, confidence in held_out.items():
        known = ~np.isnan(confidence)
        n_unknown = int((~known).sum())
        if n_unknown > 0:
            counts = {"proteins": n_unknown}
            yield Caution(kind="left out", methods=(method,), counts=counts, is_warning=True)
        clipped = pointwise.is_clipped(confidence[known])
        n_clipped = int(clipped.sum())
        if n_clipped > 0:
            stated_right = confidence[known][clipped] > 0.5  # each is 0 or 1
            n_mistaken = int((stated_right != labelled.is_correct[known][clipped]).sum())
            yield Caution(
                kind="clipped",
                methods=(method,),
                counts={"proteins": n_clipped, "mistaken": n_mistaken},
                is_warning=n_mistaken > 0,
            )
