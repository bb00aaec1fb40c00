"""Maximum likelihood label shift (EM): the composition that explains every row.

The likelihood of the use-set is Π Σ_j q_j p(j | row)/p_j, p(j | row) from
bias-corrected temperature scaling and p_j its mean over calibration. EM climbs
it; it is concave, so the same maximum is found by Newton steps over the simplex.
"""

from __future__ import annotations

import numpy as np

from credence.calibrators.protocol import Need
from credence.predictions import Floats
from credence.shift.probabilities import TINIEST
from credence.shift.protocol import Estimate, Estimator, Evidence
from credence.shift.simplex import mixture_maximum, mixture_slope, on_free


def most_likely(evidence: Evidence) -> Estimate:
    """Return the composition of most likelihood.

    Parameters
    ----------
    evidence : Evidence
        Of both sets, with probabilities.
    """
    assert evidence.probability is not None and evidence.mass is not None
    prevalence = evidence.prevalence
    ratio = np.maximum(evidence.probability, TINIEST) / prevalence
    share = mixture_maximum(ratio, evidence.mass, prevalence / prevalence.sum())
    return Estimate(share, _unbounded(ratio, evidence.mass, share))


def _unbounded(ratio: Floats, mass: Floats, share: Floats) -> Floats:
    """Return the top of the likelihood's parabola at the maximum."""
    gradient, curvature = mixture_slope(ratio, mass, ratio @ share)
    everywhere = np.ones(len(share), dtype=np.bool_)
    return on_free(curvature, curvature @ share + gradient, everywhere)


ENTRY = Estimator(
    "em",
    "The most likely composition, given every row's calibrated probabilities.",
    "Saerens, Latinne & Decaestecker 2002, doi 10.1162/089976602753284446; "
    "Alexandari, Kundaje & Shrikumar 2020, arXiv 1901.06852",
    Need.VECTOR,
    most_likely,
)
