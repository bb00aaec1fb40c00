"""Measure everything and write `benchmarks/README.md`: ``python -m benchmarks.run``.

Each section runs in a process of its own, so that its peak memory is its own.
Figures are ratios measured side by side in one run wherever two things are
compared; seconds are of the machine at hand. Sections that are not measured stay
as the page has them: ``python -m benchmarks.run splits`` writes that one anew.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
SECTIONS = (
    *("bandwidth", "methods", "small_classes", "small", "annotate", "streams", "shards"),
    *("ensembles", "troves"),
    *("large", "peers"),
    *("splits", "queries", "quantifiers", "same", "attach"),
)
TITLES = {
    "bandwidth": "b_mon2 against the direct-sum scan",
    "methods": "All methods, fitted without intervals",
    "small_classes": "What shrinking does to small classes",
    "small": "Sets of some hundred proteins",
    "annotate": "A million rows checked and annotated",
    "streams": "Ten million rows checked, compared and annotated",
    "shards": "Twenty million rows in 200 shards, killed twice",
    "ensembles": "A million proteins of ten networks checked, compared and annotated",
    "troves": "A trove of 3,000 on 46,801",
    "large": "One and ten million rows",
    "peers": "Side by side with other libraries",
    "splits": "Splits that no relative crosses",
    "queries": "Query sets of a million and of ten million rows",
    "quantifiers": "Compositions, side by side with QuaPy and abstention",
    "same": "Is it still the same classifier?",
    "attach": "Real capsid proteins attached as troves",
}
INTRO = """# Benchmarks

Made by `make bench`, which rewrites this page. {machine}. One thread.

"""
GIGABYTE = 1024**3


def peak_gigabytes(children: bool = False) -> float:
    """Return the greatest memory this process (or its children) has held."""
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_maxrss * 1024 / GIGABYTE


def table(header: list[str], rows: list[list[Any]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def section_bandwidth() -> str:
    """Return the ratio of the fast bandwidth search to the direct sums."""
    from benchmarks.speed import bandwidth

    return bandwidth()


def section_methods() -> str:
    """Return seconds and memory of every method at the paper's size."""
    from benchmarks.speed import methods

    return methods()


def section_small_classes() -> str:
    """Return what `prior_weight` changes at three sizes."""
    from benchmarks.small_classes import small_classes

    return small_classes()


def section_small(
    sizes: Iterable[int] = (), draws: int | None = None, *, is_kept: bool = False
) -> str:
    """Return how `auto`, its members and peers do on small sets."""
    from benchmarks.small import small_sets

    return small_sets(tuple(sizes), draws, is_kept=is_kept)


def section_annotate() -> str:
    """Return seconds and memory of checking and annotating a large table."""
    from benchmarks.speed import annotate

    with tempfile.TemporaryDirectory() as folder:
        return annotate(Path(folder))


def section_streams() -> str:
    """Return seconds and memory of every stage that reads a query set, at ten million rows."""
    from benchmarks.streams import streams

    with tempfile.TemporaryDirectory() as folder:
        return streams(Path(folder))


def section_shards() -> str:
    """Return rates and memory of a query set in shards that is killed twice and resumed."""
    from benchmarks.streams import shards

    with tempfile.TemporaryDirectory() as folder:
        return shards(Path(folder))


def section_ensembles() -> str:
    """Return seconds and memory of every stage that reads a query set, of an ensemble's scores."""
    from benchmarks.streams import ensembles

    with tempfile.TemporaryDirectory() as folder:
        return ensembles(Path(folder))


def section_troves() -> str:
    """Return what recalibrating with a trove costs beside a full run."""
    from benchmarks.troves import troves

    return troves()


def section_attach() -> str:
    """Return what becomes of real capsid proteins that are attached."""
    from benchmarks.attach import attach

    return attach()


def section_large() -> str:
    """Return seconds and memory of fits at one and ten million rows."""
    from benchmarks.speed import large

    return large()


