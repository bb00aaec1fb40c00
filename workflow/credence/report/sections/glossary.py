"""What the words mean, and what each method does."""

from __future__ import annotations

from credence.findings import Findings
from credence.report import blocks as page

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
    (
        "share right",
        "Right predictions of a class over all predictions of it (Conf1). Its interval as a "
        "confidence counts families. As a metric it is called accuracy, and its interval is "
        "widened besides by how alike relatives are, so that the two differ a little.",
    ),
    ("calibration set", "Proteins of known class that the classifier did not see in training."),
    ("in-sample", "Measured on the proteins that the curve was fitted to. Such numbers flatter."),
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
        "ECE",
        "Expected calibration error: how far confidences lie from the share right, on average "
        "over bins. Chance alone makes it greater than 0: compare it with the noise floor in "
        "brackets.",
    ),
    (
        "Holm's correction",
        "Makes p-values of several classes greater, so that one of them is not called off by "
        "chance more often than a single test would be.",
    ),
    (
        "bandwidth",
        "How wide the kernel method looks around a score, in score units: less is more detail "
        "and more noise.",
    ),
    (
        "support",
        "How many independent calibration proteins there are near a score; a family of alike "
        "proteins counts as about one.",
    ),
)


def section(findings: Findings) -> page.Section:
    """Return the glossary, and what each method does."""
    methods = tuple(
        (method.name, method.summary + (f" {method.reference}." if method.reference else ""))
        for method in findings.methods
    )
    blocks = (
        page.Definitions(TERMS),
        page.Heading("The methods", "glossary-methods"),
        page.Definitions(methods),
    )
    return page.Section("glossary", "What these words mean", blocks)
