"""Protein FASTA files, checked as a whole: proteins, or every problem found.

Lower case (masked residues), gaps of an alignment and a stop at the end are read as what they are.
"""

import re
import string
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from Bio.SeqIO.FastaIO import SimpleFastaParser

from credence.predictions import Integers, Strings
from credence.problems import InputError, Problem, plural, refuse
from credence.proteins import Proteins
from credence.records import short
from credence.tables.formats import fold
from credence.tables.text import lines_of, require_file

RESIDUE_LETTERS = "ACDEFGHIKLMNPQRSTVWYBJOUXZ"  # IUPAC one-letter codes, ambiguous ones included
NUCLEOTIDES = "ACGTUN"
# A residue is one of ACGTN with a probability near 0.27, so 30 in a row with one in 10^17.
LEAST_NUCLEOTIDES = 30
LEAST_RECORDS_OF_ONE_KIND = 3  # to be one problem rather than one each

IS_PROTEIN = re.compile(f"[{RESIDUE_LETTERS}]+")
STOP = "*"
# ASCII alone: Python knows other letters whose capitals would be residues.
AS_RESIDUES = str.maketrans(string.ascii_lowercase, string.ascii_uppercase, "-.")


@dataclass(frozen=True, kw_only=True)
class Defect:
    """One kind of thing that is wrong with a record."""

    of_one: str  # What one record has, after its id
    of_many: str  # The same of several records
    remedy: str  # An order
    pattern: str = ""  # Finds the place in a line of the record; empty for its header


EMPTY = Defect(
    of_one="has no sequence.",
    of_many="have no sequence.",
    remedy="Add the sequence or remove the record.",
)
DNA = Defect(
    of_one="is DNA or RNA: it has no letter but A, C, G, T, U, N.",
    of_many="are DNA or RNA: they have no letter but A, C, G, T, U, N.",
    remedy="Translate it to protein.",
)
STAR = Defect(
    of_one="has a stop '*' within its sequence.",
    of_many="have a stop '*' within their sequences.",
    remedy="Remove the record, or give the protein that is made.",
    pattern=r"\*",
)
STRANGE_REMEDY = f"Give residues in one-letter code ({RESIDUE_LETTERS})."


def residue_problems(
    where: str, sequences: Strings, ids: Strings, lines: Integers, rows: list[str]
) -> list[Problem]:
    """Return all that is wrong with the residues of a file, a defect of most records once."""
    suspects = [
        row
        for row, text in enumerate(sequences)
        if not IS_PROTEIN.fullmatch(text) or _is_dna(text, LEAST_NUCLEOTIDES)
    ]
    n_residues = sum(map(len, sequences))
    is_all_dna = n_residues >= LEAST_NUCLEOTIDES and all(_is_dna(text, 0) for text in sequences)
    if is_all_dna:
        suspects = list(range(len(sequences)))
    rows_of: dict[Defect, list[int]] = defaultdict(list)
    for row in suspects:
        for defect in _defects(sequences[row], 1 if is_all_dna else LEAST_NUCLEOTIDES):
            rows_of[defect].append(row)
    problems = []
    for defect, bad in rows_of.items():
        places = [_line_of(defect, int(lines[row]), rows) for row in bad]
        if len(bad) >= LEAST_RECORDS_OF_ONE_KIND and 2 * len(bad) > len(sequences):
            message = f"{len(bad)} of {len(sequences)} records {defect.of_many}"
            problems.append(
                Problem(where=where, what=message, remedy=defect.remedy, line=places[0])
            )
            continue
        problems += [
            Problem(
                where=where,
                what=f"protein {ids[row]!r} {defect.of_one}",
                remedy=defect.remedy,
                line=place,
            )
            for row, place in zip(bad, places, strict=True)
        ]
    return problems


def _is_dna(text: str, least: int) -> bool:
    return len(text) >= least and not text.strip(NUCLEOTIDES)


def _defects(text: str, least_nucleotides: int) -> list[Defect]:
    if not text:
        return [EMPTY]
    if _is_dna(text, least_nucleotides):
        return [DNA]
    defects = [STAR] if STOP in text else []
    for letter in sorted(set(text) - set(RESIDUE_LETTERS) - {STOP}):
        words = f"{letter!r}, which is no residue."
        defects.append(
            Defect(
                of_one=f"has {words}",
                of_many=f"have {words}",
                remedy=STRANGE_REMEDY,
                pattern=re.escape(letter),
            )
        )
    return defects


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


REMEDY_EMPTY = "Give a FASTA file of proteins."

