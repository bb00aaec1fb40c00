"""Readers, each given inputs that are nearly right; only a refusal may come of them."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from credence.app import configuration
from credence.calibrators.all_methods import METHODS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.predictions import Labelled, from_scores, label
from credence.problems import InputError
from credence.tables.contract import read_clusters, read_confidences, read_groups, read_metrics
from credence.tables.document import parse_document, read_document
from credence.tables.fasta import read_fasta
from credence.tables.labels import read_labels
from credence.tables.propose import propose_formats
from credence.tables.samples import TableSpec, read_samples, stream_samples, write_samples
from credence.tables.stage_files import (
    HEAD,
    CalibrationFile,
    checksum_of,
    confidence_of,
    digest_of,
    read_calibration,
    require_match,
    settings_record,
    write_calibration,
)
from faults.mutations import mutated_bytes, mutated_record, rng_of
from faults.signed_records import signed_records
from valid_tables import SPECS, VALID

DATA = Path(__file__).resolve().parents[1] / "data"
TOLD_EVERY = 1_000  # inputs, on the way
CLASSES = ("Portal", "HTJ", "Köpfe")
TABLES = {
    "clusters.tsv": (
        read_clusters,
        "id\tcluster\trepresentative\tidentity\tcoverage\na\tc1\ta\t1\t1\nb\tc1\ta\t0.5\t0.9\n",
    ),
    "groups.tsv": (
        read_groups,
        "id\tcluster\tgroup\trole\treason\na\tc1\tg1\tcalibration\t\nb\tc2\tg2\ttest\t\n"
        "d\tc3\t\tset_aside\tno label\n",
    ),
    "confidences.tsv": (
        read_confidences,
        "id\tpredicted_class\tscore\tconfidence\tlower\tupper\tsupport\tmethod\tnote\n"
        "a\tx\t0.5\t0.4\t0.3\t0.6\t12\tkernel\t\nb\ty\t0.5\t\t\t\t0\tkernel\t\n",
    ),
    "metrics.tsv": (
        read_metrics,
        "method\tmetric\tclass_name\tsample\tvalue\tlower\tupper\tn\tn_effective\n"
        "kernel\tece\tall\theld_out\t0.1\t0.05\t0.2\t100\t50\n",
    ),
}
FASTA = ">a one\nMKVLAT\nGGH\n>b two\nMSTNP\n>c\nMACDEFGHIKLMNPQRSTVWY\n"
CONFIGURATIONS = ("full.yaml", "minimal.yaml", "saved_by_windows.yaml")


@dataclass(frozen=True)
class Finding:
    """An input that ended in something else than a refusal.

    Parameters
    ----------
    number : int
        Of the input.
    reader : str
        Which reader it was given to.
    text : str
        The traceback.
    """

    number: int
    reader: str
    text: str


class Readers:
    """Every reader with a valid input, and a folder to put the spoilt ones in.

    Parameters
    ----------
    folder : Path
        An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.configurations = {
            name: read_document(DATA / "valid" / "config" / name).data for name in CONFIGURATIONS
        }
        self.texts = {
            name: (DATA / "valid" / "config" / name).read_text() for name in CONFIGURATIONS
        }
        self.calibrations = dict(self._calibrations())
        self.binaries = dict(self._binaries())
        self.known = _labelled(30)
        self.uses = dict(signed_records(folder, _labelled(120)))
        self.signed = {name: (folder / name).read_text() for name in self.uses}
        self.jobs: dict[str, Callable[[np.random.Generator], None]] = {
            **{f"table {name}": self._table(name) for name in SPECS},
            **{f"contract {name}": self._contract(name) for name in TABLES},
            **{f"binary {name}": self._binary(name) for name in self.binaries},
            **{f"calibration {name}": self._calibration(name) for name in self.calibrations},
            **{f"record {name}": self._signed(name) for name in self.uses},
            **{f"record bytes {name}": self._signed_bytes(name) for name in self.uses},
            **{f"configuration {name}": self._configuration(name) for name in CONFIGURATIONS},
            **{f"text {name}": self._configuration_text(name) for name in CONFIGURATIONS},
            "labels": self._labels,
            "fasta": self._fasta,
            "fasta again": self._fasta,
            "calibration bytes": self._calibration_bytes,
        }

    def read(self, number: int, seed: int) -> Finding | None:
        """Give one input to one reader, and return what went wrong.

        Parameters
        ----------
        number, seed : int
            What the input follows from.
        """
        names = sorted(self.jobs)
        name = names[number % len(names)]
        rng = rng_of(seed, number)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                self.jobs[name](rng)
        except InputError as refusal:
            if refusal.problems and all(problem.remedy for problem in refusal.problems):
                return None
            return Finding(number, name, f"a refusal without a remedy: {refusal.text()}")
        except Exception:
            return Finding(number, name, traceback.format_exc())
        return None

    def _put(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content)
        return path

    def _table(self, name: str) -> Callable[[np.random.Generator], None]:
        content, spec = (VALID / name).read_bytes(), SPECS[name]

        def job(rng: np.random.Generator) -> None:
            path = self._put(name, mutated_bytes(rng, content))
            if rng.random() < 0.1:
                propose_formats(path)
            ids = read_samples(path, spec).predictions.ids.tolist()
            again = [one for part in stream_samples(path, spec, 2) for one in part.predictions.ids]
            assert again == ids, "a stream gives other rows than the whole"

        return job

    def _contract(self, name: str) -> Callable[[np.random.Generator], None]:
        reader, text = TABLES[name]

        def job(rng: np.random.Generator) -> None:
            reader(self._put(name, mutated_bytes(rng, text.encode())))

        return job

    def _binaries(self) -> Iterator[tuple[str, tuple[bytes, TableSpec]]]:
        samples = read_samples(VALID / "phanns.csv", TableSpec("phanns"))
        for name in ("a.tsv.gz", "a.tsv.zst", "a.parquet"):
            write_samples(self.folder / name, samples)
            yield name, ((self.folder / name).read_bytes(), TableSpec("credence", scale=10.0))
        stored = io.BytesIO()
        arrays = {"id": np.array(list("abc")), "class_names": np.array(["x", "y"])}
        np.savez(stored, softmax=np.full((3, 2, 2), 0.5), **arrays)
        yield "a.npz", (stored.getvalue(), TableSpec("networks-npz"))
        packed = io.BytesIO()
        np.savez_compressed(packed, softmax=np.full((3, 2, 2), 0.5), **arrays)
        yield "b.npz", (packed.getvalue(), TableSpec("networks-npz"))

    def _binary(self, name: str) -> Callable[[np.random.Generator], None]:
        content, spec = self.binaries[name]

        def job(rng: np.random.Generator) -> None:
            read_samples(self._put(name, mutated_bytes(rng, content)), spec)

        return job

    def _calibrations(self) -> Iterator[tuple[str, str]]:
        known = _labelled(120)
        options = FitOptions(n_draws=5)
        for method in (*(method.name for method in METHODS), "tswa -> isotonic"):
            stage = parse_method(method, "fuzz")
            file = CalibrationFile(
                calibration=stage.build(options).fit(known),
                method_spec=stage.text,
                class_names=CLASSES,
                scale=10.0,
                resolution=0.01,
                counts={"n": known.n_samples},
                inputs={"scores.csv": "0" * 64},
                settings=settings_record(stage, options),
            )
            path = self.folder / "c.json"
            write_calibration(path, file)
            yield method, path.read_text()

    def _calibration(self, name: str) -> Callable[[np.random.Generator], None]:
        whole = json.loads(self.calibrations[name])

        def job(rng: np.random.Generator) -> None:
            body = dict(whole)
            if rng.random() < 0.8:  # what was fitted, the rest being right
                body["calibration"] = mutated_record(rng, body["calibration"])
            else:
                body = mutated_record(rng, body)
            try:  # signed again, as if it had been written so
                body["checksum"] = checksum_of(body)
            except ValueError:
                body["checksum"] = "0" * 64
            self._use(self._put("c.json", json.dumps(body).encode()))

        return job

    def _use(self, path: Path) -> None:
        file = read_calibration(path)
        predictions = self.known.predictions
        require_match(file, predictions, "use.csv")
        found = confidence_of(file, predictions, str(path))
        assert found.value.shape == (predictions.n_samples,)
        inside = np.isnan(found.value) | ((found.value >= 0) & (found.value <= 1))
        assert inside.all(), "a confidence that is no probability"

    def _calibration_bytes(self, rng: np.random.Generator) -> None:
        names = sorted(self.calibrations)
        text = self.calibrations[names[int(rng.integers(len(names)))]]
        self._use(self._put("c.json", mutated_bytes(rng, text.encode())))

    def _signed(self, name: str) -> Callable[[np.random.Generator], None]:
        whole = json.loads(self.signed[name])
        part = {"shift.json": "adjusted", "events.json": "model", "novelty.json": "reference"}[
            name
        ]

        def job(rng: np.random.Generator) -> None:
            body = dict(whole)
            if rng.random() < 0.8:  # what was learnt, the rest being right
                body[part] = mutated_record(rng, body[part])
            else:
                body = mutated_record(rng, body)
            rest = {key: value for key, value in body.items() if key not in HEAD}
            body["sha256"] = digest_of(rest)
            self.uses[name](self._put(name, json.dumps(body).encode()), self.known)

        return job

    def _signed_bytes(self, name: str) -> Callable[[np.random.Generator], None]:
        text = self.signed[name].encode()

        def job(rng: np.random.Generator) -> None:
            self.uses[name](self._put(name, mutated_bytes(rng, text)), self.known)

        return job

    def _configuration(self, name: str) -> Callable[[np.random.Generator], None]:
        data = self.configurations[name]

        def job(rng: np.random.Generator) -> None:
            text = json.dumps(mutated_record(rng, data), ensure_ascii=False, indent=1)
            _check_configuration(text)

        return job

    def _configuration_text(self, name: str) -> Callable[[np.random.Generator], None]:
        text = self.texts[name].encode()

        def job(rng: np.random.Generator) -> None:
            path = self._put("config.yaml", mutated_bytes(rng, text))
            configuration.check(read_document(path, "config.yaml"))

        return job

    def _labels(self, rng: np.random.Generator) -> None:
        read_labels(self._put("l.tsv", mutated_bytes(rng, (VALID / "labels.tsv").read_bytes())))

    def _fasta(self, rng: np.random.Generator) -> None:
        read_fasta(self._put("p.fasta", mutated_bytes(rng, FASTA.encode())))


