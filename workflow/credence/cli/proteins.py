"""FASTA files of a run: calibration proteins, and those of training."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np

from credence.predictions import Strings
from credence.tables.fasta import Fasta, Match, read_fasta

# Put before the id of a training protein that a calibration protein has too:
# both stand in one table of clusters, and they need not be the same protein.
TRAINING_PREFIX = "training:"


def read_proteins(path: str, match: str) -> Fasta:
    """Return the proteins of a FASTA file.

    Parameters
    ----------
    path : str
        The file.
    match : str
        What of the header is the id: ``full`` or ``first_word``.
    """
    return read_fasta(Path(path), cast(Match, match))


def training_ids(training: Strings, calibration: Strings) -> Strings:
    """Return the names under which training proteins stand beside the others.

    Parameters
    ----------
    training, calibration : array of str
        Ids of the two files.

    Examples
    --------
    >>> training = np.array(["a", "b"], dtype=object)
    >>> training_ids(training, np.array(["b", "c"], dtype=object)).tolist()
    ['a', 'training:b']
    """
    taken = set(calibration)
    names = np.empty(len(training), dtype=object)
    names[:] = [TRAINING_PREFIX + id_ if id_ in taken else id_ for id_ in training]
    return names
