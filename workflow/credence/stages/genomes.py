"""The stage `genomes`: whether every call of a genome is right, and how many are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from credence.confidence import NOTE_TEXTS, Note
from credence.events.event_judging import EventOptions
from credence.events.genome_outcomes import (
    WORKED_OUT,
    GenomeOutcome,
    LearntOutcome,
    genome_features,
    learn_outcome,
)
from credence.findings import ACCEPT, INSUFFICIENT, Difference, Genomes, MetricValue
from credence.lists.genomes import ODDS, genomes_of
from credence.predictions import Booleans, Integers, Strings
from credence.problems import Problem, nearest, raise_any, refuse
from credence.progress import echo
from credence.relatives.pairs import Columns
from credence.sentences import FOR_WHOM
from credence.stages.events import require_forecasters
from credence.stages.lists import Ranking, Table, cluster_of, opened_table
from credence.stages.reading import require_other
from credence.stages.settings import Settings
from credence.tables.contract import GENOME, OWN_TABLE
from credence.tables.labels import read_labels
from credence.tables.source import open_table
from credence.tables.stage_files import read_calibration, refuse_calls
from credence.tables.writing import write_record, write_table

NO_GENOMES = "the genomes of the proteins are not known."
NAME_GENOMES = 'Annotate with --spec \'{"genome": "<column of the scores>"}\', or give --genomes.'
EVERY_CALL, EVERY_PREDICTION = "every call right", "every prediction right"
BETTER = "better"
OF_CALIBRATION = (Note.SAME_ID, Note.LIKE_ID, Note.SAME_SEQUENCE)
SURE = 0.9  # A probability that every call of a genome is right, by which genomes are counted
LONELY = "relatives among the calls are not known (--clusters): each counts as a family of its own"


@dataclass(frozen=True, kw_only=True, eq=False)
class Calls(Columns):
    """The calls of a table: predictions of the classes that count."""

    code: Integers  # Of the predicted class
    step: Integers  # Of the confidence
    ids: Strings
    genome: Strings  # '' where it is not known
    decision: Strings
    is_own: Booleans  # Whether it is noted to be of the calibration set itself


def genome_calls(
    confidences: str,
    out: str,
    settings: Settings,
    calibration: str,
    shift: str | None,
    genomes: str | None,
    clusters: str | None,
    labels: str | None,
    judged: str | None,
    record: str | None,
    name: str,
    spreadsheet_safe: bool,
) -> None:
    """Write of each genome the probability that every call is right."""
    require_other(
        (out, record, judged), [confidences, calibration, shift, genomes, clusters, labels]
    )
    if judged is not None and labels is None:
        raise refuse("--judged", "nothing is learnt without --labels.", "Give --labels.")
    require_forecasters(settings.events)
    refuse_calls(
        read_calibration(Path(calibration)),
        calibration,
        "genomes are judged by one class a protein",
        "Add up the confidences of a genome's calls: so many are right. Or fit to the best label.",
    )
    table, _ = opened_table(confidences, calibration, shift, settings)
    asked = settings.lists.calls
    is_asked = _classes_asked(table.ranking, asked)
    predictions = _calls_of(table, is_asked | (labels is not None), genomes)
    every = predictions.take(is_asked[predictions.code])
    calls = every.take(every.genome != "")
    if not len(calls.ids):
        reason = "none of the predictions that count belongs to a genome here."
        remedy = "Correct its ids." if genomes else NAME_GENOMES
        raise refuse(genomes or confidences, reason, remedy, column=GENOME)
    worked_out = partial(
        _worked_out, table.ranking, cluster_of(clusters, table), settings.calibration.level
    )
    per_genome = worked_out(calls)
    _, code = np.unique(calls.genome.astype(str), return_inverse=True)
    for word in (ACCEPT, INSUFFICIENT):
        n_such = np.bincount(code, weights=calls.decision == word)
        per_genome[word.replace(" ", "_")] = n_such.astype(np.int64)
    if labels is not None:
        predictions = predictions.take(predictions.genome != "")
        of_all = worked_out(predictions)
        at = np.searchsorted(of_all["genome"].astype(str), per_genome["genome"].astype(str))
        true_class = _true_classes(labels, predictions.ids, table)
        learnt = {
            EVERY_CALL: _learnt(calls, per_genome, true_class, table.ranking, settings),
            EVERY_PREDICTION: _learnt(predictions, of_all, true_class, table.ranking, settings),
        }
        per_genome["all_right_learnt"] = learnt[EVERY_CALL].probability
        per_genome["predictions_right"] = of_all["all_right"][at]
        per_genome["predictions_right_learnt"] = learnt[EVERY_PREDICTION].probability[at]
        for outcome, entry in learnt.items():
            _say_learnt(out, outcome, entry, settings.events.forecaster)
        if judged is not None:
            write_table(
                Path(judged),
                _judged_table(learnt),
                spreadsheet_safe=spreadsheet_safe,
                in_six_decimals=True,
            )
    write_table(Path(out), per_genome, spreadsheet_safe=spreadsheet_safe, in_six_decimals=True)
    finding = Genomes(
        name=name,
        calls=asked,
        knows_relatives=clusters is not None,
        n=len(per_genome["genome"]),
        n_calls=len(calls.ids),
        expected_wrong=float(per_genome["expected_wrong"].sum()),
        expected_right=float(per_genome["all_right"].sum()),
        sure=SURE,
        n_sure=int((per_genome["all_right"] >= SURE).sum()),
    )
    if record is not None:
        write_record(Path(record), finding)
    _say_genomes(out, finding, n_lacking=len(every.ids) - len(calls.ids))
    echo(FOR_WHOM[table.ranking.is_corrected])


def _calls_of(table: Table, is_asked: Booleans, genomes: str | None) -> Calls:
    """Return the calls of a table, of genomes that a column or another table names."""
    header = open_table(table.path, OWN_TABLE)
    if genomes is None and GENOME not in header.header:
        raise refuse(str(table.path), NO_GENOMES, NAME_GENOMES, header.header_line, GENOME)
    genome_of = None
    if genomes is not None:
        known = read_labels(Path(genomes), "id", GENOME)
        genome_of = dict(zip(known.ids, known.texts, strict=True))
    parts = []
    for piece, code, step in table.pieces((GENOME,) if genome_of is None else ()):
        rows = np.flatnonzero((code >= 0) & (step >= 0) & is_asked[code])
        ids, decision = (piece[name].to_numpy()[rows] for name in ("id", "decision"))
        is_noted = [pc.match_substring(piece["note"], NOTE_TEXTS[note]) for note in OF_CALIBRATION]
        is_own = pc.fill_null(reduce(pc.or_, is_noted), False).to_numpy()[rows]
        if genome_of is None:
            names = piece[GENOME].to_numpy()[rows]
        else:
            names = [genome_of.get(id_) for id_ in ids]
        genome = np.array([(name or "").strip() for name in names], dtype=object)
        parts.append(
            Calls(
                code=code[rows],
                step=step[rows],
                ids=ids,
                genome=genome,
                decision=decision,
                is_own=np.asarray(is_own, dtype=np.bool_),
            )
        )
    return Calls.stacked(parts)


def _worked_out(
    ranking: Ranking, cluster: Mapping[str, str], level: float, calls: Calls
) -> dict[str, Any]:
    """Return what the calls' confidences and families say of each genome."""
    family = np.array([cluster.get(id_, id_) for id_ in calls.ids], dtype=object)
    held_out = ranking.rules.held_out
    return genomes_of(held_out, calls.ids, calls.step, calls.genome, family, level)


