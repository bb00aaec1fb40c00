"""Whether samples that come one after the other still are what a calibration is used for.

Samples are the units, since two of them differ by more than chance among their proteins. The
first ones say what is usual; a later one, or the mean of the last four, is compared with these.
The chance of a false alarm is divided over all samples that may ever come (decision 0023).
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from credence.composition.sameness import LEAST_EFFECT
from credence.predictions import Floats

TEST_LEVEL = 0.05  # Chance of a false alarm, over all samples
QUESTIONS = 3  # that share it: scores, mix, what is flagged
USUAL, FEWEST = 10, 3  # The first samples, at most and at least, that say what is usual
WINDOWS = (1, 4)  # The last sample, and the last four together
LEAST_MOVED = 0.05  # Part of the proteins in other classes than before: less is no alarm
LEAST_FLAGGED = 0.02  # The same of the share that is flagged


@dataclass(frozen=True, kw_only=True, eq=False)
class Course:
    """What is known of the samples of one calibration, in the order of their dates."""

    counts: Floats  # Proteins by sample and predicted class
    flagged: Floats  # Share of each; NaN where nobody looked
    p_value: Floats  # That scores are those of the classifier; NaN where nobody looked
    effect: Floats  # Mean |change of confidence| if they were made so
    relatives: float  # Proteins that count as one: the mean size of a protein's family


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """What is no longer as it was, at one sample."""

    sample: int
    subject: str  # scores, mix or flagged
    window: int  # Samples together that show it
    p_value: float  # Of all classes together; the sample has its part of the level
    classes: tuple[int, ...] = ()  # Of a mix: those that are more frequent now


def alarms_of(course: Course) -> list[Alarm]:
    """Return every alarm, sample after sample; with a probability of 0.95 none that is false."""
    alarms: list[Alarm] = []
    n = course.counts.sum(axis=1)
    share = course.counts / np.maximum(n, 1.0)[:, None]
    flagged = course.flagged[:, None]
    since: dict[str, int] = {}  # The first sample that an alarm is about, which is not usual
    for last in range(len(n)):
        level = TEST_LEVEL / QUESTIONS / ((last + 1) * (last + 2))  # which adds up to a third
        for subject, values in (("scores", share[:, :0]), ("mix", share), ("flagged", flagged)):
            usual = since.get(subject, last)
            looks = (
                _looked(course, subject, values, n, last, window, usual) for window in WINDOWS
            )
            tried = [alarm for alarm in looks if alarm is not None]
            best = min(tried, key=lambda alarm: alarm.p_value, default=None)
            if best is not None and len(WINDOWS) * best.p_value <= level:
                alarms.append(best)
                since.setdefault(subject, last - best.window + 1)
    return alarms


def _looked(
    course: Course, subject: str, values: Floats, n: Floats, last: int, window: int, usual: int
) -> Alarm | None:
    """Return what the last samples show, surely or not; None where it is too little to matter."""
    if subject == "scores":
        rows = np.flatnonzero(~np.isnan(course.p_value[: last + 1]))[-window:]
        if len(rows) < window or rows[-1] != last or course.effect[rows].mean() <= LEAST_EFFECT:
            return None
        fisher = -2.0 * np.log(np.maximum(course.p_value[rows], 1e-300)).sum()
        return Alarm(
            sample=last,
            subject=subject,
            window=window,
            p_value=float(special.chdtrc(2 * window, fisher)),
        )
    known = np.flatnonzero(~np.isnan(values[: last + 1]).any(axis=1) & (n[: last + 1] > 0))
    first, late = known[:-window], known[-window:]
    first = first[first < usual][:USUAL]
    if len(first) < FEWEST or late[-1] != last:
        return None
    moved = values[late].mean(axis=0) - values[first].mean(axis=0)
    if subject == "flagged" and moved[0] <= LEAST_FLAGGED:
        return None
    if subject == "mix" and np.abs(moved).sum() / 2.0 <= LEAST_MOVED:
        return None
    angle = np.arcsin(np.sqrt(values))
    gap = angle[late].mean(axis=0) - angle[first].mean(axis=0)
    spread, n_free = sample_variance(angle[first])
    # Relatives come together, and small samples are off by more.
    by_chance = [float((course.relatives / (4.0 * n[rows])).mean()) for rows in (first, late)]
    spread = np.maximum(spread, by_chance[0])
    more = max(by_chance[1] - by_chance[0], 0.0)
    ratio = np.abs(gap) / np.sqrt(spread / len(first) + (spread + more) / len(late))
    p_value = np.minimum(2.0 * len(gap) * special.stdtr(n_free, -ratio), 1.0)
    rises = np.flatnonzero((gap > 0) & (p_value <= TEST_LEVEL))
    classes = rises[np.argsort(p_value[rises], kind="stable")].tolist() or [int(gap.argmax())]
    return Alarm(
        sample=last,
        subject=subject,
        window=window,
        p_value=float(p_value.min()),
        classes=tuple(classes) if subject == "mix" else (),
    )


def sample_variance(angle: Floats) -> tuple[Floats, float]:
    """Return the variance of each column among samples, and its degrees of freedom.

    Few samples show it badly, so that it is held to that of all columns as far as these are
    alike (Smyth 2004, doi 10.2202/1544-6115.1027, by moments).
    """
    variance, n_free = angle.var(axis=0, ddof=1), len(angle) - 1.0
    mean, n_more = float(variance.mean()), 0.0
    if len(variance) > 1 and mean > 0:
        unlike = n_free * float(variance.var(ddof=1)) / mean**2
        most = n_free * (len(variance) - 1) / 2.0
        n_more = (4.0 * unlike + 2.0 * n_free - 4.0) / (unlike - 2.0) if unlike > 2.0 else most
        n_more = min(max(n_more, 0.0), most)
    return (n_more * mean + n_free * variance) / (n_more + n_free), n_more + n_free
