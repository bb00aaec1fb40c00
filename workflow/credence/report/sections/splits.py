"""How proteins were split, and whether a relative crosses the split."""

from __future__ import annotations

from credence.findings import Findings
from credence.findings.splits import SplitFinding
from credence.report.blocks import Block, Column, Folded, Paragraph, Section, Table
from credence.report.wording import count


def section(findings: Findings) -> Section | None:
    """Return sizes, balance, audit and what was set aside.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    found = findings.split
    if found is None:
        return None
    blocks: list[Block] = [Paragraph(_lead(found), is_lead=True), Paragraph(_meaning(found))]
    blocks += [_classes(found), _groups(found)]
    if found.worst:
        blocks.append(_worst(found))
    if found.apart:
        blocks += _apart(found)
    return Section("split", "Do relatives cross the split?", tuple(blocks))


def _lead(found: SplitFinding) -> str:
    if not found.is_audited:
        return "The split was not audited: whether relatives are in two groups is not known."
    n_test = sum(entry.n_examined for entry in found.classes) - found.n_sampled
    n_crossing = sum(entry.n_crossing for entry in found.classes)
    if found.is_exhaustive:
        return (
            f"Of all {count(found.n_population + n_test)} proteins in groups, "
            f"{count(n_crossing)} have a relative in another group."
        )
    test = f"the {count(n_test)} proteins of the test group and " if n_test else ""
    return (
        f"Of {test}a sample of {count(found.n_sampled)} of the {count(found.n_population)} "
        f"{'others' if n_test else 'proteins'}, {count(n_crossing)} have a relative in another "
        f"group; with 95 % confidence at most {100.0 * found.bound:.2f} % of those it "
        "stands for do."
    )


def _meaning(found: SplitFinding) -> str:
    sides = "both proteins" if found.both_sides else "the shorter protein"
    text = (
        f"Relatives align with identity of at least {found.identity:.2f} over at least "
        f"{found.coverage:.2f} of {sides}, better than chance. "
        "The audit aligns exactly and does not know the clusters. "
    )
    if found.both_sides:
        text += "Counting both sides leaves many proteins with a one-sided relative elsewhere. "
    if found.n_joined:
        text += (
            f"{count(found.n_joined)} clusters were joined with others for what "
            f"{count(found.n_rounds - 1)} earlier audits found. "
        )
    return (
        text + f"The largest cluster holds {100.0 * found.largest_share:.1f} % of the proteins; "
        f"groups hold {found.size_low:.2f} to {found.size_high:.2f} of the mean group."
    )


def _classes(found: SplitFinding) -> Table:
    columns = (
        Column("true class", is_number=False),
        Column("proteins"),
        Column("clusters", explained="Fewer than groups: some group has none of the class"),
        Column("uneven", explained="Part of the class that would have to move to be even"),
        Column("forced", explained="How much of that whole clusters force"),
        Column("audited"),
        Column("crossing", explained="With a relative in another group"),
    )
    rows = tuple(
        (
            entry.class_name,
            count(entry.n),
            count(entry.n_clusters),
            f"{entry.deviation:.3f}",
            f"{entry.lower_bound:.3f}",
            count(entry.n_examined),
            count(entry.n_crossing),
        )
        for entry in found.classes
    )
    return Table("Classes over the groups, counted in proteins.", columns, rows)


def _groups(found: SplitFinding) -> Table:
    bins = [
        (at, f"{low:.1f}–{high:.1f}")
        for at, (low, high) in enumerate(zip(found.edges, found.edges[1:], strict=False))
        if any(group.nearest[at] for group in found.groups)
    ]
    columns = (
        Column("group", is_number=False),
        Column("proteins"),
        Column("nothing alike", explained="Audited; nothing elsewhere is alike beyond chance"),
        *(Column(text, explained="Identity of the nearest elsewhere") for _, text in bins),
    )
    rows = tuple(
        (
            group.name,
            count(group.n),
            count(group.n_alone),
            *(count(group.nearest[at]) for at, _ in bins),
        )
        for group in found.groups
    )
    return Table(
        "Groups, and audited proteins by the identity of the nearest protein outside their group "
        "that covers enough to count.",
        columns,
        rows,
    )


def _worst(found: SplitFinding) -> Table:
    columns = (
        Column("protein", is_number=False),
        Column("group", is_number=False),
        Column("relative", is_number=False),
        Column("its group", is_number=False),
        Column("identity"),
        Column("coverage"),
    )
    rows = tuple(
        (
            pair.first,
            pair.first_group,
            pair.second,
            pair.second_group,
            f"{pair.identity:.2f}",
            f"{pair.coverage:.2f}",
        )
        for pair in found.worst
    )
    return Table("The closest relatives in two groups.", columns, rows)


def _apart(found: SplitFinding) -> list[Block]:
    return [
        Folded(
            f"Set aside: {count(part.n)}, {part.reason}",
            tuple(Paragraph(text) for text in part.examples)
            + (
                (Paragraph(f"… and {count(part.n - len(part.examples))} more, in groups.tsv."),)
                if part.n > len(part.examples)
                else ()
            ),
        )
        for part in found.apart
    ]
