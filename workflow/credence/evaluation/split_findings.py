"""What a page says of a split, as findings."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from credence.findings import Apart, CrossingPair, SplitClass, SplitFinding, SplitGroup
from credence.predictions import Booleans, Integers, Strings
from credence.relatives import pack
from credence.relatives.audit import Audit, by_class
from credence.relatives.strict import Split, SplitOptions

IDENTITY_EDGES = tuple(round(0.1 * step, 1) for step in range(11))
MOST_WORST_PAIRS = 20


def describe_split(
    ids: Strings,
    class_: Integers,
    class_names: Sequence[str],
    split: Split,
    settings: SplitOptions,
    is_audited: bool,
) -> SplitFinding:
    """Return what the page shows of a split."""
    packing, audited = split.packing, split.audit
    inside = (packing.group != pack.NO_GROUP) & (packing.role != pack.TRAINING)
    names, group = np.unique(packing.group[inside].astype(str), return_inverse=True)
    present, codes = np.unique(class_[inside], return_inverse=True)
    _, cluster = np.unique(split.cluster[inside].astype(str), return_inverse=True)
    ratios = pack.size_ratios(group, settings.n_groups)
    sampled = audited.is_examined & inside
    population, n_sampled = int(inside.sum()), int(sampled.sum())
    n_crossing = int((sampled & audited.is_crossing).sum())
    n_met = int((inside & ~sampled & audited.is_crossing).sum())
    # Those that were met among the others are some of those that the bound allows there.
    n_most = n_crossing + max(min(split.n_unseen, population - n_sampled), n_met)
    examined = by_class(audited, class_)
    away = pack.deviations(group, codes, settings.n_groups)
    bounds = pack.lower_bounds(cluster, codes, settings.n_groups)
    classes = []
    for at, code in enumerate(present.tolist()):
        members = cluster[codes == at]
        n_examined, n_crossing_of_class = examined.get(code, (0, 0))
        entry = SplitClass(
            class_name=class_names[code],
            n=len(members),
            n_clusters=len(np.unique(members)),
            deviation=float(away[at]),
            lower_bound=float(bounds[at]),
            n_examined=n_examined,
            n_crossing=n_crossing_of_class,
        )
        classes.append(entry)
    needed = settings.thresholds
    return SplitFinding(
        identity=needed.identity,
        coverage=needed.coverage,
        both_sides=needed.both_sides,
        strict=settings.strict,
        is_audited=is_audited,
        is_exhaustive=is_audited and n_sampled == population,
        n_sampled=n_sampled,
        n_population=population,
        n_crossing_sampled=n_crossing,
        bound=n_most / population if population else 0.0,
        n_met=n_met,
        n_joined=split.n_joined,
        largest_share=float(np.bincount(cluster).max() / len(cluster)) if len(cluster) else 0.0,
        size_low=float(ratios.min()),
        size_high=float(ratios.max()),
        classes=tuple(classes),
        groups=_groups(names, packing.group, audited),
        edges=IDENTITY_EDGES,
        worst=_worst(ids, packing.group, audited),
        apart=_apart(packing.role == pack.SET_ASIDE, packing.reason),
        most_expected=needed.most_expected,
        n_counted=audited.n_counted,
        n_by_chance=audited.n_by_chance,
        n_cut=split.n_cut,
        cut=settings.cut,
        cut_limit=settings.most_apart,
        whole=split.whole,
        weigh="clusters" if settings.by_cluster else "proteins",
        n_apart=split.n_apart,
        n_least=split.n_least,
    )


def _groups(names: Strings, group: Strings, audited: Audit) -> tuple[SplitGroup, ...]:
    rows = []
    for name in sorted(names.tolist(), key=lambda name: (not name.isdigit(), name.zfill(9))):
        here = group == name
        nearest = audited.nearest[here & audited.is_examined]
        is_alone = np.isnan(nearest)
        counts = tuple(np.histogram(nearest[~is_alone], bins=np.array(IDENTITY_EDGES))[0].tolist())
        rows.append(
            SplitGroup(name=name, n=int(here.sum()), nearest=counts, n_alone=int(is_alone.sum()))
        )
    return tuple(rows)


def _worst(ids: Strings, group: Strings, audited: Audit) -> tuple[CrossingPair, ...]:
    pairs = audited.pairs
    first, second = (ids[rows].astype(str) for rows in (pairs.first, pairs.second))
    first_group, second_group = (group[rows].astype(str) for rows in (pairs.first, pairs.second))
    order = np.lexsort((second, first, -pairs.identity))[:MOST_WORST_PAIRS]
    return tuple(
        CrossingPair(
            first=str(first[place]),
            first_group=str(first_group[place]),
            second=str(second[place]),
            second_group=str(second_group[place]),
            identity=float(pairs.identity[place]),
            coverage=float(pairs.coverage[place]),
        )
        for place in order
    )


def _apart(is_apart: Booleans, reason: Strings) -> tuple[Apart, ...]:
    counts = Counter(pack.kind_of(str(entry)) for entry in reason[is_apart])
    return tuple(Apart(reason=kind, n=n) for kind, n in sorted(counts.items()))
