"""Confidences of proteins whose classes are not known, summed up for a page."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from credence import findings
from credence.findings import QuerySet, Setting
from credence.metrics.binned import bin_of
from credence.novelty.reference import Look, Reference
from credence.predictions import Booleans, Floats, Integers

N_CONFIDENCE_BINS = 20
CONFIDENCE_EDGES = np.linspace(0.0, 1.0, N_CONFIDENCE_BINS + 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class UseColumns:
    """What is counted of each protein of a query set."""

    class_: Integers  # The predicted class, as a place
    value: Floats  # The confidence; NaN: none
    is_accepted: Booleans  # By the decision; of the others the data are insufficient
    is_to_check: Booleans
    is_in_range: Booleans  # Whether the confidence lies in its interval before it was corrected


def query_set_counts(n_classes: int, columns: UseColumns) -> tuple[Integers, Integers]:
    """Return counts by class, the last row of proteins without one, and by bin of confidence."""
    value = columns.value
    known = ~np.isnan(value)
    place = np.where(columns.class_ < 0, n_classes, columns.class_)

    def count(fact: Booleans) -> Integers:
        return np.bincount(place[fact], minlength=n_classes + 1)

    facts = (known, ~known, columns.is_accepted, columns.is_to_check, known & columns.is_in_range)
    by_class = [count(fact) for fact in facts]
    return np.stack(by_class, axis=1), np.bincount(
        bin_of(value[known], CONFIDENCE_EDGES), minlength=N_CONFIDENCE_BINS
    )


def query_set_of(
    name: str,
    method: str,
    class_names: tuple[str, ...],
    counts: tuple[Integers, Integers],
    notes: Mapping[str, int],
) -> QuerySet:
    """Return what a page shows of a query set."""
    by_class, by_bin = counts
    classes = []
    for class_name, row in zip(class_names, by_class.tolist(), strict=False):
        n_known, n_unknown, n_accept, n_check, n_in_range = row
        use_class = findings.UseClass(
            class_name=class_name,
            n=n_known + n_unknown,
            n_unknown=n_unknown,
            n_accept=n_accept,
            n_check=n_check,
            n_in_range=n_in_range,
        )
        classes.append(use_class)
    return QuerySet(
        name=name,
        method=method,
        n=int(by_class[:, :2].sum()),
        n_unknown=int(by_class[:, 1].sum()),
        classes=tuple(classes),
        edges=tuple(CONFIDENCE_EDGES.tolist()),
        counts=tuple(by_bin.tolist()),
        notes=tuple(
            Setting(name=text, value=str(number)) for text, number in notes.items() if number
        ),
    )


N_NOVELTY_BINS = 30
FARTHEST_SHARE = 0.995  # of all distances; the last bin holds what is beyond it


@dataclass
class NovelSet:
    """What is found of a query set while its pieces are read."""

    name: str  # The query set
    reference: Reference  # What is known
    held: Floats  # How far one protein of each known family is from the others, ascending
    knows_training: bool = False  # Whether it is known what the classifier learnt from
    by_sequences: bool = False  # Whether proteins are compared by these
    sameness: findings.Sameness | None = None  # Of scores but for homologues of training proteins
    n: int = 0
    n_repeats: int = 0
    n_flagged: int = 0
    n_off: int = 0
    n_learnt: int = 0
    n_calibrated: int = 0
    _distances: list[Floats] = field(default_factory=list)
    # Sum and number of confidences: of the flagged, of the others; of homologues of training
    # proteins, of the others.
    _sums: Floats = field(default_factory=lambda: np.zeros((4, 2)))

    def add(self, look: Look, confidence: Floats, is_off: Booleans) -> None:
        """Add proteins of the query set; `is_off` where confidences are off at their identity."""
        placed, flagged = np.isfinite(look.distance), look.is_flagged
        self.n += len(confidence)
        self.n_repeats += int(look.is_repeat.sum())
        self._distances.append(look.far[placed])
        self.n_flagged += int(flagged.sum())
        self.n_off += int(is_off.sum())
        self.n_learnt += int(look.is_learnt.sum())
        self.n_calibrated += int(look.is_calibrated.sum())
        groups = (flagged, placed & ~flagged, look.is_learnt, placed & ~look.is_learnt)
        for row, chosen in enumerate(groups):
            known = confidence[chosen & np.isfinite(confidence)]
            self._sums[row] += (known.sum(), len(known))

    def finding(self) -> findings.NoveltyFinding:
        """Return what was found of all proteins added."""
        reference, held = self.reference, self.held
        use = np.concatenate([np.empty(0), *self._distances])
        distances = np.concatenate([use, held])
        end = float(np.quantile(distances, FARTHEST_SHARE)) if len(distances) else 1.0
        n_bins = N_NOVELTY_BINS if len(distances) else 1
        edges = np.linspace(0.0, end if end > 0.0 else 1.0, n_bins + 1)
        sums, counts = self._sums.T
        with np.errstate(invalid="ignore"):
            flagged, others, learnt, not_learnt = (sums / counts).tolist()
        relatives = None
        if self.by_sequences:
            relatives = findings.KnownRelatives(
                n=len(use),
                n_learnt=self.n_learnt,
                n_calibration=self.n_calibrated,
                knows_training=self.knows_training,
                confidence_learnt=learnt,
                confidence_others=not_learnt,
                sameness=self.sameness,
            )
        return findings.NoveltyFinding(
            name=self.name,
            features=reference.space.kind,
            flag=reference.flag,
            n=self.n,
            n_placed=len(use),
            n_flagged=self.n_flagged,
            n_repeats=self.n_repeats,
            n_off=self.n_off,
            n_calibration=len(reference.calibration_rows),
            n_families=len(held),
            n_training=0 if reference.training is None else len(reference.training),
            confidence_flagged=flagged,
            confidence_others=others,
            edges=tuple(float(edge) for edge in edges),
            calibration_counts=_counts(held, edges),
            use_counts=_counts(use, edges),
            flag_distance=reference.limit(held),
            relatives=relatives,
        )


def _counts(distances: Floats, edges: Floats) -> tuple[int, ...]:
    inside = np.clip(distances, edges[0], edges[-1])
    return tuple(int(number) for number in np.histogram(inside, edges)[0])
