"""Splits that no relative crosses: pack, audit, and join or set aside until so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Integers, Strings
from credence.sequences.components import components
from credence.sequences.proteins import Proteins
from credence.sequences.relatives import Pairs, Thresholds, no_pairs
from credence.splits.audit import LEVEL, Audit, audit, level_of_round, sample_rows
from credence.splits.cover import fewest
from credence.splits.pack import NO_GROUP, SET_ASIDE, TEST, TRAINING, Packing, pack

Strictness = Literal["report", "join", "set_aside"]
STRICTNESS: tuple[Strictness, ...] = ("report", "join", "set_aside")
MOST_ROUNDS = 20


@dataclass(frozen=True)
class SplitSettings:
    """How proteins are split.

    Parameters
    ----------
    n_groups : int
        Number of groups, the test group included.
    test_group : bool
        Whether the last group only judges.
    by_cluster : bool
        Whether clusters are counted instead of proteins.
    thresholds : Thresholds
        Of relatives, for the audit.
    strict : {"report", "join", "set_aside"}
        What is done about relatives in two groups.
    n_sampled : int, optional
        How many proteins outside the test group an audit examines; None: all.
    threads : int
        Alignments at a time.
    """

    n_groups: int = 12
    test_group: bool = False
    by_cluster: bool = False
    thresholds: Thresholds = field(default_factory=Thresholds)
    strict: Strictness = "join"
    n_sampled: int | None = 300
    threads: int = 1


@dataclass(frozen=True, eq=False)
class Split:
    """A split and what its audit found.

    Parameters
    ----------
    packing : Packing
        Group, role and reason of each protein.
    cluster : array of str
        The clusters that were kept together: those given, joined where needed.
    audit : Audit
        The last one, of the split as it stands.
    n_rounds : int
        Audits until then.
    level : float
        Confidence of a bound from the last sample, so that all keep 95 %.
    n_joined : int
        Clusters given that were joined with another.
    """

    packing: Packing
    cluster: Strings
    audit: Audit
    n_rounds: int
    level: float
    n_joined: int = 0


def split(
    proteins: Proteins,
    cluster: Strings,
    class_: NDArray[Any],
    settings: SplitSettings,
    is_training: Booleans | None = None,
    reasons: Strings | None = None,
) -> Split:
    """Return a split of whole clusters, audited.

    Parameters
    ----------
    proteins : Proteins
        Calibration and training proteins.
    cluster : array of str
        Cluster of each.
    class_ : array
        True class of each; ignored for training proteins.
    settings : SplitSettings
        How.
    is_training : array of bool, optional
        Whether the classifier learnt from the protein.
    reasons : array of str, optional
        Why each protein is set aside from the start (see :func:`pack`).
    """
    learnt = np.zeros(proteins.n_proteins, np.bool_) if is_training is None else is_training
    names, why = cluster, reasons
    for number in range(1, MOST_ROUNDS + 1):
        packing = pack(
            proteins.ids,
            names,
            class_,
            settings.n_groups,
            is_training=learnt,
            test_group=settings.test_group,
            reasons=why,
            by_cluster=settings.by_cluster,
        )
        found = _audited(proteins, packing, settings, number)
        if found.pairs.n_pairs == 0 or settings.strict == "report":
            break
        why = _apart(proteins, packing, learnt, found.pairs, settings.strict)
        if settings.strict == "join":
            names = _joined(names, learnt, found.pairs)
    n_joined = len(set(cluster)) - len(set(names))
    return Split(packing, names, found, number, level_of_round(number), n_joined)


def _audited(proteins: Proteins, packing: Packing, settings: SplitSettings, number: int) -> Audit:
    group = packing.group
    rows = None
    if settings.n_sampled is not None:
        is_test = packing.group == TEST
        others = (packing.group != NO_GROUP) & ~is_test & (packing.role != TRAINING)
        sampled = sample_rows(proteins.ids, others, settings.n_sampled, number)
        rows = np.union1d(sampled, np.flatnonzero(is_test))
    elif (packing.role == TRAINING).any():
        rows = np.flatnonzero((packing.group != NO_GROUP) & (packing.role != TRAINING))
    return audit(proteins, group, settings.thresholds, rows, settings.threads)


def _apart(
    proteins: Proteins, packing: Packing, learnt: Booleans, pairs: Pairs, strict: Strictness
) -> Strings:
    """Return why each protein is set aside: as before, and for what the audit found."""
    reason = np.where(packing.role == SET_ASIDE, packing.reason, "").astype(object)
    is_learnt = learnt[pairs.first] | learnt[pairs.second]
    wanted = pairs if strict == "set_aside" else pairs.take(is_learnt)
    by_id = np.argsort(proteins.ids.astype(str), kind="stable")
    place = np.empty(len(by_id), dtype=np.int64)
    place[by_id] = np.arange(len(by_id))
    gone = fewest(place[wanted.first], place[wanted.second], len(by_id), learnt[by_id])
    is_gone = np.zeros(len(by_id), dtype=np.bool_)
    is_gone[by_id[gone]] = True
    order = np.argsort(-wanted.identity, kind="stable")
    for at in order.tolist():
        for one, other in _both_ways(wanted, at):
            if is_gone[one] and not reason[one]:
                kind = "training protein" if learnt[other] else "protein"
                where = "" if learnt[other] else f" of group {packing.group[other]}"
                reason[one] = (
                    f"relative of {kind} {str(proteins.ids[other])!r}{where}"
                    f" (identity {wanted.identity[at]:.2f})"
                )
    return reason


def _both_ways(pairs: Pairs, at: int) -> tuple[tuple[int, int], tuple[int, int]]:
    first, second = int(pairs.first[at]), int(pairs.second[at])
    return (first, second), (second, first)


def _joined(cluster: Strings, learnt: Booleans, pairs: Pairs) -> Strings:
    """Return clusters of which those that a pair connects are one, named after the first."""
    names, codes = np.unique(cluster.astype(str), return_inverse=True)
    ours = ~(learnt[pairs.first] | learnt[pairs.second])
    one: Integers = codes[pairs.first[ours]]
    other: Integers = codes[pairs.second[ours]]
    component = components(len(names), one, other)
    _, first = np.unique(component, return_index=True)
    renamed = np.empty(len(names), dtype=object)
    renamed[:] = names[first[component]]
    return np.asarray(renamed[codes])


def split_unaudited(
    proteins: Proteins,
    cluster: Strings,
    class_: NDArray[Any],
    settings: SplitSettings,
    is_training: Booleans | None = None,
    reasons: Strings | None = None,
) -> Split:
    """Return a split of whole clusters that nobody looked into.

    Parameters
    ----------
    proteins, cluster, class_, settings, is_training, reasons
        See :func:`split`; the sequences are not read.
    """
    packing = pack(
        proteins.ids,
        cluster,
        class_,
        settings.n_groups,
        is_training=is_training,
        test_group=settings.test_group,
        reasons=reasons,
        by_cluster=settings.by_cluster,
    )
    nobody = np.zeros(proteins.n_proteins, dtype=np.bool_)
    nothing = Audit(nobody, nobody.copy(), np.full(proteins.n_proteins, np.nan), no_pairs())
    return Split(packing, cluster, nothing, 0, LEVEL)
