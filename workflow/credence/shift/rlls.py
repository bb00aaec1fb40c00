"""Regularised shift estimation: as BBSE, but drawn towards no shift.

Notes
-----
Least |C w − μ|² + λ |w − 1|² over all compositions q = w p. λ is the noise of
one entry of μ − C w over that of a weight: with a prior of variance 1 around
w = 1, λ = mean(μ)·(1/n + 1/m), n and m the effective numbers of rows. It tends
to 0 as both sets grow, so that the estimate tends to BBSE's.

*Departs from the paper:* [1]_ adds an unsquared norm and then damps; with the
squared norm the problem is quadratic, solved exactly, and the damping is the
ridge's own. See decision 0701.

References
----------
.. [1] Azizzadenesheli et al. 2019, arXiv 1903.09734
"""

from __future__ import annotations

import numpy as np

from credence.calibrators.protocol import Need
from credence.shift.protocol import Estimate, Estimator, Evidence
from credence.shift.quadratic import solved


def regularised(evidence: Evidence) -> Estimate:
    """Return the composition between BBSE's and no shift, by the evidence.

    Parameters
    ----------
    evidence : Evidence
        Of both sets.
    """
    prevalence = evidence.prevalence
    given_true = evidence.confusion / prevalence
    noise = 1.0 / evidence.n_calibration + 1.0 / evidence.n_use
    ridge = float(evidence.predicted_share.mean()) * noise / prevalence**2
    curvature = given_true.T @ given_true + np.diag(ridge)
    linear = given_true.T @ evidence.predicted_share + ridge * prevalence
    return solved(curvature, linear)


ENTRY = Estimator(
    "rlls",
    "As bbse_hard, drawn towards no shift where data are few.",
    "Azizzadenesheli et al. 2019, arXiv 1903.09734",
    Need.CLASS,
    regularised,
)
