"""The calibrations that credence ships, made again from the data of their sources.

Each is a calibration file and a card: for whom it is, for what it is not, how it was
judged. The data (`--data`) are public and are not copied; `data/README.md` of the
project's shared folder says where each comes from. The same data give the same bytes
on one kind of processor; others differ in the last digits.

    PYTHONPATH=. python verification/ready_made.py --data ../shared/data
    PYTHONPATH=. python verification/ready_made.py --data ../shared/data --check

--page docs/evidence-tools.md also writes the numbers of the page of evidence, of the same fits.
The second writes nothing: it says which files come out the same byte for byte, and ends with 1
where any does not.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.data import real_table
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from verification.paper import networks
from verification.report import write_section

from credence.draws import keys_of
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.lists.thresholds import find_thresholds
from credence.metrics.all_metrics import METRICS_BY_NAME
from credence.metrics.metric import Judged
from credence.predictions import UNKNOWN_CLASS, Floats, Labelled, Predictions, label
from credence.stages.fit import counts_calibration, fit_chosen
from credence.stages.lists import wanted_of
from credence.stages.reading import CalibrationSet
from credence.stages.settings import Settings
from credence.tables.counts import read_counts
from credence.tables.digests import sha256_of
from credence.tables.formats import IN_FULL, spell_phrogs
from credence.tables.ready_made import READY_MADE
from credence.tables.stage_files import CalibrationFile, calibration_text

WEB = "phanns_web_histogram.csv"
FIRST = "phanns_scores_2020.csv.gz"
PHYNTENY = ("phynteny_toplabel_scores.npz", "phynteny_meta.csv")
NOT_CORRECTED = (
    "class proportions of a sample are not corrected for: the source does not say how many "
    "proteins each class has in its test set, only how many are predicted"
)
NOT_KNOWN = "families unknown: each protein counts as one, so intervals are too narrow"


def web(data: Path) -> tuple[CalibrationFile, Labelled]:
    """Return the calibration of the counts behind PhANNs' web page."""
    labelled = read_counts(data / WEB, 10.0, 1.0).labelled
    return counts_calibration(labelled, Settings(), WEB), labelled


def first(data: Path) -> tuple[CalibrationFile, Labelled]:
    """Return the calibration of PhANNs' first table, with whole vectors."""
    labelled = real_table(data / FIRST)
    file = fit_chosen(CalibrationSet(labelled=labelled, set_aside={}), Settings(), FIRST).file
    return replace(file, known=None), labelled  # its names are numbers of rows


def phynteny(data: Path) -> tuple[CalibrationFile, Labelled]:
    """Return the calibration of Phynteny's right and wrong top scores."""
    scores = np.load(data / PHYNTENY[0], allow_pickle=False)
    keys = [key.rpartition("__") for key in scores.files]
    names = tuple(dict.fromkeys(IN_FULL[spell_phrogs(name)] for name, _, _ in keys))
    parts = [np.asarray(scores[key], dtype=np.float64) for key in scores.files]
    predicted = np.concatenate(
        [
            np.full(len(part), names.index(IN_FULL[spell_phrogs(name)]))
            for part, (name, _, _) in zip(parts, keys, strict=True)
        ]
    )
    is_right = np.concatenate(
        [np.full(len(part), kind == "TP") for part, (_, _, kind) in zip(parts, keys, strict=True)]
    )
    predictions = Predictions(
        ids=np.arange(len(predicted)).astype(str).astype(object),
        class_names=names,
        scale=10.0,
        resolution=0.0,
        predicted_class=predicted,
        top_score=np.concatenate(parts).round(3),
        is_distribution=False,
    )
    labelled = label(predictions, np.where(is_right, predicted, UNKNOWN_CLASS))
    return counts_calibration(labelled, Settings(), PHYNTENY[0]), labelled


ENDS = np.append(CONFIDENCE_STEPS, 1.0)
MIDDLES: Floats = (ENDS[:-1] + ENDS[1:]) / 2.0  # Confidences of steps


