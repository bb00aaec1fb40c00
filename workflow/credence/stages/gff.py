"""The stage `gff`: confidences put into the GFF3 file of an annotated genome."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from credence.problems import Problem, ProblemList, raise_any, refuse
from credence.progress import echo
from credence.stages.reading import require_other
from credence.tables.contract import Q_VALUE, read_slowly
from credence.tables.text import blocks_of
from credence.tables.writing import open_output, six_decimals

CODING = ("CDS", "SO:0000316")
GFF_CELLS = 9
CONTIG = "contig and number"  # Prodigal's CDS 1_7 on chr is the protein chr_7
# Where the id of a protein may stand, the most usual first.
ATTRIBUTES = ("ID", "protein_id", "locus_tag", "Name", CONTIG)
OWN = "credence_"
GFF_COLUMNS = ("predicted_class", "confidence", "lower", "upper", Q_VALUE, "decision", "note")
GFF_NUMBERS = ("confidence", "lower", "upper", Q_VALUE)
# Published tables have ' before what a spreadsheet would take for a formula.
QUOTE = re.compile(r"^'(?='*[=+\-@])")
TO_ESCAPE = re.compile(r"[\x00-\x1f\x7f%;=&,]")


def annotate_gff(confidences: str, gff: str, out: str, attribute: str | None, some: bool) -> None:
    """Write a GFF3 file again, each CDS of a table of confidences with further attributes."""
    require_other((out,), [confidences, gff])
    added = _attributes(confidences)
    asked = [attribute] if attribute else ATTRIBUTES
    held: dict[str, set[str]] = {name: set() for name in asked}
    examples: dict[str, str] = {}
    for _, attributes in gff_lines(Path(gff)):
        if attributes is not None:
            for name in held.keys() & attributes.keys():
                examples.setdefault(name, attributes[name])
                held[name] |= {attributes[name]} & added.keys()
            if any(name.startswith(OWN) for name in attributes):
                reason = f"{attributes.get('ID', 'a CDS')!r} has attributes of credence already."
                raise refuse(gff, reason, "Give the file as it was before.")
    if not examples:
        named = attribute or "ID"
        reason = f"no CDS has the attribute {named}."
        raise refuse(gff, reason, f"Give a GFF3 file whose CDS have {named}=….")
    attribute = max(held, key=lambda name: len(held[name]))
    if not held[attribute]:
        shown = ", ".join(f"{name}={examples[name]}" for name in held if name in examples)
        there = f"there {next(iter(added), '')!r}, say, here {shown}"
        remedy = "Give the genome of these proteins; or --attribute, what holds ids."
        raise refuse(gff, f"no id of {confidences} is a CDS: {there}.", remedy)
    remedy = f"Give the GFF3 of its genome too in {gff}, or --some to leave out what is not there."
    raise_any(
        Problem(
            where=confidences, what=f"{id_!r} is no CDS of {gff}, by {attribute!r}.", remedy=remedy
        )
        for id_ in added
        if not some and id_ not in held[attribute]
    )
    n_cds = n_given = 0
    with open_output(Path(out)) as handle:
        for line, names in gff_lines(Path(gff)):
            n_cds += names is not None
            if text := added.get((names or {}).get(attribute, "")):
                n_given += 1
                plain = line.rstrip(b"\r\n")
                between = b"" if plain.rstrip().endswith(b";") else b";"
                line = plain + between + text.encode() + line[len(plain) :]
            handle.write(line)
    counts = f"{n_given:,} of {n_cds:,} lines of CDS have a prediction now"
    echo(f"Wrote {out}: {counts}; ids stand in {attribute!r}.")


def _attributes(confidences: str) -> dict[str, str]:
    """Return the attributes of each protein.

    Of several calls there are several values, with commas between as GFF3 has it, in one order.
    """
    table = read_slowly(Path(confidences), (Q_VALUE,), are_calls=True)
    cells: dict[str, Any] = {name: table[name].to_pylist() for name in ("id", *GFF_COLUMNS)}
    for name in GFF_NUMBERS:
        numbers = six_decimals(table[name].to_numpy(), up=name in ("upper", Q_VALUE))
        cells[name] = ["" if np.isnan(number) else f"{number:.6g}" for number in numbers.tolist()]
    ids, *columns = ([QUOTE.sub("", text) for text in column] for column in cells.values())
    rows_of: dict[str, list[tuple[str, ...]]] = {}
    for id_, row in zip(ids, zip(*columns, strict=True), strict=True):
        rows_of.setdefault(id_, []).append(row)
    return {
        id_: ";".join(
            OWN + name.removeprefix("predicted_") + "=" + ",".join(map(escaped, cells))
            for name, cells in zip(GFF_COLUMNS, zip(*rows, strict=True), strict=True)
            if any(cells)
        )
        for id_, rows in rows_of.items()
    }


def escaped(text: str) -> str:
    """Return a value as GFF3 writes it: what has a meaning there as %XX."""
    return TO_ESCAPE.sub(lambda match: f"%{ord(match[0]):02X}", text)


def gff_lines(path: Path) -> Iterator[tuple[bytes, dict[str, str] | None]]:
    """Yield every line as it stands, and the attributes of those that are CDS."""
    problems, rest, number, is_sequence = ProblemList(str(path)), b"", 0, False
    for block in chain(blocks_of(path), [b""]):
        *whole, rest = (rest + block).split(b"\n") if block else [rest, b""]
        for line in whole:
            number += 1
            is_sequence |= line.startswith((b"##FASTA", b">"))
            cells = line.decode("utf-8", "replace").strip("\r").split("\t")
            names = None
            if is_sequence or not line.strip() or line.startswith(b"#"):
                pass
            elif len(cells) != GFF_CELLS:
                reason = (
                    f"cells in this line: {len(cells)}; GFF3 has {GFF_CELLS}, with tabs between."
                )
                problems.add(reason, "Give a GFF3 file.", number)
            elif cells[2] in CODING:
                pairs = (text.partition("=") for text in cells[-1].split(";"))
                names = {name.strip(): unquote(value.strip()) for name, _, value in pairs}
                names[CONTIG] = f"{unquote(cells[0])}_{names.get('ID', '').rpartition('_')[2]}"
            yield line + (b"\n" if block else b""), names
    problems.raise_any()
