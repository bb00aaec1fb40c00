"""Are the numbers on a page those of the tables of its run? Recomputed with pandas alone.

    python verification/page_numbers.py reports/demo
    python verification/page_numbers.py reports/demo --truth demo/truth/families.tsv

Reads report.json, the page's text as data, and the tables beside it: confidences, lists,
composition, thresholds, metrics, groups. Each number that the first screen and the sentences and
tables of the sections state is printed with the one recomputed. A statement that should be on the
page and is not is printed too. Ends with 1 where a number differs or a statement is missing.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

NUMBER = r"[+−-]?\d[\d,]*(?:\.\d+)?"
RANGE = rf"({NUMBER})–({NUMBER})"
DASH = "–"
DECISION, ACCEPTED, LACKING = "decision", "accept", "insufficient data"
COUNTED = {"to check": "check", LACKING: LACKING}  # words on the first screen → decision
BEFORE = "uncorrected_confidence"


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A number on the page and the one recomputed; NaN where the page lacks the statement."""

    where: str
    page: str
    recomputed: float
    is_same: bool


@dataclass(kw_only=True)
class Page:
    """The page's text as data, and what was compared so far."""

    folder: Path
    report: Mapping[str, Any]
    compared: list[Compared] = field(default_factory=list)

    def section(self, name: str) -> Any:
        """Return a section's blocks; nothing where the page has no such section."""
        parts = (part for part in self.report["sections"] if part["name"] == name)
        return next((part["blocks"] for part in parts), [])

    def texts(self, name: str) -> str:
        """Return all sentences of a section."""
        return "\n".join(strings_of(self.section(name)))

    def table(self, name: str, begin: str) -> pd.DataFrame | None:
        """Return the first table of a section whose caption begins so."""
        for block in blocks_of(self.section(name), "Table"):
            if block["caption"].startswith(begin):
                titles = [column["title"] for column in block["columns"]]
                return pd.DataFrame(block["rows"], columns=titles)
        return None

    def state(self, where: str, page: str, recomputed: float) -> None:
        """Compare a number as the page words it with the one recomputed."""
        same = is_same(page, recomputed)
        entry = Compared(where=where, page=page, recomputed=recomputed, is_same=same)
        self.compared.append(entry)

    def claim(self, where: str, *, holds: bool) -> None:
        """Compare a claim, not a number."""
        self.compared.append(
            Compared(where=where, page="claimed", recomputed=math.nan, is_same=holds)
        )

    def sentence(
        self, where: str, text: str, pattern: str, *recomputed: float, is_needed: bool = True
    ) -> None:
        """Compare the numbers of the first sentence that a pattern fits."""
        found = re.search(pattern, text)
        if found is None:
            if is_needed:
                self.compared.append(
                    Compared(
                        where=where, page="not on the page", recomputed=math.nan, is_same=False
                    )
                )
            return
        for number, value in zip(found.groups(), recomputed, strict=True):
            self.state(where, number, value)


def blocks_of(block: Any, kind: str) -> Iterator[Any]:
    """Yield all blocks of a kind, those inside others too."""
    if isinstance(block, list):
        for part in block:
            yield from blocks_of(part, kind)
    elif isinstance(block, dict):
        if block.get("kind") == kind:
            yield block
        for part in block.values():
            yield from blocks_of(part, kind)


def strings_of(block: Any) -> Iterator[str]:
    """Yield all texts."""
    if isinstance(block, str):
        yield block
    elif isinstance(block, list | dict):
        for part in block if isinstance(block, list) else block.values():
            yield from strings_of(part)


def as_number(text: str) -> float:
    """Return a number as the page words it."""
    return float(text.replace(",", "").replace("−", "-").replace("+", ""))


