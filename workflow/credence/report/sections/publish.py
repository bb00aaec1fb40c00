"""What a publication needs: a methods text, references, checklists, an archive."""

import math
from collections.abc import Callable

from credence.findings import Findings
from credence.problems import plural
from credence.records import digest_of, to_record
from credence.report import blocks as page
from credence.report.sections.events import FORECASTER_NAMES, units
from credence.report.sections.lists import percent
from credence.report.sections.lookup import Lookup
from credence.report.sections.methods import LEAST_WEIGHT_SHOWN
from credence.report.sections.queries import COMPARED_BY
from credence.report.sections.splits import relatives_in_words
from credence.report.wording import count, share, with_interval

PUBLICATION = "publication.md"  # the file of texts for a publication, beside the page
ONE_SIDED = "spiegelhalter_one_sided"  # a test's name
YOURS = "To be filled in by you: "
OF_QUERIES = "query set "  # how the roles of their files begin
SALAMON = "10.3390/make5030043"  # in references of the registry too
CONFIDENCE_GUIDE = (
    "Salamon PR, et al. Classification Confidence in Exploratory Learning: A User's Guide. "
    "Machine Learning and Knowledge Extraction 2023, 5, 803–829. "
    f"doi:{SALAMON}"
)
GUPTA_RAMDAS = (
    "Gupta C, Ramdas A. Top-label calibration and multiclass-to-binary reductions. "
    "ICLR 2022. arXiv:2107.08353"
)
DOME = (
    "Walsh I, et al. DOME: recommendations for supervised machine learning validation in "
    "biology. Nature Methods 2021, 18, 1122–1127. doi:10.1038/s41592-021-01205-4"
)
CONFORMAL = "Vovk 2013, doi 10.1007/s10994-013-5355-6"
GROUPED = "Dunn, Wasserman & Ramdas 2023, doi 10.1080/01621459.2022.2060112"
LEARN_THEN_TEST = "Angelopoulos et al. 2021, Learn then test, arXiv 2110.01052"
KULESHOV_LIANG = "Kuleshov & Liang 2015, Calibrated structured prediction, NeurIPS"
PHANNS_PAPER = "Cantu et al. 2020, PhANNs, PLoS Computational Biology 16, e1007845"


class Citations:
    """What is cited, in the order in which it first was."""

    def __init__(self) -> None:
        self.works: list[str] = []

    def __call__(self, *references: str) -> str:
        """Return the numbers of works in brackets, after a space; several stand between ``;``."""
        numbers = []
        for part in filter(None, "; ".join(references).split("; ")):
            work = CONFIDENCE_GUIDE if SALAMON in part else part
            self.works += [] if work in self.works else [work]
            numbers.append(self.works.index(work) + 1)
        cited = sorted(set(numbers))
        return f" [{', '.join(map(str, cited))}]" if cited else ""


def _calibrated(lookup: Lookup, cite: Citations) -> str:
    findings, chosen = lookup.findings, lookup.chosen
    results, version = findings.results, findings.provenance.credence_version
    invented = " on simulated data" if findings.provenance.is_simulated else ""
    program = f"credence {version}: calibrated confidence, class by class."
    text = (
        "Confidence, the probability that a prediction is "
        f"right{cite(CONFIDENCE_GUIDE, GUPTA_RAMDAS)}, was calibrated{invented} with credence "
        f"{version}{cite(program)}. It was learnt from "
        f"{plural(results.n_samples, findings.unit)} of "
        f"known {'class' if findings.calls is None else 'truth'}, over "
        f"{plural(len(results.class_names), 'class', 'classes')}; the "
        f"classifier had predicted {count(results.n_correct)} of them correctly. The method is "
        f"{findings.chosen}"
    )
    if chosen is None:
        return f"{text}."
    text += f"{cite(chosen.reference)}: {chosen.summary[:1].lower()}{chosen.summary[1:]}"
    if lookup.stack is not None:
        members = ", ".join(
            f"{member.method}{cite(member.reference)} {member.weight:.2f}"
            for member in lookup.stack.members
            if member.weight >= LEAST_WEIGHT_SHOWN
        )
        text += f" Its members and their weights over all classes: {members}."
    return f"{text} Its settings: {chosen.prose}." if chosen.prose else text


def _intervals(lookup: Lookup, _: Citations) -> str:
    if not lookup.has_intervals:
        return "Its confidences have no intervals."
    counted = lookup.units
    if lookup.knows_relatives:
        counted = f"clusters of relatives, not {counted}"
    text = (
        "Its intervals are pointwise, with a nominal coverage of "
        f"{100 * lookup.findings.results.level:g} %, and count {counted}."
    )
    halves = "They rest on fits to halves of the calibration set, and on how far confidences lay"
    return f"{text} {halves} from what came true." if lookup.stack else text


