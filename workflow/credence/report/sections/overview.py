"""What was calibrated, on what, with which settings; and what the words mean."""

from credence.findings import Findings
from credence.problems import plural
from credence.report import blocks as page
from credence.report.sections.lookup import NO_RELATIVES_KNOWN, Lookup
from credence.report.wording import count


def section(findings: Findings) -> page.Section:
    """Return what a reader has to know of the run before its numbers."""
    results, provenance, lookup = findings.results, findings.provenance, Lookup(findings)
    program = f"credence {provenance.credence_version}"
    versions = [program, *(f"{entry.name} {entry.value}" for entry in provenance.versions)]
    whole = "whole families" if lookup.knows_relatives else "proteins"
    draws = f"; {count(results.n_draws)} bootstrap resamples of {whole}" if results.n_draws else ""
    intervals = f"{100 * results.level:g} %, pointwise"
    n_training = 0 if findings.split is None else findings.split.n_training
    training = f"{plural(n_training, 'protein')}; their relatives are set aside"
    release = []
    if findings.releases is not None and findings.releases.releases:
        *before, last = findings.releases.releases
        stated = f"{last.name}, the last of {count(len(before) + 1)}" if before else last.name
        release = [("Release", stated + (f"; SHA-256 {last.digest}" if last.digest else ""))]
    facts = (
        ("Run", provenance.run),
        ("Method", findings.chosen),
        ("Also fitted", ", ".join(lookup.others) or "no other method"),
        ("Intervals", intervals if lookup.has_intervals else "none"),
        ("Held-out numbers", f"{results.n_folds} folds of {whole}{draws}"),
        ("Training set", training if n_training else "not compared"),
        *release,
        ("Version", ", ".join(versions)),
    )
    blocks: list[page.Block] = [page.Definitions(entries=facts)]
    if findings.provenance.inputs:
        files = page.table(
            "The files that this run read",
            findings.provenance.inputs,
            page.word("input", "role"),
            page.word("file", "name"),
            page.number("records", "n_records"),
            page.word("SHA-256", "sha256"),
        )
        blocks.append(files)
    settings = [("run", entry) for entry in findings.provenance.settings]
    settings += [(method.name, entry) for method in findings.methods for entry in method.settings]
    if settings:
        chosen = page.table(
            "Settings",
            settings,
            page.word("of", lambda pair: pair[0]),
            page.word("setting", lambda pair: pair[1].name),
            page.word("value", lambda pair: pair[1].value),
        )
        blocks.append(chosen)
    return page.Section(name="settings", title="Settings and inputs", blocks=tuple(blocks))


GLOSSARY = {
    "confidence": "The probability that a prediction is right, given its class and {scores}.",
    "interval": "Where the confidence may well lie, given how few independent proteins it rests "
    "on. It is pointwise: each score has its own, and they do not all hold at once. It does not "
    "know of samples that differ from the calibration set.",
    "family": "A cluster of relatives: proteins so alike that they do not count as independent "
    "cases.",
    "precision": "Right predictions of a class over all predictions of it (Conf1); as a metric "
    "it is called accuracy. Its interval counts {families}.",
    "calibration set": "Proteins of known class that the classifier did not see in training.",
    "in-sample": "Measured on the proteins that the curve was fitted to. Such numbers flatter.",
    "held-out": "Measured on {families} that the fit left out: the set is divided into folds of "
    "{whole}, and each is judged by a fit to the others.",
    "NLL": "Negative log-likelihood: how surprised the confidence was by what turned out. 0 is "
    "perfect, smaller is better; a confident mistake costs much. Confidences of exactly 0 or 1 "
    "count as 1e-15 away from it.",
    "Brier score": "The mean squared distance between confidence and what turned out (1 right, 0 "
    "wrong). 0 is perfect; always saying 0.5 gives 0.25.",
    "ECE": "Expected calibration error: how far confidences lie from the precision, on average "
    "over bins. Chance alone makes it greater than 0: compare it with the noise floor in "
    "brackets.",
    "Holm's correction": "Makes p-values of several classes greater, so that one of them is not "
    "called off by chance more often than a single test would be.",
    "bandwidth": "How wide the kernel method looks around a score, in score units: less is more "
    "detail and more noise.",
    "support": "How many independent calibration proteins there are near a score; relatives, "
    "where known, count as about one.",
}

BENCH_MEANING = tuple(
    page.Paragraph(text=text)
    for text in (
        "Of 100 predictions of the same class with such a score about 80 are right; which ones "
        "nobody knows. With a range of 0.71 to 0.87, 71 to 87 may be: plan with the lower end "
        "where a mistake is expensive. Of 15 that you clone, ten or more are right in 94 of 100 "
        "cases; relatives count as one.",
        "A wide interval, 0.35 to 0.97, is no weaker yes: too few independent proteins with such "
        "a score were known. For a screen take a list, whose error rate is that of the "
        "whole list; for one protein read its own confidence. Where a class is rarer than in "
        "calibration, fewer are right: confidences are corrected for that, not for proteins "
        "that are out of distribution.",
        "It says nothing of whether a protein expresses, folds or works, nor whether the labels "
        "learnt from are true, and it holds for this version of the classifier only. In full, "
        "with an example: docs/what-does-it-mean.md of credence.",
    )
)


def glossary(findings: Findings) -> page.Section:
    """Return the glossary, and what each method does."""
    methods = tuple(
        (method.name, method.summary + (f" {method.reference}." if method.reference else ""))
        for method in findings.methods
    )
    lookup = Lookup(findings)
    alone = "" if lookup.knows_relatives else NO_RELATIVES_KNOWN
    words = {
        "scores": "its score" if lookup.is_by_score else "the scores of all classes",
        "families": lookup.families,
        "whole": "whole families" if lookup.knows_relatives else "proteins",
    }
    has_kernel = any("kernel" in method.name for method in findings.methods)
    terms = tuple(
        (word, text.format(**words) + alone * (word == "family"))
        for word, text in GLOSSARY.items()
        if has_kernel or word != "bandwidth"
    )
    blocks = (
        page.Folded(
            summary="What does 0.8 mean for my bench work?",
            blocks=BENCH_MEANING,
            anchor="what-it-means",
        ),
        page.Folded(
            summary="The words", blocks=(page.Definitions(entries=terms),), anchor="glossary-words"
        ),
        page.Folded(
            summary="The methods",
            blocks=(page.Definitions(entries=methods),),
            anchor="glossary-methods",
        ),
    )
    return page.Section(name="glossary", title="What these words mean", blocks=blocks)
