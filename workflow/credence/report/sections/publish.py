"""What a publication needs: a methods text, references, a checklist, an archive."""

from __future__ import annotations

from operator import itemgetter

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.sections.lookup import Lookup
from credence.report.wording import count, of

YOURS = "To be filled in by you: "


def checklist(findings: Findings) -> tuple[tuple[str, str, str], ...]:
    """Return topic, question and answer of every point."""
    results, provenance, lookup = findings.results, findings.provenance, Lookup(findings)
    scores = [entry for entry in provenance.inputs if "scores" in entry.role]
    files = ", ".join(f"{entry.name} (SHA-256 {entry.sha256})" for entry in scores)
    simulated = "Simulated. " if provenance.is_simulated else ""
    chosen, others = lookup.chosen, ", ".join(lookup.others)
    summary = "" if chosen is None else f" {chosen.summary}"
    entries = () if chosen is None else chosen.settings
    settings = "; ".join(f"{entry.name}: {entry.value}" for entry in entries)
    points = {
        "Data": {
            "Provenance": f"{simulated}{of(results.n_samples, 'labelled protein')}, of which the "
            f"classifier predicted {count(results.n_correct)} rightly"
            f"{'; read from ' + files if files else ''}. {YOURS}where they come from, and "
            "whether others used them.",
            "Splits": f"{results.n_folds} folds of whole families, stratified by predicted class: "
            "every protein is judged by a fit that saw none of its family.",
            "Redundancy between splits": _redundancy(findings),
            "Availability": f"The archive beside the page. {YOURS}its DOI, and where the "
            "sequences are.",
        },
        "Optimization": {
            "Algorithm": f"{findings.chosen}.{summary}",
            "Meta-predictions": "Yes: it reads another classifier's scores. The calibration "
            "proteins were not among that classifier's training proteins, nor relatives of them "
            "where these were given.",
            "Encoding": "The classifier's scores as they are; the predicted class has the "
            "highest.",
            "Parameters": f"{settings or 'None to be set'}.",
            "Features": "Predicted class and its score, or the whole row of scores: no selection.",
            "Fitting": "In-sample and held-out losses are side by side on the page; classes with "
            "too few proteins get their overall share, with a note.",
            "Regularization": "As the method's settings say; fallbacks are named in the notices.",
            "Availability of configuration": "On the page, under “Inputs and settings”, and in "
            "the archive.",
        },
        "Model": {
            "Interpretability": "Transparent: a curve per class, drawn on the page, in "
            "calibration.json as numbers.",
            "Output": "A probability of being right for each prediction, with an interval.",
            "Execution time": f"{YOURS}seconds of a run on your machine (results/…/benchmarks).",
            "Availability of software": f"credence {provenance.credence_version}, MIT licence.",
        },
        "Evaluation": {
            "Method": f"Cross-fitting in {results.n_folds} folds that leave out whole families.",
            "Measures": "Negative log-likelihood, Brier score, calibration errors beside their "
            "noise floors, tests of calibration.",
            "Comparison": f"With {others}." if others else "No other method was fitted.",
            "Confidence": f"{100 * results.level:g} % intervals that count families; p-values by "
            "random signs of families, with Holm's correction.",
            "Availability of evaluation": "metrics.tsv and findings.json in the archive.",
        },
    }
    return tuple((topic, *point) for topic, asked in points.items() for point in asked.items())


def _redundancy(findings: Findings) -> str:
    split = findings.split
    families = of(findings.results.n_clusters, "family", "families")
    if split is None or not split.is_audited:
        if not Lookup(findings).knows_relatives:
            return "Not known: every protein counted as independent of all others."
        return f"{families}, none divided; not audited."
    return (
        f"{families} of proteins that align with identity of at least {split.identity:g} over at "
        f"least {split.coverage:g}; none divided. By exact alignment of "
        f"{of(sum(entry.n_examined for entry in split.classes), 'protein')}, "
        f"{count(sum(entry.n_crossing for entry in split.classes))} had a relative in another "
        "group."
    )