def _true_classes(labels: str, ids: Strings, table: Table) -> dict[str, str]:
    """Return the true class of proteins by id; refuse other classes, and other proteins."""
    known = read_labels(Path(labels))
    names = table.ranking.class_names
    raise_any(
        Problem(
            where=labels,
            what=f"there is no class {text!r}.",
            remedy=nearest(text, names),
            line=line,
            column="true_class",
        )
        for text, line in zip(known.texts, known.lines, strict=True)
        if text and text not in names
    )
    true_class = {id_: text for id_, text in zip(known.ids, known.texts, strict=True) if text}
    if true_class.keys().isdisjoint(ids.tolist()):
        reason = f"it has the true class of no protein of a genome in {table.path}."
        raise refuse(labels, reason, "Correct its ids.")
    return true_class


def _learnt(
    calls: Calls,
    per_genome: Mapping[str, Any],
    true_class: Mapping[str, str],
    ranking: Ranking,
    settings: Settings,
) -> LearntOutcome:
    """Return what genomes of known true classes teach of the outcome that all calls are right.

    One that holds a calibration protein teaches nothing: its confidence was learnt from itself.
    """
    names, code = np.unique(calls.genome.astype(str), return_inverse=True)
    class_names = np.array(ranking.class_names, dtype=object)[calls.code]
    known = np.array([true_class.get(id_, "") for id_ in calls.ids], dtype=object)
    is_open = np.bincount(code, weights=(known == "") | calls.is_own) > 0
    is_right = np.bincount(code, weights=known != class_names) == 0
    is_background = ranking.rules.is_background[calls.code]
    # Of a background class a genome may have any number.
    kind = np.where(is_background, len(ranking.class_names) + np.arange(len(code)), calls.code)
    return learn_outcome(
        GenomeOutcome(
            genome=names.astype(object),
            stated=per_genome["all_right"],
            features=genome_features(per_genome["all_right"], code, ODDS[calls.step], kind),
            came_true=np.where(is_open, np.nan, is_right),
        ),
        EventOptions(
            forecaster=settings.events.forecaster,
            compare=settings.events.compare,
            n_folds=settings.events.folds,
            level=settings.calibration.level,
        ),
    )


