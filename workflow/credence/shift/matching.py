"""EM's composition, checked against calibration: the scores of the likelihood matched.

EM trusts that calibrated probabilities are right for every row; where they are
not, its composition is off by an amount that no number of proteins mends. Here
the likelihood's scores s_i = L_i/Σ q_j L_j at EM's composition serve as soft
predictions, as in BBSE: their mean in the use-set is matched by Σ_j q_j A_ij, A
being their mean over calibration proteins of true class j. That holds whatever
the probabilities are worth; where they are right, it loses nothing against EM
in large samples.

Notes
-----
Least (μ − A q)' J⁻¹ (μ − A q) over all compositions, J the mean of s s' over the
use-set, Fisher's information. See decision 0702.
"""

from __future__ import annotations

import numpy as np

from credence.calibrators.protocol import Need
from credence.predictions import Floats
from credence.shift.expectation import most_likely
from credence.shift.probabilities import TINIEST
from credence.shift.protocol import Estimate, Estimator, Evidence
from credence.shift.simplex import mixture_slope, on_free, quadratic_minimum

STEADY = 1e-9  # of the information's mean, where two classes' densities are alike


def matched(evidence: Evidence) -> Estimate:
    """Return the composition that explains the mean scores of the likelihood.

    Parameters
    ----------
    evidence : Evidence
        Of both sets, with probabilities and those of calibration rows.
    """
    assert evidence.probability is not None and evidence.mass is not None
    assert evidence.calibration_probability is not None
    assert evidence.calibration_true is not None and evidence.calibration_mass is not None
    prevalence = evidence.prevalence
    start = most_likely(evidence).share
    observed, information = mixture_slope(*_scores(evidence, start))
    own = np.maximum(evidence.calibration_probability, TINIEST) / prevalence
    scores = own / (own @ start)[:, None] * evidence.calibration_mass[:, None]
    n_classes = len(prevalence)
    given_true = np.empty((n_classes, n_classes))
    for class_ in range(n_classes):
        given_true[:, class_] = scores[evidence.calibration_true == class_].sum(axis=0)
    given_true /= prevalence
    precision = np.linalg.inv(
        information + np.eye(n_classes) * (STEADY * np.trace(information) / n_classes)
    )
    curvature = given_true.T @ precision @ given_true
    curvature = (curvature + curvature.T) / 2.0
    linear = given_true.T @ precision @ observed
    everywhere = np.ones(n_classes, dtype=np.bool_)
    return Estimate(quadratic_minimum(curvature, linear), on_free(curvature, linear, everywhere))


def _scores(evidence: Evidence, share: Floats) -> tuple[Floats, Floats, Floats]:
    assert evidence.probability is not None and evidence.mass is not None
    ratio = np.maximum(evidence.probability, TINIEST) / evidence.prevalence
    return ratio, evidence.mass, ratio @ share


ENTRY = Estimator(
    "em_matched",
    "EM, checked against the calibration set; right where probabilities are not.",
    "Saerens et al. 2002, doi 10.1162/089976602753284446, with the moments of "
    "Lipton et al. 2018, arXiv 1802.03916; decision 0702",
    Need.VECTOR,
    matched,
)
