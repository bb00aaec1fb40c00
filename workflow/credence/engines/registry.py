"""All engines, those of this room and those that need no program. One line each."""

from __future__ import annotations

from credence.engines import cdhit, diamond, mmseqs
from credence.sequences.protocol import Engine
from credence.sequences.registry import ENGINES

PROGRAMS: tuple[Engine, ...] = (mmseqs.ENGINE, diamond.ENGINE, cdhit.ENGINE)
ALL_ENGINES: tuple[Engine, ...] = (*PROGRAMS, *ENGINES)

BY_NAME: dict[str, Engine] = {engine.name: engine for engine in ALL_ENGINES}
