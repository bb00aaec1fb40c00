"""The studies: what a question about method costs, answered on the user's own table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from credence import __version__
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.notices import plural
from credence.evaluation.two_sets import measure_halves, summarise_draws
from credence.findings import NoveltyStudy, Provenance, StudySet
from credence.problems import Problem, nearest, raise_any, refuse
from credence.progress import Progress
from credence.records import to_record
from credence.report.html import render_sections
from credence.report.novelty_study import sections_of_study
from credence.stages.reading import LabelledTables, in_order_of_ids, read_proteins, require_other
from credence.stages.settings import Settings
from credence.study.comparing import compare
from credence.study.worlds import (
    OPEN_SETS,
    ProteinWorldSettings,
    StudyProteins,
    known_classes,
    open_material,
    protein_material,
    simulate_proteins,
)
from credence.tables.contract import read_clusters
from credence.tables.labels import read_labels
from credence.tables.stage_files import need_problems
from credence.tables.writing import check_table_ending, write_json, write_table, write_text

LEAST_CLUSTERS = 2  # one for each half
LEAST_FAMILIES = 6  # of a class: two in each of three parts
LEVEL = 0.95  # coverage of the intervals of the study of novelty
SIMULATED = (
    "Simulated proteins: a class is three folds, a fold a composition and an order of residues, "
    "and 12 % of families are of another class than their fold's."
)
DIFFUSE = (
    "Simulated proteins whose classes are diffuse: one fold a class, and families as far from "
    "it as folds are from each other."
)


def study_two_sets(
    given: LabelledTables, out: str, settings: Settings, methods: Sequence[str], draws: int
) -> None:
    """Fit methods on one half and measure them on both, many times; write the medians."""
    require_other((out,), given.files)
    check_table_ending(Path(out))
    samples, table = given.samples(), given.tables[0]
    specifications = {
        entry.text: entry for entry in (parse_method(m, "--method") for m in methods)
    }
    problems = [
        problem
        for text, entry in specifications.items()
        for problem in need_problems(text, entry.needs, samples.predictions, table)
    ]
    raise_any(problems)
    labelled = in_order_of_ids(given.calibrating(samples, settings.calibration.weights).labelled)
    if len(set(labelled.cluster.tolist())) < LEAST_CLUSTERS:
        raise refuse(
            given.clusters or given.groups or table,
            "all proteins are of one cluster, and no cluster is divided.",
            "Give proteins of at least two.",
        )
    options = FitOptions(settings.calibration.min_positives, n_draws=0)
    calibrators = {text: entry.build(options) for text, entry in specifications.items()}
    found = []
    with Progress("study", "draws", draws) as progress:
        for draw in range(draws):
            found.append(measure_halves(labelled, calibrators, draw))
            progress.add()
    rows = summarise_draws(found)
    columns: dict[str, list[Any]] = {
        "method": [row.method for row in rows],
        "class": ["all" if row.class_name is None else row.class_name for row in rows],
    }
    for name in ("metric", "in_sample", "held_out", "flattery", "lower", "upper", "n_draws"):
        word = "difference" if name == "flattery" else name
        columns[word] = [getattr(row, name) for row in rows]
    write_table(Path(out), columns)
    counts = f"{plural(len(calibrators), 'method')}, {plural(draws, 'draw')}"
    click.echo(f"Wrote {out}: {counts}.", err=True)


def study_novelty(
    out: str,
    methods: Sequence[str],
    proteins: str | None,
    labels: str | None,
    clusters: str | None,
    left_out: str | None,
    families: int,
    seed: int,
    open_sets: bool,
) -> None:
    """Ask methods for confidences about noise; write a page, its tables and its findings."""
    names = tuple(dict.fromkeys(parse_method(name, "--method").text for name in methods))
    worlds = _worlds(proteins, labels, clusters, left_out, families, seed)
    tried = tuple(OPEN_SETS) if open_sets else ()
    found: list[StudySet] = []
    with Progress("study", "sets", len(worlds) + len(tried)) as progress:
        for name, about, known, unknown in worlds:
            material = protein_material(known, unknown, name, about)
            found.append(compare(replace(material, is_simulated=proteins is None), names))
            progress.add()
        for name in tried:
            found.append(compare(open_material(name), names))
            progress.add()
    _write(NoveltyStudy(LEVEL, tuple(found)), Path(out))
    click.echo(f"Wrote {Path(out) / 'index.html'}", err=True)


def _worlds(
    proteins: str | None,
    labels: str | None,
    clusters: str | None,
    left_out: str | None,
    families: int,
    seed: int,
) -> list[tuple[str, str, StudyProteins, int | None]]:
    """Return name, sentence, proteins and the class left out of each set of proteins."""
    given = {"--proteins": proteins, "--labels": labels, "--clusters": clusters}
    if any(value is not None for value in given.values()):
        remedy = "Give --proteins, --labels and --clusters together."
        raise_any(
            [
                Problem(name, "it is missing.", remedy)
                for name, value in given.items()
                if value is None
            ]
        )
        known = _given(str(proteins), str(labels), str(clusters))
        names, unknown = known.class_names, None
        if left_out is not None:
            if left_out not in names:
                raise refuse("--left-out", f"{left_out!r} is no class.", nearest(left_out, names))
            unknown = names.index(left_out)
        return [("your proteins", "Your proteins.", known, unknown)]
    usual = ProteinWorldSettings(n_families=families, seed=seed)
    diffuse = ProteinWorldSettings(
        n_families=families, seed=seed, n_folds=1, composition=1e6, order=60.0, family=60.0
    )
    last = usual.n_classes - 1
    return [
        ("proteins of folds", SIMULATED, simulate_proteins(usual), last),
        ("diffuse classes", DIFFUSE, simulate_proteins(diffuse), last),
    ]


def _given(proteins: str, labels: str, clusters: str) -> StudyProteins:
    """Return the user's proteins; refuse those without a class or a cluster."""
    fasta = read_proteins(proteins, "first_word")
    table, groups = read_labels(Path(labels)), read_clusters(Path(clusters))
    class_of = dict(zip(table.ids, table.texts, strict=True))
    cluster_of = dict(zip(groups.ids, groups.cluster, strict=True))
    problems = [
        Problem(proteins, f"{id_!r} is not in {where}.", "Add it there, or remove it.", int(line))
        for id_, line in zip(fasta.ids, fasta.lines, strict=True)
        for where, known in ((labels, class_of), (clusters, cluster_of))
        if id_ not in known
    ]
    raise_any(problems)
    names = tuple(sorted({str(class_of[id_]) for id_ in fasta.ids}))
    code = {name: number for number, name in enumerate(names)}
    order = np.argsort(fasta.ids.astype(str), kind="stable")  # networks learn in an order
    ids = fasta.ids[order]
    found = StudyProteins(
        ids,
        fasta.sequences[order],
        np.array([cluster_of[id_] for id_ in ids], dtype=object),
        np.array([code[str(class_of[id_])] for id_ in ids], dtype=np.int64),
        names,
    )
    few = [name for name in names if code[name] not in known_classes(found, LEAST_FAMILIES)]
    if few or len(names) < 2:
        counted = f"of these classes fewer than {LEAST_FAMILIES} families are there"
        what = f"{counted}: {', '.join(few)}." if few else "there is one class only."
        raise refuse(clusters, what, "Leave them out.")
    return found


