"""What a page says of a split, as findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from credence.findings import Apart, CrossingPair, SplitClass, SplitFinding, SplitGroup
from credence.predictions import Booleans, Integers, Strings
from credence.relatives.audit import Audit, by_class
from credence.relatives.pack import (
    NO_GROUP,
    SET_ASIDE,
    TRAINING,
    deviations,
    kind_of,
    lower_bounds,
    size_ratios,
)
from credence.relatives.strict import Split, SplitOptions

EDGES = tuple(round(0.1 * step, 1) for step in range(11))
MOST_PAIRS = 20
MOST_EXAMPLES = 10


def describe_split(
    ids: Strings,
    class_: Integers,
    class_names: Sequence[str],
    found: Split,
    settings: SplitOptions,
    is_audited: bool,
) -> SplitFinding:
    """Return what the page shows of a split."""
    packing, audited = found.packing, found.audit
    inside = (packing.group != NO_GROUP) & (packing.role != TRAINING)
    names, group = np.unique(packing.group[inside].astype(str), return_inverse=True)
    present, codes = np.unique(class_[inside], return_inverse=True)
    _, cluster = np.unique(found.cluster[inside].astype(str), return_inverse=True)
    ratios = size_ratios(group, settings.n_groups)
    sampled = audited.is_examined & inside
    population, n_sampled = int(inside.sum()), int(sampled.sum())
    n_crossing = int((sampled & audited.is_crossing).sum())
    n_met = int((inside & ~sampled & audited.is_crossing).sum())
    # Those that were met among the others are some of those that the bound allows there.
    n_most = n_crossing + max(min(found.n_unseen, population - n_sampled), n_met)
    examined = by_class(audited, class_)
    away = deviations(group, codes, settings.n_groups)
    bounds = lower_bounds(cluster, codes, settings.n_groups)
    classes = tuple(
        SplitClass(
            class_names[code],
            int((codes == at).sum()),
            len(np.unique(cluster[codes == at])),
            float(away[at]),
            float(bounds[at]),
            *examined.get(code, (0, 0)),
        )
        for at, code in enumerate(present.tolist())
    )
    return SplitFinding(
        identity=settings.thresholds.identity,
        coverage=settings.thresholds.coverage,
        both_sides=settings.thresholds.both_sides,
        strict=settings.strict,
        is_audited=is_audited,
        is_exhaustive=is_audited and n_sampled == population,
        n_sampled=n_sampled,
        n_population=population,
        n_crossing_sampled=n_crossing,
        bound=n_most / population if population else 0.0,
        n_met=n_met,
        n_joined=found.n_joined,
        largest_share=float(np.bincount(cluster).max() / len(cluster)) if len(cluster) else 0.0,
        size_low=float(ratios.min()),
        size_high=float(ratios.max()),
        classes=classes,
        groups=_groups(names, packing.group, audited),
        edges=EDGES,
        worst=_worst(ids, packing.group, audited),
        apart=_apart(ids, packing.role == SET_ASIDE, packing.reason),
        most_expected=settings.thresholds.most_expected,
        n_counted=audited.n_counted,
        n_by_chance=audited.n_by_chance,
        n_cut=found.n_cut,
        cut=settings.cut,
        cut_limit=settings.most_apart,
        whole=found.whole,
        weigh="clusters" if settings.by_cluster else "proteins",
        n_apart=found.n_apart,
        n_least=found.n_least,
    )


def _groups(names: Strings, group: Strings, audited: Audit) -> tuple[SplitGroup, ...]:
    rows = []
    for name in sorted(names.tolist(), key=lambda name: (not name.isdigit(), name.zfill(9))):
        here = group == name
        nearest = audited.nearest[here & audited.is_examined]
        known = nearest[~np.isnan(nearest)]
        counts = np.histogram(known, bins=np.array(EDGES))[0]
        rows.append(
            SplitGroup(name, int(here.sum()), tuple(counts.tolist()), int(np.isnan(nearest).sum()))
        )
    return tuple(rows)


def _worst(ids: Strings, group: Strings, audited: Audit) -> tuple[CrossingPair, ...]:
    pairs = audited.pairs
    order = sorted(
        range(pairs.n_pairs),
        key=lambda at: (
            -pairs.identity[at],
            str(ids[pairs.first[at]]),
            str(ids[pairs.second[at]]),
        ),
    )
    return tuple(
        CrossingPair(
            str(ids[pairs.first[at]]),
            str(group[pairs.first[at]]),
            str(ids[pairs.second[at]]),
            str(group[pairs.second[at]]),
            float(pairs.identity[at]),
            float(pairs.coverage[at]),
        )
        for at in order[:MOST_PAIRS]
    )


def _apart(ids: Strings, is_apart: Booleans, reason: Strings) -> tuple[Apart, ...]:
    by_kind: dict[str, list[int]] = defaultdict(list)
    for row in np.flatnonzero(is_apart).tolist():
        by_kind[kind_of(str(reason[row]))].append(row)
    parts = []
    for kind in sorted(by_kind):
        rows = sorted(by_kind[kind], key=lambda row: str(ids[row]))
        examples = tuple(f"{ids[row]}: {reason[row]}" for row in rows[:MOST_EXAMPLES])
        parts.append(Apart(kind, len(rows), examples))
    return tuple(parts)