CALIBRATION = (
    "Salamon PR, et al. Classification Confidence in Exploratory Learning: A User's Guide. "
    "Machine Learning and Knowledge Extraction 2023, 5, 803–829. doi:10.3390/make5030043"
)
TOP_LABEL = (
    "Gupta C, Ramdas A. Top-label calibration and multiclass-to-binary reductions. "
    "ICLR 2022. arXiv:2107.08353"
)
DOME = (
    "Walsh I, et al. DOME: recommendations for supervised machine learning validation in "
    "biology. Nature Methods 2021, 18, 1122–1127. doi:10.1038/s41592-021-01205-4"
)
ARCHIVE = (
    ("index.html, report.json", "this page, and its text as data"),
    ("findings.json", "every number of it, to the last digit"),
    ("calibration.json", "the calibration: credence annotate needs nothing else"),
    ("metrics.tsv, metrics.parquet", "every metric of every method and class"),
    ("a folder per set of samples", "its confidences, and its composition where it was asked for"),
    ("releases", "every release: its calibration, the group of every protein, its record"),
    ("README.md, CITATION.cff", "what it is and how to cite it; put your names in the second"),
    ("SHA256SUMS", "a digest of every file: sha256sum --check SHA256SUMS"),
)


def section(findings: Findings) -> page.Section:
    """Return the methods text of this run, references, checklist and archive."""
    blocks: list[page.Block] = [
        page.Heading("A methods text to paste", "methods-text"),
        page.Passage("methods-text", methods_text(findings)),
        page.Heading("References", "references"),
        page.Passage("references", references(findings)),
        page.Heading("DOME checklist", "dome"),
        page.Paragraph(
            "The recommendations for machine learning in biology (DOME), filled in as far as "
            "this run knows. What only you know is marked."
        ),
        page.table(
            "DOME: data, optimization, model, evaluation",
            checklist(findings),
            page.word("topic", itemgetter(0)),
            page.word("asked", itemgetter(1)),
            page.word("this run", itemgetter(2)),
        ),
        page.Heading("An archive to deposit", "archive"),
        page.Paragraph(
            "Beside this page lies archive.zip, the same bytes for the same inputs. Put your "
            "names into its CITATION.cff and deposit it where it gets a DOI (Zenodo, for example)."
        ),
        page.Definitions(ARCHIVE),
    ]
    return page.Section("publish", "For your publication", tuple(blocks))


def methods_text(findings: Findings) -> tuple[str, ...]:
    """Return paragraphs for a publication, with the numbers of the run."""
    results, split, lookup = findings.results, findings.split, Lookup(findings)
    families = (
        f" in {of(results.n_clusters, 'cluster')} of related sequences"
        if lookup.knows_relatives
        else ""
    )
    n_classes = of(len(results.class_names), "class", "classes")
    invented = " on simulated data" if findings.provenance.is_simulated else ""
    method = findings.chosen
    if lookup.chosen is not None:
        method += f" ({lookup.chosen.reference})" if lookup.chosen.reference else ""
        settings = ", ".join(f"{entry.name} {entry.value}" for entry in lookup.chosen.settings)
        method += f", with {settings}" if settings else ""
    others = f" It was compared with {', '.join(lookup.others)}." if lookup.others else ""
    texts = [
        f"Confidence was calibrated{invented} per predicted class with credence "
        f"{findings.provenance.credence_version}, method {method}, as top-label calibration "
        f"[1, 2] on {of(results.n_samples, 'protein')}{families} and {n_classes} that the "
        "classifier had not seen in training. Intervals are pointwise, with a nominal coverage of "
        f"{100 * results.level:g} %, and count clusters of relatives, not proteins.",
        "Held-out negative log-likelihood, Brier score and calibration errors come from "
        f"{results.n_folds}-fold cross-fitting that leaves out whole clusters, stratified by "
        f"predicted class; their intervals are quantiles of {count(results.n_draws)} draws of a "
        "Bayesian bootstrap over clusters, widened for how few clusters bear the number and for "
        f"how alike relatives are.{others} Tests of calibration turn clusters over together "
        "(random signs), with Holm's correction over classes.",
    ]
    if split is not None:
        both_parts = "both sequences" if split.both_sides else "the shorter sequence"
        texts.append(
            f"Relatives are proteins that align with identity of at least {split.identity:g} over "
            f"at least {split.coverage:g} of {both_parts}; connected components of them were kept "
            "whole."
        )
    return tuple(texts)


def references(findings: Findings) -> tuple[str, ...]:
    """Return what to cite, numbered as in the methods text."""
    version = findings.provenance.credence_version
    own = f"credence {version}: calibrated confidence, class by class."
    return tuple(
        f"[{number}] {text}"
        for number, text in enumerate((CALIBRATION, TOP_LABEL, DOME, own), start=1)
    )
