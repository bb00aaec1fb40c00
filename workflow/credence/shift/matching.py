"""EM's composition, checked against calibration: the scores of the likelihood matched.

EM trusts that calibrated probabilities are right for every row; where they are
not, its composition is off by an amount that no number of proteins mends. Here
the likelihood's scores s_i = L_i/Σ q_j L_j at EM's composition serve as soft
predictions, as in BBSE: their mean in the use-set is matched by Σ_j q_j A_ij, A
being their mean over calibration proteins of true class j. That holds whatever
the probabilities are worth. A class of a handful of calibration proteins has an
A that says next to nothing; there the answer stays near EM's.

Notes
-----
Least (μ − A q)' Ω⁻¹ (μ − A q) + |q − q_EM|²/τ² over all compositions. Ω is the
variance of μ − A q: J/m + Σ_j q_j² J_j/n_j, J_j the mean of s s' in class j by
EM's own shares of the rows, n_j the class's effective number of clusters. τ is how
far EM tends to be off. Draws of the bootstrap are taken without the last term,
so that intervals do not rest on it. See decision 0702.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credence.calibrators.protocol import Need
from credence.predictions import Floats
from credence.shift.expectation import most_likely
from credence.shift.probabilities import TINIEST
from credence.shift.protocol import Estimate, Estimator, Evidence
from credence.shift.quadratic import solved
from credence.shift.simplex import mixture_slope, quadratic_minimum

EM_ERROR = 0.03  # τ, as measured on the demo world: decision 0702
STEADY = 1e-9  # of the noise's mean, where two classes' densities are alike


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
    start = most_likely(evidence).share if evidence.start is None else evidence.start
    observed, information = mixture_slope(*_scores(evidence, start))
    own = np.maximum(evidence.calibration_probability, TINIEST) / prevalence
    scores = own / (own @ start)[:, None] * evidence.calibration_mass[:, None]
    n_classes = len(prevalence)
    given_true = np.empty((n_classes, n_classes))
    for class_ in range(n_classes):
        given_true[:, class_] = scores[evidence.calibration_true == class_].sum(axis=0)
    given_true /= prevalence
    noise = _noise(evidence, start, information)
    steady = np.eye(n_classes) * (STEADY * np.trace(noise) / n_classes)
    precision = np.linalg.inv(noise + steady)
    curvature = given_true.T @ precision @ given_true
    curvature = (curvature + curvature.T) / 2.0
    linear = given_true.T @ precision @ observed
    free = solved(curvature, linear)
    if evidence.start is not None:
        return free
    held = curvature + np.eye(n_classes) / EM_ERROR**2
    return replace(free, share=quadratic_minimum(held, linear + start / EM_ERROR**2))


def _noise(evidence: Evidence, start: Floats, information: Floats) -> Floats:
    """Return the variance of what is matched; in a draw, of the use-set's part alone."""
    assert evidence.mass is not None
    if evidence.class_number is None:
        return information / evidence.n_use
    ratio, mass, density = _scores(evidence, start)
    scores = ratio / density[:, None]
    # Σ_j q_j² J_j/n_j, J_j = Σ_rows m (s_j q_j) s s'/q_j: rows weighed by class j's part.
    part = mass * (scores @ (start**2 / np.maximum(evidence.class_number, 1.0)))
    return np.asarray(information / evidence.n_use + (scores * part[:, None]).T @ scores)


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
