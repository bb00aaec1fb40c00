"""What `auto` chose for each class, and what it could not tell apart."""

from __future__ import annotations

import math
from functools import partial

from credence.findings import ClassChoice, Findings, MethodChoices
from credence.report import blocks as page
from credence.report.wording import NOTHING, three_decimals


def section(findings: Findings) -> page.Section | None:
    """Return the choices class by class; None where nothing was chosen."""
    if not findings.choices:
        return None
    blocks: list[page.Block] = [
        page.Paragraph(
            "For each class, all candidates were fitted without a fold of whole families after "
            "the other. Of those whose held-out loss lies within one standard error of the best, "
            "the simplest is taken: the data cannot tell the others from it."
        )
    ]
    for entry in findings.choices:
        blocks += [_chosen_table(entry), page.Folded("All candidates", (_trial_table(entry),))]
        if entry.skipped:
            stated = "; ".join(f"{skipped.method}: {skipped.reason}" for skipped in entry.skipped)
            blocks.append(page.Paragraph(f"Not tried: {stated}."))
    return page.Section("choices", "What auto chose", tuple(blocks))


def _chosen_table(entry: MethodChoices) -> page.TableBlock:
    return page.table(
        f"Choices of {entry.method}",
        entry.classes,
        page.word("predicted class", "class_name"),
        page.number("proteins", "n"),
        page.number("families", "n_clusters"),
        page.word("chosen", "chosen", lambda names: " + ".join(names) or NOTHING),
        page.number("held-out NLL", _chosen_loss),
        page.word(
            "within one standard error of the best",
            "rivals",
            lambda names: ", ".join(names) or NOTHING,
        ),
    )


def _chosen_loss(choice: ClassChoice) -> str:
    losses = [trial.held_out_nll for trial in choice.trials if trial.method in choice.chosen]
    return three_decimals(losses[0]) if len(losses) == 1 else NOTHING


def _trial_table(entry: MethodChoices) -> page.TableBlock:
    def difference(method: str, choice: ClassChoice) -> str:
        trial = next((one for one in choice.trials if one.method == method), None)
        if trial is None or math.isnan(trial.difference):
            return NOTHING
        return f"{trial.difference:+.3f} ± {trial.standard_error:.3f}"

    methods = dict.fromkeys(trial.method for choice in entry.classes for trial in choice.trials)
    return page.table(
        "Held-out NLL less that of the best candidate, ± the standard error of the difference "
        "over families",
        entry.classes,
        page.word("predicted class", "class_name"),
        *(page.number(method, partial(difference, method)) for method in methods),
    )
