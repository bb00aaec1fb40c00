"""What a publication needs: a methods text, references, a checklist, an archive."""

from __future__ import annotations

from credence.findings import Findings
from credence.report.blocks import (
    Block,
    Column,
    Definitions,
    Heading,
    Paragraph,
    Passage,
    Section,
    Table,
)
from credence.report.sections.dome import checklist
from credence.report.sections.lookup import Lookup
from credence.report.wording import count, of

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


def section(findings: Findings) -> Section:
    """Return the methods text of this run, references, checklist and archive.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    blocks: list[Block] = [
        Heading("A methods text to paste", "methods-text"),
        Passage("methods-text", methods_text(findings)),
        Heading("References", "references"),
        Passage("references", references(findings)),
        Heading("DOME checklist", "dome"),
        Paragraph(
            "The recommendations for machine learning in biology (DOME), filled in as far as "
            "this run knows. What only you know is marked."
        ),
        Table(
            "DOME: data, optimization, model, evaluation",
            (
                Column("topic", is_number=False),
                Column("asked", is_number=False),
                Column("this run", is_number=False),
            ),
            checklist(findings),
        ),
        Heading("An archive to deposit", "archive"),
        Paragraph(
            "Beside this page lies archive.zip, the same bytes for the same inputs. Put your "
            "names into its CITATION.cff and deposit it where it gets a DOI (Zenodo, for example)."
        ),
        Definitions(ARCHIVE),
    ]
    return Section("publish", "For your publication", tuple(blocks))


def methods_text(findings: Findings) -> tuple[str, ...]:
    """Return paragraphs for a publication, with the numbers of the run.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    return tuple(filter(None, (_fitting(findings), _judging(findings), _splitting(findings))))


def _fitting(findings: Findings) -> str:
    results, version = findings.results, findings.provenance.credence_version
    families = (
        f" in {of(results.n_clusters, 'cluster')} of related sequences"
        if Lookup(findings).knows_relatives
        else ""
    )
    n_classes = of(len(results.class_names), "class", "classes")
    invented = " on simulated data" if findings.provenance.is_simulated else ""
    chosen = next((entry for entry in findings.methods if entry.name == findings.chosen), None)
    source = f" ({chosen.reference})" if chosen is not None and chosen.reference else ""
    settings = "" if chosen is None else ", ".join(f"{s.name} {s.value}" for s in chosen.settings)
    with_settings = f", with {settings}" if settings else ""
    return (
        f"Confidence was calibrated{invented} per predicted class with credence {version}, "
        f"method {findings.chosen}{source}{with_settings}, as top-label calibration [1, 2] on "
        f"{of(results.n_samples, 'protein')}{families} and {n_classes} that the classifier had "
        "not seen in training. Intervals are pointwise, with a nominal coverage of "
        f"{100 * results.level:g} %, and count clusters of relatives, not proteins."
    )


def _judging(findings: Findings) -> str:
    results = findings.results
    names = [method.name for method in findings.methods if method.name != findings.chosen]
    others = f" It was compared with {', '.join(names)}." if names else ""
    return (
        f"Held-out negative log-likelihood, Brier score and calibration errors come from "
        f"{results.n_folds}-fold cross-fitting that leaves out whole clusters, stratified by "
        f"predicted class; their intervals are quantiles of {count(results.n_draws)} draws of a "
        "Bayesian bootstrap over clusters, widened for how few clusters bear the number and for "
        f"how alike relatives are.{others} Tests of calibration turn clusters over together "
        "(random signs), with Holm's correction over classes."
    )


def _splitting(findings: Findings) -> str:
    split = findings.split
    if split is None:
        return ""
    sides = "both sequences" if split.both_sides else "the shorter sequence"
    return (
        f"Relatives are proteins that align with identity of at least {split.identity:g} over at "
        f"least {split.coverage:g} of {sides}; connected components of them were kept whole."
    )


def references(findings: Findings) -> tuple[str, ...]:
    """Return what to cite, numbered as in the methods text.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    version = findings.provenance.credence_version
    own = f"credence {version}: calibrated confidence, class by class."
    return tuple(
        f"[{number}] {text}"
        for number, text in enumerate((CALIBRATION, TOP_LABEL, DOME, own), start=1)
    )
