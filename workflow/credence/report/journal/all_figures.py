"""All figures for journals, in the order of their numbers. One line each.

The numbers are those of Salamon et al. 2023 (doi 10.3390/make5030043), as far
as a figure shows the same thing; `docs/figures.md` says which do.
"""

from __future__ import annotations

from credence.report.journal import class_curves, matrices
from credence.report.journal.figure import JournalFigure

CUMULATIVE = (
    " A cumulative confidence is that of a score or better, so it lies above that of the score."
)
FITTED = "a fitted method of these kinds: "
TEMPERATURES = ("sts", "csts", "tswa", "cstswa")
CUTOFFS = ("cumulative_plus", "cumulative_optimal")
HISTOGRAMS = "histograms of the score"
TROVE = "a trove that touched a class, and a chosen method that looks at the score alone"


def _curves(
    number: str, name: str, shows: str, kinds: tuple[str, ...], also: str = ""
) -> JournalFigure:
    needs = FITTED + ", ".join(kinds)
    return JournalFigure(number, name, shows, needs, class_curves.among(*kinds, also=also))


JOURNAL_FIGURES: tuple[JournalFigure, ...] = (
    JournalFigure(
        "01a",
        "reverse-confusion",
        "What predictions of each class truly are.",
        "a reverse confusion matrix",
        matrices.reverse_confusion,
    ),
    JournalFigure(
        "01b",
        "confusion",
        "What proteins of each class are predicted to be.",
        "a confusion matrix",
        matrices.confusion,
    ),
    JournalFigure(
        "01c",
        "counts",
        "Proteins by true and predicted class.",
        "counts of proteins",
        matrices.counts,
    ),
    JournalFigure(
        "03",
        "histograms",
        "Share right in bins of the score.",
        HISTOGRAMS,
        class_curves.histograms,
    ),
    JournalFigure(
        "04",
        "halves",
        "Histograms of two halves without common families.",
        "histograms of halves",
        class_curves.halves,
    ),
    JournalFigure(
        "05",
        "densities",
        "Right and wrong predictions over the score.",
        HISTOGRAMS,
        class_curves.densities,
    ),
    JournalFigure(
        "06",
        "counting",
        "Top-label counting against counting all proteins.",
        "both countings",
        class_curves.counting,
    ),
    _curves("07", "cumulative", "Cumulative confidence.", ("cumulative",), CUMULATIVE),
    _curves("08", "cutoffs", "Cumulative confidence with a cutoff.", CUTOFFS, CUMULATIVE),
    JournalFigure(
        "09",
        "confidence",
        "The confidence given out, with its interval.",
        "curves of the chosen method",
        class_curves.chosen,
    ),
    _curves("10", "kernel", "The ratio of kernel densities.", ("kernel",)),
    _curves(
        "11",
        "temperature",
        "The temperature family.",
        TEMPERATURES,
        " Methods that look at all scores are means over bins.",
    ),
    JournalFigure(
        "12",
        "baselines",
        "Baselines of other authors.",
        "a fitted method of other authors, or uncalibrated",
        class_curves.of_others,
    ),
    JournalFigure(
        "13",
        "bandwidth",
        "What the bandwidth of least held-out loss does.",
        "kernel(bandwidth=loo) among the methods",
        class_curves.loo_against_mon,
    ),
    JournalFigure(
        "14",
        "methods",
        "Methods laid over each other.",
        "curves of two or more methods",
        class_curves.best_methods,
    ),
    JournalFigure(
        "15", "troves", "Classes before and after the last trove.", TROVE, matrices.changes
    ),
    JournalFigure(
        "17",
        "nll",
        "Held-out NLL of every method in every class.",
        "held-out NLL",
        matrices.losses,
    ),
    JournalFigure(
        "18",
        "reliability",
        "Held-out reliability diagrams.",
        "held-out confidences in bins",
        class_curves.reliabilities,
    ),
)
