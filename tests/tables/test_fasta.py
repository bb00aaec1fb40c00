from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refusals
from credence.problems import InputError
from credence.tables.fasta import Fasta, ids_of, match_ids, read_fasta

CORPUS = Path(__file__).resolve().parents[1] / "data" / "invalid" / "fasta"
DEFECTS = sorted(path for path in CORPUS.iterdir() if path.suffix != ".txt")
TWO = ">p1 portal protein\nMKLVAWTREEDCHG\nAAKLV\n\n>p2\nMSTNPKPQRKTKRNX\n"


def refusal(path: Path) -> str:
    return refusals.refusal(read_fasta, path).replace(f"{path.parent}/", "")


def write(folder: Path, text: str, name: str = "proteins.fasta") -> Path:
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("path", DEFECTS, ids=lambda path: path.name)
def test_each_defect_is_refused_with_its_whole_message(path: Path) -> None:
    expected = path.with_name(path.name.split(".")[0] + ".txt").read_text()
    assert refusal(path) + "\n" == expected


@pytest.mark.parametrize("name", ["proteins.fasta", "proteins.fasta.gz"])
def test_headers_sequences_and_lines_are_read(tmp_path: Path, name: str) -> None:
    fasta = read_fasta(write(tmp_path, TWO, name))
    assert fasta.ids.tolist() == ["p1", "p2"]
    assert fasta.headers.tolist() == ["p1 portal protein", "p2"]
    assert fasta.sequences.tolist() == ["MKLVAWTREEDCHGAAKLV", "MSTNPKPQRKTKRNX"]
    assert fasta.lines.tolist() == [1, 5]
    assert fasta.lengths.tolist() == [19, 15]


def test_rows_taken_keep_their_headers_and_lines(tmp_path: Path) -> None:
    part = read_fasta(write(tmp_path, TWO)).take(np.array([1]))
    assert (part.ids.tolist(), part.lines.tolist()) == (["p2"], [5])


def test_full_headers_tell_proteins_of_one_first_word_apart(tmp_path: Path) -> None:
    path = write(tmp_path, ">p1 a\nMKLV\n>p1 b\nMKLV\n")
    assert read_fasta(path, by="full").ids.tolist() == ["p1 a", "p1 b"]


def test_an_absent_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "x.fasta") == "x.fasta: the file does not exist. Correct the path."
    (tmp_path / "folder").mkdir()
    assert refusal(tmp_path / "folder") == (
        "folder: this is a folder. Give the path of a FASTA file in it."
    )


def test_all_defects_of_a_file_come_together_in_the_order_of_lines(tmp_path: Path) -> None:
    text = "junk\n>p1\nMK*LV*\n>p1\nM-k\n>\nMKL\n>p4\n>p5\nMKLV\n>p6\nMKLV\n"
    assert refusal(write(tmp_path, text)).split("\n") == [
        "proteins.fasta, line 1: 'junk' stands before the first '>'. "
        "Begin the file with a header: '>' and an id.",
        "proteins.fasta, line 3: protein 'p1' has a stop '*' within its sequence. "
        "Remove the record, or give the protein that is made.",
        "proteins.fasta, line 4: the id 'p1' stands in line 2 already, with another sequence. "
        "Give one of them another id.",
        "proteins.fasta, line 6: the header is empty. Write an id after the '>'.",
        "proteins.fasta, line 8: protein 'p4' has no sequence. "
        "Add the sequence or remove the record.",
    ]


def test_lower_case_gaps_and_a_stop_at_the_end_are_read_as_what_they_are(tmp_path: Path) -> None:
    text = ">masked\nMKlvaWTr\n>translated\nMKLV*\n>aligned\n--MK.L-\nV--*--\n>two stops\nMK**\n"
    assert read_fasta(write(tmp_path, text)).sequences.tolist() == [
        "MKLVAWTR",
        "MKLV",
        "MKLV",
        "MK",
    ]


def test_a_record_of_gaps_and_stops_alone_has_no_sequence(tmp_path: Path) -> None:
    assert refusal(write(tmp_path, ">p1\n--*\n>p2\nMK\n")) == (
        "proteins.fasta, line 1: protein 'p1' has no sequence. "
        "Add the sequence or remove the record."
    )


def test_a_letter_whose_capital_would_be_a_residue_is_none(tmp_path: Path) -> None:
    assert refusal(write(tmp_path, ">p1\nMKß\n>p2\nMKſ\n>p3\nMK\n")) == (
        "proteins.fasta, line 2: protein 'p1' has 'ß', which is no residue. "
        "Give residues in one-letter code (ACDEFGHIKLMNPQRSTVWYBJOUXZ).\n"
        "proteins.fasta, line 4: protein 'p2' has 'ſ', which is no residue. "
        "Give residues in one-letter code (ACDEFGHIKLMNPQRSTVWYBJOUXZ)."
    )


