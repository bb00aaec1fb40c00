"""Random draws that are keyed to clusters, so that order is nothing.

A cluster's draws depend on its name and on the number of the draw alone:
neither on the order of rows, nor on which other clusters are there, nor on how
many cores work. That is what lets intervals be bit-for-bit repeatable.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Floats, Integers, Predictions, Strings

# Constants of SplitMix64 (Steele, Lea & Flood 2014, doi 10.1145/2660193.2660195).
GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_FIRST = np.uint64(0xBF58476D1CE4E5B9)
MIX_SECOND = np.uint64(0x94D049BB133111EB)
MANTISSA_BITS = 53
BOOTSTRAP = "cluster bootstrap"
KEYS_AT_ONCE = 512  # what is computed of them stays in the cache


def keys_of(names: Sequence[str] | Strings) -> NDArray[np.uint64]:
    """Return the BLAKE2b of 8 bytes of each name as a number, the same on every machine."""
    import pandas as pd  # here, since a run that has nothing to do draws nothing

    codes, unique = pd.factorize(np.asarray(names, dtype=object), use_na_sentinel=False)
    return np.asarray(blake2b_keys(name.encode() for name in unique)[codes])


KEYS_OF_IDS: WeakKeyDictionary[Predictions, NDArray[np.uint64]] = WeakKeyDictionary()


def id_keys(predictions: Predictions) -> NDArray[np.uint64]:
    """Return a key of each protein's id; those of predictions at hand are kept."""
    if predictions not in KEYS_OF_IDS:
        KEYS_OF_IDS[predictions] = keys_of(predictions.ids)
    return KEYS_OF_IDS[predictions]


def blake2b_keys(contents: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return a 64-bit key for each content."""
    digests = b"".join(hashlib.blake2b(content, digest_size=8).digest() for content in contents)
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)


def encode_clusters(cluster: Strings) -> tuple[Integers, NDArray[np.uint64]]:
    """Return a code per protein and a key per code, in the order of the keys."""
    keys, codes = np.unique(keys_of(cluster), return_inverse=True)
    return codes.astype(np.int64), keys


def mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers in which every bit depends on every bit: SplitMix64's last step."""
    with np.errstate(over="ignore"):
        state = (state ^ (state >> np.uint64(30))) * MIX_FIRST
        state = (state ^ (state >> np.uint64(27))) * MIX_SECOND
    return np.asarray(state ^ (state >> np.uint64(31)))


def uniform(keys: NDArray[np.uint64], draw: int | Integers, stream: str = "") -> Floats:
    """Return a number in (0, 1) for each key, fixed by key, draw and stream."""
    offset: np.uint64 = blake2b_keys([stream.encode()])[0]
    with np.errstate(over="ignore"):
        state = mixed(keys + offset + np.asarray(draw + 1).astype(np.uint64) * GOLDEN_GAMMA)
    high_bits = (state >> np.uint64(64 - MANTISSA_BITS)).astype(np.float64)
    return (high_bits + 0.5) / float(1 << MANTISSA_BITS)


def uniforms(keys: NDArray[np.uint64], draws: range, stream: str = "") -> Floats:
    """Return the same of several draws, shape (n_keys, n_draws)."""
    numbers, number = np.empty((len(keys), len(draws))), np.arange(draws.start, draws.stop)
    for start in range(0, len(keys), KEYS_AT_ONCE):
        rows = slice(start, start + KEYS_AT_ONCE)
        numbers[rows] = uniform(keys[rows, None], number, stream)
    return numbers


def cluster_weights(keys: NDArray[np.uint64], draw: int) -> Floats:
    """Return exponential weights, mean 1, never 0 (Rubin 1981, doi 10.1214/aos/1176345338)."""
    return -np.log(uniform(keys, draw, BOOTSTRAP))


def drawn_weights(keys: NDArray[np.uint64], draws: range) -> Floats:
    """Return the weights of several draws, shape (n_keys, n_draws)."""
    return -np.log(uniforms(keys, draws, BOOTSTRAP))


def weight_blocks(
    keys: NDArray[np.uint64], n_draws: int, at_once: int
) -> Iterator[tuple[slice, Floats]]:
    """Yield some draws at a time, and their weights, shape (n_keys, so many draws)."""
    for start in range(0, n_draws, at_once):
        draws = slice(start, min(start + at_once, n_draws))
        yield draws, drawn_weights(keys, range(n_draws)[draws])


def kish(weight: Floats) -> float:
    """Return the effective number (Σw)²/Σw²; 0 for nothing."""
    return 0.0 if len(weight) == 0 else float(weight.sum() ** 2 / (weight**2).sum())


def effective_clusters(cluster: Integers, weight: Floats) -> float:
    """Return Kish's effective number over the masses of clusters."""
    return kish(np.bincount(cluster, weights=weight).astype(np.float64))
