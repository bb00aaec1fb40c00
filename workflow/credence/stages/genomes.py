"""The stage `genomes`: whether every call of a genome is right, and how many are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from credence.findings import ACCEPT, INSUFFICIENT, Genomes
from credence.lists.genomes import genomes_of
from credence.predictions import Booleans, Integers, Strings
from credence.problems import Problem, nearest, raise_any, refuse
from credence.progress import echo
from credence.relatives.pairs import Columns
from credence.stages.lists import FOR_WHOM, Ranking, Table, cluster_of, opened_table
from credence.stages.reading import require_other
from credence.stages.settings import Settings
from credence.tables.contract import GENOME, OWN_TABLE
from credence.tables.labels import read_labels
from credence.tables.source import open_table
from credence.tables.writing import write_record, write_table

NO_GENOMES = "nothing says of which genome a protein is."
NAME_GENOMES = 'Annotate with --spec \'{"genome": "<column of the scores>"}\', or give --genomes.'
SURE = 0.9  # A probability that every call of a genome is right, by which genomes are counted
LONELY = "relatives among the calls are not known (--clusters): each counts as a family of its own"


@dataclass(frozen=True, kw_only=True, eq=False)
class Calls(Columns):
    """The calls of a table: predictions of the classes that count."""

    step: Integers  # Of the confidence
    ids: Strings
    genome: Strings  # '' where it is not known
    decision: Strings


def genome_calls(
    confidences: str,
    out: str,
    settings: Settings,
    calibration: str,
    shift: str | None,
    genomes: str | None,
    clusters: str | None,
    record: str | None,
    name: str,
    spreadsheet_safe: bool,
) -> None:
    """Write of each genome the probability that every call is right."""
    require_other((out, record), [confidences, calibration, shift, genomes, clusters])
    table, _ = opened_table(confidences, calibration, shift, settings)
    asked = settings.lists.calls
    every = _calls_of(table, _classes_asked(table.ranking, asked), genomes)
    calls = every.take(every.genome != "")
    if not len(calls.ids):
        reason = "no call that has a confidence is of a known genome."
        remedy = "Correct its ids." if genomes else NAME_GENOMES
        raise refuse(genomes or confidences, reason, remedy, column=GENOME)
    cluster = cluster_of(clusters, table)
    family = np.array([cluster.get(id_, id_) for id_ in calls.ids], dtype=object)
    per_genome = genomes_of(
        table.ranking.rules.held_out,
        calls.ids,
        calls.step,
        calls.genome,
        family,
        settings.calibration.level,
    )
    _, code = np.unique(calls.genome.astype(str), return_inverse=True)
    for word in (ACCEPT, INSUFFICIENT):
        n_such = np.bincount(code, weights=calls.decision == word)
        per_genome[word.replace(" ", "_")] = n_such.astype(np.int64)
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
        if genome_of is None:
            names = piece[GENOME].to_numpy()[rows]
        else:
            names = [genome_of.get(id_) for id_ in ids]
        genome = np.array([(name or "").strip() for name in names], dtype=object)
        parts.append(Calls(step=step[rows], ids=ids, genome=genome, decision=decision))
    return Calls.stacked(parts)


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
        ranking.say_background()
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