def _judged_table(learnt: Mapping[str, LearntOutcome]) -> dict[str, Any]:
    """Return the columns of a table: a row for each outcome and forecaster."""
    rows = []
    for outcome, entry in learnt.items():
        value = {(row.method, row.metric): row for row in entry.metrics}
        difference = {row.method: row for row in entry.differences}
        counts = {"outcome": outcome, "genomes": entry.n_known, "came_true": entry.n_true}
        for forecaster in dict.fromkeys(row.method for row in entry.metrics) or (WORKED_OUT,):
            against = difference.get(forecaster)
            verdict = "" if against is None else _verdict(against)
            rows.append(
                {
                    **counts,
                    "forecaster": forecaster,
                    **_with_ends("nll", value.get((forecaster, "nll"))),
                    **_with_ends("calibration_error", value.get((forecaster, "ece_debiased"))),
                    **_with_ends("nll_difference", against),
                    "verdict": verdict if entry.metrics else "too few genomes",
                }
            )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _with_ends(name: str, entry: MetricValue | Difference | None) -> dict[str, float]:
    """Return a number with its interval, by column; NaN where it is not known."""
    if entry is None:
        return dict.fromkeys((name, f"{name}_lower", f"{name}_upper"), np.nan)
    return {name: entry.value, f"{name}_lower": entry.lower, f"{name}_upper": entry.upper}


def _verdict(against: Difference) -> str:
    """Return whether what was learnt is better than what is worked out."""
    if against.upper < 0:
        return BETTER
    return "worse" if against.lower > 0 else "no difference shown"


def _say_learnt(out: str, outcome: str, learnt: LearntOutcome, forecaster: str) -> None:
    """Print what was learnt of an outcome, and whether it is better."""
    known = f"{out}: {outcome}: {learnt.n_known} genomes with known true classes, "
    known += f"of {learnt.n_true} it is true"
    if not learnt.metrics:
        echo(f"{known}; {EventOptions.min_positives:g} of either kind are needed to learn from.")
        return
    nll = {row.method: row.value for row in learnt.metrics if row.metric == "nll"}
    (against,) = (row for row in learnt.differences if row.method == forecaster)
    verdict = _verdict(against)
    advice = "what is learnt" if verdict == BETTER else "what is worked out"
    echo(
        f"{known}. NLL of genomes left out: learnt {nll[forecaster]:.3f}, worked out "
        f"{nll[WORKED_OUT]:.3f}: {verdict} (difference {against.value:+.3f}, "
        f"{against.lower:+.3f} to {against.upper:+.3f}). Go by {advice}."
    )


def _say_genomes(out: str, finding: Genomes, n_lacking: int) -> None:
    """Print how many genomes are expected to be right in every call, and what is not known."""
    n_right = finding.expected_right
    how_many = f"about {n_right:.1f}" if n_right >= 0.1 else "fewer than 0.1"
    echo(f"Wrote {out}: {finding.n:,} genomes; in {how_many} every call is right.")
    if n_lacking:
        echo(f"{out}: {n_lacking:,} calls of no known genome are left out.")
    if not finding.knows_relatives:
        echo(f"{out}: {LONELY}.")


def _classes_asked(ranking: Ranking, asked: Sequence[str]) -> Booleans:
    """Return which classes count in a genome: those that are named, or all but background."""
    if not asked:
        for sentence in ranking.sentences():
            echo(sentence)
        return ~ranking.rules.is_background
    unknown = "{!r} is no class that is known here."
    raise_any(
        Problem(
            where="--calls", what=unknown.format(name), remedy=nearest(name, ranking.class_names)
        )
        for name in asked
        if name not in ranking.class_names
    )
    return np.isin(np.array(ranking.class_names, dtype=object), list(asked))
