"""The files of a world, as content: the command line writes them."""

from __future__ import annotations

import io

import numpy as np

from credence.predictions import Floats, Integers, Strings
from credence.simulate.law import CLASS_NAMES
from credence.simulate.world import KINDS, NOTICE, SimulatedSet, World

FASTA_WIDTH = 60
NETWORK_DECIMALS = 4  # as PhANNs' own arrays are stored

README = f"""{NOTICE}

calibration.csv            scores of proteins with known classes, PhANNs' labelled layout
proteins.fasta             their sequences (ids are the first word of a header)
calibration_networks.npz   the ten networks' own scores: softmax (protein, network, class)
training.fasta             what the simulated classifier was trained on
use.csv, use.fasta         proteins to annotate, PhANNs' web layout, another composition
trove_htj.csv, .fasta      new HTJ proteins, labelled
trove_mixed.csv, .fasta    new proteins of all classes, with repeats, conflicts and relatives
truth/families.tsv         the true family and class of every protein
truth/planted.tsv          everything planted for a stage to find

Seed: {{seed}}. Kinds in truth/planted.tsv:
{{kinds}}
"""


def render_files(world: World) -> dict[str, str | bytes]:
    """Return the content of each file of a world, by its path."""
    calibration = world.calibration
    kinds = "\n".join(f"  {kind}: {text}" for kind, text in KINDS.items())
    return {
        "README.txt": README.format(seed=world.settings.seed, kinds=kinds),
        "calibration.csv": labelled_csv(calibration),
        "proteins.fasta": fasta(calibration.ids, calibration.sequences),
        "calibration_networks.npz": networks_npz(calibration),
        "training.fasta": fasta(world.training.ids, world.training.sequences),
        "use.csv": web_csv(world.use, calibration),
        "use.fasta": fasta(world.use.ids, world.use.sequences),
        "trove_htj.csv": labelled_csv(world.trove),
        "trove_htj.fasta": fasta(world.trove.ids, world.trove.sequences),
        "trove_mixed.csv": labelled_csv(world.mixed_trove),
        "trove_mixed.fasta": fasta(world.mixed_trove.ids, world.mixed_trove.sequences),
        "truth/families.tsv": families_tsv(world),
        "truth/planted.tsv": planted_tsv(world),
    }


def fasta(ids: Strings, sequences: Strings) -> str:
    """Return FASTA text whose headers say that the proteins are simulated."""
    lines = []
    for name, sequence in zip(ids, sequences, strict=True):
        lines.append(f">{name} simulated")
        lines += [sequence[i : i + FASTA_WIDTH] for i in range(0, len(sequence), FASTA_WIDTH)]
    return "\n".join(lines) + "\n"


def labelled_csv(simulated: SimulatedSet) -> str:
    """Return scores in PhANNs' labelled layout: the row's name carries the label."""
    return "\n".join(_score_lines(simulated)) + "\n"


def web_csv(simulated: SimulatedSet, calibration: SimulatedSet) -> str:
    """Return scores in the layout of PhANNs' web site, with its `Confidence` column.

    As on the site, that is the precision among the test proteins of the same
    predicted class that score at least as high.
    """
    predicted = simulated.labelled.predictions.predicted_class
    confidence = precision_at(calibration, predicted, _top_score(simulated))
    last = ["Confidence", *(f"{value:.2f}" for value in confidence)]
    lines = zip(_score_lines(simulated), last, strict=True)
    return "\n".join(f"{line},{value}" for line, value in lines) + "\n"


def precision_at(calibration: SimulatedSet, predicted_class: Integers, score: Floats) -> Floats:
    """Return the share of right predictions of a class with at least this score."""
    values = np.zeros(len(score))
    labelled = calibration.labelled
    for class_ in range(len(CLASS_NAMES)):
        rows = labelled.predictions.predicted_class == class_
        asked = predicted_class == class_
        if not rows.any() or not asked.any():
            continue
        order = np.argsort(-_top_score(calibration)[rows], kind="stable")
        descending = -_top_score(calibration)[rows][order]
        right = np.cumsum(labelled.is_correct[rows][order])
        n_above = np.maximum(np.searchsorted(descending, -score[asked], "right"), 1)
        values[asked] = right[n_above - 1] / n_above
    return values


def networks_npz(simulated: SimulatedSet) -> bytes:
    """Return the ten networks' scores as an npz archive in PhANNs' array layout."""
    names = np.array(CLASS_NAMES)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        softmax=np.round(simulated.networks, NETWORK_DECIMALS).astype(np.float32),
        class_names=names,
        true_class=names[simulated.true_class],
        id=simulated.ids.astype(str),
    )
    return buffer.getvalue()


def families_tsv(world: World) -> str:
    """Return the true set, family and class of every protein."""
    lines = ["id\tset\tfamily\ttrue_class"]
    for name, part in (
        ("calibration", world.calibration),
        ("use", world.use),
        ("trove_htj", world.trove),
        ("trove_mixed", world.mixed_trove),
        ("training", world.training),
    ):
        lines += [
            f"{id_}\t{name}\t{family}\t{CLASS_NAMES[class_]}"
            for id_, family, class_ in zip(part.ids, part.family, part.true_class, strict=True)
        ]
    return "\n".join(lines) + "\n"


def planted_tsv(world: World) -> str:
    """Return everything that was planted, a line each."""
    lines = ["id\tkind\tsources"]
    lines += [f"{entry.id}\t{entry.kind}\t{','.join(entry.sources)}" for entry in world.planted]
    return "\n".join(lines) + "\n"


def _top_score(simulated: SimulatedSet) -> Floats:
    score = simulated.labelled.predictions.top_score
    assert score is not None
    return score


def _score_lines(simulated: SimulatedSet) -> list[str]:
    scores = simulated.labelled.predictions.scores
    assert scores is not None
    rows = zip(simulated.ids, scores, strict=True)
    lines = [f"{name}," + ",".join(f"{value:.2f}" for value in row) for name, row in rows]
    return ["," + ",".join(CLASS_NAMES), *lines]
