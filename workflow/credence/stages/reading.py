"""What several commands do with tables: reading a set, and whom it calibrates."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from credence.findings import Notice
from credence.novelty.space import Space, fit_composition, fit_vectors
from credence.predictions import UNKNOWN_CLASS, Floats, Integers, Labelled, Strings, label
from credence.problems import InputError, Problem, gathering, raise_any, refuse
from credence.progress import echo
from credence.proteins import Proteins
from credence.records import parse_json, refuse_loop, refuse_pipe, short
from credence.relatives.pack import CALIBRATION, SET_ASIDE, TEST, kind_of
from credence.relatives.pairs import canonical_texts
from credence.stages.settings import TABLE_KEYS, set_problems
from credence.tables.contract import Clusters, Groups, read_clusters, read_groups
from credence.tables.fasta import Fasta, Match, match_ids, read_fasta
from credence.tables.formats import CREDENCE_FORMAT, FORMAT_OF, TableSpec, unknown_format
from credence.tables.joining import concatenate, match_rows, require_different
from credence.tables.labels import Labels, attach_labels, labels_from_headers, read_labels
from credence.tables.npz import read_vectors
from credence.tables.samples import Samples, is_combined, read_samples
from credence.tables.scan import Scan
from credence.tables.stage_files import (
    NOVELTY_FILES,
    CalibrationFile,
    NoveltyFile,
    known_proteins,
    require_match,
)

# What a calibration file says of its counts, and so whoever uses it.
RELATIVES_KNOWN = "relatives are counted by cluster"
RELATIVES_UNKNOWN = (
    "every protein counts as a family of its own; if relatives are among those it was "
    "fitted on, its intervals are too narrow"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationSet:
    """The proteins that fit and judge, and why others do not."""

    labelled: Labelled  # Those of the role `calibration`, weighted
    set_aside: Mapping[str, int]  # Reason → number of proteins that are not used because of it


def table_spec(
    paths: Sequence[str], format_: str | None, settings: Mapping[str, Any], option: str = "--spec"
) -> TableSpec:
    """Return how tables are read: as stated, or as the one format that fits."""
    if settings:
        raise_any(set_problems(option, settings, TABLE_KEYS))
    values = dict(settings)
    stated = values.pop("format", None)
    name = format_ or stated or proposed_format(Path(paths[0]))
    if values.get("logits"):
        echo(f"{', '.join(paths)}: read as logits, the softmax of each row.")
    return TableSpec(format=name, **values)


def stated_spec(
    paths: Sequence[str],
    format_: str | None,
    spec_json: str,
    scale: float | None = None,
    option: str = "--spec",
    *,
    logits: bool = False,
    file: CalibrationFile | None = None,
) -> TableSpec:
    """Return how tables are read by the options of a command, else as those of a calibration."""
    stated = dict(json_settings(spec_json, option))
    if scale is not None:
        stated["scale"] = scale
    if logits:
        stated["logits"] = True
    if file is not None and format_ is None and "format" not in stated:
        raise_any(set_problems(option, stated, TABLE_KEYS))
        values = as_remembered(Path(paths[0]), file, stated)
        if values is not None:
            words = json.dumps(values, ensure_ascii=False)
            echo(f"{paths[0]}: read as the tables of the calibration: {words}.")
            return table_spec(paths, None, values, option)
    return table_spec(paths, format_, stated, option)


def spec_of(spec_json: str, option: str) -> TableSpec:
    """Return how tables are read by settings that name their format."""
    values = json_settings(spec_json, option)
    raise_any(set_problems(option, values, TABLE_KEYS))
    if values.get("format") not in FORMAT_OF:
        raise InputError([unknown_format(str(values.get("format")), option)])
    return TableSpec(**values)


def as_remembered(
    path: Path, file: CalibrationFile, stated: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return how a table of the form of a calibration's is read; None for one of another form."""
    from credence.tables.guess import propose_formats

    if file.read_as is None or set_problems("", file.read_as, TABLE_KEYS):
        return None
    values = {**file.read_as, **stated}
    try:
        Scan(path, as_calibrated(TableSpec(**values), file.class_names, file.scale))
    except InputError:
        if propose_formats(path):
            return None  # else it says which of the calibration's columns are missing
    return values