def _write(study: NoveltyStudy, folder: Path) -> None:
    """Write page, tables and findings, each beside its place and then renamed."""
    folder.mkdir(parents=True, exist_ok=True)
    provenance = Provenance(
        run="study novelty",
        title="What confidences say of noise",
        credence_version=__version__,
        # Where some sets are measured, each title says whether its own is simulated.
        is_simulated=all(entry.is_simulated for entry in study.sets),
    )
    write_json(folder / "study.json", to_record(study))
    write_table(folder / "inputs.tsv", _inputs_table(study))
    write_table(folder / "mutations.tsv", _mutations_table(study))
    page = render_sections(provenance, sections_of_study(study), "credence/study/1")
    write_text(folder / "index.html", page)


def _inputs_table(study: NoveltyStudy) -> dict[str, list[Any]]:
    rows = [
        {
            "set": entry.name,
            "method": method.name,
            "input": one.kind,
            "n": one.n,
            "mean_confidence": one.mean,
            **dict(zip(("q05", "q25", "q50", "q75", "q95"), one.quantiles, strict=True)),
            "trust_rank_correlation": one.trust_rank,
            "ks_to_macest": one.ks,
            "nll_held_out": method.nll,
            "nll_lower": method.nll_lower,
            "nll_upper": method.nll_upper,
            "ece_held_out": method.ece,
        }
        for entry in study.sets
        for method in entry.methods
        for one in method.inputs
    ]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _mutations_table(study: NoveltyStudy) -> dict[str, list[Any]]:
    rows = [
        (entry.name, method.name, *at)
        for entry in study.sets
        for method in entry.methods
        for at in zip(
            entry.mutations, entry.accuracy_at_mutations, method.at_mutations, strict=True
        )
    ]
    names = ("set", "method", "replaced", "share_right", "mean_confidence")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
