"""The two releases of a comparison, and how they are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from credence.calibrators.protocol import Calibration, Calibrator, FitOptions
from credence.findings.releases import ReleaseState
from credence.predictions import Labelled


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two releases.

    Parameters
    ----------
    state : ReleaseState
        What is said of it.
    calibration : Calibration
        Of the method that is compared, with intervals.
    counts : mapping
        Class name → counts of the calibration's record.
    labelled : Labelled, optional
        What it was fitted on; None where a calibration alone is at hand.
    test : Labelled, optional
        Proteins that judge every release and fit none.
    """

    state: ReleaseState
    calibration: Calibration
    counts: Mapping[str, Mapping[str, int]]
    labelled: Labelled | None = None
    test: Labelled | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """What two sides have in common, and how they are compared.

    Parameters
    ----------
    method : str
        Its specification.
    calibrator : Calibrator
        The method, to be fitted without intervals.
    class_names : tuple of str
        Of both.
    scale, resolution : float
        Likewise.
    options : FitOptions
        Level and draws of the intervals.
    n_signs : int
        Draws for the p-values of the drift watch.
    """

    method: str
    calibrator: Calibrator
    class_names: tuple[str, ...]
    scale: float
    resolution: float
    options: FitOptions = field(default_factory=FitOptions)
    n_signs: int = 999
