"""Confidences in the GFF3 file of a genome: what is added, what is kept, what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import unquote

import pytest

from credence.app import run_command_line

HEADER = (
    "id\tpredicted_class\tconfidence\tlower\tupper\tdecision\tnote\tscore\tsupport\tmethod"
    "\tq_value\n"
)
ROWS = (
    "p1\tPortal; 50% = a,b & c\t0.9123456789\t0.8\t0.95\taccept\t\t7\t30\tauto\t0.01\n"
    "p2\tTail\t0.25\t0.1\t0.4\tcheck\tfew families, so a wide range\t3\t2\tauto\t0.6\n"
    "p3\t\t\t\t\tinsufficient data\tno scores from the classifier, so no confidence\t\t0\tauto\t\n"
)
GENOME = (
    "##gff-version 3\r\n"
    "# a comment; with=signs\n"
    "chr\tphold\tregion\t1\t900\t.\t+\t.\tID=p1\n"
    "\n"
    "chr\tphold\tCDS\t1\t90\t.\t+\t0\tID=p1;product=caf%C3%A9;\r\n"
    "chr\tphold\tSO:0000316\t1\t90\t.\t+\t0\tID=p%32;Parent=gene%202\n"
    "chr\tphold\tCDS\t200\t290\t.\t+\t0\tID=p2;part=2\n"
    "chr\tphold\tCDS\t300\t390\t.\t+\t0\tID=unknown\n"
    "chr\tphold\tCDS\t400\t490\t.\t+\t0\tID=p3\n"
    "##FASTA\n>p1\nCDS\tACGT;\n"
)
P2 = (
    ";credence_class=Tail;credence_confidence=0.25;credence_lower=0.1;credence_upper=0.4;"
    "credence_q_value=0.6;credence_decision=check;credence_note=few families%2C so a wide range"
)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a table of confidences in a folder of its own, with the genome beside."""
    monkeypatch.chdir(tmp_path)
    Path("genome.gff3").write_bytes(GENOME.encode())
    Path("conf.tsv").write_text(HEADER + ROWS)
    return Path("conf.tsv")


def written(gff: str = "genome.gff3", out: str = "out.gff3", *words: str) -> list[bytes]:
    """Return the lines of a genome with confidences."""
    assert run_command_line(["gff", "conf.tsv", "--gff", gff, "--out", out, *words]) == 0
    return Path(out).read_bytes().splitlines(keepends=True)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return why a genome is refused."""
    words = ("gff", "conf.tsv", "--gff", "genome.gff3", "--out", "out.gff3", *words)
    assert run_command_line(list(words)) == 2
    assert not Path("out.gff3").exists()
    return capsys.readouterr().err.splitlines()


def test_each_cds_of_the_table_has_its_confidence_and_all_else_its_bytes(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = GENOME.encode().splitlines(keepends=True), written()
    changed = {number for number, line in enumerate(after) if line != before[number]}
    assert changed == {4, 5, 6, 8}
    added = after[4].removeprefix(before[4].removesuffix(b"\r\n")).decode()
    assert added == (
        "credence_class=Portal%3B 50%25 %3D a%2Cb %26 c;credence_confidence=0.912345;"
        "credence_lower=0.8;credence_upper=0.95;credence_q_value=0.01;credence_decision=accept\r\n"
    )
    assert unquote(added.split(";")[0]) == "credence_class=Portal; 50% = a,b & c"
    assert after[5] == before[5].removesuffix(b"\n") + P2.encode() + b"\n"
    assert after[6] == before[6].removesuffix(b"\n") + P2.encode() + b"\n"
    assert b"confidence=" not in after[8] and after[8].endswith(b"so no confidence\n")
    assert capsys.readouterr().err.splitlines()[-1] == (
        "Wrote out.gff3: 4 of 5 lines of CDS have a prediction now; ids stand in 'ID'."
    )


def test_a_packed_genome_is_read_and_written(table: Path) -> None:
    Path("genome.gff3.gz").write_bytes(gzip.compress(GENOME.encode()))
    packed = written("genome.gff3.gz", "out.gff3.gz")
    assert gzip.decompress(b"".join(packed)).splitlines(keepends=True) == written()


@pytest.mark.parametrize(
    ("cell", "attribute"),
    [
        ("ID=cds-1;protein_id={}", "protein_id"),
        ("ID=1;locus_tag={}", "locus_tag"),
        ("ID=1;old={}", "old"),
    ],
)
def test_ids_of_other_attributes_are_found(table: Path, cell: str, attribute: str) -> None:
    lines = "".join(
        f"c\ts\tCDS\t1\t9\t.\t+\t0\t{cell.format(id_)}\n" for id_ in ("p1", "p2", "p3")
    )
    Path("genome.gff3").write_text(lines)
    words = ("--attribute", "old") if attribute == "old" else ()
    assert all(b"credence_decision" in line for line in written("genome.gff3", "out.gff3", *words))


def test_proteins_that_prodigal_numbered_are_found_by_their_contig(table: Path) -> None:
    table.write_text(
        HEADER + ROWS.replace("p1", "chr_1").replace("p2", "chr_2").replace("p3", "b_1")
    )
    genome = [("chr", "1_1"), ("chr", "1_2"), ("b", "2_1")]
    Path("genome.gff3").write_text(
        "".join(
            f"{contig}\tP\tCDS\t1\t9\t.\t+\t0\tID={id_};partial=00\n" for contig, id_ in genome
        )
    )
    assert [
        b"credence_decision=" + decision in line
        for decision, line in zip((b"accept", b"check", b"insufficient"), written(), strict=True)
    ]


def test_ids_that_are_not_in_the_genome_are_refused_unless_said_to_be_some(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text(HEADER + ROWS.replace("p1", "q1").replace("p3", "q3"))
    remedy = (
        "Give the GFF3 of its genome too in genome.gff3, or --some to leave out what is not there."
    )
    assert refused(capsys)[:2] == [
        f"conf.tsv: 'q{number}' is no CDS of genome.gff3, by 'ID'. {remedy}" for number in (1, 3)
    ]
    assert sum(b"credence_" in line for line in written("genome.gff3", "out.gff3", "--some")) == 2


def test_a_genome_of_other_names_is_refused(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text(HEADER + ROWS.replace("\np", "\nother").replace("p1", "other1", 1))
    assert refused(capsys)[0] == (
        "genome.gff3: no id of conf.tsv is a CDS: there 'other1', say, here ID=p1, contig and "
        "number=chr_p1. Give the genome of these proteins; or --attribute, what holds ids."
    )


NO_CDS = "no CDS has the attribute ID. Give a GFF3 file whose CDS have ID=…."
NO_GFF = "cells in this line: 2; GFF3 has 9, with tabs between. Give a GFF3 file."
TWICE = "'p2' has attributes of credence already. Give the file as it was before."


@pytest.mark.parametrize(
    ("genome", "message"),
    [
        ("##gff-version 3\n", f"genome.gff3: {NO_CDS}"),
        ("# c\nx\ty\n", f"genome.gff3, line 2: {NO_GFF}"),
        (GENOME.replace("part=2", "credence_decision=accept"), f"genome.gff3: {TWICE}"),
    ],
    ids=["no CDS", "no GFF3", "twice"],
)
def test_a_file_that_is_no_plain_gff3_is_refused(
    table: Path, capsys: pytest.CaptureFixture[str], genome: str, message: str
) -> None:
    Path("genome.gff3").write_text(genome)
    assert refused(capsys)[0] == message
