"""The files of a trove, read and checked against the set that it is to join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credence.problems import InputError, Problem, refuse

if TYPE_CHECKING:
    from credence.app.configuration import Trove
    from credence.findings import InputFile
    from credence.predictions import Predictions, Strings
    from credence.tables.samples import Samples

RESTORE = (
    "Put the file back as it was; or, where the change is meant, take its line out of sha256, "
    "and the releases from this trove on are derived anew."
)


@dataclass(frozen=True, eq=False)
class TroveFiles:
    """What the files of a trove hold."""

    samples: Samples  # Scores and true classes, `UNKNOWN_CLASS` where there is none
    sequences: Strings  # Residues of each sample; '' where there is no FASTA file
    inputs: tuple[InputFile, ...]  # What was read


def digest_problems(sha256: Mapping[str, str]) -> list[Problem]:
    """Return a problem for each file that is not what it was."""
    from credence.tables.digests import sha256_of

    problems: list[Problem] = []
    for path, was in sha256.items():
        try:
            now = sha256_of(Path(path))
        except InputError as error:
            problems += error.problems
            continue
        if now != was:
            what = f"its SHA-256 begins with {now[:8]}, and with {was[:8]} when it was added."
            problems.append(Problem(path, what, RESTORE))
    return problems


def file_problems(trove: Trove, known: Predictions) -> list[Problem]:
    """Return all that is wrong with the files of a trove."""
    try:
        read_trove(
            trove.scores,
            trove.spec,
            trove.labels,
            trove.fasta,
            trove.match,
            known,
            trove.sha256,
        )
    except InputError as error:
        return list(error.problems)
    return []


def read_trove(
    scores: Sequence[str],
    spec_values: Mapping[str, Any],
    labels: Mapping[str, Any] | None,
    fasta: str | None,
    match: str,
    known: Predictions,
    sha256: Mapping[str, str] | None = None,
) -> TroveFiles:
    """Return what the files of a trove hold, or raise all that is wrong with them."""
    import numpy as np

    from credence.stages.check import read_checked
    from credence.stages.reading import as_calibrated, read_proteins, table_spec
    from credence.tables.joining import concatenate
    from credence.tables.samples import Samples

    problems = digest_problems(sha256 or {})
    if problems:
        raise InputError(problems)
    spec = as_calibrated(table_spec(scores, None, spec_values), known.class_names, known.scale)
    samples, inputs = read_checked(tuple(scores), spec, labels, fasta, match, labelled=False)
    if samples.true_class is None:
        raise refuse(
            scores[0],
            "the table has no true classes, and only labelled proteins can calibrate.",
            "Give labels: a table of id and label, or a pattern for FASTA headers.",
        )
    nothing = np.empty(0, dtype=np.int64)
    like_known = Samples(known.take(nothing), nothing, nothing)
    concatenate([(Path("the calibration set"), like_known), (Path(scores[0]), samples)])
    sequences = np.full(samples.n_samples, "", dtype=object)
    if fasta is not None:
        proteins = read_proteins(fasta, match)
        residues = dict(zip(proteins.ids, proteins.sequences, strict=True))
        sequences[:] = [residues[id_] for id_ in samples.predictions.ids]
    return TroveFiles(samples, sequences, inputs)
