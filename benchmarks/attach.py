"""Real capsid proteins attached to clusters: ``python -m benchmarks.attach``.

The 1,277 HTJ test proteins of PhANNs are clustered and dealt to 12 groups, as a
base; then the 7,301 major and the 656 minor capsid proteins join them, as two
troves. Nobody has scored these proteins, and attaching needs no scores.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from credence.proteins import Proteins
from credence.relatives.all_engines import build_engine
from credence.relatives.mmseqs import MmseqsFinder
from credence.relatives.pack import CALIBRATION, pack
from credence.relatives.pairs import Thresholds
from credence.releases.attaching import (
    OUTCOMES,
    Attachment,
    KnownSet,
    NewSet,
    SequenceSearch,
    attach_trove,
)
from credence.tables.fasta import Match, read_fasta

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
CLASSES = ("HTJ", "Major capsid", "Minor capsid")
FILES: tuple[tuple[str, Match], ...] = (
    ("phanns_htj_1277.fasta.gz", "first_word"),
    ("phanns_major_capsid_7301.fasta.gz", "full"),
    ("phanns_minor_capsid_656.fasta.gz", "full"),
)
N_GROUPS = 12
THREADS = 2


@dataclass(frozen=True, eq=False)
class Step:
    """One trove that joined.

    Parameters
    ----------
    name : str
        Its class.
    before : KnownSet
        What it joined.
    new : NewSet
        Its proteins.
    found : Attachment
        What became of them.
    seconds, cpu_seconds : float
        By the clock, and of processors.
    """

    name: str
    before: KnownSet
    new: NewSet
    found: Attachment
    seconds: float
    cpu_seconds: float


def cpu() -> float:
    """Return the processor seconds of this process and of those it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def steps(data: Path = DATA) -> list[Step]:
    """Return what became of the two troves, one after the other.

    Parameters
    ----------
    data : Path
        Folder of the FASTA files.
    """
    known = _base(read_fasta(data / FILES[0][0], FILES[0][1]))
    finder = MmseqsFinder(threads=THREADS)
    search = SequenceSearch(finder=finder, thresholds=Thresholds(), threads=THREADS)
    nothing = np.empty(0, dtype=object)
    found = []
    for code in (1, 2):
        fasta = read_fasta(data / FILES[code][0], FILES[code][1])
        new = NewSet(
            ids=fasta.ids, sequences=fasta.sequences, class_=np.full(fasta.n_proteins, code)
        )
        start, used = time.monotonic(), cpu()
        got = attach_trove(known, Proteins(ids=nothing, sequences=nothing), new, search, CLASSES)
        found.append(
            Step(
                name=CLASSES[code],
                before=known,
                new=new,
                found=got,
                seconds=time.monotonic() - start,
                cpu_seconds=cpu() - used,
            )
        )
        known = _grown(known, new, got)
    return found


def _base(proteins: Proteins) -> KnownSet:
    cluster = (
        build_engine("mmseqs", threads=THREADS)
        .cluster(Proteins(ids=proteins.ids, sequences=proteins.sequences))
        .cluster
    )
    class_ = np.zeros(proteins.n_proteins, dtype=np.int64)
    packing = pack(proteins.ids, cluster, class_, N_GROUPS)
    return KnownSet(
        ids=proteins.ids,
        sequences=proteins.sequences,
        class_=class_,
        cluster=cluster,
        group=packing.group,
        role=packing.role,
    )


def _grown(known: KnownSet, new: NewSet, found: Attachment) -> KnownSet:
    rows = np.flatnonzero(found.is_added)
    more = {
        "ids": new.ids[rows],
        "sequences": new.sequences[rows],
        "class_": new.class_[rows],
        "cluster": found.cluster[rows],
        "group": found.group[rows],
        "role": np.full(len(rows), CALIBRATION, dtype=object),
    }
    return KnownSet(
        **{name: np.concatenate([getattr(known, name), values]) for name, values in more.items()}
    )


def attach() -> str:
    """Return the table of what became of every protein, and what it cost."""
    lines = [
        "1,277 HTJ proteins are clustered and dealt to 12 groups; then two troves join, one "
        "after the other. Every protein has one outcome.",
        "",
        "| outcome | " + " | ".join(CLASSES[1:]) + " |",
        "|---|---|---|",
    ]
    found = steps()
    counts = [step.found.counts() for step in found]
    for outcome in OUTCOMES:
        if any(count[outcome] for count in counts):
            cells = " | ".join(f"{count[outcome]:,}" for count in counts)
            lines.append(f"| {outcome} | {cells} |")
    lines.append("| all | " + " | ".join(f"{step.new.n_proteins:,}" for step in found) + " |")
    for title, values in (
        ("seconds", [step.seconds for step in found]),
        ("processor seconds", [step.cpu_seconds for step in found]),
    ):
        lines.append(f"| {title} | " + " | ".join(f"{value:.1f}" for value in values) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(attach())
