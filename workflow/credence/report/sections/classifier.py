"""The classifier that a run trained: whose scores calibrate, and what that means."""

from credence.findings import ClassifierFinding, Findings
from credence.report import blocks as page
from credence.report.wording import count, of, rounded, share

DIGITS = 2  # of scores on the scale of ten networks


def section(findings: Findings) -> page.Section | None:
    """Return how the scores of this run came about; nothing where a tool gave them."""
    found = findings.classifier
    if found is None:
        return None
    texts = [_whose(found), *_surer(found), *_worth(found)]
    seen = f"{count(found.n_features)} numbers of each protein"
    seen += " that were given" if found.features == "vectors" else f" ({found.features})"
    lead = (
        f"{of(found.n_networks, 'network')} were trained here on {seen}. Of the "
        f"{count(found.n_calibrating)} proteins that calibrate ({of(found.n_families, 'cluster')} "
        f"of relatives), {share(found.accuracy)} are predicted right by networks that saw neither "
        "them nor a relative."
    )
    blocks = page.flat(page.lead(lead), *texts)
    return page.Section("classifier", "Where do the scores come from?", blocks)


def _whose(found: ClassifierFinding) -> str:
    sums = f"the sum of {count(found.n_published)} networks, on a scale of 10"
    apart = (
        f" {of(found.n_apart, 'protein')} were set aside for relatives in two groups."
        if found.n_apart
        else ""
    )
    if found.scores == "test_group":
        return (
            f"One group of whole clusters, {of(found.n_test, 'protein')}, calibrates; no network "
            f"saw it. Each network left another one of {found.n_groups} groups out. A score, of "
            f"these proteins as of new ones, is {sums}.{apart}"
        )
    in_turn = f"Each of {found.n_groups} groups of whole clusters calibrates in turn"
    return (
        f"{in_turn}: a score is {sums}; each of these left out this group and another one. New "
        "proteins are scored by as many networks, which together saw all groups: published scores "
        f"are slightly surer than those that calibrated.{apart}"
    )


def _surer(found: ClassifierFinding) -> list[str]:
    if found.surer is None:
        if found.scores == "test_group":
            return []
        return [
            "How much surer was not measured, as no group was kept from all networks; "
            "calibrate: both keeps one."
        ]
    mean, lower, upper = (rounded(one, DIGITS, "+") for one in found.surer)
    return [
        f"On the {of(found.n_test, 'protein')} of the group that no network saw, the best "
        f"published score differs from the one in turn by {mean} ({lower} to {upper}) of 10 on "
        "average."
    ]


def _worth(found: ClassifierFinding) -> list[str]:
    worth = found.worth
    if worth is None:
        return []
    nll, right = worth.nll, worth.right
    verdict = "These proteins do not show whether retraining is worth it"
    if nll[2] < 0:
        verdict = "Retraining is worth it"
    elif nll[1] > 0:
        verdict = "Retraining is not worth it"
    return [
        f"{verdict}: with the {of(worth.n_new, 'new protein')} learnt from, and not only "
        f"calibrated with, the held-out loss of calibrated confidences changes by "
        f"{rounded(nll[0], 3, '+')} ({rounded(nll[1], 3, '+')} to {rounded(nll[2], 3, '+')}; less "
        f"is better), and the share predicted right by {rounded(right[0], 3, '+')} "
        f"({rounded(right[1], 3, '+')} to {rounded(right[2], 3, '+')}), from "
        f"{share(worth.before)}. Both on {of(worth.n, 'protein')}, each judged by networks and "
        "calibrations that saw no relative of it."
    ]