def _check_configuration(text: str) -> None:
    configuration.check(parse_document(text, "config.yaml"))


def _labelled(n_samples: int) -> Labelled:
    rng = rng_of(5)
    scores = rng.dirichlet([1.0, 1.0, 1.0], n_samples) * 10
    ids = np.array([f"p{row}" for row in range(n_samples)], dtype=object)
    predictions = from_scores(ids, CLASSES, scores, 10.0, 0.01, is_distribution=True)
    predictions = replace(predictions, places=rng.normal(size=(n_samples, 2)))
    return label(predictions, rng.integers(0, 3, n_samples))


def fuzz(folder: Path, first: int, n_inputs: int, seed: int) -> Iterator[Finding]:
    """Yield what went wrong among some inputs.

    Parameters
    ----------
    folder : Path
        An empty folder.
    first, n_inputs, seed : int
        Which inputs.
    """
    os.chdir(DATA / "valid" / "config")  # beside the tables that configurations name
    readers = Readers(folder)
    for number in range(first, first + n_inputs):
        finding = readers.read(number, seed)
        if (number - first + 1) % TOLD_EVERY == 0:
            print(f"{number - first + 1} inputs read", file=sys.stderr, flush=True)
        if finding is not None:
            yield finding


if __name__ == "__main__":  # python -m faults.fuzzing FOLDER FIRST N SEED, in tests/
    place = Path(sys.argv[1]).resolve()
    place.mkdir(parents=True, exist_ok=True)
    n_findings = 0
    for found in fuzz(place, *map(int, sys.argv[2:5])):
        n_findings += 1
        print(f"== {found.number} {found.reader}\n{found.text}", flush=True)
    print(f"{sys.argv[3]} inputs, {n_findings} findings")
    sys.exit(min(n_findings, 1))
