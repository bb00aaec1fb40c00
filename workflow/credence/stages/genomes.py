"""The stage `genomes`: whether every call of a genome is right, and how many are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from credence.findings import Genomes
from credence.lists.decision import ACCEPT, INSUFFICIENT
from credence.lists.genomes import genomes_of
from credence.predictions import Booleans
from credence.problems import Problem, nearest, raise_any, refuse
from credence.progress import echo
from credence.stages.lists import FOR_WHOM, Ranking, cluster_of, opened_table
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
    rules, asked = table.ranking.rules, settings.lists.calls
    is_asked = _classes_asked(table.ranking, asked)
    header = open_table(Path(confidences), OWN_TABLE)
    if genomes is None and GENOME not in header.header:
        raise refuse(confidences, NO_GENOMES, NAME_GENOMES, header.header_line, GENOME)
    parts: list[list[np.ndarray]] = [[], [], [], []]
    for piece, code, step in table.pieces((GENOME,) if genomes is None else ()):
        rows = np.flatnonzero((code >= 0) & (step >= 0) & is_asked[code])
        columns = [piece["id"], piece["id" if genomes else GENOME], piece["decision"]]
        for part, values in zip(
            parts, (step, *(column.to_numpy() for column in columns)), strict=True
        ):
            part.append(values[rows])
    step, ids, genome, decision = (np.concatenate(part) for part in parts)
    if genomes is not None:
        known = read_labels(Path(genomes), "id", GENOME)
        genome_of = dict(zip(known.ids, known.texts, strict=True))
        genome = np.array([genome_of.get(id_, "") for id_ in ids], dtype=object)
    genome = np.array([(name or "").strip() for name in genome], dtype=object)
    is_known = genome != ""
    if not is_known.any():
        reason = "no call that has a confidence is of a known genome."
        remedy = "Correct its ids." if genomes else NAME_GENOMES
        raise refuse(genomes or confidences, reason, remedy, column=GENOME)
    step, ids, genome, decision = (part[is_known] for part in (step, ids, genome, decision))
    cluster = cluster_of(clusters, table)
    family = np.array([cluster.get(id_, id_) for id_ in ids], dtype=object)
    level = settings.calibration.level
    per_genome = genomes_of(rules.held_out, ids, step, genome, family, level)
    _, code = np.unique(genome.astype(str), return_inverse=True)
    for word in (ACCEPT, INSUFFICIENT):
        n_such = np.bincount(code, weights=decision == word, minlength=len(per_genome["genome"]))
        per_genome[word.replace(" ", "_")] = n_such.astype(np.int64)
    write_table(Path(out), per_genome, spreadsheet_safe=spreadsheet_safe, in_six_decimals=True)
    n, n_right = len(per_genome["genome"]), float(per_genome["all_right"].sum())
    if record is not None:
        finding = Genomes(
            name=name,
            calls=asked,
            knows_relatives=clusters is not None,
            n=n,
            n_calls=len(ids),
            expected_wrong=float(per_genome["expected_wrong"].sum()),
            expected_right=n_right,
            sure=SURE,
            n_sure=int((per_genome["all_right"] >= SURE).sum()),
        )
        write_record(Path(record), finding)
    how_many = f"about {n_right:.1f}" if n_right >= 0.1 else "fewer than 0.1"
    echo(f"Wrote {out}: {n:,} genomes; in {how_many} every call is right.")
    if n_lacking := int((~is_known).sum()):
        echo(f"{out}: {n_lacking:,} calls of no known genome are left out.")
    if clusters is None:
        echo(f"{out}: {LONELY}.")
    echo(FOR_WHOM[table.ranking.is_corrected])


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