def is_same(page: str, recomputed: float) -> bool:
    """Return whether a number rounds to what the page says; `any` and `–` stand for none."""
    if page in ("any", DASH, "none", ""):
        return math.isnan(recomputed) or recomputed == 0.0
    digits = page.strip("%< >\u00a0")
    decimals = len(digits.partition(".")[2])
    if math.isnan(recomputed):
        return False
    if page[0] in "<>":
        return (recomputed < as_number(digits)) == (page[0] == "<")
    return abs(as_number(digits) - recomputed) <= 0.5 * 10.0**-decimals + 2e-6


def read(path: Path) -> pd.DataFrame:
    """Return a table of the run; lines that begin with # are notes."""
    table = pd.read_csv(path, sep="\t", comment="#")
    for name in ("class", "predicted_class"):
        if name in table:
            table[name] = table[name].astype(str)
    return table


def first_screen(page: Page, tables: Mapping[str, pd.DataFrame]) -> None:
    """Compare the first screen."""
    (screen,) = blocks_of(page.section("first"), "FirstScreen")
    groups = read(sorted((page.folder / "releases").glob("*/groups.tsv"))[-1])
    known = groups[groups["role"] == "calibration"]
    about = rf"[Ll]earnt from ({NUMBER}) proteins?"
    page.sentence("first: known proteins", screen["about"], about, len(known))
    families = rf"in ({NUMBER}) famil"
    n_families = known["cluster"].nunique()
    page.sentence("first: families", screen["about"], families, n_families, is_needed=False)
    if len(tables) != 1:
        return
    ((name, table),) = tables.items()
    stated = {answer["text"]: answer for answer in screen["answers"]}
    for words, answer in stated.items():
        where, number = f"first: {words}", answer["number"]
        if "should be right" in words:
            n, right = re.findall(NUMBER, words)
            total = int(table["confidence"].notna().sum())
            page.state(where, n, total)
            low, high = (as_number(end) for end in re.findall(NUMBER, answer["range"]))
            page.state(f"{where} (share)", number, 100.0 * as_number(right) / total)
            share = 100.0 * table["confidence"].sum() / total
            page.claim(
                f"first: the sum of the column confidence, {share:.1f} %, is within "
                f"{low:g} to {high:g} %",
                holds=low - 0.5 <= share <= high + 0.5,
            )
        elif words in COUNTED:
            page.state(where, number, int((table[DECISION] == COUNTED[words]).sum()))
        elif found := re.search(rf"({NUMBER}) % FDR", words):
            rate = as_number(found.group(1)) / 100.0
            path = page.folder / name / f"list_{rate:g}.tsv"
            page.state(where, number, len(read(path)))
            if DECISION in table:
                page.state(
                    f"{where} ({ACCEPTED})", number, int((table[DECISION] == ACCEPTED).sum())
                )


def verdict(page: Page, tables: Mapping[str, pd.DataFrame]) -> None:
    """Compare the sentences of the checks."""
    metrics = read(page.folder / "metrics.tsv")
    chosen = page.report["summary"]["chosen"]
    own = metrics[(metrics["method"] == chosen) & (metrics["sample"] == "held_out")]
    gaps = own[own["metric"] == "gap"].set_index("class")
    for check in page.report["verdict"]["checks"]:
        text, where = f"{check['headline']}. {check['text']}", f"verdict, {check['name']}"
        table = tables.get(check["query_set"] or "")
        if check["name"] == "gap" and "Over all classes" in text:
            row = gaps.loc["all"]
            pattern = rf"are ({NUMBER}) percentage points too (?:high|low) "
            pattern += rf".*?\(({NUMBER}) to ({NUMBER})\)"
            ends = 100.0 * abs(row["value"]), 100.0 * row["lower"], 100.0 * row["upper"]
            page.sentence(where, text, pattern, *ends)
            for name, number in re.findall(rf"([A-Z][\w ]*?) \(([+−]{NUMBER})\)", text):
                if name in gaps.index:
                    page.state(f"{where}: {name}", number, 100.0 * gaps.loc[name, "value"])
        elif check["name"] == "evidence" and table is not None:
            column = table[DECISION if DECISION in table else "use"]
            n_lacking = int((column == LACKING).sum())
            page.state(where, str(check["n_affected"]), n_lacking)
        elif check["name"] == "mix" and table is not None and BEFORE in table:
            within = re.search(rf"for ({NUMBER}) of ({NUMBER}) predictions", text)
            if within is not None:
                known = table["confidence"].notna()
                inside = known & table["confidence"].between(
                    table["uncorrected_lower"], table["uncorrected_upper"]
                )
                page.state(f"{where}, that stay", within.group(1), int(inside.sum()))
                page.state(f"{where}, of all", within.group(2), int(known.sum()))


