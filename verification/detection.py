"""What notices a protein of no known kind: the product beside composition, words and others.

    PYTHONPATH=. python verification/detection.py --page docs/verification-detection.md
    PYTHONPATH=. python verification/detection.py --novelty novelty.json --name "real capsids"

Without a file it makes two worlds of proteins and asks `credence novelty` about them: one whose
families have remote relatives in other families, and one whose families have none. A file of
`credence novelty` says all that is needed of other proteins.

Known are proteins of one family fewer each time: one protein of each family is looked at among
those of all other families. So are the foils that are made of it, and the protein itself among
those of all other classes. Each rival says how far a protein is; it is judged as the product is,
by the area under the curve and by the share of foils noticed at 5 % false alarms.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np
from novelty_study import ProteinWorldSettings, StudyProteins, remote_world, simulate_proteins
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from credence.draws import encode_clusters, keys_of, uniform
from credence.novelty import detector as detectors
from credence.novelty.detector import foils_of, known_kind, noticed, odds_of
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.relatives.kmers import words_of
from credence.tables.stage_files import NOVELTY, NoveltyFile
from report import write_section

HELD = "families left out"
NEIGHBOURS, FOLDS, FEW_LABELS, LETTERS = 10, 5, 20, 5


def of_world(made: StudyProteins) -> tuple[Strings, Strings, Strings]:
    """Return proteins, their families and their classes."""
    names = np.array(made.class_names, dtype=object)
    return made.sequences, made.cluster, names[made.true_class]


def fold_world(seed: int) -> tuple[Strings, Strings, Strings]:
    """Return proteins of families without relatives, whose order of residues is their class's."""
    return of_world(simulate_proteins(ProteinWorldSettings(n_families=800, seed=seed)))


def novelty_of(texts: Strings, family: Strings, class_: Strings) -> NoveltyFile:
    """Return what `credence novelty` writes of some proteins; the scores do not matter."""
    names = sorted(set(class_.tolist()))
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        ids = [f"p{row:05d}" for row in range(len(texts))]
        scores = ["id," + ",".join(names) + ",true_class"]
        for id_, own in zip(ids, class_, strict=True):
            values = ["6" if name == own else f"{4 / (len(names) - 1):.4f}" for name in names]
            scores.append(",".join([id_, *values, own]))
        (base / "scores.csv").write_text("\n".join(scores) + "\n")
        rows = zip(ids, family, strict=True)
        clusters = ["id\tcluster", *("\t".join(row) for row in rows)]
        (base / "clusters.tsv").write_text("\n".join(clusters) + "\n")
        rows = zip(ids, texts, strict=True)
        (base / "p.fasta").write_text("".join(f">{id_}\n{text}\n" for id_, text in rows))
        command = [sys.executable, "-m", "credence", "novelty", "scores.csv"]
        command += ["--format", "credence", "--spec", '{"scale": 10}', "--clusters"]
        command += ["clusters.tsv", "--proteins", "p.fasta", "--threads", "2", "--out", "n.json"]
        subprocess.run(command, cwd=base, check=True)
        return NOVELTY.read(base / "n.json")


class Rivals:
    """How far proteins are from those known of other labels, by each way of looking."""

    def __init__(self, file: NoveltyFile) -> None:
        """Take the proteins that calibrate."""
        assert file.known is not None
        rows = file.reference.calibration_rows
        self.space, self.points = file.reference.space, file.reference.points[rows]
        self.ids, self.class_name = file.reference.ids[rows], file.reference.class_name[rows]
        self.known, self.family = file.known, file.known.family[: len(rows)]

    def far(self, texts: Strings, own: Integers, label: Integers) -> dict[str, Floats]:
        """Return how far each protein is, its own label left out, by each rival."""
        places = self.space.of_sequences(texts)
        distance = cdist(places, self.points)
        is_own = own[:, None] == label[None, :]
        distance[is_own] = np.inf
        others = np.concatenate([label, np.full(len(self.known.texts) - len(label), -1)])
        close = self.known.closest(texts, (own, others), threads=2)
        both = places, self.points
        unit = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in both]
        on_sphere = np.where(is_own, np.inf, cdist(*unit))
        return {
            "composition": distance.min(axis=1),
            "words of 5 residues": self._words(texts, is_own),
            "MACEst's distance": self._to_nearest_class(distance),
            "alignment alone": -close.bits,
            "profiles alone": -self.known.profile_scores(texts, (own, others), 2)[:, 0],
            "kNN (Sun et al. 2022)": np.partition(on_sphere, NEIGHBOURS - 1)[:, NEIGHBOURS - 1],
            "Mahalanobis (Lee et al. 2018)": self._fitted(places, own, label, self._mahalanobis),
            "isolation forest": self._fitted(places, own, label, self._forest),
            "local outlier factor": self._fitted(places, own, label, self._factor),
        }

    def _words(self, texts: Strings, is_own: Booleans) -> Floats:
        words = words_of(np.concatenate([texts, self.known.texts[: len(self.points)]]), LETTERS)
        _, code = np.unique(words.word, return_inverse=True)
        ones = np.ones(len(code), dtype=np.float32)
        table = sparse.csr_array((ones, (words.protein, code)))
        shared = (table[: len(texts)] @ table[len(texts) :].T).toarray()
        n_own = np.maximum(table[: len(texts)].sum(axis=1), 1.0)
        return -np.where(is_own, 0.0, shared).max(axis=1) / n_own

    def _to_nearest_class(self, distance: Floats) -> Floats:
        """Return the mean distance to ten neighbours, nearer ones counting more; least class."""
        answer = np.full(len(distance), np.inf)
        for name in np.unique(self.class_name):
            near = np.sort(distance[:, self.class_name == name], axis=1)[:, :NEIGHBOURS]
            weight = 1.0 / np.maximum(near, 1e-9)
            there = np.isfinite(near)
            mean = np.where(there, weight * np.where(there, near, 0.0), 0.0).sum(axis=1)
            total = weight.sum(axis=1)
            mean = np.divide(mean, total, out=np.full(len(near), np.inf), where=total > 0)
            answer = np.minimum(answer, mean)
        return answer

    def _fitted(
        self,
        places: Floats,
        own: Integers,
        label: Integers,
        learn: Callable[[Floats, Strings], Callable[[Floats], Floats]],
    ) -> Floats:
        """Return what is learnt from known proteins of other labels, a fifth left out at once."""
        n = len(set(label.tolist()))
        n_parts, answer = n if n <= FEW_LABELS else FOLDS, np.empty(len(places))
        for part in range(n_parts):
            kept, rows = label % n_parts != part, own % n_parts == part
            if rows.any():
                answer[rows] = learn(self.points[kept], self.class_name[kept])(places[rows])
        return answer

    @staticmethod
    def _mahalanobis(points: Floats, class_name: Strings) -> Callable[[Floats], Floats]:
        names, code = np.unique(class_name.astype(str), return_inverse=True)
        centre = np.array([points[code == one].mean(axis=0) for one in range(len(names))])
        precision = LedoitWolf(assume_centered=True).fit(points - centre[code]).precision_
        return lambda new: cdist(new, centre, "mahalanobis", VI=precision).min(axis=1)

    @staticmethod
    def _forest(points: Floats, _: Strings) -> Callable[[Floats], Floats]:
        made = IsolationForest(random_state=0).fit(points)
        return lambda new: -made.score_samples(new)

    @staticmethod
    def _factor(points: Floats, _: Strings) -> Callable[[Floats], Floats]:
        made = LocalOutlierFactor(n_neighbors=20, novelty=True).fit(points)
        return lambda new: -made.score_samples(new)


