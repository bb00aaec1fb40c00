"""Strict splits of real phage proteins, skipped where these are absent."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from audits import audit
from cases import cases
from credence.proteins import Proteins
from credence.relatives.all_engines import build_engine
from credence.relatives.strict import SplitOptions, split

N_PROTEINS = 150


@pytest.fixture(scope="module")
def minor_capsids(real_data: Path) -> Proteins:
    with gzip.open(real_data / "phanns_minor_capsid_656.fasta.gz", "rt") as handle:
        records = handle.read().split(">")[1:]
    texts = np.empty(len(records), dtype=object)
    texts[:] = ["".join(record.split("\n")[1:]).upper() for record in records]
    ids = np.empty(len(records), dtype=object)
    ids[:] = [f"p{row:03d}" for row in range(len(records))]
    return Proteins(ids=ids, sequences=texts).take(np.arange(0, len(records), 2)[:N_PROTEINS])


@cases("strict", ["join", "set_aside"], long=["set_aside"])
def test_no_relative_crosses_a_strict_split_of_real_proteins(
    minor_capsids: Proteins, strict: str
) -> None:
    cluster = build_engine("kmer").cluster(minor_capsids).cluster
    options = SplitOptions(n_groups=4, strict=strict, cells=None)  # type: ignore[arg-type]
    found = split(minor_capsids, cluster, np.zeros(minor_capsids.n_proteins, dtype=int), options)
    assert found.audit.is_crossing.sum() == 0
    again = audit(minor_capsids, found.packing.group, options.thresholds)
    assert (again.pairs.n_pairs, again.is_examined.sum()) == (0, found.audit.is_examined.sum())
    if strict == "join":
        assert (found.packing.role == "set_aside").mean() <= options.most_apart
