"""Black-box shift estimation: match the use-set's mean prediction.

C w = μ, C[i, j] = P(predicted i, true j) in calibration, μ[i] = P(predicted i)
in the use-set, w = q/p. Solved by least squares over all compositions q, which
is the exact solution where that is a composition.
"""

from __future__ import annotations

from credence.calibrators.protocol import Need
from credence.predictions import Floats
from credence.shift.protocol import Estimate, Estimator, Evidence
from credence.shift.quadratic import solved

REFERENCE = "Lipton, Wang & Smola 2018, arXiv 1802.03916"


def least_squares(given_true: Floats, observed: Floats) -> Estimate:
    """Return the q of least |A q − μ|².

    Parameters
    ----------
    given_true : array of float, shape (n_outcomes, n_classes)
        A: probability of each outcome given the true class.
    observed : array of float, shape (n_outcomes,)
        μ.
    """
    return solved(given_true.T @ given_true, given_true.T @ observed)


def hard(evidence: Evidence) -> Estimate:
    """Return the composition that explains how often each class is predicted.

    Parameters
    ----------
    evidence : Evidence
        Of both sets.
    """
    return least_squares(evidence.confusion / evidence.prevalence, evidence.predicted_share)


def soft(evidence: Evidence) -> Estimate:
    """Return the composition that explains the mean calibrated probabilities.

    Parameters
    ----------
    evidence : Evidence
        Of both sets, with probabilities.
    """
    assert evidence.soft_confusion is not None and evidence.mean_probability is not None
    return least_squares(evidence.soft_confusion / evidence.prevalence, evidence.mean_probability)


HARD = Estimator(
    "bbse_hard",
    "Match how often each class is predicted.",
    REFERENCE,
    Need.CLASS,
    hard,
)
SOFT = Estimator(
    "bbse_soft",
    "Match the mean calibrated probability of each class.",
    REFERENCE,
    Need.VECTOR,
    soft,
)