def _relatives(lookup: Lookup, cite: Citations) -> str:
    split, n = lookup.findings.split, plural(lookup.findings.results.n_clusters, "cluster")
    texts = {
        "none": "Relatives were not put together: every protein counts as independent of all "
        "others. If relatives are among them, intervals are too narrow and held-out numbers too "
        "good.",
        "table": "Which proteins are relatives was taken from clusters that were given: "
        f"{n} in the calibration set.",
    }
    if split is None:
        return texts[lookup.findings.clusters]
    alike = f"proteins that {relatives_in_words(split)}"
    texts["aligned"] = f"Relatives, {alike}, were put into clusters: {n} in the calibration set."
    if lookup.findings.clusters == "phanns":
        texts["phanns"] = (
            f"Relatives were clustered by the recipe of PhANNs{cite(PHANNS_PAPER)}, CD-HIT within "
            f"each class, and clusters put into groups in turn: {n} in the calibration set."
        )
    text = texts[lookup.findings.clusters]
    if lookup.knows_relatives:
        text += " Clusters were kept whole"
        text += (
            f", but for {count(split.n_cut)} larger than a group, cut where the fewest proteins "
            "connect the parts; these were set aside."
            if split.n_cut
            else "."
        )
    if not split.is_audited:
        return text
    relative = "a relative" if lookup.findings.clusters == "aligned" else f"a relative ({alike})"
    text += (
        f" By exact alignment of {plural(split.n_sampled, 'protein')} with all of other groups, "
        f"{count(split.n_crossing_sampled)} had {relative} there"
    )
    if split.is_exhaustive:
        return text + "."
    return (
        f"{text}; they were taken at random from {count(split.n_population)}, of which at most "
        f"{100.0 * split.bound:.2g} % have one (95 % confidence)."
    )


def _training(lookup: Lookup, _: Citations) -> str:
    split = lookup.findings.split
    if split is None or not split.n_training:
        return (
            "That the classifier was trained neither on these proteins nor on relatives of them "
            "is taken as given: its training set was not compared."
        )
    n = sum(part.n for part in split.apart if part.reason == "relative of training protein")
    return (
        f"Relatives of the classifier's {plural(split.n_training, 'training protein')} were set "
        f"aside: {plural(n, 'protein')}."
    )


def _troves(lookup: Lookup, _: Citations) -> str:
    chain = lookup.findings.releases
    if chain is None or len(chain.releases) < 2:
        return ""
    first, *later = chain.releases
    return (
        f"New proteins of known class joined the calibration set {plural(len(later), 'time')} "
        f"({', '.join(release.name for release in later)}), from {count(first.n_calibration)} to "
        f"{count(later[-1].n_calibration)} proteins."
    )


def _held_out(lookup: Lookup, cite: Citations) -> str:
    results = lookup.findings.results
    is_known = lookup.knows_relatives
    unit, whole = ("cluster", "whole clusters") if is_known else ("protein", "proteins")
    text = (
        "Held-out negative log-likelihood, Brier score and calibration errors come from "
        f"{results.n_folds}-fold cross-fitting over {whole}, stratified by predicted class."
    )
    if results.n_draws:
        alike = " and for how alike relatives are" if is_known else ""
        text += (
            f" Their intervals rest on {count(results.n_draws)} resamples of a Bayesian "
            f"bootstrap over {unit}s, widened for how few {unit}s there are{alike}."
        )
    others = [
        method for method in lookup.findings.methods if method.name != lookup.findings.chosen
    ]
    if others:
        named = ", ".join(f"{method.name}{cite(method.reference)}" for method in others)
        text += f" The method was compared with {named}."
    if results.tests:
        text += (
            f" p-values of tests of calibration come from random signs, one for each {unit}, "
            "with Holm's correction over classes."
        )
    return text


def figures_digest(findings: Findings) -> str:
    """Return the digest of the numbers that the figures of the classes show."""
    results = findings.results
    shown = {
        "chosen": findings.chosen,
        "curves": results.curves,
        "histograms": results.histograms,
        "reliability": results.reliability,
    }
    return digest_of(to_record(shown))


