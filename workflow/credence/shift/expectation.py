"""Maximum likelihood label shift (EM): the composition that explains every row.

The likelihood of the use-set is Π Σ_j q_j p(j | row)/p_j, p(j | row) from
bias-corrected temperature scaling and p_j its mean over calibration. EM climbs
it; it is concave, so the same maximum is found by Newton steps over the simplex.
"""

from __future__ import annotations

import numpy as np

from credence.calibrators.protocol import Need
from credence.shift.probabilities import TINIEST
from credence.shift.protocol import Estimate, Estimator, Evidence
from credence.shift.simplex import (
    conditioned,
    mixture_maximum,
    mixture_slope,
    on_free,
    undetermined,
)


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
    # The likelihood's parabola at the maximum, for shares of any sign.
    gradient, curvature = mixture_slope(ratio, evidence.mass, ratio @ share)
    steady = conditioned(curvature)
    everywhere = np.ones(len(share), dtype=np.bool_)
    unbounded = on_free(steady, steady @ share + gradient, everywhere)
    return Estimate(share, unbounded, undetermined(curvature))


ENTRY = Estimator(
    "em",
    "The most likely composition, given every row's calibrated probabilities.",
    "Saerens, Latinne & Decaestecker 2002, doi 10.1162/089976602753284446; "
    "Alexandari, Kundaje & Shrikumar 2020, arXiv 1901.06852",
    Need.VECTOR,
    most_likely,
)
