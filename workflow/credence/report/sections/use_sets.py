"""What confidences say about proteins whose classes are not known, and which are unlike any."""

from __future__ import annotations

import math

from credence.findings import Findings, NoveltyFinding, UseSet
from credence.report import blocks as page
from credence.report.plots import DistancePlot, HistogramPlot
from credence.report.sections.lists import expected_right, whole_of
from credence.report.sections.lookup import ALONE, Lookup
from credence.report.wording import NOTHING, count, interval, of, share, two_decimals


def section(findings: Findings) -> page.Section | None:
    """Return distributions and extremes of every use-set; None without any."""
    if not findings.use_sets:
        return None
    blocks = page.flat(
        "These confidences hold as far as your proteins resemble the calibration set: the mix of "
        "classes can be corrected for, other kinds of proteins cannot.",
        (_blocks(findings, *named) for named in page.with_slugs(findings.use_sets)),
    )
    return page.Section("use-sets", "Your samples", blocks)


def _blocks(findings: Findings, use_set: UseSet, name: str) -> tuple[page.Block, ...]:
    known = use_set.n - use_set.n_unknown
    lead = f"{use_set.name} holds {of(use_set.n, 'protein')}."
    if (whole := whole_of(findings, use_set.name)) is not None:
        right = f"about {expected_right(whole)} are expected to be right"
        lead += f" Of the {count(known)} with a confidence, {right}."
    if use_set.n_unknown:
        why = "can be given no confidence; the note of each says why"
        lead += f" {of(use_set.n_unknown, 'protein')} {why}."
    parts = (
        f"{count(sum(entry.n_at_least[at] for entry in use_set.classes))} of at least "
        f"{share(level)}"
        for at, level in enumerate(use_set.levels)
    )
    figure = page.Figure(
        f"use-set-{name}",
        f"{use_set.name}: confidences of {use_set.method}, {of(known, 'protein')}.",
        f"Histogram of confidences: {', '.join(parts)}.",
        HistogramPlot("confidence", use_set.edges, use_set.counts),
    )
    by_class = page.table(
        f"{use_set.name} by predicted class",
        use_set.classes,
        page.word("predicted class", "class_name"),
        page.number("proteins", "n"),
        page.number("without confidence", "n_unknown"),
        *page.numbers(
            (f"≥ {share(level)}" for level in use_set.levels),
            lambda entry, at: count(entry.n_at_least[at]),
        ),
    )
    columns = (page.word("note", "name"), page.number("proteins", "value"))
    notes = page.table("Notes on these confidences", use_set.notes, *columns)
    tables = page.flat(by_class, use_set.notes and notes)
    return page.flat(
        page.Heading(use_set.name, f"use-set-{name}"),
        page.lead(lead),
        known > 0 and figure,
        page.Folded(f"{use_set.name}: classes and notes", tables),
    )


NOT_LOWERED = 0.999  # mean factor of the confidences of foils above which none is lowered
BEFORE = "Numbers of held-out quality on this page are of confidences before that."
GOOD_POWER = 0.8  # of a test, below which nothing can be inferred from its silence
FALSE_ALARM = 0.05
FEATURES = {
    "composition": "their best alignments, the order of their residues, and what they are made of",
    "vectors": "the vectors that came with them",
}


def novelty_blocks(findings: Findings) -> page.Section | None:
    """Return how far every use-set is from the calibration set; None without any."""
    if not findings.novelties:
        return None
    blocks = page.flat(
        "A high score of a protein that is like no known protein is a score that nobody has "
        f"checked. So proteins are compared by {FEATURES[findings.novelties[0].features]}. "
        "Novelty is 1 − p, where p is how often a protein of a new family of the same kind would "
        "be as far from all known ones: each family in turn is left out. It does not find every "
        "wrong prediction, and being new is not being wrong."
        + ("" if Lookup(findings).knows_relatives else ALONE),
        (_novelty_blocks(*named) for named in page.with_slugs(findings.novelties)),
    )
    return page.Section("novelty", "Proteins unlike any known", blocks)