def area(held: Floats, foils: Floats) -> float:
    """Return how often a foil is farther than a family left out, ties counting half."""
    ranked = np.sort(held)
    nearer, as_near = (np.searchsorted(ranked, foils, side=side) for side in ("left", "right"))
    return float((nearer + as_near).mean() / 2.0 / len(held))


def compared(file: NoveltyFile) -> list[dict[str, object]]:
    """Return a row of each way of looking: area and power of each kind of foils."""
    rivals, found = Rivals(file), file.detector
    assert found is not None
    ids, family = rivals.ids, rivals.family
    order = np.argsort(uniform(keys_of(ids), 0, detectors.STREAM), kind="stable")
    order = order[family[order] < detectors.MOST_FAMILIES]
    rows = order[np.unique(family[order], return_index=True)[1]]
    texts = rivals.known.texts[: len(ids)][rows]
    samples = {HELD: (texts, family[rows], family)}
    for kind, made in foils_of(texts, ids[rows]).items():
        samples[kind] = (made, family[rows], family)
    class_code, _ = encode_clusters(rivals.class_name)
    if len(set(class_code.tolist())) > 2:
        samples[detectors.WITHOUT_CLASS] = (texts, class_code[rows], class_code)
    far = {kind: rivals.far(*sample) for kind, sample in samples.items()}
    kinds = [kind for kind in far if kind != HELD]
    answer: list[dict[str, object]] = []
    for name, held in far[HELD].items():
        row: dict[str, object] = {"by": name}
        for kind in kinds:
            k, n = noticed(held, far[kind][name])
            row[kind] = f"{area(held, far[kind][name]):.2f}, {k / n:.2f}"
        answer.append(row)
    product: dict[str, object] = {"by": "**credence**"}
    powers = {power.kind: power for power in found.powers}
    for kind in kinds:
        one = powers[kind]
        interval = f"{one.lower:.2f}–{one.upper:.2f}"
        product[kind] = f"**{one.area:.2f}, {one.power:.2f}** ({interval})"
    confidence: dict[str, object] = {
        "by": f"what is left of a confidence (families left out: {found.kept:.2f})"
    }
    for kind in kinds:
        odds = odds_of(powers[kind].scores, found.slope, found.offset, len(found.held))
        confidence[kind] = f"{known_kind(odds)[0].mean():.2f}"
    return [*answer, product, confidence]


TEXT = (
    "{n} proteins of {families} families and {classes} classes; representatives are looked at: "
    "{search}. Area under the curve, and share noticed at 5 % false alarms (with its 95 % "
    "interval for credence). Last row: the factor that confidences of such a sample are "
    "multiplied by, on average; no confidence there is greater."
)


def main() -> None:
    """Look at a file, or at worlds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", type=Path)
    parser.add_argument("--novelty", type=Path)
    parser.add_argument("--name", default="Proteins of the file")
    asked = parser.parse_args()
    if asked.novelty is not None:
        sets: dict[str, Callable[[], NoveltyFile]] = {
            asked.name: lambda: NOVELTY.read(asked.novelty)
        }
    else:
        sets = {
            "Families with remote relatives": lambda: novelty_of(*of_world(remote_world(1)[0])),
            "Families without relatives": lambda: novelty_of(*fold_world(1)),
        }
    for title, make in sets.items():
        file = make()
        assert file.known is not None
        rows = compared(file)
        n = len(file.reference.calibration_rows)
        text = TEXT.format(
            n=f"{n:,}",
            families=len(file.known.representatives),
            classes=len(set(file.reference.class_name.tolist())),
            search=file.known.search,
        )
        print(title, text, *rows, sep="\n", flush=True)
        if asked.page is not None:
            write_section(asked.page, title, text, rows)


if __name__ == "__main__":
    main()
