"""The file of a classifier: arrays and one JSON record in an npz, and the tables it gives."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from credence import __version__
from credence.classifier.networks import SCALE, About, Classifier, Network
from credence.predictions import Floats, Integers, Strings, from_scores
from credence.problems import refuse
from credence.records import from_record, parse_json, to_record
from credence.tables.npz import NpzFile
from credence.tables.samples import Samples, write_samples
from credence.tables.text import require_file
from credence.tables.writing import open_output

SCHEMA = "credence/classifier/1"
AGAIN = "Train again: credence train."
N_LAYERS = 4
DECIMALS = 6  # of scores on the scale of ten networks


def write_classifier(path: Path, model: Classifier) -> None:
    """Write a classifier; the same one gives the same bytes."""
    networks = model.networks
    record = {"schema": SCHEMA, "version": __version__, **to_record(model.about)}
    text = json.dumps(record, ensure_ascii=False).encode()
    arrays: dict[str, Any] = {"record": np.frombuffer(text, dtype=np.uint8)}
    arrays["mean"] = np.stack([network.mean for network in networks])
    arrays["scale"] = np.stack([network.scale for network in networks])
    for layer in range(N_LAYERS):
        arrays[f"weights_{layer}"] = np.stack([network.weights[layer] for network in networks])
        arrays[f"biases_{layer}"] = np.stack([network.biases[layer] for network in networks])
    with open_output(path) as handle:
        np.savez(handle, **arrays)


def read_classifier(path: Path) -> Classifier:
    """Return a classifier, or refuse what is none."""
    where = str(path)
    require_file(path)
    file = NpzFile(path)
    if "record" not in file.members or file.members["record"].dtype != np.uint8:
        raise refuse(where, "this is no classifier that credence trained.", AGAIN)
    try:
        data = parse_json(file.whole("record").tobytes().decode())
    except ValueError as error:
        raise refuse(where, "what it says of itself is damaged.", AGAIN) from error
    schema = data.pop("schema", None) if isinstance(data, dict) else None
    if schema != SCHEMA:
        what = f"its schema is {schema!r}, and this version reads {SCHEMA!r}."
        raise refuse(where, what, "Install the version of credence that wrote it.")
    data.pop("version", None)
    record = from_record(About, data, where, AGAIN)
    n, width = len(record.left_out), record.n_features
    shapes: dict[str, tuple[int, ...]] = {"mean": (n, width), "scale": (n, width)}
    for layer in range(N_LAYERS):
        member = file.members.get(f"weights_{layer}")
        after = member.shape[-1] if member is not None and member.shape else -1
        after = len(record.class_names) if layer == N_LAYERS - 1 else after
        shapes[f"weights_{layer}"], shapes[f"biases_{layer}"] = (n, width, after), (n, after)
        width = after
    for name, shape in shapes.items():
        member = file.members.get(name)
        if member is None or member.shape != shape or member.dtype != np.float32:
            what = f"the array {name!r} is not what its record says."
            raise refuse(where, what, AGAIN)
    if not record.published or max(record.published) >= n or min(record.published) < 0:
        raise refuse(where, "it names networks that it does not hold.", AGAIN)
    arrays = {name: file.whole(name) for name in shapes}
    layers = range(N_LAYERS)
    networks = tuple(
        Network(
            arrays["mean"][at],
            arrays["scale"][at],
            tuple(arrays[f"weights_{layer}"][at] for layer in layers),
            tuple(arrays[f"biases_{layer}"][at] for layer in layers),
        )
        for at in range(n)
    )
    return Classifier(record, networks)


def write_scores(
    path: Path,
    ids: Strings,
    class_names: tuple[str, ...],
    scores: Floats,
    true_class: Integers | None = None,
) -> None:
    """Write scores: a .csv in PhANNs' columns; .tsv or .parquet as credence's own table."""
    scores = np.round(scores, DECIMALS)
    if path.suffix != ".csv":
        predictions = from_scores(ids, class_names, scores, SCALE, 10.0**-DECIMALS)
        lines = np.arange(2, len(ids) + 2)
        write_samples(path, Samples(predictions, true_class, lines))
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["", *class_names])
    for id_, row in zip(ids, scores.tolist(), strict=True):
        writer.writerow([id_, *(f"{score:.{DECIMALS}f}" for score in row)])
    with open_output(path) as handle:
        handle.write(text.getvalue().encode())
