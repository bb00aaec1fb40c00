"""Prediction sets: how often they hold the true class, and how many classes they name."""

from __future__ import annotations

import math

from credence.findings import Findings, SetClass, SetsFinding
from credence.report import blocks as page
from credence.report.plots import ComparisonPlot
from credence.report.wording import NOTHING, count, of, share, two_decimals, with_interval

MANY = 5  # from so many classes on, sets are counted together
NAN = math.nan


def section(findings: Findings) -> page.Section | None:
    """Return what prediction sets promise and what they kept, class by class."""
    sets = findings.sets
    if sets is None:
        return None
    blocks: list[page.Block] = [
        page.Paragraph(_promise(sets), is_lead=True),
        page.Paragraph(_kept(sets)),
        page.Paragraph(
            "How to read a set: one class is a plain answer; several are what the scores cannot "
            "tell apart at this level; none means that the protein is stranger than nearly all "
            "proteins of every class. A set does not say which of its classes is likelier: that "
            "is what the confidence is for."
        ),
        page.FigureRow((_figure(sets),)),
        _table(sets),
        page.Folded("How many classes sets have", (_sizes(sets),)),
    ]
    return page.Section("sets", "Which classes may it be?", tuple(blocks))


def _promise(sets: SetsFinding) -> str:
    level = f"{100 * sets.level:g} %"
    if sets.kind == "class_wise":
        whom = f"of the proteins of each class {level} have their class in their set"
        mix = " That holds whatever the mix of classes is, so it needs no correction for it."
    else:
        whom = f"of all proteins {level} have their class in their set, of some classes fewer"
        mix = (
            " That holds at the calibration set's mix of classes; for another mix there is "
            "a column of its own."
        )
    return (
        f"The column prediction_set names every class that a protein may well be of: {whom}."
        f"{mix} Families count, not proteins: the promise is for a protein of a new family."
    )


def _kept(sets: SetsFinding) -> str:
    whole = sets.all_classes
    n_single = sets.sizes[1]
    text = (
        f"On families held out ({of(sets.n_folds, 'part')}), "
        f"{with_interval(whole.coverage, whole.lower, whole.upper)} of the sets hold the true "
        f"class, from {of(whole.n, 'protein')} of {of(whole.n_clusters, 'family', 'families')}, "
        f"each family counting once; they name {whole.mean_size:.2f} classes on average. "
    )
    if n_single:
        text += (
            f"{of(n_single, 'protein')} of {count(whole.n)} get a single class, and of these "
            f"{share(sets.n_single_right / n_single)} are of it. "
        )
    if sets.sizes[0]:
        text += f"{of(sets.sizes[0], 'protein')} fit no class. "
    always = [entry.class_name or "" for entry in sets.classes if entry.is_always_in]
    if always:
        text += (
            f"Too few families are known of {', '.join(always)} ({sets.families_needed} are "
            f"needed): {'it stands' if len(always) == 1 else 'they stand'} in every set."
        )
    return text.strip()


def _figure(sets: SetsFinding) -> page.Figure:
    known = [entry for entry in sets.classes if entry.n > 0]
    worst = min(known, key=lambda entry: entry.coverage, default=sets.all_classes)
    nothing = (NAN,) * len(known)
    return page.Figure(
        "sets-coverage",
        f"Share of held-out proteins whose set holds their class, beside the promised "
        f"{share(sets.level)}. Intervals count families.",
        f"Held-out coverage of each class; the least is {share(worst.coverage)}, of "
        f"{worst.class_name or 'all'}.",
        ComparisonPlot(
            "share of sets that hold the true class",
            tuple(entry.class_name or "" for entry in known),
            ("held out", "promised"),
            (tuple(entry.coverage for entry in known), (sets.level,) * len(known)),
            (tuple(entry.lower for entry in known), nothing),
            (tuple(entry.upper for entry in known), nothing),
        ),
    )


def _table(sets: SetsFinding) -> page.TableBlock:
    def in_every_set(entry: SetClass) -> str:
        return NOTHING if entry.class_name is None else "yes" if entry.is_always_in else "no"

    return page.table(
        f"Prediction sets at {share(sets.level)}, on families held out. Where families are few, "
        "whole ones make the coverage higher than promised, by up to one in their number.",
        (*sets.classes, sets.all_classes),
        page.word("true class", lambda entry: entry.class_name or "all classes"),
        page.number("proteins", "n"),
        page.number("families", "n_clusters"),
        page.number("held-out coverage", "coverage lower upper", with_interval),
        page.number("counting proteins", "coverage_proteins", share),
        page.number("classes in a set", "mean_size", two_decimals),
        page.word("in every set", in_every_set),
        explained={
            "held-out coverage": "Every family counts once in its class",
            "counting proteins": "The same, but large families count more",
            "classes in a set": "On average, for proteins of the class",
        },
    )


def _sizes(sets: SetsFinding) -> page.TableBlock:
    rows = [("none" if size == 0 else str(size), n) for size, n in enumerate(sets.sizes[:MANY])]
    if len(sets.sizes) > MANY:
        rows.append((f"{MANY} or more", sum(sets.sizes[MANY:])))
    return page.table(
        "Held-out proteins by the size of their set.",
        rows,
        page.number("classes in the set", lambda row: row[0]),
        page.number("proteins", lambda row: count(row[1])),
        page.number("share", lambda row: share(row[1] / sum(sets.sizes))),
    )
