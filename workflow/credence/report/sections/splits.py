"""How proteins were split, and whether a relative crosses the split."""

from credence.findings import Apart, Findings, SplitFinding
from credence.report import blocks as page
from credence.report.plots import NearestPlot
from credence.report.wording import count, of, three_decimals, two_decimals

MOST_ROWS = 24  # of the figure; with more groups it shows all of them as one


def section(findings: Findings) -> page.Section | None:
    """Return sizes, balance, audit and what was set aside."""
    found = findings.split
    if found is None:
        return None
    texts = [meaning_of(found)]
    if found.n_cut:
        texts.append(
            f"{of(found.n_cut, 'cluster', 'clusters')} larger than a group "
            f"{'was' if found.n_cut == 1 else 'were'} cut where the fewest proteins connect the "
            "parts; these are set aside below, and no relatives are left between the parts."
        )
    for one in found.whole:
        text = f"The cluster {one.cluster} holds {count(one.n)} proteins, more than a group. "
        if found.cut == "never":
            text += "It was left whole, as the settings say."
        elif not one.parted and not one.is_searched:
            text += "It was not cut: that takes an audit, and no more than some minutes."
        else:
            why = (
                "nearly all of them are relatives of each other, and no cut would leave two parts"
            )
            if one.parted:
                why = (
                    f"the cheapest cut would set {count(one.price)} aside to part off "
                    f"{count(one.parted)}; a cut may take a tenth of what it parts off, and all "
                    f"cuts together {100.0 * found.cut_limit:g} % of the proteins"
                )
            why += f", by {count(one.n_tried)} of its sequences" if one.n_tried else ""
            text += (
                f"It was left whole: {why}. The group that holds it is larger than the others, "
                "and its classes are uneven by that much."
            )
        texts.append(text)
    texts += _parted(found)
    audited = page.number("audited", "n_examined"), page.number("crossing", "n_crossing")
    classes = page.table(
        "Classes over the groups, counted in proteins.",
        found.classes,
        page.word("true class", "class_name"),
        page.number("proteins", "n"),
        *([page.number("clusters", "n_clusters")] if found.clusters != "none" else []),
        page.number("uneven", "deviation", three_decimals),
        page.number("forced", "lower_bound", three_decimals),
        *(audited if found.is_audited else ()),
        explained={
            "clusters": "Fewer than groups: some group has none of the class",
            "uneven": "Part of the class that would have to move to be even",
            "forced": "How much of that cannot be helped",
            "crossing": "With a relative in another group",
        },
    )
    worst = page.table(
        "The closest relatives in two groups.",
        found.worst,
        page.word("protein", "first"),
        page.word("group", "first_group"),
        page.word("relative", "second"),
        page.word("its group", "second_group"),
        page.number("identity", "identity", two_decimals),
        page.number("coverage", "coverage", two_decimals),
    )
    has_nearest = any(group.n_alone or sum(group.nearest) for group in found.groups)
    nearest = _nearest(found) if found.is_audited and has_nearest else None
    apart = map(_apart, found.apart)
    blocks = page.flat(
        page.lead(lead_of(found)), texts, classes, nearest, found.worst and worst, apart
    )
    return page.Section(name="split", title="Do relatives cross the split?", blocks=blocks)


def lead_of(found: SplitFinding) -> str:
    """Return how many proteins have a relative in another group, as far as that is known."""
    if not found.is_audited and found.clusters == "none":
        return (
            "Nothing says which proteins are relatives, so each counts by itself, "
            "and relatives may be in two groups. Give the sequences, or a table of clusters."
        )
    if not found.is_audited:
        return "The split was not audited: whether relatives are in two groups is not known."
    n_crossing = found.n_crossing_sampled
    if found.is_exhaustive:
        return (
            f"Of all {count(found.n_population)} proteins in groups, "
            f"{count(n_crossing)} have a relative in another group."
        )
    met = f", and so have {count(found.n_met)} others that were met" if found.n_met else ""
    return (
        f"Of {count(found.n_sampled)} of the {count(found.n_population)} proteins in groups, "
        f"taken at random and compared with all of other groups, {count(n_crossing)} have a "
        f"relative there{met}; with 95 % confidence at most {100.0 * found.bound:.2f} % "
        "of all do."
    )


