"""How proteins were split, and whether a relative crosses the split."""

from credence.findings import Findings, JoinedAudit, SplitFinding
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import NearestPlot
from credence.report.wording import count, three_decimals, two_decimals

MOST_GROUPS = 24  # of the figure; with more groups it shows all of them as one


def section(findings: Findings) -> page.Section | None:
    """Return sizes, balance, audit and what was set aside."""
    split = findings.split
    if split is None:
        return None
    texts = [meaning_of(split)]
    if split.n_cut:
        texts.append(
            f"{plural(split.n_cut, 'cluster', 'clusters')} larger than a group "
            f"{'was' if split.n_cut == 1 else 'were'} cut where the fewest proteins connect the "
            "parts; these are set aside below, and no relatives are left between the parts."
        )
    for cluster in split.whole:
        text = (
            f"The cluster {cluster.cluster} holds {count(cluster.n)} proteins, more than a group. "
        )
        if split.cut == "never":
            text += "It was left whole, as the settings say."
        elif not cluster.parted and not cluster.is_searched:
            text += "It was not cut: that takes an audit, and no more than some minutes."
        else:
            why = (
                "nearly all of them are relatives of each other, and no cut would leave two parts"
            )
            if cluster.parted:
                why = (
                    f"the cheapest cut would set {count(cluster.price)} aside to part off "
                    f"{count(cluster.parted)}; a cut may take a tenth of what it parts off, and "
                    f"all cuts together {100.0 * split.cut_limit:g} % of the proteins"
                )
            why += f", by {count(cluster.n_tried)} of its sequences" if cluster.n_tried else ""
            text += (
                f"It was left whole: {why}. The group that holds it is larger than the others, "
                "and its classes are uneven by that much."
            )
        texts.append(text)
    texts += _parted(split)
    audited = page.number("audited", "n_examined"), page.number("crossing", "n_crossing")
    classes = page.table(
        "Classes over the groups, counted in proteins."
        if findings.calls is None
        else "Labels over the groups; each protein counts by the rarest of its true labels, "
        "among at most 30 that stand for all.",
        split.classes,
        page.word("true class", "class_name"),
        page.number("proteins", "n"),
        *([page.number("clusters", "n_clusters")] if split.clusters != "none" else []),
        page.number("uneven", "deviation", three_decimals),
        page.number("forced", "lower_bound", three_decimals),
        *(audited if split.is_audited else ()),
        explained={
            "clusters": "Fewer than groups: some group has none of the class",
            "uneven": "Part of the class that would have to move to be even",
            "forced": "How much of that cannot be helped",
            "crossing": "With a relative in another group",
        },
    )
    worst = page.table(
        "The closest relatives in two groups.",
        split.worst,
        page.word("protein", "first"),
        page.word("group", "first_group"),
        page.word("relative", "second"),
        page.word("its group", "second_group"),
        page.number("identity", "identity", two_decimals),
        page.number("coverage", "coverage", two_decimals),
    )
    has_nearest = any(group.n_alone or sum(group.nearest) for group in split.groups)
    nearest = _nearest(split) if split.is_audited and has_nearest else None
    apart = ", ".join(f"{count(part.n)}, {part.reason}" for part in split.apart)
    blocks = page.flat(
        page.lead(lead_of(split, findings.joined)),
        texts,
        classes,
        nearest,
        split.worst and worst,
        apart and f"Set aside (groups.tsv has each): {apart}.",
    )
    return page.Section(
        name="split", title="Do homologues stand in different groups (leakage)?", blocks=blocks
    )


def lead_of(split: SplitFinding, joined: JoinedAudit | None = None) -> str:
    """Return how many proteins have a relative in another group, those that joined later too."""
    if joined is None or joined.n == 0:
        return _lead_of_split(split)
    text = f"{_lead_of_split(split)} {plural(joined.n, 'protein')} joined later, in troves"
    if joined.n_examined == 0:
        return f"{text}; whether these have a relative in another group was not examined."
    examined = "each" if joined.n_examined == joined.n else count(joined.n_examined)
    return (
        f"{text}: {examined} of these compared with all of other groups, "
        f"{count(joined.n_crossing)} with a relative there."
    )


def _lead_of_split(split: SplitFinding) -> str:
    if not split.is_audited and split.clusters == "none":
        return (
            "Nothing says which proteins are relatives, so each counts by itself, "
            "and relatives may be in two groups. Give the sequences, or a table of clusters."
        )
    if not split.is_audited:
        return "The split was not audited: whether relatives are in two groups is not known."
    n_crossing = split.n_crossing_sampled
    if split.is_exhaustive:
        return (
            f"Of all {count(split.n_population)} proteins in groups, "
            f"{count(n_crossing)} have a relative in another group."
        )
    met = f", and so have {count(split.n_met)} others that were met" if split.n_met else ""
    return (
        f"Of {count(split.n_sampled)} of the {count(split.n_population)} proteins in groups, "
        f"taken at random and compared with all of other groups, {count(n_crossing)} have a "
        f"relative there{met}; with 95 % confidence at most {100.0 * split.bound:.2f} % "
        "of all do."
    )


