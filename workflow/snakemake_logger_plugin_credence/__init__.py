"""Snakemake finds its logger plugins by the names of their packages: this is `credence`."""

from credence.app.steps import LogHandler

__all__ = ["LogHandler"]