def _looked(lookup: Lookup, cite: Citations) -> str:
    look = lookup.findings.provenance.looked
    advised = f"as is advised{cite(CONFIDENCE_GUIDE)}"
    if look is None:
        return (
            f"It is not recorded that anybody checked the curve of each class by eye, {advised}."
        )
    if look.figures == figures_digest(lookup.findings):
        return (
            f"The curve of each class was checked by eye, {advised}, by {look.by} ({look.date})."
        )
    return (
        f"{look.by} checked curves by eye, {advised}, on {look.date}; since then they have "
        "changed, and it is not recorded that anybody checked these."
    )


def _sets(lookup: Lookup, cite: Citations) -> str:
    sets = lookup.findings.sets
    if sets is None:
        return ""
    whom = "in each class" if sets.kind == "class_wise" else "over all classes"
    works = (CONFORMAL, GROUPED) if lookup.knows_relatives else (CONFORMAL,)
    whole = sets.all_classes
    return (
        f"Prediction sets are conformal{cite(*works)} and made to hold the true class of "
        f"{100 * sets.level:g} % of proteins {whom}; in cross-validation, "
        f"{with_interval(whole.coverage, whole.lower, whole.upper)} of them did."
    )


def _lists(lookup: Lookup, cite: Citations) -> str:
    thresholds, lists = lookup.findings.thresholds, lookup.findings.lists
    unit = "family" if lookup.knows_relatives else "protein"
    texts = []
    made = [
        f"{count(entry.n)} predictions of {query_set.name} at {percent(entry.error)}"
        for query_set in lists
        for entry in query_set.together()
        if not entry.is_certain
    ]
    if made:
        texts.append(
            "Lists of predictions are the longest whose estimated error rate is allowed: "
            f"{', '.join(made)}. The rate is that of held-out proteins of {lookup.families}, one "
            f"wrong {unit} added, weighted to the confidences of the set."
        )
    if thresholds is not None and any(not math.isnan(row.sure) for row in thresholds.rows):
        certainty = f"{percent(thresholds.certainty)} certainty for each class by itself"
        tested = f"by learn then test{cite(LEARN_THEN_TEST)}"
        texts.append(
            f"Thresholds are guaranteed for new families {tested}, one randomly chosen protein of "
            f"each family counting, with {certainty}."
            if lookup.knows_relatives
            else f"Thresholds were chosen {tested}, with {certainty} if no proteins of the "
            "calibration set are related; that was not examined, so nothing is guaranteed for "
            "new proteins."
        )
    return " ".join(texts)


def _shift(lookup: Lookup, cite: Citations) -> str:
    by_estimator: dict[tuple[str, str], list[str]] = {}
    for shift in lookup.findings.shifts:
        if shift.estimator != "none":
            by_estimator.setdefault((shift.estimator, shift.reference), []).append(shift.name)
    texts = []
    for (estimator, reference), names in by_estimator.items():
        source = "stated"
        if estimator != source:
            source = f"estimated from its scores by {estimator}{cite(reference)}"
        texts.append(f"How common each class is in {', '.join(names)} was {source}.")
    if texts:
        texts.append(
            "Confidences are corrected for that, but for what chance explains of an estimated "
            "difference from calibration. This assumes that "
            "proteins of a class score alike in both."
        )
    return " ".join(texts)


def _novelty(lookup: Lookup, _: Citations) -> str:
    novelties = [
        novelty
        for novelty in lookup.findings.novelties
        if novelty.n_placed and novelty.n_calibration
    ]
    if not novelties:
        return ""
    flagged = ", ".join(
        f"{count(novelty.n_flagged)} of {plural(novelty.n_placed, 'protein')} of {novelty.name}"
        for novelty in novelties
    )
    unit = "families" if lookup.knows_relatives else "proteins"
    return (
        "How far proteins are from all known ones was measured by "
        f"{COMPARED_BY[novelties[0].features]}. Flagged as farther than "
        f"{share(novelties[0].flag)} of {unit} left out: {flagged}."
    )


def _events(lookup: Lookup, cite: Citations) -> str:
    events = lookup.findings.events
    if events is None:
        return ""
    named = ", ".join(event.name for event in events.events)
    return (
        f"Probabilities of further events ({named}) were forecast{cite(KULESHOV_LIANG)} by "
        f"{FORECASTER_NAMES.get(events.forecaster, events.forecaster)}{cite(events.reference)}, "
        f"tuned and judged in cross-validation over {units(*events.events)} in "
        f"{plural(events.n_folds, 'part')}."
    )


# The methods text: what each paragraph may say, in order.
PARAGRAPHS: tuple[tuple[Callable[[Lookup, Citations], str], ...], ...] = (
    (_calibrated, _intervals),
    (_relatives, _training, _troves),
    (_held_out, _looked),
    (_sets,),
    (_lists,),
    (_shift,),
    (_novelty,),
    (_events,),
    (lambda _, cite: f"The DOME checklist{cite(DOME)} is filled in beside the results.",),
)


