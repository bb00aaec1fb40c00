"""Prediction sets: the classes that a protein may well be of, at a stated level."""