def section_queries() -> str:
    """Return seconds and memory of summing up large query sets."""
    from benchmarks.shift import large_queries

    return large_queries()


def section_quantifiers() -> str:
    """Return errors of compositions under drawn shifts, beside QuaPy's and abstention's."""
    from benchmarks.shift import quantifiers

    return quantifiers()


def section_same() -> str:
    """Return how often the warning of another classifier is given."""
    from benchmarks.same import same_classifier

    return same_classifier()


def section_peers() -> str:
    """Return the table of contestants on both data sets."""
    from benchmarks.peers import compare, data_sets

    text = []
    for title, labelled in data_sets():
        rows = [
            [
                row.library,
                f"`{row.method}`",
                *(
                    [f"not run: {row.absent}", "", "", "", ""]
                    if row.absent
                    else [
                        f"{row.fit_seconds:.2f}",
                        f"{row.predict_seconds:.2f}",
                        f"{row.nll:.4f}",
                        f"{row.brier:.4f}",
                        f"{row.ece:.4f}",
                    ]
                ),
            ]
            for row in compare(labelled)
        ]
        header = ["library", "method", "fit", "predict, processor s", "NLL", "Brier", "ECE"]
        text.append(f"**{title}**: fitted on one half, judged on the other.\n")
        text.append(table(header, rows))
    return "\n".join(text)


def section_splits() -> str:
    """Return what recipes that split proteins take, and what crosses their groups."""
    from benchmarks.splits import page, run_all

    for size in (2_000, 20_000):
        run_all(size)
    return page()


def run_section(name: str, **options: Any) -> None:
    """Run one section in this process and keep its text."""
    section: Callable[..., str] = globals()[f"section_{name}"]
    text = section(**options)
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.json").write_text(json.dumps({"text": text}, indent=1) + "\n")
    print(text, flush=True)


def sections_of(page: str) -> dict[str, str]:
    """Return title → text of the sections of a page, in its order."""
    parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    return {title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def page_with(page: str, measured: dict[str, str]) -> str:
    """Return the page with the sections measured now; the others stay as they are.

    Parameters
    ----------
    page : str
        As it stands, or nothing.
    measured : dict of str
        Title → text of each section measured now.
    """
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    texts = sections_of(page) | measured
    known = list(TITLES.values())
    order = [*filter(texts.__contains__, known), *(title for title in texts if title not in known)]
    sections = [f"## {title}\n\n{texts[title].strip()}" for title in order]
    return "\n\n".join([INTRO.format(machine=machine).strip(), *sections]) + "\n"


def write_page(names: Iterable[str]) -> None:
    """Write sections that have been measured into the page, which keeps the others."""
    path = HERE / "README.md"
    kept = {name: OUT / f"{name}.json" for name in names}
    measured = {
        TITLES[name]: json.loads(file.read_text())["text"]
        for name, file in kept.items()
        if file.is_file()
    }
    path.write_text(page_with(path.read_text() if path.is_file() else "", measured))


def main() -> int:
    """Run the sections asked for, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=SECTIONS, metavar="SECTION")
    parser.add_argument("--here", action="store_true", help="run one section in this process")
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help="proteins, of `small`")
    parser.add_argument("--draws", type=int, help="subsets of each size, of `small`")
    parser.add_argument("--kept", action="store_true", help="fit nothing more, of `small`")
    options = parser.parse_args()
    of_small = {"sizes": options.sizes, "draws": options.draws, "is_kept": options.kept}
    if options.here:
        name = options.sections[0]
        run_section(name, **(of_small if name == "small" else {}))
        return 0
    failed = 0
    for name in options.sections:
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", "benchmarks.run", name, "--here"]
        command += ["--sizes", *map(str, options.sizes)] if options.sizes else []
        command += ["--draws", str(options.draws)] if options.draws else []
        command += ["--kept"] if options.kept else []
        failed += subprocess.run(command, cwd=HERE.parent, check=False).returncode != 0
    write_page(options.sections)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