Match = Literal["first_word", "full"]
ID_MATCHES: tuple[Match, ...] = ("first_word", "full")
MATCH_TEXTS = {"first_word": "first word", "full": "full header"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Fasta(Proteins):
    """The proteins of a FASTA file."""

    headers: Strings  # What stands after the '>', without blanks around it
    lines: Integers  # Line of each header, as an editor shows it


def read_fasta(path: Path, by: Match = "first_word") -> Fasta:
    """Return the proteins of a FASTA file, plain or packed."""
    path = Path(path)
    where = str(path)
    require_file(path, "a FASTA file")
    if path.stat().st_size == 0:
        raise refuse(where, "the file is empty.", REMEDY_EMPTY)
    problems: list[Problem] = []
    rows = "".join(lines_of(path, problems)).rstrip("\n").split("\n")
    if not any(map(str.strip, rows)):
        raise refuse(where, "the file is empty.", REMEDY_EMPTY)
    records = list(SimpleFastaParser(f"{row}\n" for row in rows))
    lines = [number for number, row in enumerate(rows, start=1) if row.startswith(">")]
    headers = np.array([title.strip() for title, _ in records], dtype=object)
    sequences = np.array([_residues(sequence) for _, sequence in records], dtype=object)
    fasta = Fasta(
        ids=ids_of(headers, by),
        sequences=sequences,
        headers=headers,
        lines=np.array(lines, dtype=np.int64),
    )
    number, first = next((n, row) for n, row in enumerate(rows, start=1) if row.strip())
    if not first.startswith(">"):
        message = f"{short(first)!r} stands before the first '>'."
        remedy = "Begin the file with a header: '>' and an id."
        problems.append(Problem(where=where, what=message, remedy=remedy, line=number))
    before_it: dict[str, int] = {}
    for row, (id_, line) in enumerate(zip(fasta.ids, fasta.lines.tolist(), strict=True)):
        if not id_:
            message = "the header is empty."
            problems.append(
                Problem(where=where, what=message, remedy="Write an id after the '>'.", line=line)
            )
        elif (before := before_it.setdefault(id_, row)) != row:
            is_same = fasta.sequences[before] == fasta.sequences[row]
            remedy = "Remove one of them." if is_same else "Give one of them another id."
            if by == "first_word" and fasta.headers[before] != fasta.headers[row]:
                remedy = f"{remedy[:-1]}, or match by full header."
            message = (
                f"the id {id_!r} stands in line {fasta.lines[before]} already, "
                f"with {'the same' if is_same else 'another'} sequence."
            )
            problems.append(Problem(where=where, what=message, remedy=remedy, line=line))
    problems += residue_problems(where, fasta.sequences, fasta.ids, fasta.lines, rows)
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.line or 0))
    return fasta


def _residues(text: str) -> str:
    """Return the residues of a record as capitals, without gaps and the stop at its end."""
    return text if IS_PROTEIN.fullmatch(text) else text.translate(AS_RESIDUES).rstrip(STOP)


def ids_of(headers: Strings, by: Match) -> Strings:
    """Return what of each header is the id."""
    if by == "full":
        return headers
    return np.array([(header.split(maxsplit=1) or [""])[0] for header in headers], dtype=object)


def match_ids(
    table_ids: Strings,
    fasta: Fasta,
    by: Match = "first_word",
    *,
    table: str,
    proteins: str,
    table_lines: Integers | None = None,
    may_hold_more: bool = False,
) -> Integers:
    """Return the row of the FASTA file that each id of a table names; it may hold others too."""
    ids = ids_of(fasta.headers, by)
    row_of = {id_: row for row, id_ in enumerate(ids)}
    known = set(table_ids)
    problems = []
    # Ids that differ in capitals alone are one problem, not two each.
    folded = {fold(id_): id_ for id_ in ids if id_ not in known}
    missing = [id_ for id_ in table_ids if id_ not in row_of]
    recased = {id_: folded[fold(id_)] for id_ in missing if fold(id_) in folded}
    if recased:
        first, number = next(iter(recased)), plural(len(recased), "id")
        message = f"{number} of {table} in other capitals, {first!r} as {recased[first]!r}."
        problems.append(
            Problem(where=proteins, what=message, remedy="Write ids alike in both files.")
        )
    apart = {*recased, *recased.values()}
    for row, id_ in enumerate(table_ids):
        if id_ not in row_of and id_ not in apart:
            message = f"{id_!r} has no protein in {proteins}."
            remedy = "Add the protein there or remove this row."
            line = None if table_lines is None else int(table_lines[row])
            problems.append(Problem(where=table, what=message, remedy=remedy, line=line))
    rows = () if may_hold_more else zip(ids, fasta.lines.tolist(), strict=True)
    for id_, line in rows:
        if id_ not in known and id_ not in apart:
            message = f"{id_!r} has no row in {table}."
            remedy = "Add the row there or remove this protein."
            problems.append(Problem(where=proteins, what=message, remedy=remedy, line=line))
    if problems:
        raise InputError(_better_match(known, fasta, by, table, proteins) + problems)
    return np.array([row_of[id_] for id_ in table_ids], dtype=np.int64)


def _better_match(
    known: set[str], fasta: Fasta, by: Match, table: str, proteins: str
) -> list[Problem]:
    """Return a hint where the other part of the headers fits better."""
    n_found = {match: len(known & set(ids_of(fasta.headers, match))) for match in ID_MATCHES}
    best = max(ID_MATCHES, key=lambda match: n_found[match])
    if n_found[best] <= n_found[by]:
        return []
    message = (
        f"by {MATCH_TEXTS[by]} {n_found[by]} of its {fasta.n_proteins} headers stand in {table}"
    )
    message += f", by {MATCH_TEXTS[best]} {n_found[best]}."
    return [
        Problem(
            where=proteins, what=message, remedy=f"Match by {MATCH_TEXTS[best]}: match: {best}."
        )
    ]
