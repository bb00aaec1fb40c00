"""Release folders made of small drawn worlds, as the pipeline writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.predictions import Labelled, Predictions, from_scores, label
from credence.releases.files import (
    Release,
    ReleaseCounts,
    counts_by_class,
    read_release,
    set_digest,
    write_release,
)
from credence.tables.contract import Groups, write_contract
from credence.tables.digests import sha256_of
from credence.tables.samples import Samples, write_samples
from credence.tables.stage_files import CalibrationFile, settings_record, write_calibration
from credence.tables.writing import write_table

CLASS_NAMES = ("Portal", "Collar", "HTJ", "Other")
FOUND = (0.3, 0.2, 0.2, 0.3)
OPTIONS = FitOptions(n_draws=40)


def draw_set(
    seed: int, n_samples: int, name: str, prevalence: tuple[float, ...] = FOUND, skill: float = 2.0
) -> Labelled:
    """Return labelled predictions in families, with names of their own."""
    rng = np.random.default_rng(seed)
    n_classes = len(CLASS_NAMES)
    family = rng.integers(max(n_samples // 3, 1), size=n_samples)
    class_of = rng.choice(n_classes, family.max() + 1, p=list(prevalence))
    true_class = class_of[family]
    logits = rng.normal(size=(n_samples, n_classes)) * 1.5
    logits[np.arange(n_samples), true_class] += skill
    scores = np.exp(logits * 1.5)
    scores *= 10.0 / scores.sum(axis=1, keepdims=True)
    scores = np.round(scores, 2)
    ids = np.array([f"{name}_{row:04d}" for row in range(n_samples)], dtype=object)
    cluster = np.array([f"{name}_family_{code}" for code in family], dtype=object)
    return label(from_scores(ids, CLASS_NAMES, scores, 10.0, 0.01), true_class, cluster=cluster)


def joined(first: Labelled, second: Labelled) -> Labelled:
    """Return the proteins of both."""
    one, other = first.predictions, second.predictions
    assert one.scores is not None and other.scores is not None
    predictions = from_scores(
        np.concatenate([one.ids, other.ids]),
        one.class_names,
        np.concatenate([one.scores, other.scores]),
        one.scale,
        one.resolution,
    )
    return label(
        predictions,
        np.concatenate([first.true_class, second.true_class]),
        np.concatenate([first.weight, second.weight]),
        np.concatenate([first.cluster, second.cluster]),
    )


@dataclass(frozen=True)
class Chain:
    """Writes releases below a folder, one after the other."""

    folder: Path

    def write(
        self,
        labelled: Labelled,
        name: str,
        number: int = 0,
        parent: Path | None = None,
        method: str = "kernel",
        attached: dict[str, np.ndarray] | None = None,
        options: FitOptions = OPTIONS,
        role: np.ndarray | None = None,
    ) -> Path:
        """Return the folder of a release of these proteins."""
        here = self.folder / f"{number:02d}-{name}"
        predictions: Predictions = labelled.predictions
        n = labelled.n_samples
        role = np.full(n, "calibration", dtype=object) if role is None else role
        nobody = np.zeros(0, dtype=object)
        lines = np.zeros(n, dtype=np.int64)
        write_samples(
            here / "samples.parquet",
            Samples(
                predictions=predictions,
                true_class=labelled.true_class,
                lines=lines,
                unscored_ids=nobody,
                unscored_lines=np.zeros(0, dtype=np.int64),
            ),
        )
        blank = np.full(n, "", dtype=object)
        group = np.where(role == "test", "g2", "g1").astype(object)
        groups = Groups(
            ids=predictions.ids,
            cluster=labelled.cluster,
            group=group,
            role=role,
            reason=blank,
            class_name=blank,
        )
        write_contract(here / "groups.tsv", groups)
        digest = set_digest(here / "samples.parquet", here / "groups.tsv")
        stage = parse_method(method, "test")
        held = labelled.take(role == "calibration")
        calibration = here / "calibrations" / "chosen.json"
        write_calibration(
            calibration,
            CalibrationFile(
                calibration=stage.build(options).fit(held),
                method_spec=stage.text,
                class_names=predictions.class_names,
                scale=predictions.scale,
                resolution=predictions.resolution,
                counts={"n": held.n_samples, "n_correct": int(held.is_correct.sum()),
                        "n_clusters": len(set(held.cluster)), "weights": "none"},
                settings=settings_record(stage, options),
                release=digest,
            ),
        )  # fmt: skip
        if attached is not None:
            write_table(here / "attach.tsv", attached)
        counts = ReleaseCounts(
            n_proteins=n, n_calibration=held.n_samples, n_clusters=len(set(held.cluster)),
            n_set_aside=0,
            by_class=dict(counts_by_class(predictions.class_names, held.true_class.tolist())),
        )  # fmt: skip
        release = Release(
            name=name, number=number, date=None if number == 0 else f"2026-0{number}-01",
            parent=None if parent is None else read_release(parent).digest, set=digest,
            inputs=(), counts=counts,
            calibrations={"chosen": sha256_of(calibration)},
        )  # fmt: skip
        write_release(here / "release.json", release)
        return here


@pytest.fixture(scope="session")
def sets() -> SimpleNamespace:
    """Return the functions above, which test modules cannot import."""
    return SimpleNamespace(draw=draw_set, joined=joined, options=OPTIONS, classes=CLASS_NAMES)


@pytest.fixture(scope="session")
def chain_at() -> Callable[[Path], Chain]:
    """Return what writes releases below a folder."""
    return Chain


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two release folders: a base, and a trove of HTJ with one repeat."""
    chain = Chain(folder=tmp_path_factory.mktemp("releases"))
    base = draw_set(1, 500, "old")
    trove = draw_set(2, 90, "new", prevalence=(0.0, 0.0, 1.0, 0.0))
    first = chain.write(base, "base")
    ids = np.append(trove.predictions.ids, "again_0001").astype(object)
    n = len(ids)
    blank = np.full(n, "", dtype=object)
    unknown = np.full(n, np.nan)
    is_repeat = np.arange(n) == n - 1
    attached = {
        "id": ids,
        "true_class": np.full(n, "HTJ", dtype=object),
        "outcome": np.where(is_repeat, "exact_repeat", "added").astype(object),
        "cluster": np.where(is_repeat, "", np.append(trove.cluster, "")).astype(object),
        "group": np.where(is_repeat, "", "g1").astype(object),
        "relative": np.where(is_repeat, "old_0001", "").astype(object),
        "relative_class": np.where(is_repeat, "HTJ", "").astype(object),
        "identity": np.where(is_repeat, 1.0, unknown),
        "coverage": np.where(is_repeat, 1.0, unknown),
        "reason": np.where(is_repeat, "the set has 'old_0001', the same sequence", blank).astype(
            object
        ),
    }
    second = chain.write(joined(base, trove), "htj", 1, first, attached=attached)
    return first, second
