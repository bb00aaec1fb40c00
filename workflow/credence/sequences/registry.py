"""All engines that cluster proteins. One line each."""

from __future__ import annotations

from credence.sequences import exact, given, kmers
from credence.sequences.protocol import Engine

ENGINES: tuple[Engine, ...] = (exact.ENGINE, kmers.ENGINE, given.ENGINE)

BY_NAME: dict[str, Engine] = {engine.name: engine for engine in ENGINES}
