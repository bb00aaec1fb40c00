"""A column that names the genome of each protein, in any format."""

from __future__ import annotations

from pathlib import Path

import pytest

from credence.stages.reading import read_set
from credence.tables.formats import TableSpec
from credence.tables.samples import read_samples, stream_samples
from refusals import refusal

CLASSES = "Major capsid,Minor capsid,Baseplate,Major tail,Minor tail,Portal,Tail fiber"
HEADER = f",genome,{CLASSES},Tail shaft,Collar,HTJ,Other,Confidence"
ZEROS = "0.00," * 9
ROWS = (f"p1,phage A,{ZEROS}0.00,10.00,1.00", f"p2,,{ZEROS}0.00,10.00,1.00")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "use.csv"
    path.write_text("\n".join([HEADER, *ROWS, f"p3,phage A,{ZEROS}10.00,0.00,1.00"]) + "\n")
    return path


def test_the_genome_stands_beside_the_scores_and_is_no_class(table: Path) -> None:
    samples = read_samples(table, TableSpec(format="phanns", genome="genome"))
    assert samples.genome is not None
    # p2 is of none that is named.
    assert samples.genome.tolist() == ["phage A", "", "phage A"]
    assert samples.predictions.n_classes == 11


def test_blanks_around_a_name_make_no_other_genome(table: Path) -> None:
    text = table.read_text().replace("p3,phage A", "p3, phage A ").replace("p2,", "p2, ")
    table.write_text(text)
    samples = read_samples(table, TableSpec(format="phanns", genome="genome"))
    assert samples.genome is not None
    assert samples.genome.tolist() == ["phage A", "", "phage A"]


def test_pieces_carry_the_genomes_of_their_rows(table: Path) -> None:
    parts = list(stream_samples(table, TableSpec(format="phanns", genome="genome"), chunk_rows=2))
    assert len(parts) > 1
    named = [
        (id_, genome)
        for part in parts
        if part.genome is not None
        for id_, genome in zip(part.predictions.ids, part.genome, strict=True)
    ]
    assert named == [("p1", "phage A"), ("p2", ""), ("p3", "phage A")]


def test_without_a_word_there_are_no_genomes(tmp_path: Path) -> None:
    path = tmp_path / "use.csv"
    path.write_text(
        "\n".join(
            line.replace(",genome", "").replace(",phage A", "") for line in (HEADER, ROWS[0])
        )
    )
    assert read_samples(path, TableSpec(format="phanns")).genome is None


def test_a_column_that_is_not_there_is_told(table: Path) -> None:
    assert refusal(read_samples, table, TableSpec(format="phanns", genome="genom")).splitlines()[
        0
    ] == (f"{table}, line 1: the column 'genom' is missing (genome). Did you mean 'genome'?")


def test_a_protein_of_several_networks_has_the_genome_of_its_first_row(tmp_path: Path) -> None:
    path = tmp_path / "networks.csv"
    lines = ["id,genome,network,a,b", "p1,g,1,0.5,0.5", "p1,g,2,0.6,0.4", "p2,h,1,1.0,0.0"]
    path.write_text("\n".join([*lines, "p2,h,2,0.9,0.1"]) + "\n")
    columns = {"id": "id", "network": "network", "classes": ["a", "b"]}
    samples = read_samples(path, TableSpec(format="wide", columns=columns, genome="genome"))
    assert samples.genome is not None
    assert samples.genome.tolist() == ["g", "h"]


def test_several_tables_in_memory_keep_their_genomes(tmp_path: Path) -> None:
    tables = []
    for number in (1, 2):
        tables.append(tmp_path / f"{number}.csv")
        tables[-1].write_text(f"id,A,B,phage\np{number},0.9,0.1,phage {number}\n")
    spec = TableSpec(
        format="wide", scale=1.0, class_names=("A", "B"), columns={"id": "id"}, genome="phage"
    )
    genome = read_set([str(path) for path in tables], spec).genome
    assert genome is not None
    assert genome.tolist() == ["phage 1", "phage 2"]
