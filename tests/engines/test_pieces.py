"""A search in pieces: by one command, by one that was killed, and by jobs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from credence.app.commands import cluster
from credence.predictions import Integers, Strings
from credence.relatives import all_engines, mmseqs
from credence.relatives.alignment import Library
from credence.relatives.mmseqs import MmseqsFinder, Search
from credence.relatives.pairs import Pairs, Thresholds, distinct, no_pairs
from credence.relatives.pieces import Pieces, UnfinishedError
from credence.simulate.sequences import codes, mutated, written

RESIDUES = list("ARNDCQEGHILKMFPSTWYV")


def world(n_families: int = 6, size: int = 3) -> Strings:
    """Return families of proteins of 60 to 250 residues."""
    rng = np.random.default_rng(4)
    texts = []
    for _ in range(n_families):
        ancestor = codes("".join(rng.choice(RESIDUES, int(rng.integers(60, 250)))))
        texts += [written(mutated(ancestor, 0.6, rng)) for _ in range(size)]
    return distinct(np.array(texts, dtype=object)).texts


class Program:
    """What proposes every pair of a query and a target, and remembers what it was asked."""

    def __init__(self) -> None:
        self.searches: list[Search] = []
        self.breaks_after = 10**9

    def near_copies(self, name: str, texts: Strings, rows: Integers, identity: float) -> Pairs:
        return no_pairs()

    def hidden(self, database: Path, texts: Strings) -> Integers:
        return np.zeros(len(texts), dtype=np.int64)

    def candidates(
        self, database: Path, lengths: Integers, search: Search
    ) -> tuple[Integers, Integers, Integers]:
        if len(self.searches) == self.breaks_after:
            raise KeyboardInterrupt
        self.searches.append(search)
        one, other = np.meshgrid(search.queries, search.targets)
        keys = np.unique(np.minimum(one, other) * len(lengths) + np.maximum(one, other))
        first, second = np.divmod(keys, len(lengths))
        first, second = first[first != second], second[first != second]
        return first, second, np.full(len(first), 60)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Program:
    made = Program()
    monkeypatch.setattr(mmseqs, "Mmseqs", SimpleNamespace(found=lambda *words: made))
    monkeypatch.setitem(
        all_engines.FINDERS, "mmseqs", lambda threads, timeout: MmseqsFinder(most_cells=0.0)
    )
    for name in ("START", "INDEX"):
        monkeypatch.setattr(mmseqs, name, 1e-9)
    monkeypatch.setattr(mmseqs, "LONGEST", 1e-5)
    return made


def listed(pairs: Pairs) -> list[tuple[int, int, float]]:
    columns = pairs.first.tolist(), pairs.second.tolist(), pairs.identity.tolist()
    return list(zip(*columns, strict=True))


def among(texts: Strings, pieces: Pieces | None = None) -> list[tuple[int, int, float]]:
    finder = MmseqsFinder(most_cells=0.0, pieces=pieces)
    return listed(finder.among(texts, Thresholds().looser()))


@pytest.mark.parametrize("n_shares", [1, 2, 5])
def test_pieces_made_by_jobs_give_what_one_command_gives(
    n_shares: int, program: Program, tmp_path: Path
) -> None:
    texts = world()
    whole, n_searches = among(texts), len(program.searches)
    assert len(whole) >= 10
    assert n_searches > 6
    for step in ("search", "again"):
        for number in (0, *reversed(range(1, n_shares + 1))):
            with pytest.raises(UnfinishedError):
                among(texts, Pieces(folder=tmp_path, step=step, number=number, n_shares=n_shares))
    assert len(program.searches) == 2 * n_searches  # each piece once
    assert among(texts, Pieces(folder=tmp_path)) == whole
    assert len(program.searches) == 2 * n_searches  # and none anew


def test_a_search_that_was_killed_goes_on_where_it_was(program: Program, tmp_path: Path) -> None:
    texts = world()
    whole, n_searches = among(texts), len(program.searches)
    for more in (3, 5):
        program.breaks_after = len(program.searches) + more
        with pytest.raises(KeyboardInterrupt):
            among(texts, Pieces(folder=tmp_path))
    program.breaks_after = 10**9
    assert among(texts, Pieces(folder=tmp_path)) == whole
    assert len(program.searches) == 2 * n_searches


def test_every_query_meets_itself_and_all_that_are_longer_in_one_piece() -> None:
    library = Library(texts=world())
    rest = np.arange(0, len(library.texts), 2)
    found = list(mmseqs._searches(mmseqs.REACHES, library, rest, rest, longer=True))
    assert len(found) == 1  # so few are not divided
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(mmseqs, "START", 1e-9)
        patched.setattr(mmseqs, "INDEX", 1e-9)
        found = list(mmseqs._searches(mmseqs.REACHES, library, rest, rest, longer=True))
    assert len(found) > 3
    assert np.concatenate([one.queries for one in found]).tolist() == rest.tolist()
    for one in found:
        assert one.targets.tolist() == rest[rest <= one.queries[-1]].tolist()


def test_what_earlier_pieces_connect_is_not_scored_again(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = world(n_families=2, size=8)
    n_scored: list[int] = []
    scores = Library.scores

    def counted(self: Library, first: Integers, second: Integers) -> np.ndarray:
        n_scored.append(len(first))
        return scores(self, first, second)

    monkeypatch.setattr(Library, "scores", counted)
    among(texts)
    # Within a family all are connected by what promises most; across, each pair is scored once.
    assert sum(n_scored) <= len(texts) * (len(texts) - 1) // 2


def call(folder: Path, *words: str) -> tuple[int, str]:
    proteins = str(folder / "proteins.fasta")
    found = CliRunner().invoke(cluster, [proteins, "--out", str(folder / "out.tsv"), *words])
    return found.exit_code, found.output


def test_the_command_in_shares_writes_the_same_bytes_and_leaves_no_pieces(
    program: Program, tmp_path: Path
) -> None:
    texts = world()
    lines = [f">p{row}\n{text}\n" for row, text in enumerate(texts)]
    (tmp_path / "proteins.fasta").write_text("".join(lines))
    assert call(tmp_path)[0] == 0
    whole = (tmp_path / "out.tsv").read_bytes()
    pieces = tmp_path / "pieces"
    for share in ("search:0/2", "search:2/2", "search:1/2", "again:0/2", "again:1/2", "again:2/2"):
        code, output = call(tmp_path, "--pieces", str(pieces), "--share", share)
        assert code == 0, output
        assert (tmp_path / "out.tsv").read_text() == f"share {share}\n"
        assert len(list(pieces.iterdir())) == 1
    n_searches = len(program.searches)
    assert call(tmp_path, "--pieces", str(pieces))[0] == 0
    assert (tmp_path / "out.tsv").read_bytes() == whole
    assert len(program.searches) == n_searches
    assert not pieces.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--share", "search:1/2"],
            "--share: a share is kept in a folder, and none is named. Give --pieces too.",
        ),
        (
            ["--pieces", "here", "--share", "search:3/2"],
            "--share: 'search:3/2' is no share of a step. "
            "Write 1/8 of search or again as search:1/8; 0/8 comes first.",
        ),
        (
            ["--pieces", "here", "--engine", "exact"],
            "--pieces: only the engine mmseqs works in pieces. Leave --pieces out.",
        ),
    ],
)
def test_shares_that_cannot_be_are_refused(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "proteins.fasta").write_text(">p\nMKWVTFISLL\n")
    found = CliRunner().invoke(cluster, ["proteins.fasta", "--out", "out.tsv", *words])
    assert str(found.exception) == message


def test_a_share_whose_step_was_not_begun_is_refused(program: Program, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="Run it with --share search:0/2 first") as raised:
        among(world(), Pieces(folder=tmp_path / "key", step="search", number=1, n_shares=2))
    assert "what comes before share 1 is not in" in str(raised.value)
