"""The page of ``credence study novelty``: what confidences say of noise."""

from __future__ import annotations

import math
from collections.abc import Callable

from credence.findings import InputFinding, NoveltyStudy, StudyMethod, StudySet
from credence.report.blocks import (
    Block,
    Figure,
    FigureRow,
    Folded,
    Paragraph,
    Section,
    TableBlock,
    numbers,
    words,
)
from credence.report.plots import ComparisonPlot, LinesPlot
from credence.report.wording import NOTHING, count, loss, of, share, slug

NEAR = 1.25  # of the best NLL: as good in distribution
LOW = 0.2  # mean confidence that says of noise that it is none of the classes
SHOWN = ("sts", "matrix")  # beside the best method of scores and MACEst, in figures
OUTER = (0, 4)  # places of the 5 % and 95 % quantiles


def sections_of_study(study: NoveltyStudy) -> tuple[Section, ...]:
    """Return the sections of the page."""
    proteins = [entry for entry in study.sets if entry.mutations]
    others = [entry for entry in study.sets if not entry.mutations]
    sections = [
        _of_proteins(entry, number, study.level) for number, entry in enumerate(proteins, start=1)
    ]
    if others:
        sections.append(_of_open_sets(others, study.level))
    return (*sections, _reading())


def best_by_scores(entry: StudySet) -> StudyMethod:
    """Return the method of least NLL among those that learn from scores."""
    return min((m for m in entry.methods if not m.is_macest), key=lambda method: method.nll)


def verdict(entry: StudySet, method: StudyMethod) -> str:
    """Return in a sentence how MACEst does on held-out families and on each noise."""
    best = best_by_scores(entry)
    ratio = method.nll / best.nll
    near = "within" if ratio <= NEAR else "not within"
    low = [one for one in method.inputs[1:] if one.mean < LOW]
    high = [one for one in method.inputs[1:] if not one.mean < LOW]
    stated = f"{method.name}: NLL {method.nll:.3f}, {ratio:.2f} times that of {best.name}, the "
    stated += f"best method of scores ({best.nll:.3f}): {near} 25 %. "
    if low:
        stated += f"Mean confidence below {LOW:g}: {_means(low)}. "
    if high:
        stated += f"Not below {LOW:g}: {_means(high)}."
    return stated.strip()


def _means(inputs: list[InputFinding]) -> str:
    return ", ".join(f"{entry.kind} {share(entry.mean)}" for entry in inputs)


def _of_proteins(entry: StudySet, number: int, level: float) -> Section:
    name = slug(entry.name, number)
    macest = [method for method in entry.methods if method.is_macest]
    blocks: list[Block] = [
        Paragraph(_sizes(entry)),
        *(Paragraph(verdict(entry, method), is_lead=method is macest[0]) for method in macest),
        FigureRow((_inputs_figure(entry, name), _mutation_figure(entry, name))),
        _means_table(entry, level),
        _by_input(
            entry,
            "Kolmogorov–Smirnov distance between a method's confidences and those of "
            f"{macest[0].name}: 0 for the same distribution, 1 for two that do not meet.",
            lambda one: f"{one.ks:.2f}",
            but=macest[0].name,
        ),
        _by_input(
            entry, "Rank correlation of confidences with the trust score (Spearman).",
            lambda one: _rank(one.trust_rank),
        ),
        Folded("Quantiles of the confidences, and the mutations in numbers", (
            _quantile_table(entry), _mutation_table(entry),
        )),
    ]  # fmt: skip
    title = f"{entry.name[:1].upper()}{entry.name[1:]}"
    return Section(f"study-{name}", f"{title}{_made(entry)}", tuple(blocks))


def _made(entry: StudySet) -> str:
    return " (simulated)" if entry.is_simulated else ""


def _sizes(entry: StudySet) -> str:
    return (
        f"{entry.about} A classifier was trained on {of(entry.n_training, 'sample')}, methods "
        f"learnt on {count(entry.n_calibration)} others, and were judged on "
        f"{count(entry.n_held_out)} of {of(entry.n_clusters, 'family', 'families')} that neither "
        f"had seen. It knows {entry.n_classes} classes; {share(entry.accuracy)} of its "
        f"predictions there are right. A confidence that knew nothing would be "
        f"{1.0 / entry.n_classes:.2f}."
    )


def _drawn(entry: StudySet) -> list[StudyMethod]:
    first = next(method for method in entry.methods if method.is_macest)
    names = {best_by_scores(entry).name, *SHOWN, first.name}
    return [method for method in entry.methods if method.name in names]


def _inputs_figure(entry: StudySet, name: str) -> Figure:
    methods = _drawn(entry)
    kinds = [one.kind for one in methods[0].inputs]
    return Figure(
        f"study-inputs-{name}",
        "Mean confidence of each kind of input; lines from the 5 % to the 95 % quantile of the "
        "confidences.",
        "Mean confidence by method: "
        + "; ".join(f"{method.name}: {_means(list(method.inputs))}" for method in methods),
        ComparisonPlot(
            "confidence",
            tuple(kinds),
            tuple(method.name for method in methods),
            tuple(tuple(one.mean for one in method.inputs) for method in methods),
            tuple(tuple(one.quantiles[OUTER[0]] for one in method.inputs) for method in methods),
            tuple(tuple(one.quantiles[OUTER[1]] for one in method.inputs) for method in methods),
        ),
    )


