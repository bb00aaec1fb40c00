"""Formats of score tables: a registry and one file each."""
