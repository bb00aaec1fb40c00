"""Prediction sets: how often they hold the true class, and how many classes they name."""

from credence.findings import Findings, SetClass, SetsFinding
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import comparison, without_interval
from credence.report.sections.lookup import Lookup
from credence.report.wording import count, share, with_interval


def section(findings: Findings) -> page.Section | None:
    """Return what prediction sets promise and what they kept, class by class."""
    sets = findings.sets
    if sets is None:
        return None
    lookup = Lookup(findings)
    whole = sets.all_classes
    n_single = sets.sizes[1]
    n, each = plural(whole.n, "protein"), ""
    if lookup.knows_relatives:
        n += f" of {plural(whole.n_clusters, 'family', 'families')}"
        each = ", each family counting once"
    text = (
        f"In cross-validation over {lookup.families} ({plural(sets.n_folds, 'part')}), "
        f"{with_interval(whole.coverage, whole.lower, whole.upper)} of the sets hold the true "
        f"class, from {n}{each}; they name {whole.mean_size:.2f} classes on average. "
    )
    if n_single:
        text += (
            f"{plural(n_single, 'protein')} of {count(whole.n)} get a single class, and of these "
            f"{share(sets.n_single_right / n_single)} are of it. "
        )
    if sets.sizes[0]:
        text += f"{plural(sets.sizes[0], 'protein')} fit no class. "
    if sets.pooled is not None:
        text += f"{_pooled_in_words(sets, sets.pooled, lookup)} "
    always = [entry.class_name or "" for entry in sets.classes if entry.is_always_in]
    if always:
        text += (
            f"Too few {lookup.families} are known of {', '.join(always)} "
            f"({sets.families_needed} are needed): "
            f"{'it stands' if len(always) == 1 else 'they stand'} in every set."
        )
    level = f"{100 * sets.level:g} %"
    if sets.kind == "class_wise":
        whom = f"of the proteins of each class {level} have their class in their set"
        mix = " That holds whatever the class proportions are, so it needs no correction."
    else:
        whom = f"of all proteins {level} have their class in their set, of some classes fewer"
        mix = (
            " That holds at the calibration set's class proportions; for others there is "
            "a column of its own."
        )
    for_whom = (
        "Families count, not proteins: the promise is for a protein of a new family."
        if lookup.knows_relatives
        else "The promise is for proteins like those of the calibration set, not of new families."
    )
    promise = (
        f"The column prediction_set names every class that a protein may well be of: {whom}."
        f"{mix} {for_whom}"
    )
    meaning = (
        "Several classes in a set are what the scores cannot distinguish at this level; none "
        "means that the protein is stranger than nearly all of every class."
    )
    blocks = page.flat(page.lead(promise), _figure(sets, lookup), text.strip(), meaning)
    return page.Section(name="sets", title="Prediction sets", blocks=blocks)


def _pooled_in_words(sets: SetsFinding, pooled: SetClass, lookup: Lookup) -> str:
    """Return which classes share a threshold, and how often their sets hold the true class."""
    sharing = [entry.class_name or "" for entry in sets.classes if entry.is_pooled]
    lending = f", with those of {', '.join(sets.lending)}" if sets.lending else ""
    many = len(sharing) > 1
    return (
        f"A threshold of a class's own takes {sets.families_needed} {lookup.families}; "
        f"{', '.join(sharing)} {'have' if many else 'has'} fewer, and "
        f"{'share' if many else 'has'} a pooled threshold, from "
        f"{'their' if many else 'its'} {lookup.families}{lending}. The promise is for these "
        f"{lookup.families} together, not for each class: in cross-validation, the sets of "
        f"{plural(pooled.n, 'protein')} of {'these classes' if many else 'this class'} hold the "
        f"true class {with_interval(pooled.coverage, pooled.lower, pooled.upper)}. The column "
        f"set_pooled names such classes where they are in a set."
    )


def _figure(sets: SetsFinding, lookup: Lookup) -> page.Figure:
    known = [entry for entry in sets.classes if entry.n > 0]
    worst = min(known, key=lambda entry: entry.coverage, default=sets.all_classes)
    return page.Figure(
        name="sets-coverage",
        caption=f"Share of held-out proteins whose set holds their class, beside the promised "
        f"{share(sets.level)}. Intervals count {lookup.families}.",
        alternative=f"Held-out coverage of each class; the least is {share(worst.coverage)}, of "
        f"{worst.class_name or 'all'}.",
        plot=comparison(
            "share of sets that hold the true class",
            (entry.class_name or "" for entry in known),
            [
                ("held-out", [(entry.coverage, entry.lower, entry.upper) for entry in known]),
                ("promised", [without_interval(sets.level)] * len(known)),
            ],
        ),
    )