def _mutation_figure(entry: StudySet, name: str) -> Figure:
    methods = _drawn(entry)
    return Figure(
        f"study-mutations-{name}",
        "Mean confidence as residues of held-out proteins are replaced by random ones, beside the "
        "share of predictions that still name the class of the protein. A confidence that keeps "
        "its word lies on that line.",
        "Share right: " + ", ".join(share(value) for value in entry.accuracy_at_mutations),
        LinesPlot(
            "share of residues replaced",
            "confidence, share right",
            ("share right", *(method.name for method in methods)),
            entry.mutations,
            (entry.accuracy_at_mutations, *(method.at_mutations for method in methods)),
            1.0,
            has_points=True,
        ),
    )


def _means_table(entry: StudySet, level: float) -> TableBlock:
    columns = (
        *words("method"),
        *numbers(
            "NLL, held out", "calibration error", *(one.kind for one in entry.methods[0].inputs)
        ),
    )
    rows = tuple(
        (
            method.name,
            loss(method.nll, method.nll_lower, method.nll_upper),
            f"{method.ece:.3f}",
            *(share(one.mean) for one in method.inputs),
        )
        for method in entry.methods
    )
    counts = ", ".join(f"{one.kind} {count(one.n)}" for one in entry.methods[0].inputs)
    caption = (
        f"NLL with its {100 * level:g} % interval over families, calibration error in ten bins of "
        f"equal count, and the mean confidence of each kind of input. Inputs: {counts}."
    )
    return TableBlock(caption, columns, rows)


def _by_input(
    entry: StudySet, caption: str, cell: Callable[[InputFinding], str], but: str = ""
) -> TableBlock:
    """Return a number of every method, but one, for each kind of input."""
    columns = (*words("method"), *numbers(*(one.kind for one in entry.methods[0].inputs)))
    rows = tuple(
        (method.name, *map(cell, method.inputs)) for method in entry.methods if method.name != but
    )
    return TableBlock(caption, columns, rows)


def _rank(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:.2f}".replace("-", "−")


def _quantile_table(entry: StudySet) -> TableBlock:
    columns = (*words("method", "input"), *numbers(*(f"{part} %" for part in (5, 25, 50, 75, 95))))
    rows = tuple(
        (method.name, one.kind, *(share(value) for value in one.quantiles))
        for method in entry.methods
        for one in method.inputs
    )
    return TableBlock("Quantiles of the confidences of each kind of input.", columns, rows)


def _mutation_table(entry: StudySet) -> TableBlock:
    columns = (
        *words("residues replaced"),
        *numbers("share right", *(method.name for method in entry.methods)),
    )
    rows = tuple(
        (
            share(part),
            share(entry.accuracy_at_mutations[place]),
            *(share(method.at_mutations[place]) for method in entry.methods),
        )
        for place, part in enumerate(entry.mutations)
    )
    return TableBlock("Mean confidence as residues are replaced.", columns, rows)


def _of_open_sets(sets: list[StudySet], level: float) -> Section:
    blocks: list[Block] = [
        Paragraph(
            "The same on sets that anyone can have. "
            + " ".join(
                f"{entry.name}{_made(entry)}: {entry.about}, {entry.n_classes} classes, "
                f"{of(entry.n_held_out, 'sample')} held out, {share(entry.accuracy)} right."
                for entry in sets
            )
        ),
        _across(
            sets, f"NLL on held-out samples, with its {100 * level:g} % interval.",
            lambda method: loss(method.nll, method.nll_lower, method.nll_upper),
        ),
        _across(
            sets, "Calibration error on held-out samples, ten bins of equal count.",
            lambda method: f"{method.ece:.3f}",
        ),
        _across(
            sets, "Mean confidence: held out; features permuted; uniform, thrice as wide.",
            lambda method: "; ".join(share(one.mean) for one in method.inputs),
        ),
        _across(
            sets, "Rank correlation with the trust score, for the same inputs.",
            lambda method: "; ".join(_rank(one.trust_rank) for one in method.inputs),
        ),
        _across(
            sets, "Kolmogorov–Smirnov distance to MACEst, for the same inputs.",
            lambda method: "; ".join(f"{one.ks:.2f}" for one in method.inputs),
        ),
    ]  # fmt: skip
    return Section("study-open-sets", "Open sets", tuple(blocks))


def _across(sets: list[StudySet], caption: str, cell: Callable[[StudyMethod], str]) -> TableBlock:
    columns = (*words("method"), *numbers(*(f"{entry.name}{_made(entry)}" for entry in sets)))
    names = [method.name for method in sets[0].methods]
    rows = tuple(
        (name, *(cell(entry.methods[place]) for entry in sets)) for place, name in enumerate(names)
    )
    return TableBlock(caption, columns, rows)


def _reading() -> Section:
    return Section(
        "study-reading",
        "How to read this",
        (
            Paragraph(
                "NLL is the mean negative log-likelihood of what turned out, less is better; one "
                "of isotonic regression is driven by confidences of exactly 0 or 1 that were "
                "wrong (clipped at 1e-15). A method that learns from scores sees an input only "
                "through the classifier: where the classifier is sure of nonsense, so is the "
                "method. MACEst sees how far the nearest known samples of each class are. Where "
                "noise is no farther from one class than from its own kind (residues shuffled in "
                "a space of compositions), it cannot know either."
            ),
        ),
    )
