"""What may stand in a protein sequence, and how to mend what may not."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from credence.predictions import Integers, Strings
from credence.problems import Problem
from credence.tables.text import mend_with

RESIDUES = "ACDEFGHIKLMNPQRSTVWYBJOUXZ"  # IUPAC one-letter codes, ambiguous ones included
NUCLEOTIDES = "ACGTUN"
# A protein's residues are of ACGTN with a probability near 0.27, so 30 in a row
# with one in 10^17: a longer record of nothing else is DNA or RNA.
LEAST_NUCLEOTIDES = 30
LEAST_RECORDS_OF_ONE_KIND = 3  # to be told in one sentence rather than one by one

IS_PROTEIN = re.compile(f"[{RESIDUES}]+")
IS_NUCLEOTIDE = re.compile(f"[{NUCLEOTIDES}]+", re.IGNORECASE)


@dataclass(frozen=True)
class Defect:
    """One kind of thing that is wrong with a record.

    Parameters
    ----------
    what : str
        What one record has, after its id.
    what_many : str
        The same of several records.
    remedy : str
        An order; empty where a command mends the file.
    pattern : str
        Finds the place in a line of the record; empty for its header.
    command : str
        A filter that mends the whole file.
    """

    what: str
    what_many: str
    remedy: str
    pattern: str = ""
    command: str = ""


EMPTY = Defect("has no sequence.", "have no sequence.", "Add the sequence or remove the record.")
DNA = Defect(
    "is DNA or RNA: it has no letter but A, C, G, T, U, N.",
    "are DNA or RNA: they have no letter but A, C, G, T, U, N.",
    "Translate it to protein.",
)
LOWER = Defect(
    "has residues in lower case.",
    "have residues in lower case.",
    "",
    "[a-z]",
    "awk '/^>/ {print; next} {print toupper($0)}'",
)
STOP = Defect(
    "ends in a stop '*'.",
    "end in a stop '*'.",
    "",
    r"\*",
    r"sed '/^>/! s/\*$//'",
)
STAR = Defect(
    "has a stop '*' within its sequence.",
    "have a stop '*' within their sequences.",
    "Remove the record, or give the protein that is made.",
    r"\*",
)
GAP = Defect(
    "has gaps ('-' or '.').",
    "have gaps ('-' or '.').",
    "",
    r"[-.]",
    "sed '/^>/! s/[-.]//g'",
)
STRANGE_REMEDY = f"Give residues in one-letter code ({RESIDUES})."


def residue_problems(
    where: str, sequences: Strings, ids: Strings, lines: Integers, rows: list[str]
) -> list[Problem]:
    """Return all that is wrong with the residues of a file.

    Where a defect is that of most records it is told once, with their number.

    Parameters
    ----------
    where : str
        The file, as the user named it.
    sequences, ids : array of str
        Its records.
    lines : array of int
        Line of each header.
    rows : list of str
        The lines of the file.
    """
    suspects = [row for row, text in enumerate(sequences) if not _is_fine(text)]
    is_all_dna = bool(len(sequences)) and _is_dna("".join(sequences), LEAST_NUCLEOTIDES)
    if is_all_dna:
        suspects = list(range(len(sequences)))
    found: dict[Defect, list[int]] = defaultdict(list)
    for row in suspects:
        for defect in _defects(sequences[row], 1 if is_all_dna else LEAST_NUCLEOTIDES):
            found[defect].append(row)
    problems = []
    for defect, bad in found.items():
        remedy = mend_with(defect.command, Path(where)) if defect.command else defect.remedy
        places = [_line_of(defect, int(lines[row]), rows) for row in bad]
        if len(bad) >= LEAST_RECORDS_OF_ONE_KIND and 2 * len(bad) > len(sequences):
            what = f"{len(bad)} of {len(sequences)} records {defect.what_many}"
            problems.append(Problem(where, what, remedy, places[0]))
            continue
        problems += [
            Problem(where, f"protein {ids[row]!r} {defect.what}", remedy, place)
            for row, place in zip(bad, places, strict=True)
        ]
    return problems


def _is_fine(text: str) -> bool:
    return IS_PROTEIN.fullmatch(text) is not None and not _is_dna(text, LEAST_NUCLEOTIDES)


def _is_dna(text: str, least: int) -> bool:
    return len(text) >= least and IS_NUCLEOTIDE.fullmatch(text) is not None


def _defects(text: str, least_nucleotides: int) -> list[Defect]:
    """Return the kinds of defect of one record."""
    if not text:
        return [EMPTY]
    if _is_dna(text, least_nucleotides):
        return [DNA]
    found = []
    if re.search("[a-z]", text):
        found.append(LOWER)
    if text.endswith("*"):
        found.append(STOP)
    if "*" in text[:-1]:
        found.append(STAR)
    if re.search("[-.]", text):
        found.append(GAP)
    strange = sorted(set(text) - set(RESIDUES) - set(string.ascii_lowercase) - set("*-."))
    found += [_strange(letter) for letter in strange]
    return found


def _strange(letter: str) -> Defect:
    return Defect(
        f"has {letter!r}, which is no residue.",
        f"have {letter!r}, which is no residue.",
        STRANGE_REMEDY,
        re.escape(letter),
    )


def _line_of(defect: Defect, header: int, rows: list[str]) -> int:
    """Return the line of a record where its defect first shows."""
    if not defect.pattern:
        return header
    for number, row in enumerate(rows[header:], start=header + 1):
        if row.startswith(">"):
            break
        if re.search(defect.pattern, row):
            return number
    return header