def samples(page: Page, tables: Mapping[str, pd.DataFrame]) -> None:
    """Compare what is said of each sample."""
    for name, table in tables.items():
        text = page.texts("query-sets")
        of_sample = rf"{re.escape(name)} holds ({NUMBER}) proteins?"
        page.sentence(f"samples, {name}", text, of_sample, len(table))
        notes = page.table("query-sets", "Notes")
        for _, row in () if notes is None or len(tables) > 1 else notes.iterrows():
            n = int(
                table["note"].fillna("").str.split("; ").map(lambda x, r=row: r.iloc[0] in x).sum()
            )
            page.state(f"samples, {name}: note {row.iloc[0]!r}", row.iloc[1], n)
        if "novelty_p" in table:
            flagged = rf"{re.escape(name)}: ({NUMBER}) of ({NUMBER}) proteins?"
            n_flagged = int((table["novelty_p"] <= 0.05 + 1e-9).sum())
            n_placed = int(table["novelty_p"].notna().sum())
            page.sentence(f"novelty, {name}", page.texts("novelty"), flagged, n_flagged, n_placed)


def lists(page: Page, tables: Mapping[str, pd.DataFrame]) -> None:
    """Compare the lists with their files."""
    for name, table in tables.items():
        for path in sorted((page.folder / name).glob("list_*.tsv")):
            found = re.fullmatch(r"list_([\d.]+)", path.stem)
            if found is None:
                continue
            listed, rate = read(path), 100.0 * float(found.group(1))
            where = f"lists, {name} at {rate:g} %"
            stated = page.table("lists", f"Lists of {name}")
            if stated is None:
                page.claim(f"{where}: a table", holds=False)
                continue
            rows = stated[stated.iloc[:, 0] == f"{rate:g} %"]
            row = rows.iloc[0]  # The first is by the estimate
            page.state(where, row["predictions"], len(listed))
            title = next(title for title in stated.columns if "confidence" in title)
            if len(listed) and row[title] != DASH:
                end = as_number(row[title])
                least = listed["confidence"].min()
                # Tables for people have six decimals.
                page.claim(f"{where}: all of {end:g} or more", holds=least >= end - 1e-6)
            joined = listed.merge(table, on="id", suffixes=("", "_there"))
            alike = (joined["confidence"] - joined["confidence_there"]).abs().max()
            page.claim(
                f"{where}: confidences as in the table",
                holds=len(joined) == len(listed) and (len(joined) == 0 or alike == 0.0),
            )