def judged(file: CalibrationFile) -> dict[str, Any]:
    """Return what held-out proteins show: shares stated and right, and the NLL."""
    held_out = file.held_out
    assert held_out is not None
    stated = MIDDLES[held_out.step]
    is_right = ~held_out.is_wrong
    by_class = {
        name: {
            "predicted": int(rows.sum()),
            "right": share(is_right, rows),
            "stated": share(stated, rows),
        }
        for class_, name in enumerate(file.class_names)
        if (rows := held_out.predicted == class_).any()
    }
    every = np.ones(len(stated), dtype=np.bool_)
    chance = np.where(is_right, stated, 1.0 - stated)
    return {
        "right": share(is_right, every),
        "stated": share(stated, every),
        "nll": round(float(-np.log(chance).mean()), 3),
        "classes": by_class,
    }


def share(values: Any, rows: Any) -> float:
    """Return a mean in thousandths."""
    return round(float(np.mean(values[rows])), 3)


def without_names(held_out: HeldOut) -> HeldOut:
    """Return proteins that are families of their own in an order that takes little space."""
    order = np.lexsort((held_out.true, held_out.step, held_out.predicted))
    number = np.arange(len(order))
    return HeldOut(
        step=held_out.step[order],
        predicted=held_out.predicted[order],
        true=held_out.true[order],
        weight=held_out.weight[order],
        cluster=number,
        key=number.astype(np.uint64),
    )


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a tool's own score and the calibrated confidence say of proteins held apart."""

    whole: dict[str, object]  # One row of the first table
    thresholds: list[dict[str, object]]  # A row for each class
    lists: list[dict[str, object]]  # A row for each error rate


TEN = "phanns-ten-networks"  # At hand, not bundled
PRECISIONS = {"phanns-web": "phanns_precision_web.csv", "phanns-2020": "phanns_precision_2020.csv"}
SURE, RAW_CUTOFF = 0.9, 9.0  # A confidence, and a score of 10
ERROR_RATES = (0.01, 0.05, 0.1)


def own_cutoff(name: str, data: Path, labelled: Labelled) -> tuple[str, NDArray[np.bool_]]:
    """Return what a user of the tool alone would go by, and which predictions reach it."""
    score = labelled.predictions.required_top_score
    if name not in PRECISIONS:
        return f"score ≥ {RAW_CUTOFF:g}", score >= RAW_CUTOFF
    places = {cls: at for at, cls in enumerate(labelled.predictions.class_names)}
    least = np.full(len(places), np.inf)
    with (data / PRECISIONS[name]).open(newline="") as handle:
        for row in csv.DictReader(handle):
            if row["precision"] and float(row["precision"]) >= SURE:
                at = places[row["class"]]
                least[at] = min(least[at], float(row["threshold"]))
    reached = score >= least[labelled.predictions.predicted_class] - 1e-9
    return f"its Confidence ≥ {100 * SURE:.0f} %", reached