def _written(findings: Findings) -> tuple[tuple[str, ...], list[str]]:
    lookup, cite = Lookup(findings), Citations()
    written = [[words(lookup, cite) for words in paragraph] for paragraph in PARAGRAPHS]
    texts = (" ".join(filter(None, paragraph)) for paragraph in written)
    return tuple(filter(None, texts)), cite.works


def methods_text(findings: Findings) -> tuple[str, ...]:
    """Return paragraphs for a publication, with the numbers of the run."""
    return _written(findings)[0]


def references(findings: Findings) -> tuple[str, ...]:
    """Return what the methods text cites, numbered as there."""
    return tuple(f"[{n}] {work}" for n, work in enumerate(_written(findings)[1], start=1))


def checklist(findings: Findings) -> tuple[tuple[str, str, str], ...]:
    """Return topic, question and answer of every point."""
    results, provenance, lookup = findings.results, findings.provenance, Lookup(findings)
    scores = [
        f"{entry.name} (SHA-256 {entry.sha256})"
        for entry in provenance.inputs
        if "scores" in entry.role and not entry.role.startswith(OF_QUERIES)
    ]
    read = f"; read from {', '.join(scores)}" if scores else ""
    simulated = "Simulated. " if provenance.is_simulated else ""
    others = ", ".join(lookup.others)
    chosen = lookup.chosen
    summary, settings = ("", "") if chosen is None else (f" {chosen.summary}", chosen.prose)
    splits = "proteins", "did not see it; whether that saw relatives of it is not known"
    if lookup.knows_relatives:
        splits = "whole families", "saw none of its family"
    interval = ", with an interval" if lookup.has_intervals else "; no interval"
    intervals = f"{100 * results.level:g} % intervals that count {lookup.families}"
    tests = "; p-values by random signs, with Holm's correction" if results.tests else ""
    labelled = plural(results.n_samples, f"labelled {findings.unit}")
    points = {
        "Data": {
            "Provenance": f"{simulated}{labelled}, of which "
            f"the classifier predicted {count(results.n_correct)} correctly{read}. {YOURS}where "
            "they come from, and whether others used them.",
            "Splits": f"{results.n_folds} folds of {splits[0]}, stratified by predicted class: "
            f"every protein is judged by a fit that {splits[1]}.",
            "Redundancy between splits": _relatives(lookup, Citations()),
            "Availability": f"The archive beside the page. {YOURS}its DOI, and where the "
            "sequences are.",
        },
        "Optimization": {
            "Algorithm": f"{findings.chosen}.{summary}",
            "Meta-predictions": "Yes: it reads another classifier's scores. "
            + _training(lookup, Citations()),
            "Encoding": "The classifier's scores, and the class that it predicts.",
            "Parameters": f"{settings or 'None to be set'}.",
            "Features": "The predicted class and its score: no selection."
            if lookup.is_by_score
            else "The scores of all classes: no selection.",
            "Fitting": "In-sample and held-out losses are side by side on the page; where a class "
            "had too few proteins, a notice says what was done.",
            "Regularization": "As the method's settings say; fallbacks are named in the notices."
            if lookup.stack is None
            else "The weights of a class are pulled towards those of all classes; fallbacks are "
            "named in the notices.",
            "Availability of configuration": "On the page, under “Settings and inputs”, and in "
            "the archive.",
        },
        "Model": {
            "Interpretability": "Transparent: a curve per class, drawn on the page, in "
            "calibration.json as numbers."
            if lookup.is_by_score
            else "What was fitted is in calibration.json as numbers; the page draws what it "
            "gives over the score.",
            "Output": f"A probability of being right for each prediction{interval}.",
            "Execution time": f"{YOURS}seconds of a run on your machine (results/…/benchmarks).",
            "Availability of software": f"credence {provenance.credence_version}, MIT licence.",
        },
        "Evaluation": {
            "Method": f"Cross-fitting in {results.n_folds} folds of {splits[0]}.",
            "Measures": "Negative log-likelihood, Brier score, calibration errors"
            + (" beside their noise floors" if results.floors else "")
            + (", tests of calibration." if results.tests else "."),
            "Comparison": f"With {others}." if others else "No other method was fitted.",
            "Confidence": f"{intervals if results.n_draws else 'No intervals were drawn'}{tests}.",
            "Availability of evaluation": "metrics.tsv and findings.json in the archive.",
        },
    }
    return tuple((topic, *point) for topic, asked in points.items() for point in asked.items())


