"""Calibration proteins are found again where their ids are spelled in another way."""

from __future__ import annotations

import numpy as np
import pytest

from credence.confidence import Note
from credence.proteins import forms_of, forms_of_all
from credence.tables.stage_files import KnownProteins, known_proteins

LIKE = int(Note.LIKE_ID)


def known(*ids: str) -> KnownProteins:
    return known_proteins(np.array(ids, dtype=object), {})


def notes(calibration: KnownProteins, *ids: str) -> list[int]:
    return calibration.notes(np.array(ids, dtype=object), {}).tolist()


SPELLINGS = [
    "p1.1",
    "P1",
    " p1",
    "p1 ",
    "sp|p1|NAME",
    "p\u200b1",
    "\ufeffp1",
    "tr|P1|X_Y",
    "ref|p1.2|",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_protein_is_found_in_either_direction(spelling: str) -> None:
    assert notes(known("p1", "q"), spelling, "p1", "p2") == [LIKE, int(Note.SAME_ID), 0]
    assert notes(known(spelling, "q"), "p1", "p11") == [LIKE, 0]
    assert known("p1", "q").spelling_there(spelling) == "p1"


def test_an_id_of_the_calibration_set_is_named_as_far_as_its_hash_is_met() -> None:
    assert known("P1").spelling_there("sp|p1|NAME") == "P1"
    assert known("sp|p1|NAME").spelling_there("p1.1") == "p1"  # in its normal form


@pytest.mark.parametrize(
    "id_", ["fig|83333.1.peg.7", "contig_12_3", "k141_22.5.1", "gene-1", "NODE_1_length_5.2"]
)
def test_numbers_of_genes_are_no_versions(id_: str) -> None:
    assert forms_of(id_) == (id_.casefold(), id_.casefold())


def test_versions_of_one_accession_that_both_calibrate_stay_two_proteins() -> None:
    calibration = known("p1.1", "p1.2")
    assert notes(calibration, "p1.3", "p1", "P1.1", "p1.2") == [0, 0, LIKE, int(Note.SAME_ID)]


def test_mere_numbers_are_not_looked_for() -> None:
    assert notes(known("17", " 18", "x"), "17", " 17", "18") == [0, 0, 0]


@pytest.mark.parametrize(
    "ids",
    [
        ["q1", "Q2", "contig_12"],
        ["q1", "NP_040681.1", "sp|P12345|NAME"],
        [" q1", "q2 ", "é1"],
        ["q\n1", "q2"],
        [],
    ],
)
def test_forms_of_a_list_are_those_of_each_id(ids: list[str]) -> None:
    pairs = [forms_of(id_) for id_ in ids]
    together = forms_of_all(ids)
    assert [list(part) for part in together] == [[p[k] for p in pairs] for k in (0, 1)]