def evidence_of(
    name: str, file: CalibrationFile, labelled: Labelled, cutoff: tuple[str, NDArray[np.bool_]]
) -> Evidence:
    """Return the raw score beside cross-validated confidences, thresholds and lists."""
    held_out, predictions = file.held_out, labelled.predictions
    assert held_out is not None and len(held_out.step) == labelled.n_samples
    order = np.argsort(keys_of(predictions.ids), kind="stable")  # of the held-out proteins
    stated = MIDDLES[held_out.step]
    is_right = labelled.is_correct[order]
    raw = np.clip(predictions.required_top_score[order] / predictions.scale, 0.0, 1.0)
    row: dict[str, object] = {"tool": name, "proteins": f"{labelled.n_samples:,}"}
    for word, confidence in (("raw", raw), ("calibrated", stated)):
        judged = Judged(
            confidence=confidence, is_correct=is_right, weight=np.ones(labelled.n_samples)
        )
        row[f"NLL, {word}"] = METRICS_BY_NAME["nll"].compute(judged)
        row[f"error, {word}"] = METRICS_BY_NAME["ece_debiased"].compute(judged)
    text, reached = cutoff
    reached = reached[order]
    row |= {
        "cut-off of the tool": text,
        "predictions": f"{int(reached.sum()):,}",
        "precision": float(is_right[reached].mean()),
        "raw score says": float(raw[reached].mean()),
        "credence says": float(stated[reached].mean()),
    }
    found = find_thresholds(labelled, held_out, wanted_of(Settings()))
    thresholds: list[dict[str, object]] = [
        {
            "tool": name,
            "class": entry.class_name,
            "predictions": f"{entry.n:,}",
            "score from": "–" if np.isnan(entry.threshold) else f"{entry.threshold:.2f}",
            "precision there": "–" if np.isnan(entry.right) else f"{entry.right:.3f}",
            "predictions kept": "–" if np.isnan(entry.kept) else f"{100 * entry.kept:.0f} %",
        }
        for entry in found.rows
        if (entry.on, entry.precision) == ("score", SURE) and entry.class_name is not None
    ]
    best_first = np.argsort(-stated, kind="stable")
    expected = np.cumsum(1.0 - stated[best_first]) / np.arange(1, len(stated) + 1)
    lists: list[dict[str, object]] = []
    for rate in ERROR_RATES:
        n = int(np.searchsorted(expected, rate, side="right"))  # expected only grows
        wrong = 1.0 - float(is_right[best_first[:n]].mean()) if n else float("nan")
        lists.append(
            {
                "tool": name,
                "FDR allowed": f"{100 * rate:.0f} %",
                "accepted": f"{n:,}",
                "of all": f"{100 * n / len(stated):.0f} %",
                "wrong": f"{100 * wrong:.1f} %" if n else "–",
            }
        )
    return Evidence(whole=row, thresholds=thresholds, lists=lists)


def write_evidence(page: Path, evidence: Sequence[Evidence]) -> None:
    """Write the tables of the page of evidence."""
    write_section(
        page,
        "Raw score against calibrated confidence",
        "NLL is the mean negative log-likelihood, error the debiased calibration error; lower is "
        "better. Of the predictions that reach the tool's cut-off: the precision, and the mean of "
        "what the raw score and the confidence say.",
        [entry.whole for entry in evidence],
    )
    write_section(
        page,
        "Thresholds at 90 % precision",
        "The least score from which on predictions of a class are right nine times in ten; – : "
        "no score is.",
        [row for entry in evidence for row in entry.thresholds],
    )
    write_section(
        page,
        "Lists at an FDR",
        "The predictions with the highest confidences, as many as the error rate allows, and how "
        "many of them are wrong.",
        [row for entry in evidence for row in entry.lists],
    )


PHANNS = "https://github.com/Adrian-Cantu/PhANNs"
CITE_PHANNS = "Cantu et al. 2020, PLoS Comput Biol 16(11): e1007845, 10.1371/journal.pcbi.1007845"
OTHERS = "proteins unlike those it was fitted on; another version of the tool"
SOURCES: dict[str, tuple[Callable[[Path], tuple[CalibrationFile, Labelled]], dict[str, str]]] = {
    "phanns-web": (
        web,
        {
            "summary": "PhANNs as on its web page: the table that the page gives to download",
            "format": "phanns",
            "for": "Phage structural proteins scored by PhANNs' web page or its batch program.",
            "not_for": f"PhANNs trained anew; {OTHERS}",
            "relatives": NOT_KNOWN,
            "proportions": NOT_CORRECTED,
            "source": f"{PHANNS}, web_server/test_set_stats.csv: precision, recall and rate of "
            "false positives at 101 thresholds, turned into counts (20 of 1,100 cells may be "
            "a tenth or two of a score off)",
            "licence": "MIT, as its source",
            "citation": CITE_PHANNS,
        },
    ),
    "phanns-2020": (
        first,
        {
            "summary": "PhANNs' first model of 2020, from whole score vectors",
            "format": "phanns",
            "for": "Phage structural proteins scored by the model of PhANNs' first submission.",
            "not_for": f"the web page's model (take phanns-web); {OTHERS}",
            "relatives": "families unknown: 100 rows in a row of a class count as one",
            "proportions": "estimated from a table's scores and corrected for, or stated",
            "source": f"{PHANNS}, branch minus_capsid, model_training/cat_tag_old.csv",
            "licence": "MIT, as its source",
            "citation": CITE_PHANNS,
        },
    ),
    "phynteny": (
        phynteny,
        {
            "summary": "Phynteny's ten networks: best category and its score, 0 to 10",
            "format": "phynteny",
            "for": "Phage genes annotated by Phynteny (networks, not its later transformer).",
            "not_for": f"genes that it leaves without a category; {OTHERS}",
            "relatives": NOT_KNOWN,
            "proportions": NOT_CORRECTED,
            "source": "https://github.com/susiegriggo/Phynteny: scores of right and wrong "
            "predictions that its own confidences rest on",
            "licence": "MIT, as its source",
            "citation": "Grigson et al., Phynteny, https://github.com/susiegriggo/Phynteny",
        },
    ),
}


