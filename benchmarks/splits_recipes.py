"""Recipes that split proteins, each run in a process of its own by `benchmarks.splits`.

A recipe takes proteins, classes, a number of groups and of threads, and gives
the group of each protein (−1: dropped) and, where it makes clusters that are packed
afterwards, the clusters.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.splits_world import SplitWorld

from credence.proteins import Proteins
from credence.relatives.all_engines import build_engine
from credence.relatives.cdhit import parse_clstr, phanns_groups
from credence.relatives.mmseqs import find_program
from credence.relatives.pack import pack

Groups = tuple[np.ndarray, np.ndarray | None]
SECONDS_OF_DATASAIL = "60"  # for its solver
PEERS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


class AbsentError(Exception):
    """The program is not here."""


def packed(world: SplitWorld, cluster: np.ndarray, n_groups: int) -> np.ndarray:
    """Return groups of whole clusters by the product's packing."""
    packing = pack(world.proteins.ids, cluster, world.class_, n_groups)
    return packing.group.astype(np.int64) - 1


def ours(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return the product's groups, with its defaults."""
    cluster = build_engine("mmseqs", threads=threads).cluster(world.proteins).cluster
    return packed(world, cluster, n_groups), cluster


def random(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return groups at random."""
    rng = np.random.default_rng(1)
    return rng.permutation(world.proteins.n_proteins) % n_groups, None


def cd_hit(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return CD-HIT's clusters at 40 %, packed by the product."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_fasta(world.proteins, folder / "all.fasta")
        words = ["-i", "all.fasta", "-o", "out", "-c", "0.4", "-n", "2", "-d", "0", "-M", "0"]
        call("cd-hit", [*words, "-T", str(threads)], folder)
        with (folder / "out.clstr").open(encoding="ascii") as lines:
            ids, home = parse_clstr(lines, "out.clstr")
    cluster = in_order(world.proteins, dict(zip(ids, home, strict=True)))
    return packed(world, cluster, n_groups), cluster


def phanns(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return PhANNs' groups: CD-HIT in each class, clusters given to groups in turn."""
    if shutil.which("cd-hit") is None:
        raise AbsentError("cd-hit is not installed")
    cluster, group = phanns_groups(world.proteins, world.class_, n_groups, threads)
    return group, cluster


def mmseqs_both_sides(
    world: SplitWorld, n_groups: int, threads: int, how: str = "easy-cluster"
) -> Groups:
    """Return the clusters of ``mmseqs cluster``, both sides covered, packed by the product."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_fasta(world.proteins, folder / "all.fasta")
        words = [how, "all.fasta", "out", "work", "--min-seq-id", "0.4", "-c", "0.8"]
        words += ["--cov-mode", "0", "--threads", str(threads), "-v", "1"]
        call(find_program(), words, folder)
        home = read_pairs(folder / "out_cluster.tsv")
    cluster = in_order(world.proteins, home)
    return packed(world, cluster, n_groups), cluster


def linclust(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return the clusters of ``mmseqs linclust``, packed by the product."""
    return mmseqs_both_sides(world, n_groups, threads, "easy-linclust")


def hestia(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return connected components of hestia's similarities by MMseqs2, packed by the product."""
    try:
        from hestia.clustering import generate_clusters
        from hestia.similarity import sequence_similarity_mmseqs
    except ImportError as error:
        raise AbsentError("hestia-good is not installed") from error
    frame = pd.DataFrame({"sequence": world.proteins.sequences.astype(str)})
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "mmseqs").symlink_to(find_program())
        os.environ["PATH"] = f"{name}{os.pathsep}{os.environ['PATH']}"
        alike = sequence_similarity_mmseqs(frame, threads=threads)
    how = {"threshold": 0.4, "cluster_algorithm": "connected_components"}
    cluster = np.asarray(generate_clusters(frame, "sequence", alike, **how)).astype(str)
    return packed(world, cluster.astype(object), n_groups), cluster.astype(object)


def diamond_cluster(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return the clusters of ``diamond cluster``, packed by the product."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_fasta(world.proteins, folder / "all.fasta")
        words = ["cluster", "--db", "all.fasta", "--out", "out.tsv", "--approx-id", "40"]
        words += ["--member-cover", "80", "--threads", str(threads), "--quiet"]
        call("diamond", words, folder)
        home = read_pairs(folder / "out.tsv")
    cluster = in_order(world.proteins, home)
    return packed(world, cluster, n_groups), cluster


def graph_part(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return GraphPart's groups by MMseqs2's alignments of all pairs; it takes all cores."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        labels = {id_: f"|label={kind}" for id_, kind in zip(*columns(world), strict=True)}
        write_fasta(world.proteins, folder / "all.fasta", labels)
        words = ["mmseqs2", "-ff", "all.fasta", "-th", "0.4", "-pa", str(n_groups)]
        words += ["-ln", "label", "-of", "out.csv", "-dn", "shortest"]
        call("graphpart", words, folder, with_mmseqs=True)
        with (folder / "out.csv").open(newline="") as handle:
            rows = list(csv.DictReader(handle))
    of = {row["AC"]: int(float(row["cluster"])) for row in rows}
    return np.array([of.get(id_, -1) for id_ in world.proteins.ids]), None


def datasail(world: SplitWorld, n_groups: int, threads: int) -> Groups:
    """Return DataSAIL's cluster-based split by DIAMOND's similarities."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_fasta(world.proteins, folder / "all.fasta")
        words = ["--output", "out", "--techniques", "C1e", "--splits", *["1"] * n_groups]
        words += ["--names", *map(str, range(n_groups)), "--e-type", "P", "--e-data", "all.fasta"]
        words += ["--e-sim", "diamond", "--threads", str(threads)]
        words += ["--to-sec", SECONDS_OF_DATASAIL]
        call("datasail", words, folder, with_mmseqs=True)
        found = sorted((folder / "out").rglob("*splits*.tsv"))
        if not found:
            raise AbsentError("DataSAIL wrote no split")
        lines = found[0].read_text().splitlines()[1:]
    of = {line.split("\t")[0]: line.split("\t")[1] for line in lines}
    groups = [of.get(id_, "-1") for id_ in world.proteins.ids]
    return np.array([int(one) if one.lstrip("-").isdigit() else -1 for one in groups]), None


RECIPES: dict[str, tuple[str, Callable[[SplitWorld, int, int], Groups], int]] = {
    # name → what the table calls it, the function, the largest size at which it is run
    "ours": ("credence", ours, 100_000),
    "random": ("at random", random, 100_000),
    "cd_hit": ("cd-hit -c 0.4 -n 2, clusters packed by credence", cd_hit, 20_000),
    "phanns": ("PhANNs: cd-hit per class, given to groups in turn", phanns, 20_000),
    "mmseqs": ("mmseqs cluster, both sides, packed by credence", mmseqs_both_sides, 20_000),
    "linclust": ("mmseqs linclust, packed by credence", linclust, 20_000),
    "hestia": ("hestia-good 1.2.2 (MMseqs2, components), packed by credence", hestia, 20_000),
    "diamond": ("diamond cluster, packed by credence", diamond_cluster, 20_000),
    "datasail": ("DataSAIL 1.4.0 (C1e, DIAMOND, its defaults)", datasail, 20_000),
    "graph_part": ("GraphPart 1.0.2 (MMseqs2)", graph_part, 2_000),
}


def columns(world: SplitWorld) -> tuple[list[str], list[int]]:
    """Return ids and classes."""
    return world.proteins.ids.tolist(), world.class_.tolist()


def write_fasta(proteins: Proteins, path: Path, labels: dict[str, str] | None = None) -> None:
    """Write proteins, with something behind each id."""
    with path.open("w", encoding="ascii") as handle:
        for id_, text in zip(proteins.ids, proteins.sequences, strict=True):
            handle.write(f">{id_}{'' if labels is None else labels[id_]}\n{text}\n")


def read_pairs(path: Path) -> dict[str, str]:
    """Return member → representative of a table of the two."""
    rows = (line.split("\t") for line in path.read_text("ascii").splitlines())
    return {member: stands for stands, member in rows}


def in_order(proteins: Proteins, home: dict[str, str]) -> np.ndarray:
    """Return the cluster of each protein; one that the program dropped is alone."""
    cluster = np.empty(proteins.n_proteins, dtype=object)
    cluster[:] = [home.get(id_, id_) for id_ in proteins.ids]
    return cluster


def call(program: str, words: list[str], folder: Path, with_mmseqs: bool = False) -> None:
    """Run a program to its end, with MMseqs2 on its path where it needs it."""
    path = PEERS
    if with_mmseqs:
        bin_ = folder / "bin"
        bin_.mkdir()
        (bin_ / "mmseqs").symlink_to(find_program())
        path = f"{bin_}{os.pathsep}{path}"
    found = shutil.which(program, path=path)
    if found is None:
        raise AbsentError(f"{Path(program).name} is not installed")
    environment = os.environ | {"PATH": f"{Path(found).parent}{os.pathsep}{path}"}
    if with_mmseqs:
        environment["PATH"] = f"{folder / 'bin'}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        [found, *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = " | ".join(done.stdout.strip().splitlines()[-2:])
        raise AbsentError(f"{Path(program).name} failed: {last[:200]}")