def relatives_in_words(found: SplitFinding) -> str:
    """Return what relatives do: they align so well."""
    both_parts = "of both proteins" if found.both_sides else "of the shorter of the two"
    chance = (
        "whether chance explains the alignment or not"
        if found.most_expected is None
        else "with a score that chance gives less than "
        f"{found.most_expected:g} pairs of random proteins of their lengths"
    )
    return (
        f"align with identity of at least {found.identity:.2f} over at least "
        f"{found.coverage:.2f} {both_parts}, {chance}"
    )


def meaning_of(found: SplitFinding) -> str:
    """Return what relatives are, what was joined for them, and how even the groups are."""
    if found.clusters in ("table", "none") and not found.is_audited:
        return _balance(found)
    text = f"Relatives {relatives_in_words(found)}. "
    if not found.is_audited:
        text = f"Clusters are taken for those of proteins that {relatives_in_words(found)}. "
    if found.n_counted:
        text += (
            f"That last condition excludes {of(found.n_by_chance, 'pair')} in two groups of "
            f"{of(found.n_counted, 'protein')} looked at for it. "
        )
    if found.is_audited:
        text += "The audit aligns exactly and does not know the clusters. "
    if found.is_audited and not found.is_exhaustive:
        text += "Pairs of two groups that share most were aligned before all others. "
    if found.both_sides:
        text += "Since both proteins have to be covered, many align with a part of one elsewhere. "
    if found.n_joined:
        text += (
            f"{of(found.n_joined, 'cluster was', 'clusters were')} joined with others for what "
            "the audit found. "
        )
    return text + _balance(found)


def _balance(found: SplitFinding) -> str:
    text = f"Groups hold {found.size_low:.2f} to {found.size_high:.2f} of the mean group"
    if found.clusters != "none":
        largest = f"The largest cluster holds {100.0 * found.largest_share:.1f} % of the proteins"
        text = f"{largest}; {text[:1].lower()}{text[1:]}"
    if found.weigh == "clusters":
        text += ", since clusters are counted instead of proteins"
    if not found.classes:
        return text + "."
    return (
        f"{text}. Over the classes, {100.0 * found.uneven:.1f} % would have to move to be even "
        f"in the mean, of which {100.0 * found.forced:.1f} % cannot be helped."
    )


def _parted(found: SplitFinding) -> list[str]:
    if not found.n_apart:
        return []
    share = 100.0 * found.n_apart / (found.n_apart + sum(group.n for group in found.groups))
    text = (
        f"{of(found.n_apart, 'protein was', 'proteins were')} set aside ({share:.1f} %) for "
        "relatives in another group that the audit found. Where their clusters fit in a group "
        "together they were joined instead, at no protein's cost; here they would be larger "
        "than a group, and make it uneven. "
    )
    least = f"At least {count(found.n_least)} have to go from these groups, by a bound on all"
    if found.n_least >= found.n_apart:
        return [text + "No fewer would do: each other choice leaves relatives in two groups."]
    return [f"{text}{least} choices."]


def _nearest(found: SplitFinding) -> page.Figure:
    groups = found.groups
    names = tuple(group.name for group in groups)
    counts = tuple(tuple(group.nearest) for group in groups)
    alone = tuple(group.n_alone for group in groups)
    if len(groups) > MOST_ROWS:
        names, alone = ("all",), (sum(alone),)
        counts = (tuple(sum(column) for column in zip(*counts, strict=True)),)
    n_near = sum(map(sum, counts))
    return page.Figure(
        name="nearest",
        caption="Audited proteins by the identity of the nearest protein of another group, or of "
        "training, that covers enough to count. Bars share one scale; right of the dashed line "
        "are relatives: there should be none.",
        alternative=f"Histograms of the identity of the nearest protein elsewhere, one per group: "
        f"of {of(n_near + sum(alone), 'audited protein')} {count(n_near)} have anything alike in "
        f"another group, and {count(found.n_crossing_sampled)} a relative, at "
        f"{found.identity:.2f} or above.",
        plot=NearestPlot(
            names=names,
            edges=tuple(found.edges),
            counts=counts,
            n_alone=alone,
            threshold=found.identity,
        ),
    )


def _apart(part: Apart) -> page.Folded:
    texts = list(part.examples)
    if part.n > len(texts):
        texts.append(f"… and {count(part.n - len(texts))} more, in groups.tsv.")
    summary = f"Set aside: {count(part.n)}, {part.reason}"
    return page.Folded(summary=summary, blocks=page.flat(*texts))