def journal_checks(findings: Findings) -> tuple[tuple[str, str], ...]:
    """Return what journals ask of a paper, and what this run answers."""
    results, provenance, lookup = findings.results, findings.provenance, Lookup(findings)
    versions = ", ".join(f"{entry.name} {entry.value}" for entry in provenance.versions)
    n_files = plural(len(provenance.inputs), "input file")
    simulated = "The data are simulated; say so. " if provenance.is_simulated else ""
    counted = plural(results.n_samples, findings.unit)
    if lookup.knows_relatives:
        counted += f" in {plural(results.n_clusters, 'family', 'families')}"
    spread = "The run has no intervals"
    if results.n_draws:
        spread = (
            f"Intervals are {100 * results.level:g} %, from {count(results.n_draws)} bootstrap "
            f"resamples of {lookup.families}"
        )
    tests = "; p-values are two-sided, corrected by Holm's rule" if results.tests else ""
    if any(test.test == ONE_SIDED for test in results.tests):
        tests += ", but for Spiegelhalter's test, which is one-sided"
    return (
        (
            "Data availability",
            f"{simulated}The archive lists {n_files} by name and SHA-256, but does not hold them. "
            f"{YOURS}where score tables, labels and sequences are deposited, with accession "
            "numbers.",
        ),
        (
            "Code availability",
            f"credence {provenance.credence_version}, MIT licence; every setting is in the "
            f"archive. {YOURS}the DOI of the archive, and the classifier with its version.",
        ),
        ("Versions", f"{versions or 'Not recorded in this run'}."),
        (
            "Random seeds",
            "There is none to state: random numbers are made of the names of proteins, so the "
            "same inputs, settings and version give the same numbers.",
        ),
        (
            "Licences",
            "The calibration is yours to license, as far as the licences of its data allow. "
            f"{YOURS}the licence of the deposit, and those of scores and sequences.",
        ),
        ("Sample size and statistics", f"{counted}. {spread}{tests}."),
        (
            "Figure legends",
            "credence figures writes one beside each figure (.txt): what is shown, from how many "
            "proteins, what bars and bands are.",
        ),
    )


def archive_files(findings: Findings) -> tuple[tuple[str, str], ...]:
    """Return the files of an archive and what they are."""
    kinds = {
        query_set.name: ", ".join(
            ["confidences"]
            + ["lists" for lists in findings.lists if lists.name == query_set.name and lists.lists]
            + ["genomes" for genomes in findings.genomes if genomes.name == query_set.name]
            + ["composition" for shift in findings.shifts if shift.name == query_set.name]
        )
        for query_set in findings.queries
    }
    further = [("events.json", "what forecasts the events")] if findings.events else []
    if findings.thresholds is not None:
        meaning = "from which score on predictions of a class can be used"
        further.append(("thresholds.tsv", meaning))
    if findings.provenance.run:
        meaning = "every release: its calibration, the group of every protein, its record"
        further.append(("releases/", meaning))
    citing = "what it is and how to cite it; put your names in the second"
    programs = "the same for programs: a Workflow Run Crate, and a table for MultiQC"
    return (
        ("index.html, report.json", "the page, and its text as data"),
        ("findings.json", "every number of it, to the last digit"),
        ("calibration.json", "the calibration, for credence annotate"),
        ("metrics.tsv, metrics.parquet", "every metric of every method and class"),
        *((f"{name}/", kind) for name, kind in kinds.items()),
        *further,
        ("README.md, CITATION.cff, references.bib", citing),
        (PUBLICATION, "a methods text, references and checklists for a paper"),
        ("ro-crate-metadata.json, workflow/Snakefile, credence_mqc.json", programs),
        ("SHA256SUMS", "a digest of every file: sha256sum --check SHA256SUMS"),
    )


def section(findings: Findings) -> page.Section:
    """Return where the texts for a publication are, and the archive."""
    files = [name for name in (PUBLICATION, "archive.zip") if name in findings.files]
    text = page.Paragraph(
        text=f"{PUBLICATION} has a methods text to paste, with references and the numbers of this "
        "run, the DOME checklist and what journals ask, filled in: complete the marked fields. "
        "archive.zip holds everything of this run, the same bytes for the same inputs: put your "
        "names into its CITATION.cff and deposit it where it gets a DOI (Zenodo, for example).",
        links=tuple(page.Link(text=name, target=name) for name in files),
    )
    return page.Section(name="publish", title="For your publication", blocks=(text,))
