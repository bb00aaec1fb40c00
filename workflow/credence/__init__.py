"""Calibrated confidence, class by class, for protein classifiers."""

__version__ = "0.1.0"
