"""What ``credence split`` says of a split when it is done."""

from __future__ import annotations

from credence.findings.run_record import SplitClass, SplitFinding

MOST_NAMED = 3  # pairs shown; the page and the summary have more
MOST_CLUSTERS = 10  # of those left whole


def split_messages(found: SplitFinding, n_groups: int, is_phanns: bool = False) -> list[str]:
    """Return the lines, the audit's last."""
    scarce = [entry for entry in found.classes if entry.n_clusters < n_groups]
    lines = [
        f"{entry.class_name}: {_clusters(entry)} for {n_groups} groups; some have none of it."
        for entry in scarce
    ]
    n_classes = max(len(found.classes), 1)
    uneven = sum(entry.deviation for entry in found.classes) / n_classes
    forced = sum(entry.lower_bound for entry in found.classes) / n_classes
    lines.append(
        f"Groups: {found.size_low:.2f} to {found.size_high:.2f} of the mean size; of a class "
        f"{100.0 * uneven:.1f} % would have to move to be even ({100.0 * forced:.1f} % at least, "
        f"since clusters stay whole); the largest cluster has {100.0 * found.largest_share:.1f} %."
    )
    if found.size_low == 0.0:
        lines.append(f"Some of the {n_groups} groups are empty: there are too few clusters.")
    if found.n_cut:
        lines.append(f"{found.n_cut} clusters larger than a group were cut.")
    lines += [
        f"Cluster {one.cluster} holds {one.n} proteins, more than a group, and was left whole"
        + (f": a cut would set {one.price} aside to part off {one.parted}." if one.parted else ".")
        for one in found.whole[:MOST_CLUSTERS]
    ]
    if len(found.whole) > MOST_CLUSTERS:
        lines.append(f"… and {len(found.whole) - MOST_CLUSTERS} clusters more.")
    if found.is_audited:
        lines += _audit(found)
        if found.worst and found.strict == "report":
            lines.append(
                "To end that, "
                + (
                    "leave --recipe phanns out."
                    if is_phanns
                    else "give --strict join or set_aside."
                )
            )
    return lines


def _clusters(entry: SplitClass) -> str:
    return "1 cluster" if entry.n_clusters == 1 else f"{entry.n_clusters} clusters"


def _audit(found: SplitFinding) -> list[str]:
    n_examined = sum(entry.n_examined for entry in found.classes)
    n_crossing = sum(entry.n_crossing for entry in found.classes)
    covered = "both" if found.both_sides else "the shorter one"
    lines = []
    if found.n_joined:
        lines.append(
            f"{found.n_joined} clusters were joined with others, for what earlier audits found."
        )
    message = (
        f"Audit: {n_crossing} of all {n_examined}"
        if found.is_exhaustive
        else (f"Audit: {n_crossing} of {n_examined} proteins examined")
    )
    text = (
        f"{message} have a relative (identity ≥ {found.identity:g} over ≥ {found.coverage:g} of "
        f"{covered}) in another group"
    )
    if found.is_exhaustive:
        lines.append(text + ".")
    else:
        lines.append(
            text + f"; at 95 % confidence at most {100.0 * found.bound:.2f} % of the "
            f"{found.n_population} that {found.n_sampled} were sampled from."
        )
    lines += [
        f"  {pair.first} of group {pair.first_group} and {pair.second} of group "
        f"{pair.second_group}: identity {pair.identity:.2f}, coverage {pair.coverage:.2f}"
        for pair in found.worst[:MOST_NAMED]
    ]
    return lines
