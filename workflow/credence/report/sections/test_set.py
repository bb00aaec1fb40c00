"""The finished calibration on proteins with the role test, which it never saw."""

from dataclasses import replace

from credence.findings import Findings
from credence.report import blocks as page
from credence.report.sections.lookup import Lookup, reliability_plot
from credence.report.wording import DASH, loss, with_interval
from credence.sentences import notices_of


def section(findings: Findings) -> page.Section | None:
    """Return how good the finished calibration is on its test group; None without one."""
    test_set = findings.test_set
    if test_set is None:
        return None
    results, chosen = test_set.results, findings.chosen
    test, held_out = Lookup(replace(findings, results=results)), Lookup(findings)
    stated = f" Mean confidence minus precision, in percentage points: {_gap(test, None)}."
    right = f"{results.n_correct:,} {'is' if results.n_correct == 1 else 'are'} right"
    lead = (
        f"{results.evidence} have the role test: they fitted nothing and chose nothing. The "
        f"finished calibration gives them confidences, by {chosen}; {right}.{stated}"
    )
    notices = (notice.text for notice in (*test_set.notices, *notices_of(results)))
    diagram = test.reliability.get((chosen, None, "test"))
    figure = diagram is not None and page.Figure(
        name="reliability-test",
        caption=f"Test group: confidence of {chosen} against the precision.",
        alternative="Reliability on the test group.",
        plot=reliability_plot((chosen,), (diagram,)),
    )
    inside = page.flat(_methods(findings, test, held_out), *notices)
    return page.Section(
        name="test-group",
        title="How good is it on the test group?",
        blocks=page.flat(
            page.lead(lead),
            figure,
            _classes(test),
            page.Folded(summary="Every method on the test group", blocks=inside),
        ),
    )


def _gap(test: Lookup, class_name: str | None) -> str:
    """Return mean confidence minus precision, with its interval."""
    gap = test.metrics.get((test.findings.chosen, class_name, "test", "gap"))
    if gap is None:
        return DASH
    return loss(100 * gap.value, 100 * gap.lower, 100 * gap.upper, 1, "+")


def _classes(test: Lookup) -> page.TableBlock:
    chosen = test.findings.chosen
    return page.table(
        "The test group by predicted class. The difference is mean confidence minus precision, "
        "in percentage points: above 0 confidences are too high.",
        test.findings.results.classes,
        page.word("predicted class", "class_name"),
        page.number(test.units, "n_predicted"),
        *test.family_column(),
        page.number("right", "share lower upper", with_interval),
        page.number("difference", lambda entry: _gap(test, entry.class_name)),
        page.number("NLL", lambda entry: test.loss(chosen, entry.class_name, "test")),
    )


def _methods(findings: Findings, test: Lookup, held_out: Lookup) -> page.TableBlock:
    def of_test(name: str) -> page.Column:
        title = f"test {name.upper() if name == 'nll' else name.title()}"
        return page.number(title, lambda method: test.loss(method.name, None, "test", name))

    return page.table(
        "Methods over all classes: on the test group, as they are, and on held-out proteins "
        "of the calibration set, fitted again without each family.",
        findings.methods,
        page.word("method", "name"),
        of_test("nll"),
        of_test("brier"),
        page.number("held-out NLL", lambda method: held_out.loss(method.name, None)),
    )
