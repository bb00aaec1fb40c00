"""All engines, those of this room and those that need no program. One line each."""

from __future__ import annotations

from credence.relatives import cdhit, diamond, exact, kmers, mmseqs
from credence.relatives.engine import Engine

BUILT_IN: tuple[Engine, ...] = (exact.ENGINE, kmers.KMERS, kmers.GIVEN)

WITHOUT_PROGRAM: dict[str, Engine] = {engine.name: engine for engine in BUILT_IN}


PROGRAMS: tuple[Engine, ...] = (mmseqs.ENGINE, diamond.ENGINE, cdhit.ENGINE)
ALL_ENGINES: tuple[Engine, ...] = (*PROGRAMS, *BUILT_IN)

BY_NAME: dict[str, Engine] = {engine.name: engine for engine in ALL_ENGINES}
