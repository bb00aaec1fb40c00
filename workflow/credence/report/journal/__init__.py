"""Figures for journals: small multiples of all classes, as files."""