def test_dna_in_lower_case_and_with_gaps_is_dna_still(tmp_path: Path) -> None:
    assert "is DNA or RNA" in refusal(write(tmp_path, f">p1\n{'acgt-' * 9}\n>p2\nMKLV\n"))


def test_a_short_peptide_of_five_residues_is_no_dna(tmp_path: Path) -> None:
    fasta = read_fasta(write(tmp_path, ">p1\nGATTACA\n>p2\nMKLVWWEED\n"))
    assert fasta.sequences[0] == "GATTACA"


def two_proteins(tmp_path: Path) -> Fasta:
    return read_fasta(write(tmp_path, TWO))


def test_ids_of_a_table_find_their_proteins(tmp_path: Path) -> None:
    table = np.array(["p2", "p1"], dtype=object)
    rows = match_ids(table, two_proteins(tmp_path), table="a.csv", proteins="p.fasta")
    assert rows.tolist() == [1, 0]


def test_every_mismatch_is_listed_both_ways(tmp_path: Path) -> None:
    table = np.array(["p9", "p1", "p8"], dtype=object)
    assert refusals.refusal(
        match_ids,
        table,
        two_proteins(tmp_path),
        table="a.csv",
        proteins="p.fasta",
        table_lines=np.array([2, 3, 5]),
    ).split("\n") == [
        "a.csv, line 2: 'p9' has no protein in p.fasta. Add the protein there or remove this row.",
        "a.csv, line 5: 'p8' has no protein in p.fasta. Add the protein there or remove this row.",
        "p.fasta, line 5: 'p2' has no row in a.csv. Add the row there or remove this protein.",
    ]


def test_ids_in_other_capitals_are_one_problem(tmp_path: Path) -> None:
    table = np.array(["P1", "P2", "p9"], dtype=object)
    assert refusals.refusal(
        match_ids, table, two_proteins(tmp_path), table="a.csv", proteins="p.fasta"
    ).split("\n") == [
        "p.fasta: 2 ids of a.csv in other capitals, 'P1' as 'p1'. Write ids alike in both files.",
        "a.csv: 'p9' has no protein in p.fasta. Add the protein there or remove this row.",
    ]


def test_a_mismatch_says_when_the_full_headers_would_fit(tmp_path: Path) -> None:
    table = np.array(["p1 portal protein", "p2"], dtype=object)
    assert refusals.refusal(
        match_ids, table, two_proteins(tmp_path), table="a.csv", proteins="p.fasta"
    ).split("\n")[0] == (
        "p.fasta: by first word 1 of its 2 headers stand in a.csv, by full header 2. "
        "Match by full header: match: full."
    )


def test_real_files_are_read_whole(real_data: Path) -> None:
    sizes = {"htj_1277": 1277, "minor_capsid_656": 656, "major_capsid_7301": 7301}
    for name, n_proteins in sizes.items():
        fasta = read_fasta(real_data / f"phanns_{name}.fasta.gz")
        assert fasta.n_proteins == n_proteins
        assert len(set(fasta.headers)) == n_proteins


RECORDS = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), max_size=6),
        st.text("ACDEFGHIKLMNPQRSTVWYXmk*-. 1>", max_size=40),
    ),
    max_size=5,
)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(RECORDS, st.sampled_from(["\n", "\r\n", "\n\n"]), st.integers(0, 60), st.binary(max_size=2))
def test_a_mutated_file_is_read_whole_or_refused(
    tmp_path: Path, records: list[tuple[str, str]], newline: str, place: int, noise: bytes
) -> None:
    text = "".join(f">{title}{newline}{sequence}{newline}" for title, sequence in records)
    data = text.encode()
    data = data[:place] + noise + data[place:]
    path = tmp_path / "fuzz.fasta"
    path.write_bytes(data)
    try:
        fasta = read_fasta(path)
    except InputError as error:
        assert str(error).startswith(str(path))
        return
    text = re.sub("\r\n?", "\n", data.decode("utf-8-sig"))
    lines = text.split("\n")
    headers = [number for number, line in enumerate(lines, 1) if line.startswith(">")]
    assert fasta.lines.tolist() == headers
    assert fasta.ids.tolist() == [lines[number - 1][1:].split()[0] for number in headers]
    sequences = re.split(r"^>.*\n", text, flags=re.MULTILINE)[1:]
    residues = [re.sub(r"\*$", "", re.sub(r"[\s.-]", "", each)) for each in sequences]
    assert fasta.sequences.tolist() == [each.upper().rstrip("*") for each in residues]
    assert set("".join(fasta.sequences)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def test_the_id_is_the_first_word_or_all() -> None:
    headers = np.array(["p1  portal protein", ""], dtype=object)
    assert ids_of(headers, "first_word").tolist() == ["p1", ""]
    assert ids_of(headers, "full").tolist() == ["p1  portal protein", ""]
