"""Query sets of ten million rows through every stage that reads them: seconds and memory.

Also one of twenty million rows in 200 shards, killed twice and resumed.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.lib.format as npy
import pandas as pd
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
from benchmarks.run import table
from benchmarks.shift import chunks
from benchmarks.speed import N_PAPER, paper_sized

N_ROWS = 10_000_000
N_PROTEINS = 1_000_000  # of the ensemble: ten million rows
N_NETWORKS = 10
SEED = 5
DECIMALS = 2  # of the text, as PhANNs writes its scores
SCALE = 10.0
NOTE = (
    "Simulated rows of 11 classes, a calibration of the kernel method with intervals; the Parquet "
    f"table holds full floats, the text {DECIMALS} decimals. Processor seconds, and the greatest "
    "memory of a process or of one that it starts. The goal for 10,000,000 rows is under 2 GiB.\n"
    "\n"
)
ENSEMBLE_NOTE = (
    f"Simulated proteins with the scores of {N_NETWORKS} networks for 11 classes: as Parquet of "
    "full floats with a row per protein and network, and as npz of single ones. Processor "
    "seconds, and the greatest memory of a process. The goal is under 2 GiB.\n"
    "\n"
)


def pieces(n_rows: int, decimals: int | None) -> Iterator[pa.Table]:
    """Yield the rows of a query set as tables with an id and a column per class."""
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


def write_query_set(path: Path, n_rows: int) -> None:
    """Write a query set as Parquet, or as packed text with few decimals."""
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


def ensemble(n_proteins: int) -> Iterator[tuple[list[str], Any]]:
    """Yield ids of proteins and what every network says: in the mean near a query set's scores."""
    for part in chunks(n_proteins):
        rng = np.random.default_rng([SEED, int(part.ids[0])])
        shape = (part.n_samples, N_NETWORKS, part.n_classes)
        scores = part.scores[:, None] * rng.uniform(0.5, 1.5, shape)
        yield [f"q{row}" for row in part.ids], scores / scores.sum(axis=2, keepdims=True)


def write_long(path: Path, n_proteins: int) -> None:
    """Write an ensemble as a Parquet table with a row per protein and network."""
    names = next(chunks(1)).class_names
    writer = None
    for ids, scores in ensemble(n_proteins):
        columns = {
            "id": np.repeat(ids, N_NETWORKS),
            "network": np.tile([str(number + 1) for number in range(N_NETWORKS)], len(ids)),
        }
        columns |= dict(zip(names, scores.reshape(-1, len(names)).T, strict=True))
        piece = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, piece.schema)
        writer.write_table(piece)
    assert writer is not None
    writer.close()


def write_arrays(path: Path, n_proteins: int) -> None:
    """Write an ensemble as npz, as np.savez does, piece by piece."""
    names = np.array(next(chunks(1)).class_names)
    ids = np.array([f"q{row}" for row in range(n_proteins)])
    header = {
        "descr": "<f4",
        "fortran_order": False,
        "shape": (n_proteins, N_NETWORKS, len(names)),
    }
    np.savez(path, id=ids, class_names=names)
    with (
        zipfile.ZipFile(path, "a") as archive,
        archive.open("softmax.npy", "w", force_zip64=True) as target,
    ):
        npy.write_array_header_1_0(target, header)
        for _, scores in ensemble(n_proteins):
            target.write(scores.astype("<f4").tobytes())


def write_known(folder: Path, n_calibration: int = N_PAPER) -> None:
    """Write the labelled table."""
    labelled = paper_sized(n_calibration)
    names = list(labelled.predictions.class_names)
    known = pd.DataFrame(labelled.predictions.scores, columns=names)
    known.insert(0, "id", [f"p{row}" for row in range(len(known))])
    known.insert(1, "true_class", np.array(names, dtype=object)[labelled.true_class])
    known.to_csv(folder / "known.tsv", sep="\t", index=False)


