"""Methods whose curve is a function of masses alone, so that proteins can be added later."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from credence.calibrators.binning import Masses, masses_of
from credence.calibrators.protocol import ClassSample, Curve

CurveOfMasses = TypeVar("CurveOfMasses", bound=Curve)


class OfMasses(ABC, Generic[CurveOfMasses]):
    """Settings of such a method; what it is, `fit_masses` says."""

    @property
    def is_additive(self) -> bool:
        """Whether the curve is a function of the masses: it is."""
        return True

    def fit_curve(self, sample: ClassSample) -> CurveOfMasses:
        """Return the curve of a class.

        Parameters
        ----------
        sample : ClassSample
            The proteins predicted to be in the class.
        """
        return self.fit_masses(masses_of(sample), sample.scale, sample.resolution)

    @abstractmethod
    def fit_masses(self, masses: Masses, scale: float, resolution: float) -> CurveOfMasses:
        """Return the curve of a class, from masses alone.

        Parameters
        ----------
        masses : Masses
            Of the class's right and wrong predictions.
        scale, resolution : float
            See :class:`credence.predictions.Predictions`.
        """