def to_remember(spec: TableSpec) -> Mapping[str, Any] | None:
    """Return what a calibration keeps of how its tables were read.

    None where that helps with no other table: of credence's own, or of names that carry a label.
    """
    values = {
        name: getattr(spec, name)
        for name, default in TABLE_KEYS.items()
        if name != "genome" and getattr(spec, name) != default
    }
    is_told = (
        values == {"format": CREDENCE_FORMAT} or FORMAT_OF[spec.format].label_of_id is not None
    )
    return None if is_told else values


def as_calibrated(spec: TableSpec, class_names: tuple[str, ...] | None, scale: float) -> TableSpec:
    """Return how a table is read as a calibration's: its classes, its scale unless stated."""
    stated = spec.scale
    if stated is None and spec.format in FORMAT_OF and FORMAT_OF[spec.format].scale is None:
        stated = scale
    return replace(spec, class_names=class_names, scale=stated)


def proposed_format(path: Path) -> str:
    """Return the one format that fits a table; refuse where it is not one."""
    from credence.tables.guess import the_format

    def state(settings: dict[str, Any]) -> str:
        name = settings.pop("format")
        return f"--format {name} --spec '{json.dumps(settings, ensure_ascii=False)}'"

    proposal = the_format(path, "--format {}", state)
    echo(f"{path}: read as {proposal.format} ({proposal.reason}).")
    return proposal.format


def read_set(paths: Sequence[str], spec: TableSpec) -> Samples:
    """Return the samples of one table or several, with all their problems."""
    parts: list[tuple[Path, Samples]] = []
    problems: list[Problem] = []
    require_different(paths)
    for path in map(Path, paths):
        with gathering(problems):
            parts.append((path, read_samples(path, spec)))
    raise_any(problems)
    return parts[0][1] if len(parts) == 1 else concatenate(parts)


def require_combined(file: CalibrationFile | None, tables: Sequence[str]) -> None:
    """Refuse tables of one tool where a calibration is of several."""
    raise_any(
        Problem(
            where=table,
            what="it is of one tool, and the calibration is of several, combined.",
            remedy="Combine it with those of the other tools: credence combine.",
        )
        for table in tables
        if file is not None and file.tools is not None and not is_combined(Path(table))
    )


def require_labels(samples: Samples, where: str) -> Integers:
    """Return the true classes of samples; refuse those of which one has none."""
    if samples.true_class is None:
        remedy = "Give labels: a table of id and label, or a pattern for FASTA headers."
        raise refuse(where, "the table has no true classes.", remedy)
    if samples.is_of_calls:  # a wrong one has none
        return samples.true_class
    unknown, remedy = samples.true_class == UNKNOWN_CLASS, "Give it one, or remove its row."
    rows = zip(samples.predictions.ids[unknown], samples.lines[unknown].tolist(), strict=True)
    raise_any(
        Problem(where=where, what=f"{id_!r} has no true class.", remedy=remedy, line=line)
        for id_, line in rows
    )
    return samples.true_class


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTables:
    """A labelled set that is read: its proteins, their relatives, and what they are used for."""

    where: str  # Its first table, as messages name it
    samples: Samples
    groups: Groups | None = None
    clusters: Clusters | None = None
    read_as: Mapping[str, Any] | None = None  # How its files were read, which a fit keeps
    where_known: NoveltyFile | None = None  # Where known proteins lie
    groups_where: str = "groups"  # As messages name the groups
    clusters_where: str = "clusters"

    @property
    def has_test_group(self) -> bool:
        """Whether some of the proteins have the role test."""
        return self.has_role(TEST)

    def has_role(self, role: str) -> bool:
        """Return whether the groups give some of the proteins a role."""
        return self.groups is not None and bool((self._of_groups(self.groups.role) == role).any())

    def _of_groups(self, column: Strings) -> Strings:
        """Return what a column of the groups says of each protein."""
        assert self.groups is not None
        ids = self.samples.predictions.ids
        rows = rows_by_id(ids, self.where, self.groups.ids, self.groups_where)
        return np.asarray(column[rows])

    def calibrating(self, weights: str, wanted: str = CALIBRATION) -> CalibrationSet:
        """Return the proteins of a role, the one that calibrates, with clusters and weights."""
        true_class = require_labels(self.samples, self.where)
        predictions = self.samples.predictions
        cluster = predictions.ids
        is_used = np.ones(predictions.n_samples, dtype=np.bool_)
        set_aside: dict[str, int] = {}
        if (groups := self.groups) is not None:
            cluster, role, reason = map(
                self._of_groups, (groups.cluster, groups.role, groups.reason)
            )
            is_used = role == wanted
            kinds = [kind_of(text) for text in reason[role == SET_ASIDE]]
            set_aside = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
            if not is_used.any():
                fault = f"no protein of {self.where} has the role {wanted}."
                remedy = "Give that role to the proteins that the classifier never saw."
                raise refuse(self.groups_where, fault, remedy, column="role")
        if (clusters := self.clusters) is not None:
            rows = rows_by_id(predictions.ids, self.where, clusters.ids, self.clusters_where)
            cluster = clusters.cluster[rows]
        labelled = label(predictions, true_class, cluster=cluster).take(is_used)
        return CalibrationSet(labelled=weighted(labelled, weights), set_aside=set_aside)


