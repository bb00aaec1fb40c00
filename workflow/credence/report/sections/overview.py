"""What was calibrated, on what, with which settings; and what a confidence means."""

from operator import itemgetter

from credence.findings import Findings
from credence.problems import plural
from credence.report import blocks as page
from credence.report.sections.lookup import Lookup
from credence.report.wording import count

NOT_SET = ("null", "{}", "[]", "false", "none")  # values of settings that are empty or off


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
    settings = [(entry.name, entry.value) for entry in findings.provenance.settings]
    settings += [
        (f"{method.name}.{entry.name}", entry.value)
        for method in findings.methods
        for entry in method.settings
    ]
    settings_that_are_set = [pair for pair in settings if pair[1] not in NOT_SET]
    if settings_that_are_set:
        chosen = page.table(
            "Settings that are set; all others are empty or off",
            settings_that_are_set,
            page.word("setting", itemgetter(0)),
            page.word("value", itemgetter(1)),
        )
        blocks.append(chosen)
    return page.Section(name="settings", title="Settings and inputs", blocks=tuple(blocks))


BENCH_MEANING = tuple(
    page.Paragraph(text=text)
    for text in (
        "Of 100 predictions of the same class with such a score about 80 are right; which ones "
        "nobody knows. With a range of 0.71 to 0.87, 71 to 87 may be: plan with the lower end "
        "where a mistake is expensive. Of 15 that you clone, ten or more are right in 94 of 100 "
        "cases; relatives count as one.",
        "A wide interval, 0.35 to 0.97, is no weaker yes: too few independent proteins with such "
        "a score were known. For a screen take a list, whose error rate is that of the whole "
        "list; for one protein read its own confidence.",
        "It does not say whether a protein expresses, folds or works, nor whether the labels "
        "learnt from are true, and it holds for this version of the classifier only.",
    )
)


def meaning(_: Findings) -> page.Section:
    """Return what a confidence means for bench work."""
    title = "What does 0.8 mean for my bench work?"
    return page.Section(name="what-it-means", title=title, blocks=BENCH_MEANING)
