"""Small families of simulated proteins, and arrays of texts, for several tests."""

from __future__ import annotations

import numpy as np

from credence.proteins import Proteins
from credence.simulate.sequences import codes, mutated, written


def objects(values: list[str]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def random_protein(rng: np.random.Generator, length: int = 90) -> str:
    return "".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), length))


def families(rng: np.random.Generator, n_families: int, size: int, length: int) -> Proteins:
    texts = []
    for _ in range(n_families):
        ancestor = random_protein(rng, length)
        texts.append(ancestor)
        for _ in range(size - 1):
            texts.append(written(mutated(codes(ancestor), rng.uniform(0.45, 0.95), rng)))
    return Proteins(
        ids=objects([f"p{row:03d}" for row in range(len(texts))]), sequences=objects(texts)
    )