@dataclass(frozen=True, kw_only=True)
class LabelledFiles:
    """The files of a labelled set, as a command is given them, and how its tables are read."""

    tables: Sequence[str]
    format_: str | None
    spec_json: str
    groups: str | None
    clusters: str | None
    labels: str | None = None  # A table of true classes, where those are in none of `tables`
    novelty: str | None = None  # What credence novelty wrote: where proteins lie
    scale: float | None = None
    logits: bool = False
    option: str = "--spec"  # Which gives `spec_json`

    @property
    def files(self) -> list[str]:
        """All files that are named."""
        further = (self.labels, self.groups, self.clusters, self.novelty)
        return [*self.tables, *filter(None, further)]

    def spec(self, file: CalibrationFile | None = None) -> TableSpec:
        """Return how the tables are read, where it is not stated as those of a calibration."""
        return stated_spec(
            self.tables,
            self.format_,
            self.spec_json,
            self.scale,
            self.option,
            logits=self.logits,
            file=file,
        )

    def open(self, file: CalibrationFile | None = None) -> LabelledTables:
        """Return all that the files hold, scores on the scale of a calibration where one is given.

        Where it is known where proteins lie, each has its place.
        """
        require_combined(file, self.tables)
        spec, where = self.spec(file), self.tables[0]
        if file is not None:
            spec = as_calibrated(spec, spec.class_names, file.scale)
        samples = read_set(self.tables, spec)
        if self.labels is not None:
            are_several = spec.several is not None
            labels = read_labels(Path(self.labels), are_several=are_several)
            samples = attach_labels(samples, labels, spec, where)
        where_known = None if self.novelty is None else NOVELTY_FILES.read(Path(self.novelty))
        if where_known is not None:
            places = where_known.reference.places(samples.predictions.ids)
            samples = replace(samples, predictions=replace(samples.predictions, places=places))
        return LabelledTables(
            where=where,
            samples=samples,
            groups=None if self.groups is None else read_groups(Path(self.groups)),
            clusters=None if self.clusters is None else read_clusters(Path(self.clusters)),
            read_as=to_remember(spec),
            where_known=where_known,
            groups_where=self.groups or "groups",
            clusters_where=self.clusters or "clusters",
        )


def weighted(labelled: Labelled, weights: str) -> Labelled:
    """Return proteins of which each counts one, or each cluster where `weights` is cluster."""
    if weights != "cluster":
        return labelled
    _, codes, sizes = np.unique(
        labelled.cluster.astype(str), return_inverse=True, return_counts=True
    )
    return labelled.reweighted(1.0 / sizes[codes])


def counts_of(labelled: Labelled) -> dict[str, int]:
    """Return how many proteins there are, right predictions among them, and clusters."""
    return {
        "n": labelled.n_samples,
        "n_correct": int(labelled.is_correct.sum()),
        "n_clusters": len(set(labelled.cluster.tolist())),
    }


def require_fitted_on(
    file: CalibrationFile, labelled: Labelled, where: str, calibration: str, clusters: bool = True
) -> None:
    """Refuse other proteins, or other `clusters`, than a calibration was fitted on."""
    require_match(file, labelled.predictions, where)
    counts = counts_of(labelled)
    fitted_counts = {name: file.counts.get(name, n) for name, n in counts.items()}
    text = "{n} proteins, {n_correct} right" + ", {n_clusters} clusters" * clusters
    here, there = text.format(**counts), text.format(**fitted_counts)
    ids = known_proteins(labelled.predictions.ids, {}).ids
    if here == there and file.known is not None and not np.array_equal(ids, file.known.ids):
        there = "proteins with other ids"
    if here != there:
        fault = f"it has {here}, and {calibration} was fitted on {there}."
        remedy = "Give the table it was fitted on, and the same --groups or --clusters."
        raise refuse(where, fault, remedy)


