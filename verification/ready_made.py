"""The calibrations that credence ships, made again from the data of their sources.

Each is a calibration file and a card: for whom it is, for what it is not, how it was
judged. The data (`--data`) are public and are not copied; `data/README.md` of the
project's shared folder says where each comes from. The same data give the same bytes
on one kind of processor; others differ in the last digits.

    PYTHONPATH=. python verification/ready_made.py --data ../shared/data
    PYTHONPATH=. python verification/ready_made.py --data ../shared/data --check

The second writes nothing: it says which files come out the same byte for byte, and ends with 1
where any does not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.data import real_table

from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.predictions import UNKNOWN_CLASS, Labelled, Predictions, label
from credence.stages.fit import counts_calibration, fit_chosen
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
NOT_KNOWN = "families unknown: each protein counts as one, so intervals are too narrow"


def web(data: Path) -> tuple[CalibrationFile, Labelled]:
    """Return the calibration of the counts behind PhANNs' web page."""
    labelled = read_counts(data / WEB, 10.0, 1.0)
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


def judged(file: CalibrationFile) -> dict[str, Any]:
    """Return what held-out proteins show: shares stated and right, and the NLL."""
    held_out = file.held_out
    assert held_out is not None
    ends = np.append(CONFIDENCE_STEPS, 1.0)
    stated = ((ends[:-1] + ends[1:]) / 2.0)[held_out.step]
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
            "source": "https://github.com/susiegriggo/Phynteny: scores of right and wrong "
            "predictions that its own confidences rest on",
            "licence": "MIT, as its source",
            "citation": "Grigson et al., Phynteny, https://github.com/susiegriggo/Phynteny",
        },
    ),
}


def made(name: str, data: Path) -> tuple[str, dict[str, Any]]:
    """Return a calibration as text, and its card."""
    fit, words = SOURCES[name]
    file, labelled = fit(data)
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
    parser.add_argument("--only", choices=list(SOURCES), nargs="*", default=list(SOURCES))
    given = parser.parse_args()
    if given.check:
        return checked(given.data, given.out, given.only)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "cards.json"
    cards = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name in given.only:
        text, cards[name] = made(name, given.data)
        packed = gzip.compress(text.encode("utf-8"), 9, mtime=0)
        (given.out / f"{name}.json.gz").write_bytes(packed)
        print(f"{name}: {len(text):,} bytes, packed {len(packed):,}")
    cards = {name: cards[name] for name in SOURCES if name in cards}
    path.write_text(json.dumps(cards, indent=1, ensure_ascii=False) + "\n", "utf-8")
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
