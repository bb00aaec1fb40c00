"""Every setting of a run's stages, section by section: default, range and help, once.

Each stage is given one `Settings` and reads the sections that `USES` lists. Options of commands,
values of rules, the schema and the comments of config.yaml are made from this module.
"""

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from credence.findings import VerdictSettings
from credence.problems import Problem, raise_any, refuse
from credence.settings import schema_of, setting, settings_from
from credence.tables.document import Document, read_document, schema_problems

if TYPE_CHECKING:
    from credence.simulate.law import WorldSettings

SHARES = {"additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}}
ROLES = ("training", "validation", "calibration", "test")
SHARES_OF_ROLES = {
    "additionalProperties": False,
    "properties": {role: {"type": "number", "exclusiveMinimum": 0} for role in ROLES},
}
UNIQUE = {"uniqueItems": True}
NAME_LISTS = {"type": "array", "minItems": 1, **UNIQUE, "items": {"type": "string"}}
CELLS = {"cells": {"type": "number", "exclusiveMinimum": 0}}
PART: dict[str, Any] = {"above": 0, "below": 1}  # a share, neither none nor all
RESAMPLES: dict[str, Any] = {"low": 0, "high": 100_000}
JOBS: dict[str, Any] = {"low": 1, "high": 1000}  # jobs
ONE_RESAMPLE = "one resample shows no spread."
MORE_RESAMPLES = "Give at least 2, or better 200; or 0 for no intervals."


class Resampled:
    """Settings whose intervals rest on bootstrap resamples."""

    resamples: int | None

    def __post_init__(self) -> None:
        """Refuse a single resample."""
        if self.resamples == 1:
            raise refuse("--resamples", ONE_RESAMPLE, MORE_RESAMPLES)


@dataclass(frozen=True, kw_only=True)
class TreeSettings:
    """With labels: several: how labels hang together, and which calls count as wrong."""

    table: str | None = setting(
        None, "OBO file, or a table of the columns child and parent; null: no tree, or separator"
    )
    separator: str | None = setting(
        None, "what stands between the levels in labels themselves: . in EC numbers, ; in lineages"
    )
    world: str = setting(
        "open",
        "a call that is not among the true labels: open, it is wrong where the protein has a true "
        "label in the same branch and left out elsewhere; closed, it is wrong",
        ("open", "closed"),
    )
    floor: float | None = setting(
        None, "least score of a call; null: all rows, and all numbers above 0 of a wide table"
    )


@dataclass(frozen=True, kw_only=True)
class ClusteringSettings:
    """Which proteins are homologues, of one family (docs/splits.md)."""

    engine: str = setting(
        "mmseqs",
        "what finds homologues: mmseqs; or exact or kmer, which need no program",
        ("mmseqs", "exact", "kmer"),
    )
    identity: float = setting(0.4, "least identity of homologues", above=0, high=1)
    coverage: float = setting(
        0.8, "least share of the shorter protein that is aligned", above=0, high=1
    )
    chance: float | None = setting(
        1e-6,
        "greatest share of random protein pairs that may pass for homologues; null: identity and "
        "coverage alone decide",
        above=0,
    )
    table: str | None = setting(
        None, "your own table of clusters (id, cluster), used in place of a search for homologues"
    )


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """How whole clusters are put into groups."""

    groups: int = setting(12, "number of groups; each holds whole clusters", low=2, high=1000)
    test_group: bool = setting(False, "keep one group out of calibration, to judge only")
    roles: Mapping[str, float] = setting(
        {},
        "what the proteins are for, as shares or numbers of groups: {training: 0.8, validation: "
        "0.1, test: 0.1}; calibration is a role too; the number of groups follows",
        schema=SHARES_OF_ROLES,
    )
    recipe: str = setting(
        "balanced",
        "how groups are made: balanced; or phanns, to reproduce PhANNs (CD-HIT in each class, "
        "clusters put into groups in turn), whose leakage the audit counts",
        ("balanced", "phanns"),
    )
    weigh: str = setting(
        "proteins",
        "what is counted to balance the groups: proteins or clusters",
        ("proteins", "clusters"),
    )
    audit: str | Mapping[str, float] = setting(
        {"cells": 3e11},
        "exact alignment across groups, to count leakage: of a sample within so many alignment "
        "cells (3e11: about 40 seconds on one core, 2 % of 20,000 proteins; 2e12: about 4 "
        "minutes, 2 % of 100,000); exhaustive (about 3 minutes for 5,000 proteins, 40 for "
        "20,000); or none",
        ("none", "exhaustive", "sample"),
        alone="sample",
        schema={"properties": CELLS, "required": ["cells"], "additionalProperties": False},
    )
    strict: str = setting(
        "join",
        "homologues in different groups: join their clusters; set_aside, which takes out the "
        "fewest proteins; or report only",
        ("report", "join", "set_aside"),
    )
    cut: str = setting(
        "auto",
        "clusters larger than a group: auto cuts them where few proteins connect the parts; never",
        ("auto", "never"),
    )
    cut_limit: float = setting(
        0.02, "greatest share of the proteins that cutting may set aside", low=0, high=1
    )
    both_sides: bool = setting(
        False,
        "coverage is asked of both proteins of a pair (in clusters, audit and troves), not of one",
    )


@dataclass(frozen=True, kw_only=True)
class CalibrationSettings(Resampled):
    """How scores become confidences."""

    method: str = setting(
        "auto", "method of the published confidences; see `credence show methods`"
    )
    compare: tuple[str, ...] = setting(
        ("uncalibrated", "class_only", "histogram", "kernel", "cumulative"),
        "methods shown side by side on the page",
        schema={"minItems": 1},
    )
    weights: str = setting(
        "none",
        "weight of proteins: none, each protein counts 1; cluster, each cluster counts 1",
        ("none", "cluster"),
    )
    min_positives: float = setting(
        10.0,
        "effective number of proteins below which a class borrows from the other classes",
        low=1,
        high=1_000_000,
    )
    level: float = setting(0.95, "coverage of the pointwise intervals", **PART)
    resamples: int = setting(
        200, "bootstrap resamples over clusters; 0: no intervals", **RESAMPLES
    )


@dataclass(frozen=True, kw_only=True)
class ShiftSettings(Resampled):
    """Label shift: query sets with other class proportions; confidences are given both ways."""

    method: str = setting(
        "auto",
        "estimator of the class proportions: auto, em_matched, em, bbse_soft, bbse_hard, rlls, "
        "stated, or none",
        option="--estimator",
    )
    class_proportions: Mapping[str, float] | None = setting(
        None,
        "class proportions that you know: {Portal: 0.2, Other: 0.8}; classes not named count as 0",
        option="--stated",
        schema=SHARES,
    )
    level: float | None = setting(
        None, "coverage of the intervals; null: that of calibration", **PART
    )
    resamples: int | None = setting(
        None, "bootstrap resamples over clusters and rows; null: those of calibration", **RESAMPLES
    )


@dataclass(frozen=True, kw_only=True)
class SetsSettings:
    """Prediction sets: the classes that a protein may well be of, where every class is scored."""

    level: float | None = setting(
        0.9,
        "how often the prediction set holds the true class; null: no sets",
        **PART,
        option="--sets",
    )
    kind: str = setting(
        "class_wise",
        "coverage of prediction sets: class_wise, in each class; overall, only over all proteins, "
        "with smaller sets",
        ("class_wise", "overall"),
        option="--sets-kind",
    )


@dataclass(frozen=True, kw_only=True)
class ListsSettings:
    """Which predictions can be used: lists of each query set, thresholds of each class."""

    error: tuple[float, ...] = setting(
        (0.05, 0.1),
        "error rates (FDR); each query set gets a list for each; [] for no lists",
        **PART,
        schema=UNIQUE,
    )
    precision: tuple[float, ...] = setting(
        (0.5, 0.8, 0.9, 0.95, 0.99),
        "precisions; each class gets a threshold for each",
        **PART,
        schema=UNIQUE,
    )
    certainty: float = setting(
        0.95, "probability that guarantees and upper bounds hold", above=0.5, high=0.9999
    )
    background: tuple[str, ...] | None = setting(
        None,
        "classes of no interest, which have lists of their own; null: found by their usual names "
        "(Other, unknown, non-PVP …); [] for none",
        schema=UNIQUE,
    )
    least_confidence: float = setting(
        0.5, "lowest confidence of a prediction on a list", low=0, below=1
    )
    family_share: float = setting(
        0.2,
        "share of a list, or of its calibration proteins, above which one family is reported",
        above=0,
        high=1,
    )
    calls: tuple[str, ...] = setting(
        (), "classes that count in a genome; [] for all but background", schema=UNIQUE
    )


def list_names(lists: ListsSettings) -> list[str]:
    """Return the file name of each list: of calls, then of background predictions if asked for."""
    kinds = ("list", "list_background")[: 1 if lists.background == () else 2]
    return [f"{kind}_{share:g}.tsv" for kind in kinds for share in lists.error]


@dataclass(frozen=True, kw_only=True)
class EventsSettings:
    """Class-group probabilities beyond the predicted class; each is a column of confidences."""

    ask: tuple[str, ...] = setting(
        (), "events asked for: predicted_class, two_best, three_best, each_class", schema=UNIQUE
    )
    groups: Mapping[str, Any] = setting(
        {},
        "named groups of classes",
        option="--named",
        schema={"additionalProperties": NAME_LISTS},
    )
    agree: bool = setting(True, "the predicted class keeps the published confidence")
    forecaster: str = setting(
        "logistic", "forecaster of the published probabilities: logistic, knn, tree"
    )
    compare: tuple[str, ...] = setting(
        ("knn",), "forecasters that are judged for comparison", schema=UNIQUE
    )
    folds: int = setting(
        10, "folds of the cross-validation by family that tunes and judges", low=2, high=1000
    )


@dataclass(frozen=True, kw_only=True)
class NoveltySettings:
    """How far proteins are from all known proteins (out of distribution); needs proteins above."""

    features: str = setting(
        "composition",
        "what distances are measured on: composition (of amino acids), none, or a file of vectors "
        "of all proteins (npz with id and vectors, or Parquet)",
        schema={"minLength": 1},
    )
    components: int = setting(
        32, "greatest number of principal axes that are kept", low=2, high=1000
    )
    flag: float = setting(
        0.95,
        "flag proteins that are farther from known ones than this share of new families is",
        low=0,
        high=1,
    )
    parts: bool = setting(
        False, "add the columns trust_score, local_error, local_distance: what neighbours show"
    )


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """How methods are judged."""

    folds: int = setting(10, "folds of the cross-validation by family", low=2, high=1000)
    bins: int = setting(15, "number of bins of calibration errors (ECE)", low=2, high=1000)
    bin_kind: str = setting(
        "equal_width",
        "kind of these bins: equal_width, or equal_counts (the ECE of equal counts is given "
        "beside it in any case)",
        ("equal_width", "equal_counts"),
    )
    spiegelhalter: str = setting(
        "two_sided",
        "sides of Spiegelhalter's test: two_sided, or too_extreme, which looks only for "
        "confidences that are too near 0 and 1",
        ("two_sided", "too_extreme"),
    )
    doubtful_labels: bool = setting(
        False, "list calibration proteins whose label is doubtful; takes the time of 10 to 55 fits"
    )


@dataclass(frozen=True, kw_only=True)
class ScatterSettings:
    """What is divided into jobs, for several cores or a cluster; results are the same bytes."""

    cluster: int | None = setting(
        None, "jobs that search for relatives; null: one for each 30 MB of sequences", **JOBS
    )
    audit: int | None = setting(
        None, "jobs of an exhaustive audit; null: one for each hour or so of one core", **JOBS
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of a run's stages."""

    tree: TreeSettings = field(default_factory=TreeSettings)
    clustering: ClusteringSettings = field(default_factory=ClusteringSettings)
    split: SplitSettings = field(default_factory=SplitSettings)
    calibration: CalibrationSettings = field(default_factory=CalibrationSettings)
    shift: ShiftSettings = field(default_factory=ShiftSettings)
    sets: SetsSettings = field(default_factory=SetsSettings)
    lists: ListsSettings = field(default_factory=ListsSettings)
    events: EventsSettings = field(default_factory=EventsSettings)
    novelty: NoveltySettings = field(default_factory=NoveltySettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    verdict: VerdictSettings = field(default_factory=VerdictSettings)
    scatter: ScatterSettings = field(default_factory=ScatterSettings)

    def with_values(self, sections: Mapping[str, Mapping[str, Any]]) -> Self:
        """Return these settings with some replaced: section → setting → value."""
        changed = {}
        for name, values in sections.items():
            old = getattr(self, name)
            changed[name] = settings_from(type(old), {**_plain(old), **values})
        return replace(self, **changed)

    def to_json(self, stage: str, **replaced: Mapping[str, Any]) -> str:
        """Return what a stage uses as one line of JSON, some values replaced for this call."""
        used = self.with_values(replaced)
        sections = {
            section: {name: _plain(getattr(used, section))[name] for name in names}
            for section, names in USES[stage].items()
        }
        return json.dumps(sections, ensure_ascii=False)


# The settings that say how a table is read, each with its default.
TABLE_KEYS: dict[str, Any] = {
    "format": None,
    "scale": None,
    "columns": {},
    "synonyms": {},
    "sum_to_scale": None,
    "pooling": "sum",
    "logits": False,
    "genome": None,
    "several": None,
}

MAIN_TOOL = "main"  # name of the calibration set's own tool beside others


@dataclass(frozen=True, kw_only=True)
class ToolSet:
    """A further tool that scored the same proteins."""

    name: str
    scores: tuple[str, ...]  # Its score tables
    spec: Mapping[str, Any]  # How they are read
    classes: Mapping[str, str | None]  # Its class → the run's, null for none of them


@dataclass(frozen=True, kw_only=True)
class Trove:
    """One trove, with all that it takes over from the calibration set."""

    name: str  # Of the release that it makes
    scores: tuple[str, ...]  # Score tables
    spec: Mapping[str, Any]  # How they are read
    date: str | None = None  # When it arrived
    fasta: str | None = None  # FASTA file
    labels: Mapping[str, Any] | None = None  # Where true classes are, when not in the table
    match: str = "first_word"  # How table ids are matched to FASTA headers
    clusters: str | None = None  # Table of its clusters
    # File → digest that it had when the trove was added
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """All files that it names."""
        table = None if self.labels is None else self.labels.get("table")
        return (*self.scores, *filter(None, (self.fasta, table, self.clusters)))

    @property
    def words(self) -> list[str]:
        """Options of ``credence attach`` that say how it is read."""
        words = ["--spec", json.dumps(dict(self.spec), ensure_ascii=False)]
        words += ["--labels", json.dumps(self.labels, ensure_ascii=False)]
        words += ["--match", self.match]
        if self.sha256:
            words += ["--sha256", json.dumps(dict(self.sha256), ensure_ascii=False)]
        for option, path in (("--fasta", self.fasta), ("--trove-clusters", self.clusters)):
            words += [] if path is None else [option, path]
        return words


SECTIONS: dict[str, type[Any]] = {
    entry.name: entry.default_factory  # type: ignore[misc]
    for entry in fields(Settings)
}


def _names(section: type[Any], *but: str) -> tuple[str, ...]:
    return tuple(entry.name for entry in fields(section) if entry.name not in but)


_COUNTED = ("weights", "min_positives")
_FITTED = (*_COUNTED, "level", "resamples")
_WEIGHED = ("weights", "level", "resamples")
_JUDGED = ("folds", "bins", "bin_kind", "spiegelhalter")
_THRESHOLDS = ("precision", "certainty")
_RULES = ("certainty", "background", "least_confidence", "family_share")
_LISTED = {"calibration": ("level",), "lists": ("error", *_RULES)}
_RELATED = ("engine", "identity", "coverage", "chance")
_FOUND = {"clustering": _RELATED, "split": ("both_sides",)}
# Stage → section → the settings that it reads. A change of any other leaves its
# results as they are, so its rule is not run again.
USES: dict[str, dict[str, tuple[str, ...]]] = {
    "cluster": _FOUND,
    "attach": _FOUND | {"split": ("both_sides", "audit")},
    "split": {"clustering": ("identity", "coverage", "chance"), "split": _names(SplitSettings)},
    "combine": {"calibration": _WEIGHED},
    "fit": {"calibration": ("method", *_FITTED), "sets": ("level", "kind")},
    "evaluate": {"calibration": _FITTED, "lists": _THRESHOLDS, "evaluation": _JUDGED},
    "thresholds": {"calibration": _WEIGHED, "lists": _THRESHOLDS},
    "annotate": _LISTED | {"novelty": ("parts",), "shift": ("method", "class_proportions")},
    "list": {"calibration": ("level",), "lists": _RULES},
    "genomes": {
        "calibration": ("level",),
        "lists": ("background", "calls"),
        "events": ("forecaster", "compare", "folds"),
    },
    "shift": {"shift": _names(ShiftSettings), "lists": _THRESHOLDS},
    "events": {"calibration": _FITTED, "events": _names(EventsSettings)},
    "novelty": {"novelty": ("components", "flag")},
}


def _plain(section: Any) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(section).items()
    }


def workflow_folder() -> Path:
    """Return the folder of the Snakefile: around the package, or inside an installed one."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_workflow"
    return installed if installed.is_dir() else package.parent


def load_schema() -> dict[str, Any]:
    """Return the schema of the configuration: that of its sets, and one made of each section."""
    return deepcopy(_schema())


@cache
def _schema() -> dict[str, Any]:
    schema = read_document(workflow_folder() / "schemas" / "config.schema.yaml").data
    demo = schema["properties"].pop("demo")
    schema["properties"] |= {name: schema_of(section) for name, section in SECTIONS.items()}
    schema["properties"]["demo"] = demo
    return schema


def world_settings(values: Mapping[str, Any], where: str) -> "WorldSettings":
    """Return the settings of a simulated world; refuse as the configuration does."""
    from credence.simulate.law import WorldSettings

    document = Document(where=where, data=dict(values), lines={})
    raise_any(schema_problems(document, schema_of(WorldSettings)))
    settings: WorldSettings = settings_from(WorldSettings, values)
    return settings


def set_problems(where: str, values: Mapping[str, Any], names: Iterable[str]) -> list[Problem]:
    """Return what the configuration would refuse of some settings of a set, read elsewhere."""
    sets = load_schema()["$defs"]
    known = {**sets["labelled_set"]["properties"], **sets["query_set"]["properties"]}
    tree = schema_of(TreeSettings)
    known["several"] = {**tree, "type": ["object", "null"], "default": None}
    rules = {name: known[name] for name in names}
    schema = {"type": "object", "additionalProperties": False, "properties": rules}
    return schema_problems(Document(where=where, data=dict(values), lines={}), schema)
