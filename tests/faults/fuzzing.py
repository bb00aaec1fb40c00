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
import pyarrow as pa
import pyarrow.parquet as pq

from credence.app import configuration
from credence.app.options import _parsed as parsed
from credence.calibrators.all_methods import METHODS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.lists.held_out import MixDraws, held_out_of
from credence.lists.thresholds import own_errors
from credence.predictions import Labelled, from_scores, label
from credence.problems import InputError
from credence.records import DIGEST, digest_of, read_record, signed, to_record
from credence.relatives.cdhit import parse_clstr
from credence.releases.files import read_attached
from credence.report.page_data import report_record
from credence.sets.conformal import fit_sets
from credence.stages.check import read_checked
from credence.stages.reading import json_settings, stated_spec
from credence.stages.releases import compare_releases
from credence.stages.report import _publish_index as publish_index
from credence.stages.report import _with_run as with_run
from credence.stages.report import summarise_file
from credence.stages.settings import USES, Settings
from credence.tables.contract import (
    CONFIDENCE_NAMES,
    read_clusters,
    read_confidences,
    read_groups,
    read_metrics,
    read_relatives,
    set_columns,
)
from credence.tables.digests import KnownDigests
from credence.tables.document import parse_document, read_document
from credence.tables.fasta import read_fasta
from credence.tables.formats import TableSpec
from credence.tables.guess import propose_formats
from credence.tables.labels import read_labels
from credence.tables.npz import read_vectors
from credence.tables.samples import read_samples, stream_samples, write_samples
from credence.tables.stage_files import (
    HEAD_KEYS,
    CalibrationFile,
    checksum_of,
    confidence_of,
    read_calibration,
    require_match,
    settings_record,
    write_calibration,
)
from credence.tables.text import lines_of
from credence.tables.writing import write_table
from faults.hand_offs import (
    RECORDS,
    example_of,
    held_out,
    mutated_parquet,
    mutated_text,
    signed_records,
    use_held_out,
    vectors_npz,
)
from faults.mutations import mutated_bytes, mutated_record, pick, rng_of
from small_findings import make
from small_forests import small_forests
from valid_tables import SPECS, VALID