def _novelty_blocks(found: NoveltyFinding, name: str) -> tuple[page.Block, ...]:
    text = ""
    if found.bands:
        moved = [one.name for one in found.bands if one.step]
        text = (
            "Do confidences hold far from known proteins? The table has calibration proteins, "
            "each with its family left out, by how alike the best relative of another family is. "
        )
        if moved:
            text += (
                f"What was promised and what was right differ beyond noise ({', '.join(moved)}), "
                "and families left out gain where that is put right: confidences of proteins at "
                f"that distance are moved, with a note. {BEFORE}"
            )
        elif any(one.p <= FALSE_ALARM for one in found.bands):
            text += (
                "What was promised and what was right differ somewhere, but families left out "
                "would not gain by moving confidences there, so none is moved."
            )
        elif tested := [one for one in found.bands if not math.isnan(one.p)]:
            widest = max(tested, key=lambda one: one.upper - one.lower)
            text += (
                "What was promised and what was right differ nowhere beyond noise, so no "
                "confidence is moved for it. Smaller differences are not seen: where the best "
                f"identity is {widest.name}, any share right from {two_decimals(widest.lower)} to "
                f"{two_decimals(widest.upper)} fits."
            )
        else:
            text += (
                "No distance has ten families, so this is not known, and no confidence is moved."
            )
    counts = (found.calibration_counts, found.use_counts)
    unit = ", as the logarithm of odds that it is foreign" if found.foils else ""
    families = of(found.n_families, "known family", "known families")
    distances = page.Figure(
        f"novelty-distances-{name}",
        f"How far proteins are from all known ones{unit}; of each known family one protein, with "
        "its family left out. Right of the dashed line proteins are flagged. The first and the "
        "last bin hold what is beyond them.",
        f"Histograms of how far proteins are from those known: {families} and "
        f"{of(found.n_placed, 'protein')} of {found.name}.",
        DistancePlot(("known families", found.name), found.edges, counts, found.flag_distance),
    )
    summary = f"{found.name}: flagged proteins ({count(found.n_flagged)})"
    return page.flat(
        page.Heading(found.name, f"novelty-{name}"),
        page.lead(_novelty_lead(found)),
        _advice(found),
        (power_text(found), _foils(found)) if found.foils else (),
        (text, _bands(found)) if found.bands else (),
        found.n_placed > 0 and distances,
        page.Folded(summary, (_flagged(found),)) if found.rows else None,
    )


def _novelty_lead(found: NoveltyFinding) -> str:
    if found.n_calibration == 0 or found.n_placed == 0:
        return (
            f"{found.name}: nothing is known, since {of(found.n_placed, 'protein')} of it and "
            f"{of(found.n_calibration, 'calibration protein')} could be compared."
        )
    expected = round((1.0 - found.flag) * found.n_placed)
    usual = f"about {count(expected)}" if expected else "fewer than one"
    lead = (
        f"{found.name}: {count(found.n_flagged)} of {of(found.n_placed, 'protein')} "
        f"({share(found.n_flagged / found.n_placed)}) are farther from all known proteins than "
        f"{share(found.flag)} of new families would be, as "
        f"{of(found.n_families, 'known family', 'known families')} left out one by one show. Were "
        f"all of them of new families like those in calibration, {usual} would be."
    )
    if math.isnan(found.flag_distance):
        lead += " So few families can flag none: this says nothing of the proteins."
    elif found.foils:
        least = min(found.foils, key=lambda foil: foil.power)
        if least.power < GOOD_POWER:
            lead += (
                " A protein that is not flagged may still be foreign: of foils, which no class "
                f"has, only {share(least.power)} of those {least.kind} are flagged."
            )
    if found.n > found.n_placed:
        lead += (
            f" {of(found.n - found.n_placed, 'protein')} could not be compared: no sequence, or "
            "too short a one."
        )
    if found.n_repeats:
        lead += (
            f" {of(found.n_repeats, 'protein')} cannot be distinguished from a calibration "
            "protein: its label says more than any confidence."
        )
    return lead


def _advice(found: NoveltyFinding) -> str:
    if found.n_flagged == 0:
        if math.isnan(found.flag_distance):
            return "More labelled families are needed before any protein can be flagged."
        return "No protein is flagged; how many foreign ones would be is not known from that."
    advice = (
        "What to do with the flagged: do not count on their confidences. Look first whether the "
        "sequence is whole and a protein at all (a frame shift, a fragment, low complexity), then "
        "search it against a large database. If you learn the classes of some, add them as a "
        "trove, and this page will know them."
    )
    if not math.isnan(found.confidence_flagged) and not math.isnan(found.confidence_others):
        advice += (
            f" Their mean confidence is {share(found.confidence_flagged)}, that of the others "
            f"{share(found.confidence_others)}."
        )
    return advice


