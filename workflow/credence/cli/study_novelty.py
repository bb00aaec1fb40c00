"""``credence study novelty``: what confidences say of inputs that are none of the classes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from credence.findings.novelty_study import NoveltyStudy, StudySet
    from credence.study.world import Proteins

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
def command(
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

    from credence.calibrators.spec import parse_method
    from credence.cli.progress import Progress
    from credence.findings.novelty_study import NoveltyStudy
    from credence.study.comparing import compare
    from credence.study.novelty import protein_material
    from credence.study.open_sets import OPEN_SETS, open_material

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
) -> list[tuple[str, str, Proteins, int | None]]:
    """Return name, sentence, proteins and the class left out of each set of proteins."""
    from credence.problems import InputError, Problem
    from credence.study.world import WorldSettings, simulate_proteins

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
    usual = WorldSettings(n_families=families, seed=seed)
    diffuse = WorldSettings(
        n_families=families, seed=seed, n_folds=1, composition=1e6, order=60.0, family=60.0
    )
    last = usual.n_classes - 1
    return [
        ("proteins of folds", SIMULATED, simulate_proteins(usual), last),
        ("diffuse classes", DIFFUSE, simulate_proteins(diffuse), last),
    ]


def _given(proteins: str, labels: str, clusters: str) -> Proteins:
    """Return the user's proteins; refuse those without a class or a cluster."""
    import numpy as np

    from credence.cli.proteins import read_proteins
    from credence.problems import InputError, Problem
    from credence.study.novelty import known_classes
    from credence.study.world import Proteins
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
    found = Proteins(
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


def _class_of(name: str, proteins: Proteins) -> int:
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