def relatives_in_words(split: SplitFinding) -> str:
    """Return what relatives do: they align so well."""
    both_parts = "of both proteins" if split.both_sides else "of the shorter of the two"
    chance = (
        "whether chance explains the alignment or not"
        if split.most_expected is None
        else "with a score that chance gives less than "
        f"{split.most_expected:g} pairs of random proteins of their lengths"
    )
    return (
        f"align with identity of at least {split.identity:.2f} over at least "
        f"{split.coverage:.2f} {both_parts}, {chance}"
    )


def meaning_of(split: SplitFinding) -> str:
    """Return what relatives are, what was joined for them, and how even the groups are."""
    if split.clusters in ("table", "none") and not split.is_audited:
        return _balance(split)
    text = f"Relatives {relatives_in_words(split)}. "
    if not split.is_audited:
        text = f"Clusters are taken for those of proteins that {relatives_in_words(split)}. "
    if split.n_counted and split.n_by_chance:
        text += (
            f"That last condition excludes {plural(split.n_by_chance, 'pair')} in two groups of "
            f"{plural(split.n_counted, 'protein')} looked at for it. "
        )
    if split.is_audited:
        text += "The audit aligns exactly and does not know the clusters. "
    if split.is_audited and not split.is_exhaustive:
        text += "Pairs of two groups that share most were aligned before all others. "
    if split.both_sides:
        text += "Since both proteins have to be covered, many align with a part of one elsewhere. "
    if split.n_joined:
        text += (
            f"{plural(split.n_joined, 'cluster was', 'clusters were')} joined with others for "
            "what the audit found. "
        )
    return text + _balance(split)


def _balance(split: SplitFinding) -> str:
    text = f"Groups hold {split.size_low:.2f} to {split.size_high:.2f} of the mean group"
    if split.clusters != "none":
        largest = f"The largest cluster holds {100.0 * split.largest_share:.1f} % of the proteins"
        text = f"{largest}; {text[:1].lower()}{text[1:]}"
    if split.weigh == "clusters":
        text += ", since clusters are counted instead of proteins"
    if not split.classes:
        return text + "."
    return (
        f"{text}. Over the classes, {100.0 * split.uneven:.1f} % would have to move to be even "
        f"in the mean, of which {100.0 * split.forced:.1f} % cannot be helped."
    )


def _parted(split: SplitFinding) -> list[str]:
    if not split.n_apart:
        return []
    share = 100.0 * split.n_apart / (split.n_apart + sum(group.n for group in split.groups))
    text = (
        f"{plural(split.n_apart, 'protein was', 'proteins were')} set aside ({share:.1f} %) for "
        "relatives in another group that the audit found. Where their clusters fit in a group "
        "together they were joined instead, at no protein's cost; here they would be larger "
        "than a group, and make it uneven. "
    )
    least = f"At least {count(split.n_least)} have to go from these groups, by a bound on all"
    if split.n_least >= split.n_apart:
        return [text + "No fewer would do: each other choice leaves relatives in two groups."]
    return [f"{text}{least} choices."]


def _nearest(split: SplitFinding) -> page.Figure:
    groups = split.groups
    names = tuple(group.name for group in groups)
    counts = tuple(tuple(group.nearest) for group in groups)
    alone = tuple(group.n_alone for group in groups)
    if len(groups) > MOST_GROUPS:
        names, alone = ("all",), (sum(alone),)
        counts = (tuple(sum(column) for column in zip(*counts, strict=True)),)
    n_near = sum(map(sum, counts))
    return page.Figure(
        name="nearest",
        caption="Audited proteins by the identity of the nearest protein of another group, or of "
        "training, that covers enough to count. Bars share one scale; right of the dashed line "
        "are relatives: there should be none.",
        alternative=f"Histograms of the identity of the nearest protein elsewhere, one per group: "
        f"of {plural(n_near + sum(alone), 'audited protein')} {count(n_near)} have anything alike "
        f"in another group, and {count(split.n_crossing_sampled)} a relative, at "
        f"{split.identity:.2f} or above.",
        plot=NearestPlot(
            names=names,
            edges=tuple(split.edges),
            counts=counts,
            n_alone=alone,
            threshold=split.identity,
        ),
    )
