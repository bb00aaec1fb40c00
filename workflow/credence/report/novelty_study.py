"""The page of ``credence study novelty``: what confidences say of noise."""

from __future__ import annotations

from collections.abc import Callable

from credence.findings import InputFinding, NoveltyStudy, StudyMethod, StudySet
from credence.report import blocks as page
from credence.report.plots import ComparisonPlot, LinesPlot
from credence.report.wording import count, loss, of, share, slug, three_decimals, two_decimals

NEAR = 1.25  # of the best NLL: as good in distribution
LOW = 0.2  # mean confidence that says of noise that it is none of the classes
SHOWN = ("sts", "matrix")  # beside the best method of scores and MACEst, in figures
METHOD = page.word("method", "name")


def sections_of_study(study: NoveltyStudy) -> tuple[page.Section, ...]:
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


def _of_proteins(entry: StudySet, at: int, level: float) -> page.Section:
    name = slug(entry.name, at)
    macest = [method for method in entry.methods if method.is_macest]
    counts = ", ".join(f"{one.kind} {count(one.n)}" for one in entry.methods[0].inputs)
    blocks: list[page.Block] = [
        page.Paragraph(_sizes(entry)),
        *(
            page.Paragraph(verdict(entry, method), is_lead=method is macest[0])
            for method in macest
        ),
        page.FigureRow((_inputs_figure(entry, name), _mutation_figure(entry, name))),
        page.table(
            f"NLL with its {100 * level:g} % interval over families, calibration error in ten "
            "bins of equal count, and the mean confidence of each kind of input. Inputs: "
            f"{counts}.",
            entry.methods,
            METHOD,
            page.number("NLL, held out", "nll nll_lower nll_upper", loss),
            page.number("calibration error", "ece", three_decimals),
            *_of_inputs(entry, "mean", share),
        ),
        page.table(
            "Kolmogorov–Smirnov distance between a method's confidences and those of "
            f"{macest[0].name}: 0 for the same distribution, 1 for two that do not meet.",
            [method for method in entry.methods if method.name != macest[0].name],
            METHOD,
            *_of_inputs(entry, "ks", two_decimals),
        ),
        page.table(
            "Rank correlation of confidences with the trust score (Spearman).",
            entry.methods,
            METHOD,
            *_of_inputs(entry, "trust_rank", two_decimals),
        ),
        page.Folded(
            "Quantiles of the confidences, and the mutations in numbers",
            (_quantile_table(entry), _mutation_table(entry)),
        ),
    ]
    title = f"{entry.name[:1].upper()}{entry.name[1:]}"
    return page.Section(f"study-{name}", f"{title}{_made(entry)}", tuple(blocks))


def _of_inputs(entry: StudySet, field: str, show: Callable[[float], str]) -> list[page.Column]:
    """Return a column of a method's numbers for each kind of input."""
    kinds = (one.kind for one in entry.methods[0].inputs)
    return page.numbers(kinds, lambda method, at: show(getattr(method.inputs[at], field)))


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


def _inputs_figure(entry: StudySet, name: str) -> page.Figure:
    methods = _drawn(entry)
    return page.Figure(
        f"study-inputs-{name}",
        "Mean confidence of each kind of input; lines from the 5 % to the 95 % quantile of the "
        "confidences.",
        "Mean confidence by method: "
        + "; ".join(f"{method.name}: {_means(list(method.inputs))}" for method in methods),
        ComparisonPlot(
            "confidence",
            tuple(one.kind for one in methods[0].inputs),
            tuple(method.name for method in methods),
            tuple(tuple(one.mean for one in method.inputs) for method in methods),
            tuple(tuple(one.quantiles[0] for one in method.inputs) for method in methods),
            tuple(tuple(one.quantiles[-1] for one in method.inputs) for method in methods),
        ),
    )


def _mutation_figure(entry: StudySet, name: str) -> page.Figure:
    methods = _drawn(entry)
    return page.Figure(
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


def _quantile_table(entry: StudySet) -> page.TableBlock:
    return page.table(
        "Quantiles of the confidences of each kind of input.",
        [(method, one) for method in entry.methods for one in method.inputs],
        page.word("method", lambda pair: pair[0].name),
        page.word("input", lambda pair: pair[1].kind),
        *page.numbers(
            (f"{part} %" for part in (5, 25, 50, 75, 95)),
            lambda pair, at: share(pair[1].quantiles[at]),
        ),
    )


def _mutation_table(entry: StudySet) -> page.TableBlock:
    return page.table(
        "Mean confidence as residues are replaced.",
        range(len(entry.mutations)),
        page.word("residues replaced", lambda place: share(entry.mutations[place])),
        page.number("share right", lambda place: share(entry.accuracy_at_mutations[place])),
        *page.numbers(
            (method.name for method in entry.methods),
            lambda place, at: share(entry.methods[at].at_mutations[place]),
        ),
    )


def _of_open_sets(sets: list[StudySet], level: float) -> page.Section:
    about = " ".join(
        f"{entry.name}{_made(entry)}: {entry.about}, {entry.n_classes} classes, "
        f"{of(entry.n_held_out, 'sample')} held out, {share(entry.accuracy)} right."
        for entry in sets
    )

    def each(field: str, show: Callable[[float], str]) -> Callable[[StudyMethod], str]:
        return lambda method: "; ".join(show(getattr(one, field)) for one in method.inputs)

    def across(caption: str, cell: Callable[[StudyMethod], str]) -> page.TableBlock:
        names = (f"{entry.name}{_made(entry)}" for entry in sets)
        return page.table(
            caption,
            zip(*(entry.methods for entry in sets), strict=True),
            page.word("method", lambda row: row[0].name),
            *page.numbers(names, lambda row, at: cell(row[at])),
        )

    tables = (
        across(
            f"NLL on held-out samples, with its {100 * level:g} % interval.",
            lambda method: loss(method.nll, method.nll_lower, method.nll_upper),
        ),
        across(
            "Calibration error on held-out samples, ten bins of equal count.",
            lambda method: three_decimals(method.ece),
        ),
        across(
            "Mean confidence: held out; features permuted; uniform, thrice as wide.",
            each("mean", share),
        ),
        across(
            "Rank correlation with the trust score, for the same inputs.",
            each("trust_rank", two_decimals),
        ),
        across(
            "Kolmogorov–Smirnov distance to MACEst, for the same inputs.", each("ks", two_decimals)
        ),
    )
    lead = page.Paragraph(f"The same on sets that anyone can have. {about}")
    return page.Section("study-open-sets", "Open sets", (lead, *tables))


def _reading() -> page.Section:
    return page.Section(
        "study-reading",
        "How to read this",
        (
            page.Paragraph(
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
