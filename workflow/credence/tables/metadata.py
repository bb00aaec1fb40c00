"""What a Parquet table of samples says about itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

KEY = "credence"


@dataclass(frozen=True)
class Metadata:
    """Facts that the cells do not show; None where the file does not say.

    Parameters
    ----------
    scale, resolution : float, optional
        See :class:`credence.predictions.Predictions`.
    is_distribution : bool, optional
        Whether rows sum to the scale.
    pooling : str, optional
        How the networks were pooled.
    """

    scale: float | None = None
    resolution: float | None = None
    is_distribution: bool | None = None
    pooling: str | None = None


def write_metadata(metadata: Metadata) -> dict[str, str]:
    """Return the key-value pairs to put into a Parquet schema."""
    return {KEY: json.dumps(asdict(metadata))}


def read_metadata(pairs: Mapping[bytes, bytes]) -> Metadata:
    """Return what the key-value pairs of a Parquet schema say; nothing of a stranger's."""
    try:
        record = json.loads(pairs.get(KEY.encode(), b"{}"))
    except ValueError:
        return Metadata()
    if not isinstance(record, dict):
        return Metadata()

    def number(name: str) -> float | None:
        value = record.get(name)
        return float(value) if isinstance(value, int | float) and value >= 0 else None

    is_distribution = record.get("is_distribution")
    pooling = record.get("pooling")
    return Metadata(
        scale=number("scale") or None,
        resolution=number("resolution"),
        is_distribution=is_distribution if isinstance(is_distribution, bool) else None,
        pooling=pooling if pooling in ("sum", "log_sum") else None,
    )
