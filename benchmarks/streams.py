"""Use-sets of ten million rows through every stage that reads them: seconds and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
from benchmarks.run import table
from benchmarks.shift import chunks
from benchmarks.speed import paper_sized

N_ROWS = 10_000_000
DECIMALS = 2  # of the text, as PhANNs writes its scores
SCALE = 10.0
NOTE = (
    "Simulated rows of 11 classes, a calibration of the kernel method with intervals; the Parquet "
    f"table holds full floats, the text {DECIMALS} decimals. Processor seconds, and the greatest "
    "memory of a process or of one that it starts. The goal for 10,000,000 rows is under 2 GiB.\n"
    "\n"
)


def pieces(n_rows: int, decimals: int | None) -> Iterator[pa.Table]:
    """Yield the rows of a use-set as tables with an id and a column per class."""
    for part in chunks(n_rows):
        scores = part.scores
        if decimals is not None:
            scores = np.round(scores, decimals)
            best = scores.argmax(axis=1)
            rows = np.arange(len(scores))
            scores[rows, best] = np.round(
                scores[rows, best] + SCALE - scores.sum(axis=1), decimals
            )
        columns = {"id": [f"q{row}" for row in part.ids]}
        yield pa.table(columns | dict(zip(part.class_names, scores.T, strict=True)))


def write_use_set(path: Path, n_rows: int) -> None:
    """Write a use-set as Parquet, or as packed text with few decimals."""
    is_text = path.suffix == ".gz"
    writer = None
    for piece in pieces(n_rows, DECIMALS if is_text else None):
        if writer is None:
            writer = (
                csv.CSVWriter(
                    pa.CompressedOutputStream(str(path), "gzip"),
                    piece.schema,
                    write_options=csv.WriteOptions(delimiter="\t", quoting_style="none"),
                )
                if is_text
                else pq.ParquetWriter(path, piece.schema)
            )
        writer.write_table(piece)
    assert writer is not None
    writer.close()


def write_known(folder: Path) -> None:
    """Write the labelled table."""
    labelled = paper_sized()
    names = list(labelled.predictions.class_names)
    known = pd.DataFrame(labelled.predictions.scores, columns=names)
    known.insert(0, "id", [f"p{row}" for row in range(len(known))])
    known.insert(1, "true_class", np.array(names, dtype=object)[labelled.true_class])
    known.to_csv(folder / "known.tsv", sep="\t", index=False)


def commands(source: str) -> dict[str, list[str]]:
    """Return the stages that read a use-set, in order; of text the longest and the first."""
    read = ["--format", "wide", "--spec", json.dumps({"scale": SCALE})]
    known = ["--samples", "known.tsv", "--samples-format", "credence", "--samples-spec"]
    annotate = ["annotate", source, *read, "--calibration", "c.json", "--shift", "shift.json"]
    every = {
        "check": ["check", source, *read, "--out", "check.json"],
        "shift": ["shift", source, *read, *known, json.dumps({"scale": SCALE}), "--calibration",
                  "c.json", "--out", "composition.tsv", "--record", "shift.json"],
        "annotate --shift to .parquet": [*annotate, "--out", "out.parquet"],
        "annotate --shift to .tsv": [*annotate, "--out", "out.tsv"],
        "annotate --shift to .tsv.gz": [*annotate, "--out", "out.tsv.gz"],
    }  # fmt: skip
    of_text = ("check", "annotate --shift to .tsv.gz")
    return every if source.endswith(".parquet") else {name: every[name] for name in of_text}


def run_measured(words: list[str], folder: Path) -> tuple[str, str]:
    """Return processor seconds and peak memory (GiB) of a command, or how it failed."""
    with (folder / "said.txt").open("wb") as said:
        command = [sys.executable, "-m", "credence", *words]
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        return "", f"failed: {(folder / 'said.txt').read_text().splitlines()[-1:]}"
    return f"{usage.ru_utime + usage.ru_stime:.0f}", f"{usage.ru_maxrss / 1024**2:.2f}"


def streams(folder: Path, n_rows: int = N_ROWS) -> str:
    """Return seconds and peak memory of each stage, for Parquet and packed text."""
    write_known(folder)
    fit = ["fit", "known.tsv", "--format", "credence", "--scale", f"{SCALE:g}", "--out", "c.json"]
    run_measured(fit, folder)
    lines = []
    for ending in (".parquet", ".tsv.gz"):
        source = folder / f"use{ending}"
        write_use_set(source, n_rows)
        for name, words in commands(source.name).items():
            found = run_measured(words, folder)
            lines.append([f"`credence {name}`", ending, f"{n_rows:,}", *found])
            print(*lines[-1], flush=True)
        source.unlink()
    return NOTE + table(["", "table", "rows", "seconds", "peak GiB"], lines)
