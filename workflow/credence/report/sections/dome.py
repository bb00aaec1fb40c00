"""The DOME checklist, filled in with what a run knows."""

from __future__ import annotations

from credence.findings import Findings
from credence.report.sections.lookup import Lookup
from credence.report.wording import count, of

YOURS = "To be filled in by you: "


def checklist(findings: Findings) -> tuple[tuple[str, str, str], ...]:
    """Return topic, question and answer of every point.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    return (
        *(("Data", *row) for row in _data(findings)),
        *(("Optimization", *row) for row in _optimization(findings)),
        *(("Model", *row) for row in _model(findings)),
        *(("Evaluation", *row) for row in _evaluation(findings)),
    )


def _data(findings: Findings) -> tuple[tuple[str, str], ...]:
    results = findings.results
    scores = [entry for entry in findings.provenance.inputs if "scores" in entry.role]
    files = ", ".join(f"{entry.name} (SHA-256 {entry.sha256})" for entry in scores)
    simulated = "Simulated. " if findings.provenance.is_simulated else ""
    return (
        (
            "Provenance",
            f"{simulated}{of(results.n_samples, 'labelled protein')}, of which the classifier "
            f"predicted {count(results.n_correct)} rightly"
            f"{'; read from ' + files if files else ''}. {YOURS}where they come from, and "
            "whether others used them.",
        ),
        (
            "Splits",
            f"{results.n_folds} folds of whole families, stratified by predicted class: every "
            "protein is judged by a fit that saw none of its family.",
        ),
        ("Redundancy between splits", _redundancy(findings)),
        (
            "Availability",
            f"The archive beside the page. {YOURS}its DOI, and where the sequences are.",
        ),
    )


def _redundancy(findings: Findings) -> str:
    split, results = findings.split, findings.results
    if split is None or not split.is_audited:
        if not Lookup(findings).knows_relatives:
            return "Not known: every protein counted as independent of all others."
        return f"{of(results.n_clusters, 'family', 'families')}, none divided; not audited."
    n_crossing = sum(entry.n_crossing for entry in split.classes)
    n_examined = sum(entry.n_examined for entry in split.classes)
    return (
        f"{of(results.n_clusters, 'family', 'families')} of proteins that align with identity of "
        f"at least {split.identity:g} over at least {split.coverage:g}; none divided. By exact "
        f"alignment of {of(n_examined, 'protein')}, {count(n_crossing)} had a relative in another "
        "group."
    )


def _optimization(findings: Findings) -> tuple[tuple[str, str], ...]:
    chosen = next((entry for entry in findings.methods if entry.name == findings.chosen), None)
    summary = "" if chosen is None else f" {chosen.summary}"
    settings = (
        "; ".join(f"{entry.name}: {entry.value}" for entry in chosen.settings)
        if chosen is not None
        else ""
    )
    return (
        ("Algorithm", f"{findings.chosen}.{summary}"),
        (
            "Meta-predictions",
            "Yes: it reads another classifier's scores. The calibration proteins were not among "
            "that classifier's training proteins, nor relatives of them where these were given.",
        ),
        ("Encoding", "The classifier's scores as they are; the predicted class has the highest."),
        ("Parameters", f"{settings or 'None to be set'}."),
        ("Features", "Predicted class and its score, or the whole row of scores: no selection."),
        (
            "Fitting",
            "In-sample and held-out losses are side by side on the page; classes with too few "
            "proteins get their overall share, with a note.",
        ),
        ("Regularization", "As the method's settings say; fallbacks are named in the notices."),
        (
            "Availability of configuration",
            "On the page, under “Inputs and settings”, and in the archive.",
        ),
    )


def _model(findings: Findings) -> tuple[tuple[str, str], ...]:
    return (
        (
            "Interpretability",
            "Transparent: a curve per class, drawn on the page, in calibration.json as numbers.",
        ),
        ("Output", "A probability of being right for each prediction, with an interval."),
        ("Execution time", f"{YOURS}seconds of a run on your machine (results/…/benchmarks)."),
        (
            "Availability of software",
            f"credence {findings.provenance.credence_version}, MIT licence.",
        ),
    )


def _evaluation(findings: Findings) -> tuple[tuple[str, str], ...]:
    results = findings.results
    names = [method.name for method in findings.methods if method.name != findings.chosen]
    return (
        ("Method", f"Cross-fitting in {results.n_folds} folds that leave out whole families."),
        (
            "Measures",
            "Negative log-likelihood, Brier score, calibration errors beside their noise floors, "
            "tests of calibration.",
        ),
        ("Comparison", f"With {', '.join(names)}." if names else "No other method was fitted."),
        (
            "Confidence",
            f"{100 * results.level:g} % intervals that count families; p-values by random signs "
            "of families, with Holm's correction.",
        ),
        ("Availability of evaluation", "metrics.tsv and findings.json in the archive."),
    )
