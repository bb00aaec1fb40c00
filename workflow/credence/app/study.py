"""``credence study``: what a question about method costs, answered on your own table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import out_option, set_options, table_options

if TYPE_CHECKING:
    from credence.findings.evaluated import NoveltyStudy, StudySet
    from credence.study.worlds import StudyProteins


LEAST_FAMILIES = 6  # of a class: two in each of three parts
METHODS = ("uncalibrated", "class_only", "platt", "isotonic", "sts", "tswa", "matrix", "kernel")
SIMULATED = (
    "Simulated proteins: a class is three folds, a fold a composition and an order of residues, "
    "and 12 % of families are of another class than their fold's."
)
DIFFUSE = (
    "Simulated proteins whose classes are diffuse: one fold a class, and families as far from "
    "it as folds are from each other."
)


@click.command(
    "novelty",
    epilog="Example: credence study novelty --proteins demo/proteins.fasta --labels labels.tsv "
    "--clusters clusters.tsv --out reports/novelty",
)
@click.option("--proteins", help="FASTA file of labelled proteins; else they are simulated.")
@click.option("--labels", help="Table of their true classes: id and true_class.")
@click.option("--clusters", help="Table of their clusters: id and cluster.")
@click.option("--left-out", help="Class that classifier and methods do not learn: noise.")
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=METHODS,
    show_default=True,
    help="A method that learns from scores, as in credence fit; once for each.",
)
@click.option(
    "--families",
    type=click.IntRange(200),
    default=2600,
    show_default=True,
    help="Families that are simulated.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of those.")
@click.option(
    "--open-sets/--no-open-sets",
    default=True,
    show_default=True,
    help="Also on sets that scikit-learn ships or makes.",
)
@click.option("--out", required=True, help="Folder of the page, its tables and its findings.")
def novelty_command(
    proteins: str | None,
    labels: str | None,
    clusters: str | None,
    left_out: str | None,
    methods: tuple[str, ...],
    families: int,
    seed: int,
    open_sets: bool,
    out: str,
) -> None:
    """Ask confidences about noise: random, shuffled, reversed, unknown, mutated.

    A small classifier is trained on a third of the families, methods learn on
    another, and both are judged on the last, and on noise made of it. MACEst
    and the trust score look at neighbours in a space of compositions.
    """
    from dataclasses import replace

    from credence.calibrators.method_spec import parse_method
    from credence.findings.evaluated import NoveltyStudy
    from credence.progress import Progress
    from credence.study.comparing import compare
    from credence.study.worlds import OPEN_SETS, open_material, protein_material

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
    _write(NoveltyStudy(0.95, tuple(found)), Path(out))
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
    from credence.problems import InputError, Problem
    from credence.study.worlds import ProteinWorldSettings, simulate_proteins

    given = {"--proteins": proteins, "--labels": labels, "--clusters": clusters}
    if any(value is not None for value in given.values()):
        missing = [
            Problem(name, "it is missing.", "Give --proteins, --labels and --clusters together.")
            for name, value in given.items()
            if value is None
        ]
        if missing:
            raise InputError(missing)
        known = _given(str(proteins), str(labels), str(clusters))
        unknown = None if left_out is None else _class_of(left_out, known)
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
    import numpy as np

    from credence.problems import InputError, Problem
    from credence.stages.reading import read_proteins
    from credence.study.worlds import StudyProteins, known_classes
    from credence.tables.contract import read_clusters
    from credence.tables.labels import read_labels

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
    if problems:
        raise InputError(problems)
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
        what = (
            f"of these classes fewer than {LEAST_FAMILIES} families are there: {', '.join(few)}."
        )
        raise InputError(
            [Problem(clusters, what if few else "there is one class only.", "Leave them out.")]
        )
    return found


def _class_of(name: str, proteins: StudyProteins) -> int:
    from credence.problems import nearest, refuse

    if name not in proteins.class_names:
        raise refuse(
            "--left-out", f"{name!r} is no class.", nearest(name, list(proteins.class_names))
        )
    return proteins.class_names.index(name)


def _write(study: NoveltyStudy, folder: Path) -> None:
    """Write page, tables and findings, each beside its place and then renamed."""
    from credence import __version__
    from credence.findings import Provenance, to_record
    from credence.report.html import render_sections
    from credence.report.novelty_study import sections_of_study
    from credence.tables.writing import write_json, write_table, write_text

    folder.mkdir(parents=True, exist_ok=True)
    provenance = Provenance(
        run="study novelty",
        title="What confidences say of noise",
        credence_version=__version__,
        # Where some sets are measured, each title says of its own whether it is not.
        is_simulated=all(entry.is_simulated for entry in study.sets),
    )
    write_json(folder / "study.json", to_record(study))
    write_table(folder / "inputs.tsv", _inputs_table(study))
    write_table(folder / "mutations.tsv", _mutations_table(study))
    page = render_sections(provenance, sections_of_study(study), "credence/study/1")
    write_text(folder / "index.html", page)


def _inputs_table(study: NoveltyStudy) -> dict[str, Any]:
    rows = [
        (entry, method, one)
        for entry in study.sets
        for method in entry.methods
        for one in method.inputs
    ]
    columns: dict[str, Any] = {
        "set": [entry.name for entry, _, _ in rows],
        "method": [method.name for _, method, _ in rows],
        "input": [one.kind for _, _, one in rows],
        "n": [one.n for _, _, one in rows],
        "mean_confidence": [one.mean for _, _, one in rows],
    }
    for place, name in enumerate(("q05", "q25", "q50", "q75", "q95")):
        columns[name] = [one.quantiles[place] for _, _, one in rows]
    columns["trust_rank_correlation"] = [one.trust_rank for _, _, one in rows]
    columns["ks_to_macest"] = [one.ks for _, _, one in rows]
    columns["nll_held_out"] = [method.nll for _, method, _ in rows]
    columns["nll_lower"] = [method.nll_lower for _, method, _ in rows]
    columns["nll_upper"] = [method.nll_upper for _, method, _ in rows]
    columns["ece_held_out"] = [method.ece for _, method, _ in rows]
    return columns


def _mutations_table(study: NoveltyStudy) -> dict[str, Any]:
    rows = [
        (entry.name, method.name, part, entry.accuracy_at_mutations[place], value)
        for entry in study.sets
        for method in entry.methods
        for place, (part, value) in enumerate(
            zip(entry.mutations, method.at_mutations, strict=True)
        )
    ]
    names = ("set", "method", "replaced", "share_right", "mean_confidence")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


LEAST_CLUSTERS = 2  # one for each half


@click.group(epilog="Example: credence study two-sets --help")
def command() -> None:
    """Answer a question of method on a labelled table."""


@command.command(
    "two-sets",
    epilog="Example: credence study two-sets demo/calibration.csv --format phanns-labelled "
    "--method kernel --method isotonic --draws 20 --out two_sets.tsv",
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("class_only", "histogram", "kernel", "cumulative_optimal", "isotonic"),
    show_default=True,
    help="A method, as in credence fit; once for each.",
)
@set_options
@click.option("--scale", type=click.FloatRange(0.0, min_open=True), help="What a row sums to.")
@click.option(
    "--draws",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="How often the set is halved anew.",
)
@click.option(
    "--min-positives",
    type=click.FloatRange(1.0),
    default=10.0,
    show_default=True,
    help="Below this effective number a class has its overall share only.",
)
@out_option("The table: medians by method, class and metric.")
def two_sets(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    methods: tuple[str, ...],
    groups: str | None,
    clusters: str | None,
    weights: str,
    scale: float | None,
    draws: int,
    min_positives: float,
    out: str,
) -> None:
    """Fit on one half, measure on both: how much in-sample numbers flatter.

    Halves share no cluster; each draw halves the set anew. The table has the
    median of each metric on the fitted half and on the other, and the median
    and the 5 % and 95 % quantiles of their difference.
    """
    from credence.calibrators.method_spec import parse_method
    from credence.calibrators.protocol import FitOptions
    from credence.evaluation.notices import plural
    from credence.evaluation.two_sets import measure_halves, summarise_draws
    from credence.problems import InputError, refuse
    from credence.progress import Progress
    from credence.stages.reading import (
        calibration_set,
        in_order_of_ids,
        json_settings,
        read_set,
        require_other,
        table_spec,
    )
    from credence.tables.calibration_file import need_problems
    from credence.tables.writing import check_table_ending, write_table

    require_other(out, [*tables, groups, clusters])
    check_table_ending(Path(out))
    settings = dict(json_settings(spec_json, "--spec"))
    if scale is not None:
        settings["scale"] = scale
    samples = read_set(tables, table_spec(tables, format_, settings))
    specifications = {
        entry.text: entry for entry in (parse_method(m, "--method") for m in methods)
    }
    missing = [
        problem
        for text, entry in specifications.items()
        for problem in need_problems(text, entry.needs, samples.predictions, tables[0])
    ]
    if missing:
        raise InputError(missing)
    chosen = calibration_set(samples, tables[0], groups, clusters, weights)
    labelled = in_order_of_ids(chosen.labelled)
    if len(set(labelled.cluster.tolist())) < LEAST_CLUSTERS:
        raise refuse(
            clusters or groups or tables[0],
            "all proteins are of one cluster, and no cluster is divided.",
            "Give proteins of at least two.",
        )
    options = FitOptions(min_positives, n_draws=0)
    calibrators = {text: entry.build(options) for text, entry in specifications.items()}
    found = []
    with Progress("study", "draws", draws) as progress:
        for draw in range(draws):
            found.append(measure_halves(labelled, calibrators, draw))
            progress.add()
    rows = summarise_draws(found)
    write_table(
        Path(out),
        {
            "method": [row.method for row in rows],
            "class": ["all" if row.class_name is None else row.class_name for row in rows],
            "metric": [row.metric for row in rows],
            "in_sample": [row.in_sample for row in rows],
            "held_out": [row.held_out for row in rows],
            "difference": [row.flattery for row in rows],
            "lower": [row.lower for row in rows],
            "upper": [row.upper for row in rows],
            "n_draws": [row.n_draws for row in rows],
        },
    )
    counts = f"{plural(len(calibrators), 'method')}, {plural(draws, 'draw')}"
    click.echo(f"Wrote {out}: {counts}.", err=True)


command.add_command(novelty_command)
