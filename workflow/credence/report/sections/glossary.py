"""What the words mean, and a text on methods that is ready to paste."""

from __future__ import annotations

from credence.findings import Findings, MethodFinding
from credence.report.blocks import Definitions, Heading, Paragraph, Section
from credence.report.sections.lookup import Lookup
from credence.report.wording import count, of

TERMS = (
    ("confidence", "The probability that a prediction is right, given its class and its score."),
    (
        "interval",
        "Where the confidence may well lie, given how few families the calibration rests on. It "
        "is pointwise: each score has its own, and they do not all hold at once. It does not know "
        "of samples that differ from the calibration set.",
    ),
    (
        "family",
        "A cluster of relatives: proteins so alike that they do not count as independent cases.",
    ),
    ("share right", "Right predictions of a class over all predictions of it (Conf1)."),
    (
        "calibration set",
        "Proteins of known class that the classifier did not see in training.",
    ),
    (
        "in-sample",
        "Measured on the proteins that the curve was fitted to. Such numbers flatter.",
    ),
    (
        "held-out",
        "Measured on families that the fit left out: the set is divided into folds of whole "
        "families, and each is judged by a fit to the others.",
    ),
    (
        "NLL",
        "Negative log-likelihood: how surprised the confidence was by what turned out. 0 is "
        "perfect, smaller is better; a confident mistake costs much. Confidences of exactly 0 or "
        "1 count as 1e-15 away from it.",
    ),
    (
        "Brier score",
        "The mean squared distance between confidence and what turned out (1 right, 0 wrong). "
        "0 is perfect; always saying 0.5 gives 0.25.",
    ),
    (
        "support",
        "How many independent calibration proteins there are near a score; a family of alike "
        "proteins counts as about one.",
    ),
)

CALIBRATION_PAPER = (
    "Salamon et al. 2023, Classification Confidence in Exploratory Learning, "
    "doi 10.3390/make5030043"
)


def section(findings: Findings) -> Section:
    """Return the glossary and the methods text with this run's settings.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    methods = tuple((method.name, _explained(method)) for method in findings.methods)
    return Section(
        "glossary",
        "What these words mean",
        (
            Definitions(TERMS),
            Heading("The methods", "glossary-methods"),
            Definitions(methods),
            Heading("A methods text to paste", "methods-text"),
            Paragraph(methods_text(findings)),
        ),
    )


def _explained(method: MethodFinding) -> str:
    source = f" {method.reference}." if method.reference else ""
    return f"{method.summary}{source}"


def methods_text(findings: Findings) -> str:
    """Return a paragraph for a publication, with the numbers of the run.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    results = findings.results
    families = (
        f" in {of(results.n_clusters, 'cluster')} of related sequences"
        if Lookup(findings).knows_relatives
        else ""
    )
    invented = " on simulated data" if findings.provenance.is_simulated else ""
    reference = next(
        (entry.reference for entry in findings.methods if entry.name == findings.chosen), ""
    )
    source = f" ({reference})" if reference else ""
    return (
        f"Confidence was calibrated{invented} per predicted class with credence "
        f"{findings.provenance.credence_version} (method {findings.chosen}{source}; top-label "
        f"calibration after {CALIBRATION_PAPER}) on {of(results.n_samples, 'protein')}{families} "
        f"and {of(len(results.class_names), 'class', 'classes')}. Intervals are pointwise "
        f"{100 * results.level:g} % percentile intervals of a Bayesian bootstrap over clusters "
        f"({count(results.n_draws)} draws). Held-out negative log-likelihood and Brier score come "
        f"from {results.n_folds}-fold cross-fitting that leaves out whole clusters, stratified by "
        "predicted class."
    )