def power_text(found: NoveltyFinding) -> str:
    """Return what would be noticed, and whether the sample as a whole was."""
    kinds = ", ".join(f"{share(foil.power)} of those {foil.kind}" for foil in found.foils)
    text = (
        "What would be noticed? Foils, made of the run's own proteins or given as of no class of "
        "interest, were looked for at 5 % false alarms, on families that were held out. Flagged "
        f"are {kinds}."
    )
    if min(foil.known_kind for foil in found.foils) > NOT_LOWERED:
        text += " That is so little that no confidence is lowered for it."
    else:
        text += (
            " A published confidence is multiplied by the probability that its protein is of a "
            "known kind (the column known_kind), which depends on how many of the sample look "
            f"foreign: families left out, a sample by themselves, have {two_decimals(found.kept)} "
            f"on average. {BEFORE}"
        )
    if math.isnan(found.p_sample):
        return text
    text += f" The sample as a whole ({of(found.n_standing, 'protein')}, one of a cluster)"
    p = f"p = {found.p_sample:.2g}"
    if found.p_sample < FALSE_ALARM:
        return f"{text} looks more foreign than new families do ({p})."
    missed = [foil.kind for foil in found.foils if foil.in_sample[1] < GOOD_POWER]
    text += f" is not shown to be of another kind ({p})"
    if missed:
        fifth = f"one protein in five that is {' or '.join(missed)}"
        return f"{text}, which proves little: the test would often overlook {fifth}."
    return f"{text}; one protein in five of any of these foils would be noticed as a rule."


def _foils(found: NoveltyFinding) -> page.TableBlock:
    return page.table(
        f"{found.name}: foils noticed at 5 % false alarms, one of a family",
        found.foils,
        page.word("foils", "kind"),
        page.number("n", "n"),
        page.number("noticed", "power", share),
        page.number("interval", "lower upper", lambda *ends: "–".join(map(two_decimals, ends))),
        page.number("area under the curve", "area", two_decimals),
        page.number("factor", "known_kind", two_decimals),
        *page.numbers(
            (f"{share(part)} of the sample" for part in found.foils[0].shares),
            lambda foil, at: share(foil.in_sample[at]),
        ),
        explained={
            "noticed": "Share that is flagged",
            "interval": "Of other foils and by other families: few show which score has 5 % "
            "false alarms",
            "factor": "Mean of what their confidences are multiplied by (known_kind) where they "
            "are a fifth of a sample",
        }
        | {
            f"{share(part)} of the sample": "How often the test of the whole sample would notice "
            "that so much of it is replaced by such foils"
            for part in found.foils[0].shares
        },
    )


def _bands(found: NoveltyFinding) -> page.TableBlock:
    return page.table(
        f"{found.name}: what was promised and what was right, by distance from known families",
        found.bands,
        page.word("best identity", "name"),
        page.number("proteins", "n"),
        page.number("families", "n_families"),
        page.number("promised", "promised", two_decimals),
        page.number("right", "right", two_decimals),
        page.number("interval", "lower upper", lambda *of: interval(*of).strip("()") or NOTHING),
        page.number("p", "p", two_decimals),
        page.number("moved by", "step", lambda step: f"{step:+.2f}" if step else NOTHING),
        explained={
            "best identity": "With the best relative of another family, by alignment",
            "interval": "Of the share right; relatives count as one",
            "p": "That promised and right are the same, Holm over the bands; not asked of fewer "
            "than ten families",
            "moved by": "Added to the logarithm of the odds of confidences at that distance",
        },
    )


def _flagged(found: NoveltyFinding) -> page.TableBlock:
    def distance(value: float) -> str:
        return NOTHING if math.isnan(value) else f"{value:.3g}"

    caption = f"{found.name}: the flagged proteins, farthest first"
    if len(found.rows) < found.n_flagged:
        caption += f" ({count(len(found.rows))} of {count(found.n_flagged)})"
    return page.table(
        caption,
        found.rows,
        page.word("protein", "id"),
        page.word("predicted class", "predicted_class"),
        page.number("confidence", "confidence", share),
        page.number("novelty", "novelty", "{:.3f}".format),
        page.number("how far", "far", distance),
        page.number("identity", "identity", share),
        page.word("nearest calibration protein", "nearest"),
        page.word("its class", "nearest_class"),
        page.number("distance to training", "training_distance", distance),
        explained={
            "novelty": "1 − p: how rarely a protein of a new family is as far",
            "identity": "With its best relative among those known, by alignment",
            "nearest calibration protein": "In what proteins are made of",
            "distance to training": "To the nearest training protein",
        },
    )
