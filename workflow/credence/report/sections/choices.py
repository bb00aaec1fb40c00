"""What `auto` chose for each class, and what it could not tell apart."""

from __future__ import annotations

import math

from credence.findings import ClassChoice, Findings, MethodChoices
from credence.report.blocks import Block, Folded, Paragraph, Section, TableBlock, numbers, words
from credence.report.wording import NOTHING, count


def section(findings: Findings) -> Section | None:
    """Return the choices class by class; None where nothing was chosen."""
    if not findings.choices:
        return None
    blocks: list[Block] = [
        Paragraph(
            "For each class, all candidates were fitted without a fold of whole families after "
            "the other. Of those whose held-out loss lies within one standard error of the best, "
            "the simplest is taken: the data cannot tell the others from it."
        )
    ]
    for entry in findings.choices:
        blocks += [_chosen_table(entry), Folded("All candidates", (_trial_table(entry),))]
        if entry.skipped:
            stated = "; ".join(f"{skipped.method}: {skipped.reason}" for skipped in entry.skipped)
            blocks.append(Paragraph(f"Not tried: {stated}."))
    return Section("choices", "What auto chose", tuple(blocks))


def _chosen_table(entry: MethodChoices) -> TableBlock:
    columns = (
        *words("predicted class"),
        *numbers("proteins", "families"),
        *words("chosen"),
        *numbers("held-out NLL"),
        *words("within one standard error of the best"),
    )
    rows = tuple(
        (
            choice.class_name,
            count(choice.n),
            count(choice.n_clusters),
            " + ".join(choice.chosen) or NOTHING,
            _chosen_loss(choice),
            ", ".join(choice.rivals) or NOTHING,
        )
        for choice in entry.classes
    )
    return TableBlock(f"Choices of {entry.method}", columns, rows)


def _chosen_loss(choice: ClassChoice) -> str:
    losses = [trial.held_out_nll for trial in choice.trials if trial.method in choice.chosen]
    return f"{losses[0]:.3f}" if len(losses) == 1 and not math.isnan(losses[0]) else NOTHING


def _trial_table(entry: MethodChoices) -> TableBlock:
    candidates = list(
        dict.fromkeys(trial.method for choice in entry.classes for trial in choice.trials)
    )
    rows = []
    for choice in entry.classes:
        trials = {trial.method: trial for trial in choice.trials}
        cells = [choice.class_name]
        for method in candidates:
            trial = trials.get(method)
            if trial is None or math.isnan(trial.difference):
                cells.append(NOTHING)
            else:
                cells.append(f"{trial.difference:+.3f} ± {trial.standard_error:.3f}")
        rows.append(tuple(cells))
    columns = (*words("predicted class"), *numbers(*candidates))
    return TableBlock(
        "Held-out NLL less that of the best candidate, ± the standard error of the difference "
        "over families",
        columns,
        tuple(rows),
    )