def new_to(
    labelled: Labelled, files: Iterable[CalibrationFile], where: str
) -> tuple[Labelled, list[Notice]]:
    """Return the proteins that none of some calibrations was fitted on, and who was left out."""
    ids, known = labelled.predictions.ids, [file.known for file in files]
    notes = [entry.notes(ids, {}) > 0 for entry in known if entry is not None]
    is_known = np.any(notes, axis=0) if notes else np.zeros(len(ids), dtype=np.bool_)
    n_known = int(is_known.sum())
    if n_known == len(ids):
        first = f"{ids[0]!r} and {n_known - 1} more" if n_known > 1 else f"{ids[0]!r}"
        fault = f"all of its proteins are calibration proteins of what is to be judged: {first}."
        remedy = "Give proteins that it was not fitted on, or the whole table it was fitted on."
        raise refuse(where, fault, remedy)
    notices = []
    if n_known:
        are = "protein of it is" if n_known == 1 else "proteins of it are"
        text = f"{n_known:,} {are} left out: the calibration was fitted on them."
        notices.append(Notice(kind="overlap", text=text))
    if any(entry is None or not len(entry.ids) for entry in known):
        text = (
            "It is unknown whether some of its proteins are calibration proteins: the calibration "
            "has no ids for its own, or numbers only. If some are, these numbers are too good."
        )
        notices.append(Notice(kind="overlap", text=text, is_warning=True))
    return labelled.take(~is_known), notices


def in_order_of_ids(labelled: Labelled) -> Labelled:
    """Return the same proteins by the order of their ids, so that sums round alike."""
    return labelled.take(order_of_ids(labelled))


def order_of_ids(labelled: Labelled) -> Integers:
    """Return the rows of proteins by the order of their ids."""
    return np.argsort(labelled.predictions.ids.astype(str), kind="stable")


def rows_by_id(ids: Strings, where: str, known: Strings, table: str) -> Any:
    """Return the row of a table that holds each id; refuse where one is missing."""
    return match_rows(ids, known, wanted_in=where, table_in=table)


# Put before the id of a training protein that a calibration protein has too:
# both stand in one table of clusters, and they need not be the same protein.
TRAINING_PREFIX = "training:"


def read_proteins(path: str, match: str) -> Fasta:
    """Return the proteins of a FASTA file."""
    return read_fasta(Path(path), cast(Match, match))


def proteins_of(
    ids: Strings, path: str | None, match: str, where: str, *, may_hold_more: bool = False
) -> Proteins:
    """Return proteins with their sequences of a FASTA file; without one, with blanks."""
    if path is None:
        return Proteins(ids=ids, sequences=np.full(len(ids), "", dtype=object))
    fasta = read_proteins(path, match)
    by = cast(Match, match)
    rows = match_ids(ids, fasta, by, table=where, proteins=path, may_hold_more=may_hold_more)
    return Proteins(ids=ids, sequences=fasta.sequences[rows])


def read_sequences(paths: Sequence[str], match: str) -> dict[str, str]:
    """Return the sequence of each protein of some FASTA files, by its id."""
    sequences: dict[str, str] = {}
    for number, path in enumerate(paths):
        if number > 0 and Path(path).stat().st_size == 0:
            continue  # what a trove added of which no protein joined
        fasta = read_proteins(path, match)
        sequences.update(zip(fasta.ids, fasta.sequences, strict=True))
    return sequences


def training_ids(training: Strings, calibration: Strings) -> Strings:
    """Return the names under which training proteins stand beside the others."""
    taken = set(calibration)
    names = [TRAINING_PREFIX + id_ if id_ in taken else id_ for id_ in training]
    return np.array(names, dtype=object)


def labels_as_stated(
    labels: Mapping[str, Any], proteins: str | None, match: str, *, are_several: bool = False
) -> Labels:
    """Return the labels of a table or of FASTA headers, as a configuration states them."""
    raise_any(set_problems("--labels", {"labels": labels}, ["labels"]))
    if labels.get("pattern") is not None:
        if proteins is None:
            fault = "a pattern is for FASTA headers."
            raise refuse("--labels", fault, "Give the file with --proteins.")
        fasta = read_proteins(proteins, match)
        return labels_from_headers(
            proteins, fasta.ids, fasta.headers, fasta.lines, labels["pattern"]
        )
    if not isinstance(labels.get("table"), str):
        raise refuse("--labels", "there is no table.", 'Write it like {"table": "labels.tsv"}.')
    return read_labels(
        Path(labels["table"]),
        labels.get("id_column", "id"),
        labels.get("label_column", "true_class"),
        are_several=are_several,
    )