def glance(page: Page, tables: Mapping[str, pd.DataFrame]) -> None:
    """Compare the row of each class with the tables and with thresholds.tsv."""
    (shown,) = blocks_of(page.section("classes"), "Glance")
    every = pd.concat(tables.values())
    groups = read(sorted((page.folder / "releases").glob("*/groups.tsv"))[-1])
    thresholds = read(page.folder / "thresholds.tsv")
    of_ninety = thresholds[(thresholds["on"] == "score") & (thresholds["precision"] == 0.9)]
    of_ninety = of_ninety.set_index("class")
    n_known = groups[groups["role"] == "calibration"]["cluster"].nunique()
    for strip in shown["strips"]:
        name, row = strip["name"], dict(zip(shown["columns"], strip["cells"], strict=True))
        of_class = every[every["predicted_class"] == name]
        page.state(f"glance, {name}: predicted", row["predicted"], len(of_class))
        n_accepted = int((of_class[DECISION] == ACCEPTED).sum())
        page.state(f"glance, {name}: accepted", row["accepted"], n_accepted)
        if "families known" in row:
            n_families = as_number(row["families known"])
            page.claim(f"glance, {name}: families", holds=0 <= n_families <= n_known)
        cell = row["90\u00a0% precision from score"]
        exact, share = of_ninety.loc[name, "threshold"], of_ninety.loc[name, "accepted"]
        if cell == DASH:
            page.claim(f"glance, {name}: no threshold", holds=bool(math.isnan(exact)))
        elif cell == "any":
            page.claim(f"glance, {name}: any score", holds=share > 0.999)
        else:  # Rounded up, so that it holds there too
            holds = 0 <= as_number(cell) - exact + 1e-5 <= 0.0101
            page.claim(f"glance, {name}: threshold {cell} for {exact:g}", holds=bool(holds))


def measured(page: Page, _: Mapping[str, pd.DataFrame]) -> None:
    """Compare losses of the method, of raw scores and of the class alone with metrics.tsv."""
    metrics = read(page.folder / "metrics.tsv").set_index(["method", "class", "sample", "metric"])
    chosen = page.report["summary"]["chosen"]
    names = {"raw scores": "uncalibrated", "class only": "class_only", chosen: chosen}
    losses = (("measuring", "Over all", "NLL"), ("methods", "Methods over", "held-out NLL"))
    for section, begin, title in losses:
        shown = page.table(section, begin)
        page.claim(f"{section}: a table", holds=shown is not None)
        for _, row in () if shown is None else shown.iterrows():
            method = names.get(row.iloc[0], row.iloc[0])
            entry = metrics.loc[(method, "all", "held_out", "nll")]
            ends = zip(re.findall(NUMBER, row[title]), ("value", "lower", "upper"), strict=False)
            for number, end in ends:
                page.state(f"{section}, {method}: {title} {end}", number, entry[end])


def proportions(page: Page, tables: Mapping[str, pd.DataFrame]) -> None:
    """Compare class proportions with the table of the composition."""
    for name in tables:
        path = page.folder / name / "class_proportions.tsv"
        shown = page.table("shift", f"{name}: how common")
        if not path.exists() or shown is None:
            continue
        stored = read(path).set_index("class")
        titles = {
            "share in calibration": "calibration_proportion",
            "corrected for": "applied_proportion",
        }
        for _, row in shown.iterrows():
            entry = stored.loc[row.iloc[0]]
            for title, column in titles.items():
                page.state(f"shares, {row.iloc[0]} {title}", row[title], entry[column])
            numbers = re.findall(NUMBER, row["share here"].replace("–", " "))
            for number, column in zip(
                numbers, ("query_proportion", "lower", "upper"), strict=False
            ):
                page.state(f"shares, {row.iloc[0]} {column}", number, entry[column])
        text = page.texts("shift")
        for class_name, entry in stored.iterrows():
            stated = rf"{re.escape(str(class_name))} makes up ({NUMBER}) \({RANGE}\) of it, "
            stated += rf"({NUMBER}) of"
            values = (
                entry[c] for c in ("query_proportion", "lower", "upper", "calibration_proportion")
            )
            page.sentence(f"shares, {class_name}", text, stated, *values, is_needed=False)
        verdict_of_proportions(page, name, stored)