def commands(source: str) -> dict[str, list[str]]:
    """Return the stages that read a query set, in order; of most forms the longest, the first."""
    wide = ["--format", "wide", "--spec", json.dumps({"scale": SCALE})]
    read = {
        "ensemble.parquet": ["--format", "credence"],
        "ensemble.npz": ["--format", "networks-npz"],
    }.get(source, wide)
    known = ["--samples", "known.tsv", "--samples-format", "credence", "--samples-spec"]
    annotate = ["annotate", source, *read, "--calibration", "c.json", "--shift", "shift.json"]
    every = {
        "check": ["check", source, *read, "--out", "check.json"],
        "shift": ["shift", source, *read, *known, json.dumps({"scale": SCALE}), "--calibration",
                  "c.json", "--out", "class_proportions.tsv", "--record", "shift.json"],
        "annotate --shift to .parquet": [*annotate, "--out", "out.parquet"],
        "annotate --shift to .tsv": [*annotate, "--out", "out.tsv"],
        "annotate --shift to .tsv.gz": [*annotate, "--out", "out.tsv.gz"],
    }  # fmt: skip
    wanted = {
        "use.parquet": every,
        "use.tsv.gz": ("check", "annotate --shift to .tsv.gz"),
        "ensemble.parquet": ("check", "shift", "annotate --shift to .parquet"),
        "ensemble.npz": ("check", "annotate --shift to .parquet"),
    }
    return {name: every[name] for name in wanted[source]}


def apart(write: Callable[..., None], *given: object) -> None:
    """Write in a process of its own: what this one once held counts for its children's peak."""
    process = multiprocessing.get_context("spawn").Process(target=write, args=given)
    process.start()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"{write.__name__} failed")


def run_measured(words: list[str], folder: Path, decimals: int = 0) -> tuple[str, str]:
    """Return processor seconds and peak memory (GiB) of a command, or how it failed."""
    with (folder / "said.txt").open("wb") as stated:
        command = [sys.executable, "-m", "credence", *words]
        process = subprocess.Popen(command, cwd=folder, stdout=stated, stderr=stated)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        return "", f"failed: {(folder / 'said.txt').read_text().splitlines()[-1:]}"
    seconds = usage.ru_utime + usage.ru_stime
    return f"{seconds:.{decimals}f}", f"{usage.ru_maxrss / 1024**2:.2f}"


def measured(
    folder: Path, writers: dict[str, Callable[[Path, int], None]], size: int
) -> list[list[str]]:
    """Return seconds and peak memory of each stage, for each form of a set of some size."""
    apart(write_known, folder)
    fit = ["fit", "known.tsv", "--format", "credence", "--scale", f"{SCALE:g}", "--out", "c.json"]
    run_measured(fit, folder)
    lines = []
    for source, write in writers.items():
        apart(write, folder / source, size)
        for name, words in commands(source).items():
            ending = source[source.index(".") :]
            lines.append([f"`credence {name}`", ending, f"{size:,}", *run_measured(words, folder)])
            print(*lines[-1], flush=True)
        (folder / source).unlink()
    return lines


def streams(folder: Path, n_rows: int = N_ROWS) -> str:
    """Return seconds and peak memory of each stage, for Parquet and packed text."""
    writers = {"use.parquet": write_query_set, "use.tsv.gz": write_query_set}
    lines = measured(folder, writers, n_rows)
    return NOTE + table(["", "table", "rows", "seconds", "peak GiB"], lines)


def ensembles(folder: Path, n_proteins: int = N_PROTEINS) -> str:
    """Return seconds and peak memory of each stage, for a long table and arrays of networks."""
    writers = {"ensemble.parquet": write_long, "ensemble.npz": write_arrays}
    lines = measured(folder, writers, n_proteins)
    return ENSEMBLE_NOTE + table(["", "table", "proteins", "seconds", "peak GiB"], lines)


SHARD_ROWS, N_SHARDS = 20_000_000, 200
SHARDS_NOTE = (
    "Simulated rows of 11 classes of full floats in {n_shards} Parquet tables, a calibration of "
    "the kernel method with intervals; `credence annotate FOLDER --out FOLDER`, killed (SIGKILL) "
    "after a third and after two thirds of the tables, then run to its end, and once more with "
    "`--ids-across`. Processor seconds, the greatest memory of a process. {checked}\n\n"
)


