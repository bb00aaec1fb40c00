"""Releases of a calibration set: troves attached to it one after the other."""