def made(
    name: str, data: Path, evidence: list[Evidence] | None = None
) -> tuple[str, dict[str, Any]]:
    """Return a calibration as text, and its card; add to the evidence, where it is wanted."""
    fit, words = SOURCES[name]
    with threadpool_limits(1):  # sums in parallel differ in their last digits
        file, labelled = fit(data)
    if evidence is not None:
        evidence.append(evidence_of(name, file, labelled, own_cutoff(name, data, labelled)))
    files = {"phanns-web": (WEB,), "phanns-2020": (FIRST,), "phynteny": PHYNTENY}[name]
    assert file.held_out is not None
    is_alone = len(file.held_out.key) == len(file.held_out.step)
    file = replace(
        file,
        inputs={one: sha256_of(data / one) for one in files},
        held_out=without_names(file.held_out) if is_alone else file.held_out,
    )
    card = {
        **words,
        "method": file.method_spec,
        "n": labelled.n_samples,
        "inputs": dict(file.inputs),
        "held_out": judged(file),
    }
    return calibration_text(file), card


def main() -> int:
    """Write the calibrations that are asked for, and the cards of all; or compare them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=READY_MADE)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--only", choices=list(SOURCES), nargs="*", default=list(SOURCES))
    given = parser.parse_args()
    if given.check:
        return checked(given.data, given.out, given.only)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "cards.json"
    cards = json.loads(path.read_text("utf-8")) if path.exists() else {}
    evidence: list[Evidence] = []
    for name in given.only:
        text, cards[name] = made(name, given.data, evidence)
        packed = gzip.compress(text.encode("utf-8"), 9, mtime=0)
        (given.out / f"{name}.json.gz").write_bytes(packed)
        print(f"{name}: {len(text):,} bytes, packed {len(packed):,}")
    cards = {name: cards[name] for name in SOURCES if name in cards}
    path.write_text(json.dumps(cards, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if given.page is not None:
        labelled = networks(given.data)
        chosen = CalibrationSet(labelled=labelled, set_aside={})
        file = fit_chosen(chosen, Settings(), TEN).file
        cutoff = own_cutoff(TEN, given.data, labelled)
        evidence.append(evidence_of(TEN, file, labelled, cutoff))
        write_evidence(given.page, evidence)
    return 0


def checked(data: Path, out: Path, names: Sequence[str]) -> int:
    """Say which calibrations come out as they lie there, with their cards; 1: not all do."""
    cards = json.loads((out / "cards.json").read_text("utf-8"))
    n_differ = 0
    for name in names:
        text, card = made(name, data)
        there = gzip.decompress((out / f"{name}.json.gz").read_bytes())
        is_same = text.encode("utf-8") == there and card == cards[name]
        n_differ += not is_same
        print(f"{name}: {'the same bytes' if is_same else 'other bytes'}", flush=True)
    return int(n_differ > 0)


if __name__ == "__main__":
    sys.exit(main())