def write_shards(folder: Path, n_rows: int, n_shards: int) -> None:
    """Write a query set as tables of as many rows each, whose ids go on."""
    folder.mkdir()
    waiting: list[pa.Table] = []
    size, written = n_rows // n_shards, 0
    for piece in pieces(n_rows, None):
        waiting.append(piece)
        rows = pa.concat_tables(waiting)
        while len(rows) >= size and written < n_shards:
            pq.write_table(rows.slice(0, size), folder / f"shard_{written:04d}.parquet")
            rows, written = rows.slice(size), written + 1
        waiting = [rows]


def killed_after(words: list[str], out: Path, n_tables: int) -> tuple[float, float, int]:
    """Return processor seconds, GiB and tables of a command, killed after so many of them."""
    with (out.parent / "said.txt").open("wb") as stated:
        process = subprocess.Popen(
            [sys.executable, "-m", "credence", *words],
            cwd=out.parent, stdout=stated, stderr=stated,
        )  # fmt: skip
    while n_tables and len(list(out.glob("shard_*"))) < n_tables:
        time.sleep(0.02)
        if process.poll() is not None:
            break
    if n_tables:
        process.send_signal(signal.SIGKILL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != (signal.SIGKILL if n_tables else 0):
        raise RuntimeError((out.parent / "said.txt").read_text())
    left = len(list(out.glob("shard_*")))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024**2, left


def ids_seen(out: Path, n_rows: int) -> Any:
    """Return how often each id of a query set stands in the tables of a folder."""
    seen = np.zeros(n_rows, dtype=np.int64)
    for path in sorted(out.glob("shard_*")):
        ids = pq.read_table(path, columns=["id"])["id"].to_pylist()
        seen += np.bincount([int(name[1:]) for name in ids], minlength=n_rows)
    return seen


def shards(folder: Path, n_rows: int = SHARD_ROWS, n_shards: int = N_SHARDS) -> str:
    """Return rates and peak memory of a query set in shards that is killed twice and resumed."""
    apart(write_known, folder)
    fit = ["fit", "known.tsv", "--format", "credence", "--scale", f"{SCALE:g}"]
    run_measured([*fit, "--method", "kernel", "--out", "c.json"], folder)
    apart(write_shards, folder / "shards", n_rows, n_shards)
    wide = ["--format", "wide", "--spec", json.dumps({"scale": SCALE})]
    out = folder / "out"
    words = ["annotate", "shards", *wide, "--calibration", "c.json", "--out", "out"]
    lines, before = [], 0
    runs = {"killed": n_shards // 3, "killed again": 2 * n_shards // 3, "to its end": 0}
    for name, n_tables in runs.items():
        seconds, gigabytes, left = killed_after(words, out, n_tables)
        rate = (left - before) * (n_rows // n_shards) / seconds
        made = f"{left - before}"
        lines.append([name, made, f"{seconds:.1f}", f"{rate:,.0f}", f"{gigabytes:.2f}"])
        print(*lines[-1], flush=True)
        before = left
    seconds, gigabytes, left = killed_after([*words, "--ids-across"], out, 0)
    lines.append(["with `--ids-across`", "0", f"{seconds:.1f}", "", f"{gigabytes:.2f}"])
    seen = ids_seen(out, n_rows)
    if left != n_shards or (seen != 1).any():
        raise RuntimeError(f"{left} tables; {(seen != 1).sum()} ids are not there once")
    # An undisturbed run of some of them into another folder.
    some = [str(path.relative_to(folder)) for path in sorted((folder / "shards").glob("*"))]
    some = some[:: max(1, n_shards // 20)]
    killed_after(["annotate", *some, *words[2:-1], "again/"], folder / "again", 0)
    for path in some:
        name = Path(path).name
        if (out / name).read_bytes() != (folder / "again" / name).read_bytes():
            raise RuntimeError(f"{name} is not what an undisturbed run writes")
    checked = (
        f"Each of {n_rows:,} ids stands there once; {len(some)} tables, spread over all, are the "
        "bytes of an undisturbed run."
    )
    note = SHARDS_NOTE.format(n_shards=n_shards, checked=checked)
    return note + table(["", "tables written", "seconds", "rows a second", "peak GiB"], lines)