DATA = Path(__file__).resolve().parents[1] / "data"
TOLD_EVERY = 1_000  # inputs, on the way
CLASSES = ("Portal", "HTJ", "Köpfe")
MIX = MixDraws(n_classes=len(CLASSES), ratios=np.linspace(0.5, 2.0, 2 * len(CLASSES)))
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
        "id\tpredicted_class\tconfidence\tlower\tupper\tdecision\tnote\tscore\tsupport\tmethod\n"
        "a\tx\t0.4\t0.3\t0.6\tcheck\t\t0.5\t12\tkernel\n"
        "b\ty\t\t\t\tinsufficient data\t\t0.5\t0\tkernel\n",
    ),
    "relatives.tsv": (
        read_relatives,
        "id\trelative\tidentity\tcoverage\na\tt1\t0.5\t0.9\nb\tt2\t0.6\t1\n",
    ),
    "attach.tsv": (
        read_attached,
        "id\ttrue_class\toutcome\tcluster\tgroup\trelative\trelative_class\tidentity\tcoverage\t"
        "reason\na\tHTJ\tadded\tc\tg\t\t\t\t\t\n",
    ),
    "metrics.tsv": (
        read_metrics,
        "method\tmetric\tclass_name\tsample\tvalue\tlower\tupper\tn\tn_effective\n"
        "kernel\tece\tall\theld_out\t0.1\t0.05\t0.2\t100\t50\n",
    ),
}
QUERY_SET = TABLES["confidences.tsv"][1]
CLSTR = (
    ">Cluster 0\n0\t9aa, >a x... *\n1\t8aa, >b... at 1:8:1:8/87.50%\n>Cluster 1\n0\t7aa, >c... *\n"
)
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
        self.held_out = held_out(folder, self.known)
        self.findings = make(CLASSES)
        write_table(folder / "u.parquet", _confidences())
        self.confidences = (folder / "u.parquet").read_bytes()
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
            **{f"hand-off {name}": self._hand_off(name) for name in RECORDS},
            "held-out": self._held_out,
            "vectors npz": self._vectors_npz,
            "vectors parquet": self._vectors_parquet,
            "query set": self._query_set,
            "clstr": self._clstr,
            "index": self._index,
            "memory": self._memory,
            "spec": self._spec,
            "options": self._options,
            "labels of headers": self._header_labels,
            "releases": self._releases,
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
            return Finding(
                number=number, reader=name, text=f"a refusal without a remedy: {refusal.text()}"
            )
        except Exception:
            return Finding(number=number, reader=name, text=traceback.format_exc())
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
        samples = read_samples(VALID / "phanns.csv", TableSpec(format="phanns"))
        for name in ("a.tsv.gz", "a.tsv.zst", "a.parquet"):
            write_samples(self.folder / name, samples)
            yield (
                name,
                ((self.folder / name).read_bytes(), TableSpec(format="credence", scale=10.0)),
            )
        stored = io.BytesIO()
        arrays = {"id": np.array(list("abc")), "class_names": np.array(["x", "y"])}
        np.savez(stored, softmax=np.full((3, 2, 2), 0.5), **arrays)
        yield "a.npz", (stored.getvalue(), TableSpec(format="networks-npz"))
        packed = io.BytesIO()
        np.savez_compressed(packed, softmax=np.full((3, 2, 2), 0.5), **arrays)
        yield "b.npz", (packed.getvalue(), TableSpec(format="networks-npz"))

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
            with small_forests():
                calibration = stage.build(options).fit(known)
            file = CalibrationFile(
                calibration=calibration,
                sets=fit_sets(known),
                held_out=held_out_of(known, np.linspace(0.0, 1.0, known.n_samples), MIX),
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
                part = pick(rng, ["calibration"] * 8 + ["sets", "held_out"])
                body[part] = mutated_record(rng, body[part])
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
        set_columns(file.sets, predictions, np.full(len(CLASSES), 1 / len(CLASSES)))
        if file.held_out is not None:
            errors = own_errors(file.held_out, 0.95)
            known = errors.error[~np.isnan(errors.error)]
            assert ((known >= 0) & (known <= 1)).all(), "a share wrong that is none"

    def _calibration_bytes(self, rng: np.random.Generator) -> None:
        names = sorted(self.calibrations)
        text = self.calibrations[names[int(rng.integers(len(names)))]]
        self._use(self._put("c.json", mutated_bytes(rng, text.encode())))

    def _signed(self, name: str) -> Callable[[np.random.Generator], None]:
        whole = json.loads(self.signed[name])
        part = {"shift.json": "correction", "events.json": "model", "novelty.json": "reference"}[
            name
        ]

        def job(rng: np.random.Generator) -> None:
            body = dict(whole)
            if rng.random() < 0.8:  # what was learnt, the rest being right
                body[part] = mutated_record(rng, body[part])
            else:
                body = mutated_record(rng, body)
            rest = {key: value for key, value in body.items() if key not in HEAD_KEYS}
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

    def _hand_off(self, name: str) -> Callable[[np.random.Generator], None]:
        """Return a job that reads a record; one that is not as it was written is never read."""
        kind = RECORDS[name]
        whole = signed(example_of(kind))

        def job(rng: np.random.Generator) -> None:
            text, is_forged = mutated_text(rng, whole), False
            if rng.random() < 0.5:
                body = mutated_record(rng, {key: whole[key] for key in whole if key != DIGEST})
                text, is_forged = json.dumps(body | {DIGEST: digest_of(body)}), True
            read_record(kind, self._put(name, text.encode()), "Make it again.")
            assert is_forged or json.loads(text) == whole, "a record that was changed is read"

        return job

    def _held_out(self, rng: np.random.Generator) -> None:
        path = self._put("h.json", mutated_bytes(rng, self.held_out))
        use_held_out(path, self.known)

    def _vectors_npz(self, rng: np.random.Generator) -> None:
        read_vectors(self._put("v.npz", vectors_npz(rng)))

    def _vectors_parquet(self, rng: np.random.Generator) -> None:
        table = pa.table({"id": list("abc"), "0": [0.1, 0.2, 0.3], "1": [1, 2, 3]})
        stored = io.BytesIO()
        pq.write_table(table, stored)
        read_vectors(self._put("v.parquet", mutated_parquet(rng, stored.getvalue())))

    def _query_set(self, rng: np.random.Generator) -> None:
        results = make(CLASSES).results
        if rng.random() < 0.6:
            text = QUERY_SET.replace("x", CLASSES[0]).replace("y", CLASSES[1])
            path = self._put("u.tsv", mutated_bytes(rng, text.encode()))
        else:
            path = self._put("u.parquet", mutated_parquet(rng, self.confidences))
        summarise_file("use", path, results, "kernel")

    def _clstr(self, rng: np.random.Generator) -> None:
        path = self._put("c.clstr", mutated_bytes(rng, CLSTR.encode()))
        parse_clstr(lines_of(path), "c.clstr", whole_header=bool(rng.random() < 0.5))

    def _index(self, rng: np.random.Generator) -> None:
        record = report_record(make(CLASSES))
        record["sections"] = []
        for name in ("one", "two"):
            (self.folder / "runs" / name).mkdir(parents=True, exist_ok=True)
            self._put(f"runs/{name}/report.json", mutated_text(rng, record).encode())
        publish_index(self.folder / "runs" / "index.html")

    def _memory(self, rng: np.random.Generator) -> None:
        whole = {"a": [[1, 2, 3, 4], "0" * 64], "b": [[1, 2, 3, 4], "0" * 64]}
        KnownDigests.remembered(self._put("digests.json", mutated_text(rng, whole).encode()))

    def _spec(self, rng: np.random.Generator) -> None:
        name = pick(rng, sorted(SPECS))
        spec = {key: value for key, value in vars(SPECS[name]).items() if key != "class_names"}
        spec = json.loads(json.dumps(spec | {"genome": "id", "synonyms": {"a": "b"}}))
        if rng.random() < 0.3:
            spec["scale"] = pick(rng, (1e308, 10**300, 1e-308, 10))
        text = mutated_text(rng, spec)
        option = pick(rng, ("--spec", "--samples-spec"))
        read_samples(VALID / name, stated_spec([str(VALID / name)], None, text, option=option))

    def _options(self, rng: np.random.Generator) -> None:
        stage = pick(rng, sorted(USES))
        values = json.loads(Settings().to_json(stage))
        sections = parsed(mutated_text(rng, values), stage)
        Settings().with_values(sections)
        facts = {"run": "a", "title": "b", "simulated": True, "settings": {"a": "b"}}
        findings = with_run(self.findings, json_settings(mutated_text(rng, facts), "--settings"))
        json.dumps(to_record(findings))

    def _header_labels(self, rng: np.random.Generator) -> None:
        table = VALID / "phanns.csv"
        fasta = self._put("p.fasta", b">a class=HTJ\nMK\n")
        whole = pick(
            rng,
            (
                {"pattern": "class=(?P<label>.+)", "table": None, "id_column": "id"},
                {"table": str(VALID / "labels.tsv"), "id_column": "id", "label_column": "label"},
            ),
        )
        labels = json_settings(mutated_text(rng, whole), "--labels") or None
        spec = TableSpec(format="phanns")
        read_checked([str(table)], spec, labels, str(fasta), "first_word", labelled=False)

    def _releases(self, rng: np.random.Generator) -> None:
        """Compare two calibrations, one of them changed and signed again."""
        body = json.loads(self.calibrations["kernel"])
        first = self._put("old.json", json.dumps(body).encode())
        part = pick(rng, ("settings", "counts", "calibration", "inputs", "resolution"))
        body[part] = mutated_record(rng, {part: body[part]}).get(part)
        body["checksum"] = checksum_of(body)
        second = self._put("new.json", json.dumps(body).encode())
        compare_releases(
            *(str(first), str(second), None, None, "{}", None),
            *(
                str(self.folder / "classes.tsv"),
                str(self.folder / "p.html"),
                None,
                False,
                False,
                None,
                None,
            ),
        )

    def _labels(self, rng: np.random.Generator) -> None:
        read_labels(self._put("l.tsv", mutated_bytes(rng, (VALID / "labels.tsv").read_bytes())))

    def _fasta(self, rng: np.random.Generator) -> None:
        read_fasta(self._put("p.fasta", mutated_bytes(rng, FASTA.encode())))


def _confidences() -> dict[str, object]:
    """Return columns of confidences as annotate writes them."""
    n, texts = 4, ("id", "predicted_class", "method", "note")
    columns: dict[str, object] = {name: np.full(n, 0.5) for name in CONFIDENCE_NAMES}
    columns |= {name: np.array([f"{name}{row}" for row in range(n)], object) for name in texts}
    columns["decision"] = np.array(["check"] * n, object)
    return columns | {"predicted_class": np.array([CLASSES[0]] * n, object)}


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
