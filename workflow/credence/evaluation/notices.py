"""What a reader has to know before trusting the numbers, in plain sentences."""

from collections.abc import Mapping, Sequence

import numpy as np

from credence.calibrators.intervals import draws_needed
from credence.confidence import NOTE_TEXTS, Confidence, Note
from credence.findings import ClassCount, Notice, Reliability
from credence.metrics import metric as pointwise
from credence.predictions import Floats, Labelled
from credence.problems import plural

# With ten bins and 95 % intervals, three or more are off by chance once in 87 times.
MOST_BINS_OFF = 2

UNCALIBRATED_NAME = "uncalibrated"  # The method that learns nothing
FALLBACKS = (
    *(Note.SCARCE, Note.ONE_SIDED, Note.NO_BANDWIDTH, Note.NOT_CONVERGED),
    *(Note.SATURATED, Note.SATURATED_SHARE),
)


def notices_of(
    labelled: Labelled,
    in_sample: Mapping[str, Confidence],
    held_out: Mapping[str, Floats],
    classes: Sequence[ClassCount],
    n_folds: int,
) -> tuple[Notice, ...]:
    """Return everything that makes a number less sure than it looks; no folds: of a test set."""
    set_name = "calibration set" if n_folds else "test set"
    notices = []
    n_ties = labelled.predictions.n_ties
    if n_ties > 0:
        text = (
            f"{plural(n_ties, 'protein')} of the {set_name} "
            f"{'has' if n_ties == 1 else 'have'} two or more classes with the same best score. "
            "The class that comes first in the table counts as predicted."
        )
        notices.append(Notice(kind="ties", text=text))
    if len(np.unique(labelled.cluster)) == labelled.n_samples:
        text = (
            f"Every protein of the {set_name} counts as independent of all others. If some are "
            f"relatives, the intervals are too narrow"
            f"{' and the held-out numbers too good' if n_folds else ''}. "
            "Give the sequences, or a table of clusters."
        )
        notices.append(Notice(kind="no relatives", text=text, is_warning=True))
    if len(np.unique(labelled.weight)) > 1:
        text = f"Proteins of the {set_name} carry different weights. Shares and metrics are "
        notices.append(Notice(kind="weights", text=text + "weighted; counts of proteins are not."))
    if n_folds:
        notices += _about_classes(classes, n_folds, UNCALIBRATED_NAME in in_sample)
    predicted = labelled.predictions.predicted_class
    for class_ in np.unique(predicted):
        rows, class_name = predicted == class_, labelled.predictions.class_names[class_]
        for flag in FALLBACKS:
            stated = in_sample.items()
            methods = [
                name for name, confidence_ in stated if (confidence_.note[rows] & int(flag)).any()
            ]
            if methods:
                whose = "" if len(methods) == len(in_sample) else f" ({', '.join(methods)})"
                text = f"{class_name}{whose}: {NOTE_TEXTS[flag]}."
                notices.append(
                    Notice(kind="fallback", text=text, class_name=class_name, is_warning=True)
                )
    return (*notices, *_about_confidences(labelled, held_out, n_folds))


def notices_of_draws(n_draws: int, level: float) -> tuple[Notice, ...]:
    """Return what intervals are where there are too few draws for the quantiles asked for."""
    least = draws_needed((1.0 - level) / 2.0)
    if n_draws == 0 or n_draws >= least:
        return ()
    text = (
        f"The intervals rest on {plural(n_draws, 'bootstrap resample')}, and quantiles at "
        f"{100 * level:g} % need {least:,}: they reach as far as the spread of the resamples and "
        "Student's t say."
    )
    return (Notice(kind="few draws", text=text),)


def notices_of_reliability(
    reliability: Sequence[Reliability], method: str, level: float, sample: str
) -> tuple[Notice, ...]:
    """Return a warning for each class whose held-out confidences are off."""
    notices = []
    for entry in reliability:
        if (entry.method, entry.sample) != (method, sample) or entry.class_name is None:
            continue
        bins = entry.bins
        known = [k for k, n in enumerate(bins.n) if n > 0 and not np.isnan(bins.lower[k])]
        n_off = sum(not bins.lower[k] <= bins.mean[k] <= bins.upper[k] for k in known)
        if n_off > MOST_BINS_OFF:
            text = (
                f"Confidences of {method} for {entry.class_name} are not calibrated on proteins "
                f"that the fit did not see: in {n_off} of {len(known)} bins the mean confidence "
                f"lies outside the {100 * level:g} % interval of the precision."
            )
            notices.append(
                Notice(kind="reliability", text=text, class_name=entry.class_name, is_warning=True)
            )
    return tuple(notices)


def _about_classes(classes: Sequence[ClassCount], n_folds: int, shows_raw: bool) -> list[Notice]:
    notices = []
    for entry in classes:
        name = entry.class_name
        if entry.n_predicted == 0:
            text = (
                f"No calibration protein is predicted to be {name}. "
                "Predictions of this class get no confidence"
                + (f", but of {UNCALIBRATED_NAME} the raw score." if shows_raw else ".")
            )
            notices.append(
                Notice(kind="unseen class", text=text, class_name=name, is_warning=True)
            )
        elif entry.n_clusters < n_folds:
            text = (
                f"The {plural(entry.n_predicted, 'protein')} predicted to be {name} count as only "
                f"{plural(entry.n_clusters, 'independent case')}, fewer than the {n_folds} folds. "
                "Held-out numbers of this class are uncertain."
            )
            if entry.n_predicted == 1:
                text = (
                    f"Only one calibration protein is predicted to be {name}, so nothing can be "
                    "held out. There are no held-out numbers of this class."
                )
            notices.append(
                Notice(kind="few clusters", text=text, class_name=name, is_warning=True)
            )
        if entry.n_true == 0 and entry.n_predicted > 0:
            text = f"No calibration protein is truly {name}, so every prediction of it was wrong."
            notices.append(
                Notice(kind="no true member", text=text, class_name=name, is_warning=True)
            )
    return notices


def _about_confidences(
    labelled: Labelled, held_out: Mapping[str, Floats], n_folds: int
) -> list[Notice]:
    notices = []
    for method, confidence in held_out.items():
        known = ~np.isnan(confidence)
        n_unknown = int((~known).sum())
        if n_unknown > 0:
            text = (
                f"{method} gives {plural(n_unknown, 'protein')} no held-out confidence, because "
                "the class predicted occurs in no other fold. They are left out of the held-out "
                "numbers."
                if n_folds
                else f"{method} gives {plural(n_unknown, 'protein')} no confidence, because "
                "calibration never saw the class predicted. They are left out of the numbers."
            )
            notices.append(Notice(kind="left out", text=text, is_warning=True))
        clipped = pointwise.is_clipped(confidence[known])
        n_clipped = int(clipped.sum())
        if n_clipped == 0:
            continue
        stated_right = confidence[known][clipped] > 0.5  # each is 0 or 1
        n_mistaken = int((stated_right != labelled.is_correct[known][clipped]).sum())
        text = (
            f"{method} gives {plural(n_clipped, 'protein')} a {'held-out ' if n_folds else ''}"
            f"confidence of 0 or 1, and "
            f"{n_mistaken:,} of these {'was' if n_mistaken == 1 else 'were'} mistaken. For the "
            f"negative log-likelihood they count as {pointwise.CLIP:g} away from 0 or 1."
        )
        notices.append(Notice(kind="clipped", text=text, is_warning=n_mistaken > 0))
    return notices