class Features:
    """How proteins are described: their sequences, or vectors that a user brings."""

    def __init__(self, proteins: Sequence[str], vectors: str | None, match: str) -> None:
        if bool(proteins) == (vectors is not None):
            fault = "the proteins need sequences or vectors, one of the two."
            raise refuse("--proteins", fault, "Give --proteins or --vectors.")
        self.where = vectors if vectors is not None else proteins[0]
        self._vectors = None if vectors is None else read_vectors(Path(vectors))
        self.sequences = read_sequences(proteins, match)

    @property
    def kind(self) -> str:
        """``composition`` or ``vectors``."""
        return "composition" if self._vectors is None else "vectors"

    @property
    def ids(self) -> Strings:
        """All proteins, in the order of the files."""
        if self._vectors is not None:
            return self._vectors.ids
        return np.array(list(self.sequences), dtype=object)

    def known(self, ids: Strings) -> list[bool]:
        """Return of which proteins there are features."""
        names = self.sequences if self._vectors is None else self._vectors.row_of
        return [id_ in names for id_ in ids]

    def require(self, ids: Strings, where: str) -> None:
        """Refuse proteins that calibrate and have no features."""
        remedy = "Add the protein there or remove this row."
        raise_any(
            Problem(where=where, what=f"{id_!r} is not in {self.where}.", remedy=remedy)
            for id_, is_known in zip(ids, self.known(ids), strict=True)
            if not is_known
        )

    def _of(self, ids: Strings) -> Any:
        if self._vectors is not None:
            return self._vectors.of(ids)
        return canonical_texts(self.sequences[id_] for id_ in ids)

    def space(self, ids: Strings, n_components: int) -> Space:
        """Return the space of some proteins."""
        fit = fit_composition if self._vectors is None else fit_vectors
        return fit(self._of(ids), n_components)

    def places(self, space: Space, ids: Strings, threads: int = 1) -> Floats:
        """Return the places of proteins; NaN where there are no features."""
        answer = np.full((len(ids), space.n_components), np.nan)
        rows = np.flatnonzero(self.known(ids))
        features = self._of(ids[rows])
        is_vector = self._vectors is not None
        answer[rows] = (
            space.place(features) if is_vector else space.of_sequences(features, threads)
        )
        return answer

    def require_space(self, space: Space, where: str) -> None:
        """Refuse a space of other features."""
        if space.kind != self.kind:
            option = "--vectors" if space.kind == "vectors" else "--proteins"
            raise refuse(where, f"it was learnt from {space.kind}.", f"Give {option}.")
        n_numbers = space.n_features if self._vectors is None else self._vectors.values.shape[1]
        if n_numbers != space.n_features:
            fault = f"its vectors have {n_numbers} numbers, those of {where} {space.n_features}."
            raise refuse(self.where, fault, "Give vectors of the same kind.")


def json_value(text: str, option: str, remedy: str) -> Any:
    """Return what an option gives as JSON."""
    try:
        return parse_json(text)
    except ValueError as error:
        why = (
            "is not JSON"
            if isinstance(error, json.JSONDecodeError)
            else f"cannot be read: {error}"
        )
        raise refuse(option, f"{short(repr(text))} {why}.", remedy) from error


def json_settings(text: str, option: str) -> Mapping[str, Any]:
    """Return the settings that an option gives as JSON."""
    is_spec = option.endswith("spec")
    like = 'like {"format": "phanns"}.' if is_spec else 'like {"name": "value"}.'
    settings = json_value(text, option, f"Write settings {like}")
    if settings is not None and not isinstance(settings, dict):
        raise refuse(
            option, f"{short(repr(text))} is not a group of settings.", f"Write them {like}"
        )
    return settings or {}


def require_other(outs: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """Refuse an output that would overwrite an input or another output, and inputs given twice."""
    read = [path for path in inputs if path is not None]
    for path in read:
        refuse_pipe(Path(path))
    problems = [
        Problem(where=path, what="this file is given twice.", remedy="Name it once.")
        for path in dict.fromkeys(read)
        if read.count(path) > 1
    ]
    taken = {Path(path).resolve(): "an input too" for path in read}
    for out in filter(None, outs):
        refuse_loop(Path(out))
        place = Path(out).resolve()
        if place in taken:
            problems.append(
                Problem(
                    where=out, what=f"this file is {taken[place]}.", remedy="Choose another --out."
                )
            )
        taken.setdefault(place, "another output too")
    raise_any(problems)
