"""Networks on words of side chains: one learns without two groups; several score proteins."""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from Bio import SeqIO
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

SIDE_CHAINS = ("AILMV", "NQST", "GP", "C", "HKR", "DE", "FWY")  # PhANNs' groups of residues
LETTER = {residue: letter for letter, group in enumerate(SIDE_CHAINS) for residue in group}
FARTHEST = 5.0  # standard deviations; one rare word counts no more


def read_fasta(path):
    """Return the sequence of each protein by its id."""
    return {record.id: str(record.seq).upper() for record in SeqIO.parse(path, "fasta")}


def read_column(path, name):
    """Return a column of a table by id."""
    with Path(path).open(newline="", encoding="utf-8") as handle:
        return {row["id"]: row[name] for row in csv.DictReader(handle, delimiter="\t")}


def shares_of_words(sequence, length):
    """Return how frequent each word of side chains is; one with an unknown residue counts none."""
    letters = np.array([LETTER.get(residue, -1) for residue in sequence])
    if len(letters) < length:
        return np.zeros(len(SIDE_CHAINS) ** length)
    words = np.lib.stride_tricks.sliding_window_view(letters, length)
    codes = (words @ len(SIDE_CHAINS) ** np.arange(length))[(words >= 0).all(axis=1)]
    return np.bincount(codes, minlength=len(SIDE_CHAINS) ** length) / len(words)


def train(asked):
    """Write a network that learnt from proteins of all groups but those it is to score."""
    sequences, class_of = read_fasta(asked.fasta), read_column(asked.groups, "class")
    group_of = read_column(asked.groups, "group")  # empty where a protein is set aside
    ids = [id_ for id_ in sequences if group_of[id_] not in ("", *asked.without)]
    classes, truth = np.unique([class_of[id_] for id_ in ids], return_inverse=True)
    if absent := {class_of[id_] for id_ in sequences} - set(classes):
        raise SystemExit(f"Too few families of {absent}: give more, or fewer groups.")
    values = np.array([shares_of_words(sequences[id_], asked.word) for id_ in ids])
    mean, spread = values.mean(axis=0), values.std(axis=0)
    factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    network = MLPClassifier(
        hidden_layer_sizes=(asked.width, asked.width // 2),
        alpha=asked.penalty,
        max_iter=asked.epochs,
        random_state=int("".join(asked.without)),
    )
    weight = (len(truth) / len(classes) / np.bincount(truth))[truth]  # classes count alike
    with warnings.catch_warnings(category=ConvergenceWarning, action="ignore"):
        network.fit(np.clip((values - mean) * factor, -FARTHEST, FARTHEST), truth, weight)
    layers = [*network.coefs_, *network.intercepts_]
    np.savez(
        asked.out, classes=classes, without=asked.without, word=asked.word, mean=mean,
        factor=factor, **{f"layer_{at}": layer for at, layer in enumerate(layers)},
    )  # fmt: skip


def softmax(network, values):
    """Return a network's probabilities of the classes."""
    layers = [network[name] for name in network if name.startswith("layer_")]
    weights, shifts = layers[: len(layers) // 2], layers[len(layers) // 2 :]
    values = np.clip((values - network["mean"]) * network["factor"], -FARTHEST, FARTHEST)
    for weight, shift in zip(weights[:-1], shifts[:-1], strict=True):
        values = np.maximum(values @ weight + shift, 0.0)
    logits = values @ weights[-1] + shifts[-1]
    if logits.shape[1] == 1:  # of two classes scikit-learn has the second's
        logits = np.hstack([np.zeros_like(logits), logits])
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def score(asked):
    """Write the sums of networks; with groups, of those that did not see a protein's group."""
    networks = [np.load(path) for path in asked.networks]
    group_of = None if asked.groups is None else read_column(asked.groups, "group")
    sequences = read_fasta(asked.fasta)
    ids = [id_ for id_ in sequences if group_of is None or group_of[id_]]
    values = np.array([shares_of_words(sequences[id_], networks[0]["word"]) for id_ in ids])
    total = np.zeros((len(ids), len(networks[0]["classes"])))
    for network in networks:
        rows = np.array([group_of is None or group_of[id_] in network["without"] for id_ in ids])
        total[rows] += softmax(network, values[rows])
    with Path(asked.out).open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["", *networks[0]["classes"]])
        for id_, row in zip(ids, total.tolist(), strict=True):
            writer.writerow([id_, *(f"{value:.6f}" for value in row)])


parser = argparse.ArgumentParser(description=__doc__)
commands = parser.add_subparsers(required=True)
for command in (train, score):
    words = commands.add_parser(command.__name__, help=command.__doc__)
    words.set_defaults(command=command)
    words.add_argument("fasta")
    words.add_argument("--groups", required=command is train)
    words.add_argument("--out", required=True)
    if command is train:
        words.add_argument("--without", nargs=2, required=True)
        for name in ("word", "width", "epochs"):
            words.add_argument(f"--{name}", type=int, required=True)
        words.add_argument("--penalty", type=float, required=True)
    else:
        words.add_argument("--networks", nargs="+", required=True)

if __name__ == "__main__":
    given = parser.parse_args()
    given.command(given)