def verdict_of_proportions(page: Page, name: str, stored: pd.DataFrame) -> None:
    """Compare the sentence of the verdict on class proportions."""
    for check in page.report["verdict"]["checks"]:
        if check["name"] != "mix" or check["query_set"] != name:
            continue
        share, taken = rf"({NUMBER}) %(?: \({RANGE}\))?", rf"(?:, corrected for ({NUMBER}) %)?"
        pattern = rf"(?:Estimated|Stated) {share} of your proteins are (.+?); "
        pattern += rf"({NUMBER}) % in the calibration set{taken}\."
        found = re.search(pattern, check["text"])
        if found is None:
            continue
        entry = stored.loc[found.group(4)]
        columns = (
            "query_proportion",
            "lower",
            "upper",
            None,
            "calibration_proportion",
            "applied_proportion",
        )
        for number, column in zip(found.groups(), columns, strict=True):
            if column is not None and number is not None:
                page.state(f"verdict, mix: {column}", number, 100.0 * entry[column])


def classes(page: Page, tables: Mapping[str, pd.DataFrame]) -> None:
    """Compare what is said of each class, and its examples with the tables."""
    metrics = read(page.folder / "metrics.tsv").set_index(["method", "class", "sample", "metric"])
    chosen = page.report["summary"]["chosen"]
    every = pd.concat(tables.values()).set_index("id")
    for panel in blocks_of(page.section("classes"), "Panel"):
        name = panel["title"]
        texts = "\n".join(strings_of(panel))
        right = metrics.loc[(chosen, name, "in_sample", "accuracy")]
        pattern = rf"({NUMBER}) of ({NUMBER}) are right: ({NUMBER}) "
        counts = right["value"] * right["n"], right["n"], right["value"]
        page.sentence(f"classes, {name}", texts, pattern, *counts)
        for block in blocks_of(panel, "Table"):
            for protein, confidence, decision, _ in block["rows"]:
                entry, where = every.loc[protein], f"classes, {name}: {protein}"
                number = re.findall(NUMBER, confidence)[0]
                page.state(where, number, entry["confidence"])
                page.claim(f"{where} {decision}", holds=entry[DECISION] == decision)


def truth(page: Page, tables: Mapping[str, pd.DataFrame], labels: Path) -> None:
    """Compare what is said of known truth."""
    text = "\n".join(strings_of(page.report))
    known = pd.read_csv(labels, sep=None, engine="python", dtype=str).set_index("id")["true_class"]
    for name, table in tables.items():
        is_right = table["predicted_class"] == table["id"].map(known)
        pattern = rf"classes of {re.escape(name)} are known: ({NUMBER}) of"
        page.sentence(f"truth, {name}", text, pattern, int(is_right.sum()))


PARTS: Sequence[Callable[[Page, Mapping[str, pd.DataFrame]], None]] = (
    *(first_screen, verdict, samples, lists, proportions, glance, measured, classes),
)


def compare(folder: Path, labels: Path | None = None) -> list[Compared]:
    """Return every number of a page of a run with the one recomputed."""
    report = json.loads((folder / "report.json").read_text())
    page = Page(folder=folder, report=report)
    tables = {path.parent.name: read(path) for path in sorted(folder.glob("*/confidences.tsv"))}
    for part in PARTS:
        part(page, tables)
    if labels is not None:
        truth(page, tables, labels)
    return page.compared


def main() -> None:
    """Print every number on the page beside the one recomputed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of a run, below reports/")
    parser.add_argument("--truth", type=Path, help="a table of id and true_class")
    parser.add_argument("--all", action="store_true", help="print those that are the same too")
    chosen = parser.parse_args()
    compared = compare(chosen.folder, chosen.truth)
    for entry in compared:
        if chosen.all or not entry.is_same:
            same = "same" if entry.is_same else "DIFFERS"
            print(f"{entry.where}\t{entry.page}\t{entry.recomputed:g}\t{same}")
    n_off = sum(not entry.is_same for entry in compared)
    print(f"{len(compared)} numbers and claims, {n_off} differ.")
    sys.exit(1 if n_off else 0)


if __name__ == "__main__":
    main()
