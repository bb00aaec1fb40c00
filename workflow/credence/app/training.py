"""A configuration whose calibration set has no scores: networks that give them."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from credence.app.meaning import DEMO_FILES, path_problem
from credence.problems import Problem
from credence.settings import setting_rules
from credence.stages.settings import ClassifierSettings
from credence.tables.document import Document, SettingPath

LEARNT = "learnt from"  # in place of the scores of a trove that is not attached
GIVE_SCORES = "Give its scores, or its FASTA file for the networks to score."


@dataclass(frozen=True)
class Scored:
    """Proteins that the networks score."""

    fasta: str
    match: str
    scores: str  # The table that is made of them
    is_known: bool  # Whether they calibrate, so that no network may have seen a relative


@dataclass(frozen=True)
class Training:
    """What networks learn from, and what they score."""

    folder: str  # Of what is made:
    scores: str  # the scores that calibrate,
    calibrating: str  # the proteins of those,
    learnt: str  # the proteins that calibrate nothing, where a test group does,
    found: str  # what the page says of the classifier
    proteins: str  # FASTA file
    labels: Mapping[str, Any]  # Where the true classes are
    match: str
    synonyms: Mapping[str, str]
    vectors: str | None
    has_test: bool  # Whether a test group alone calibrates
    retrains: bool  # Whether it learns from troves as well
    troves: list[tuple[str, str, str]]  # FASTA file, labels and match of each of those
    sets: dict[str, Scored] = field(default_factory=dict)  # By name of the use-set or trove

    @property
    def made(self) -> tuple[str, ...]:
        """All files that stand in the configuration's place of the user's."""
        test = (self.learnt,) if self.has_test else ()
        return (self.scores, self.calibrating, *test, *(one.scores for one in self.sets.values()))

    @property
    def files(self) -> tuple[str, ...]:
        """All files of the user's that are read to train."""
        named = [self.proteins, self.labels.get("table"), self.vectors]
        for fasta, labels, _ in self.troves:
            named += [fasta, json.loads(labels).get("table")]
        return tuple(str(name) for name in named if name)


def with_scores(document: Document) -> tuple[Document, Training | None, list[Problem]]:
    """Return a configuration as if a tool had given the scores that networks will.

    Without `classifier`, or where the calibration set has scores, it is left as it is.
    """
    data = document.data
    base, asked = data.get("calibration_set"), data.get("classifier", {}) or {}
    run = data.get("run")
    if not isinstance(base, dict) or not isinstance(asked, dict) or not isinstance(run, str):
        return document, None, []
    if base.get("scores") is not None:
        rules = setting_rules(ClassifierSettings)
        moved = [name for name, one in asked.items() if name in rules and one != rules[name][0]]
        what = "the calibration set has scores, so that nothing is trained."
        remedy = "Remove scores of the calibration set, or this setting."
        wrong = [document.problem(("classifier", one), what, remedy) for one in moved]
        return document, None, wrong
    if "classifier" not in data:
        return document, None, []
    labels = base.get("labels") if isinstance(base.get("labels"), dict) else {}
    folder = f"results/{run}/classifier"
    training = Training(
        folder=folder,
        scores=f"{folder}/scores.parquet",
        calibrating=f"{folder}/proteins.fasta",
        learnt=f"{folder}/training.fasta",
        found=f"{folder}/found.json",
        proteins=str(base.get("proteins") or ""),
        labels={key: value for key, value in (labels or {}).items() if value is not None},
        match=str(base.get("match") or "first_word"),
        synonyms=base["synonyms"] if isinstance(base.get("synonyms"), dict) else {},
        vectors=asked.get("vectors"),
        has_test=asked.get("calibrate") == "test_group",
        retrains=asked.get("retrain") is True,
        troves=[],
    )
    will_be_there = DEMO_FILES if "demo" in data else ()
    problems = [document.problem(*found) for found in _wrong(data, base, training, will_be_there)]
    changed: dict[str, Any] = dict(data)
    scored = {"scores": training.scores, "format": "credence", "proteins": training.calibrating}
    changed["calibration_set"] = {key: base[key] for key in base if key != "labels"} | scored
    for section, fasta in (("use_sets", "proteins"), ("troves", "fasta")):
        if isinstance(data.get(section), list):
            changed[section] = [_with_scores_of(entry, training, fasta) for entry in data[section]]
            what = "it has neither scores nor a FASTA file."
            problems += [
                document.problem((section, at), what, GIVE_SCORES)
                for at, entry in enumerate(data[section])
                if isinstance(entry, dict) and not entry.get("scores") and not entry.get(fasta)
            ]
    if training.retrains:
        changed["troves"] = [
            entry
            for entry in changed.get("troves") or []
            if not isinstance(entry, dict) or entry.get("scores") != LEARNT
        ]
    if training.has_test:
        changed["training"] = {"proteins": training.learnt}
    return replace(document, data=changed), training, problems


def _with_scores_of(entry: Any, training: Training, fasta: str) -> Any:
    """Return a set whose scores networks will give, or which they learn from."""
    if not isinstance(entry, dict) or entry.get("scores") is not None:
        return entry
    is_trove, name = fasta == "fasta", str(entry.get("name"))
    match = str(entry.get("match") or (training.match if is_trove else "first_word"))
    file = str(entry.get(fasta) or "")
    if is_trove and training.retrains:
        labels = entry.get("labels") or training.labels
        stated = {"table": labels} if isinstance(labels, str) else labels
        training.troves.append((file, json.dumps(stated, ensure_ascii=False), match))
        return {**entry, "scores": LEARNT}
    key = f"{'trove' if is_trove else 'use'}-{name}"
    path = f"{training.folder}/{key}.csv"
    training.sets[key] = Scored(file, match, path, is_trove)
    return {**entry, "scores": path, "format": "phanns"}


def _wrong(
    data: Mapping[str, Any], base: Mapping[str, Any], training: Training, made: Collection[str]
) -> Iterator[tuple[SettingPath, str, str]]:
    """Yield what networks cannot be trained without, and what they leave no place for."""
    above = "calibration_set"
    if not training.proteins:
        what = "networks learn from sequences, and there are none."
        yield (above, "proteins"), what, "Give a FASTA file, or scores instead."
    if not training.labels:
        what = "networks learn from known classes, and there are none."
        yield (above, "labels"), what, "Give labels: a table of id and label, or a pattern."
    if isinstance(data.get("training"), dict) and data["training"].get("proteins") is not None:
        what = "the classifier is trained here, on proteins of the calibration set."
        yield ("training", "proteins"), what, "Leave it out."
    named: list[tuple[SettingPath, Any]] = [
        ((above, "proteins"), training.proteins),
        ((above, "labels", "table"), training.labels.get("table")),
        (("classifier", "vectors"), training.vectors),
    ]
    for where, path in named:
        if not isinstance(path, str) or not path:
            continue  # the schema says so, or it is not there
        if (wrong := path_problem(path)) is not None:
            yield where, *wrong
        elif path not in made and not Path(path).is_file():
            remedy = "Fix the path; it starts where you run the command."
            yield where, f"there is no file {path!r}.", remedy
