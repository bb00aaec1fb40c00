"""The answer: a probability of being right, its interval, and what to know."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Floats, Strings


class Note(IntFlag):
    """What a reader has to know about one confidence; several can hold."""

    NONE = 0
    BELOW_RANGE = 1
    ABOVE_RANGE = 2
    EMPTY_BIN = 4
    SCARCE = 8
    ONE_SIDED = 16
    NO_BANDWIDTH = 32
    UNSEEN_CLASS = 64
    NOT_CONVERGED = 128
    NO_PLACE = 256
    DISAGREES = 512
    NOVEL = 1024
    REPEAT = 2048
    SATURATED = 4096
    SATURATED_SHARE = 8192
    TIED = 16384
    SAME_ID = 32768
    SAME_SEQUENCE = 65536
    LOW_END = 131072
    CHANGED = 262144
    BAND_OFF = 524288
    LIKE_ID = 1048576
    FEW_FAMILIES = 2097152
    LEARNT = 4194304
    CALIBRATED = 8388608


NOTE_TEXTS: dict[Note, str] = {  # without semicolons, which stand between two
    Note.BELOW_RANGE: "score below the calibrated scores of this class",
    Note.ABOVE_RANGE: "score above the calibrated scores of this class",
    Note.EMPTY_BIN: (
        "no calibration protein in this bin of scores, so the overall precision of the class"
    ),
    Note.SCARCE: "too few calibration proteins of this class for a curve of its own",
    Note.ONE_SIDED: (
        "all calibration examples of this class are right (or wrong): "
        "estimate borrowed from the other classes"
    ),
    Note.NO_BANDWIDTH: "no bandwidth gives a steady curve, so the overall precision of the class",
    Note.UNSEEN_CLASS: "class never predicted in calibration",
    Note.NOT_CONVERGED: "the fit did not converge, so the overall precision of the class",
    Note.NO_PLACE: "no sequence or vector to compare, or too short a sequence",
    Note.DISAGREES: "nearest known proteins suggest another class",
    Note.NOVEL: "far from all known proteins",
    Note.BAND_OFF: (
        "confidences of calibration proteins this far from other families were not calibrated"
    ),
    Note.REPEAT: "same as a calibration protein in all that is compared",
    Note.SATURATED: "scores at the top of the scale, so a smoother curve",
    Note.SATURATED_SHARE: "scores at the top of the scale, so the overall precision of the class",
    Note.TIED: "best score shared by two classes or more",
    Note.SAME_ID: "a calibration protein has this id",
    Note.LIKE_ID: "id of a calibration protein in another spelling",
    Note.SAME_SEQUENCE: "a calibration protein has this sequence",
    Note.LOW_END: "almost no calibration protein scores this low",
    Note.CHANGED: "scores of this table differ from those in calibration",
    Note.FEW_FAMILIES: "fewer than 10 calibration families predicted to be of this class",
    Note.LEARNT: "homologue of a protein that the classifier learnt from",
    Note.CALIBRATED: "homologue of a calibration protein",
}


def note_text(code: int) -> str:
    """Return the phrases of a note, joined by semicolons."""
    return "; ".join(text for flag, text in NOTE_TEXTS.items() if code & flag)


# What holds of a protein whatever the method; who reads its table has to know how many there are.
OF_PROTEINS = (Note.TIED, Note.SAME_ID, Note.LIKE_ID, Note.SAME_SEQUENCE)


def counted(note: NDArray[np.int64], notes: Sequence[Note] = OF_PROTEINS) -> Counter[str]:
    """Return how many proteins carry each of some notes, by its text."""
    return Counter({NOTE_TEXTS[flag]: int((note & int(flag) != 0).sum()) for flag in notes})


def sentences_of(numbers: Mapping[str, int], n_samples: int) -> list[str]:
    """Return a sentence for each text that some proteins carry."""
    return [f"{n:,} of {n_samples:,} proteins: {text}" for text, n in numbers.items() if n]


@dataclass(frozen=True, kw_only=True, eq=False)
class Confidence:
    """Probability that each prediction is right, one entry per protein."""

    value: Floats  # From 0 to 1, or NaN where no answer is possible; the note says why
    lower: Floats  # Ends of the pointwise interval; NaN where no interval was fitted
    upper: Floats
    # Effective number of calibration proteins near this score; relatives count by what they
    # tell together, so a family of alike is one.
    support: Floats
    note: NDArray[np.int64]  # A :class:`Note` each

    @property
    def n_samples(self) -> int:
        """Number of proteins."""
        return len(self.value)

    @property
    def notes(self) -> Strings:
        """What there is to know of each, in words; '' where there is nothing."""
        codes, places = np.unique(self.note, return_inverse=True)
        texts = np.array([note_text(int(code)) for code in codes], dtype=object)
        return np.asarray(texts[places])


def unknown(n_samples: int, note: Note) -> Confidence:
    """Return confidences that say nothing, and why."""
    value, lower, upper = (np.full(n_samples, np.nan) for _ in range(3))
    code = np.full(n_samples, int(note), dtype=np.int64)
    return Confidence(
        value=value, lower=lower, upper=upper, support=np.zeros(n_samples), note=code
    )
