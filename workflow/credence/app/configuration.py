"""The configuration of a run: checked, typed, every default filled in; what rules ask of it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from credence.app import meaning
from credence.problems import InputError, Problem, nearest, raise_any, refuse
from credence.records import to_record
from credence.stages.settings import (
    SECTIONS,
    TABLE_KEYS,
    Settings,
    ShiftSettings,
    ToolSet,
    Trove,
    load_schema,
    workflow_folder,
)
from credence.tables.document import (
    Document,
    SettingPath,
    dotted,
    parse_document,
    quoting,
    read_document,
    schema_problems,
    well_typed,
    with_defaults,
)
from credence.tables.shards import expanded


def shift_settings(values: Mapping[str, Any], block: Mapping[str, Any]) -> ShiftSettings:
    """Return the settings of one query set: its own, else those of all, else calibration's."""
    calibration = values["calibration"]
    common = _completed(values["shift"])
    merged = {**common, **_completed(block)}
    if merged["method"] != meaning.STATED:  # shares stated for all sets, but not for this one
        merged["class_proportions"] = None
    for name in ("level", "resamples"):
        if merged[name] is None:
            merged[name] = calibration[name]
    return ShiftSettings(**merged)


def _completed(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block in which class proportions say by themselves that they are stated."""
    completed = dict(block)
    if completed.get("class_proportions") is not None and completed.get("method") in (
        None,
        "auto",
    ):
        completed["method"] = meaning.STATED
    return completed


def trove_of(entry: Mapping[str, Any], base: Mapping[str, Any]) -> Trove:
    """Return a trove of the configuration, defaults filled in."""
    stated = {key: entry[key] for key in TABLE_KEYS if entry.get(key) not in (None, {})}
    above = {key: base[key] for key in TABLE_KEYS if key in base}
    if stated.get("format", base["format"]) != base["format"]:
        # Names of columns and the scale are those of a format; spellings are of a lab.
        alone = {key: default for key, default in TABLE_KEYS.items() if key in above}
        above = {**alone, "synonyms": base["synonyms"]}
    labels = entry.get("labels")
    if isinstance(labels, str):
        labels = {"table": labels}
    base_labels = base.get("labels") or {}
    if labels is None and base_labels.get("pattern") is not None:
        labels = {"pattern": base_labels["pattern"]}
    elif labels is not None and labels.get("table") is not None:
        keys = ("id_column", "label_column") if base_labels.get("table") else ()
        names = {key: base_labels[key] for key in keys}
        labels = {**names, **{key: value for key, value in labels.items() if value is not None}}
    return Trove(
        name=entry["name"],
        date=entry.get("date"),
        scores=_tables(entry["scores"]),
        spec={**above, **stated},
        fasta=entry.get("fasta"),
        labels=labels,
        match=entry.get("match") or base.get("match", "first_word"),
        clusters=entry.get("clusters"),
        sha256=entry.get("sha256") or {},
    )


@dataclass(frozen=True, kw_only=True)
class TableSet:
    """One set of proteins: its tables and how they are to be read."""

    name: str  # ``calibration_set``, or the name of a query set
    scores: tuple[str, ...]  # Score tables
    spec: Mapping[str, Any]  # How they are read: keys of :data:`TABLE_KEYS`
    labels: Mapping[str, Any] | None = None  # Where true classes are, when not in the table
    proteins: str | None = None  # FASTA file
    match: str = "first_word"  # How table ids are matched to FASTA headers
    truth: str | None = None  # A table of true classes that no method sees
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # Tables of further tools
    # How its composition is found; None for the calibration set.
    shift: ShiftSettings | None = None

    def combined(self, folder: str) -> Self:
        """Return the same set as the one table of all tools that a run makes in a folder."""
        spec = {"format": "credence"}
        if self.spec.get("genome") is not None:
            spec["genome"] = "genome"
        return replace(self, scores=(f"{folder}/{self.name}/combined.parquet",), spec=spec)

    @property
    def label_table(self) -> str | None:
        """The second table that holds the labels, if any."""
        return None if self.labels is None else self.labels["table"]


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Everything that a run is given."""

    document: Document  # What a user wrote, and where it stands
    run: str  # Its name
    values: Mapping[str, Any]  # All settings, defaults included, as plain data
    settings: Settings  # Those of all stages, the chosen method in canonical spelling
    calibration_set: TableSet  # The labelled proteins
    queries: tuple[TableSet, ...]  # The tables that are to be given confidences
    tools: tuple[ToolSet, ...]  # Further ones that scored the same proteins
    # Methods compared, in canonical spelling; the chosen one is among them.
    methods: tuple[str, ...]
    method: str  # The chosen one
    troves: tuple[Trove, ...]  # What joins the calibration set, in order
    training_proteins: str | None  # FASTA file of what the classifier was trained on
    cluster_table: str | None  # A table of clusters that the user made
    made_around: tuple[str, ...]  # Files that rules of a workflow around this one make

    @property
    def made(self) -> tuple[str, ...]:
        """Files that it names and that rules make."""
        return (*(meaning.DEMO_FILES if self.has_demo else ()), *self.made_around)

    @property
    def files(self) -> list[str]:
        """Files of the user's that it names, and patterns of such."""
        named = {name for _, name in meaning.files_of(self.values)} | {self.novelty_vectors}
        return sorted({name for name in named if name} - set(self.made))

    def stage_json(self, stage: str, **changed: Mapping[str, Any]) -> str:
        """Return what a stage uses as one line of JSON; `own` holds values for one job."""
        return self.settings.to_json(stage, **changed)

    @property
    def is_of_several(self) -> bool:
        """Whether a protein has several labels."""
        return bool(self.values["labels"] == meaning.SEVERAL)

    @property
    def novelty_vectors(self) -> str | None:
        """The file of vectors of all proteins, where there is one."""
        features = self.settings.novelty.features
        return None if features in (meaning.COMPOSITION, meaning.NO_FEATURES) else features

    @property
    def has_novelty(self) -> bool:
        """Whether there is anything that shows where proteins lie; not for calls."""
        if self.is_of_several:
            return False
        has_proteins = self.calibration_set.proteins is not None
        is_composition = self.settings.novelty.features == meaning.COMPOSITION
        return self.novelty_vectors is not None or (is_composition and has_proteins)

    def compares(self, proteins: str | None) -> bool:
        """Return whether a query set can be compared with what is known."""
        return self.has_novelty and (self.novelty_vectors is not None or proteins is not None)

    @property
    def releases(self) -> tuple[str, ...]:
        """Folder names of the releases, the base first."""
        names = (meaning.BASE, *(trove.name for trove in self.troves))
        return tuple(f"{number:02d}-{name}" for number, name in enumerate(names))

    @property
    def has_demo(self) -> bool:
        """Whether the inputs are to be simulated first."""
        return "demo" in self.values

    @property
    def has_events(self) -> bool:
        """Whether any event is asked for."""
        asked = self.settings.events
        return bool(asked.ask or asked.groups)

    @property
    def report_json(self) -> str:
        """What the page says of the run, as JSON for a command; not how work is divided."""
        values = {name: value for name, value in self.values.items() if name != "scatter"}
        facts = {"run": self.run, "title": values["title"] or self.run}
        facts |= {
            name: values[name] for name in ("simulated", "verdict", "looked", "documentation")
        }
        return as_json(facts | {"settings": dict(flat_settings(values))})


def as_json(value: Any) -> str:
    """Return settings, or parts of them, as one line of JSON for a command."""
    return json.dumps(to_record(value), ensure_ascii=False)


def flat_settings(values: Mapping[str, Any], above: SettingPath = ()) -> Iterator[tuple[str, str]]:
    """Yield every setting by its dotted name, as text."""
    for name, value in values.items():
        path = (*above, name)
        if isinstance(value, dict) and value:
            yield from flat_settings(value, path)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for position, entry in enumerate(value):
                yield from flat_settings(entry, (*path, position))
        elif isinstance(value, str):
            yield dotted(path), value
        else:
            yield dotted(path), json.dumps(value, ensure_ascii=False)


def method_file_name(method: str) -> str:
    """Return a method's specification as a file name."""
    words = re.sub(r"[(,]\s*", "-", method).replace("=", "_").rstrip(")")
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", words)


def load(path: Path | str, overrides: Mapping[str, Any] | None = None) -> Configuration:
    """Return the configuration of a file."""
    document = read_document(Path(path), str(path))
    if overrides:
        document = replace(document, data=_merged(document.data, overrides))
    return check(document)


def named_calibration(
    calibration: str | None, release: str | None, config: str, shipped: Sequence[str] = ()
) -> str:
    """Return the calibration file that a user names, or that of a release."""
    if calibration is not None and release is None:
        return calibration
    if calibration is not None or release is None:
        remedy = "Give --calibration or --release, one of the two."
        if calibration is None and shipped:
            remedy += f" Bundled calibrations that fit this table: {', '.join(shipped)}."
        problem = "a calibration is named by its file or by its release."
        raise refuse("--calibration", problem, remedy)
    folder = Path(release)
    if folder.is_dir():
        files = [folder / "calibration.json", *sorted((folder / "calibrations").glob("*.json"))]
        present = [file for file in files if file.exists()]
        if len(present) == 1 or (present and present[0] == files[0]):
            return str(present[0])
        problem = "several calibrations are" if present else "no calibration is"
        raise refuse(release, f"{problem} in this folder.", "Name the file with --calibration.")
    settings = load(config)
    name_of = {folder: folder.split("-", 1)[1] for folder in settings.releases}
    chosen = [folder for folder, name in name_of.items() if release in (folder, name)]
    if not chosen:
        problem = f"{release!r} is no release of {config}."
        raise refuse("--release", problem, nearest(release, list(name_of.values())))
    method = method_file_name(settings.method)
    path = Path("results", settings.run, "releases", chosen[0], "calibrations", f"{method}.json")
    if not path.exists():
        problem = f"release {release!r} was not derived yet: there is no file {path}."
        raise refuse("--release", problem, f"Run credence run --config {config} first.")
    return str(path)


def files_of_run(run: str, config: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run made for annotating, and its settings, by the words of the command."""
    from credence.tables.stage_files import EVENTS_FILES

    for option in ("calibration", "release"):
        if asked[option] is not None:
            remedy = "Leave one of the two out."
            raise refuse("--run", f"the calibration of the run is named, and --{option}.", remedy)
    folder = Path("reports", run)
    path = folder / "calibration.json"
    if not path.exists():
        runs = sorted(path.parent.name for path in Path("reports").glob("*/calibration.json"))
        remedy = nearest(run, runs) if runs else "Run credence run first, or start where it ran."
        raise refuse("--run", f"there is no file {path}.", remedy)
    options = {"calibration": str(path)}
    novelty, events = folder / "novelty.json", folder / "events.json"
    if novelty.exists() and (asked["proteins"] or asked["vectors"]):
        options["novelty"] = str(novelty)
    if events.exists() and ("novelty" in options or not EVENTS_FILES.read(events).novelty):
        options["events"] = str(events)
    if Path(config).exists() and (settings := load(config)).run == run:
        sections = json.loads(settings.stage_json("annotate"))
        options["settings_json"] = json.dumps(
            sections | {"shift": asdict(settings.settings.shift)}, ensure_ascii=False
        )
    return {name: value for name, value in options.items() if asked[name] in (None, "{}")}


def _merged(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**values, **overrides}
    for name in values.keys() & overrides.keys():
        below, above = values[name], overrides[name]
        if isinstance(below, dict) and isinstance(above, Mapping):
            merged[name] = _merged(below, above)
    return merged


def by_nobody(path: str) -> bool:
    """Return that no rule of another workflow makes a file."""
    return False


def from_mapping(
    values: Mapping[str, Any], where: str, is_made: Callable[[str], bool] = by_nobody
) -> Configuration:
    """Return the configuration of settings that another workflow hands over."""
    problems = [
        Problem(
            where=where,
            what=f"this name is read as {path[-1]}.",
            remedy=quoting(path[-1] == "true"),
            line=None,
            column=name,
        )
        for path in _names_as_truths(values, ())
        if (name := dotted(path))
    ]
    # Snakemake's YAML takes 2026-11-21 for a date, which is text here.
    data = json.loads(json.dumps(values, default=str))
    return check(Document(where=where, data=data, lines={}, problems=tuple(problems)), is_made)


def _names_as_truths(values: Any, path: SettingPath) -> Iterator[SettingPath]:
    """Yield where names stand that are no texts, but true or false."""
    if isinstance(values, list):
        values = dict(enumerate(values))
    for name, value in values.items() if isinstance(values, Mapping) else ():
        step = name if type(name) in (str, int) else str(name).lower()
        if isinstance(name, bool):
            yield (*path, step)
        yield from _names_as_truths(value, (*path, step))


def loads(text: str, where: str = "config.yaml") -> Configuration:
    """Return the configuration of YAML text."""
    return check(parse_document(text, where))


def check(document: Document, is_made: Callable[[str], bool] = by_nobody) -> Configuration:
    """Return the typed configuration of a document; files that others make need not be there."""
    from credence.calibrators.method_spec import parse_method

    schema = load_schema()
    data = with_defaults(well_typed(document.data, schema, schema), schema, schema)
    made = tuple(dict.fromkeys(path for _, path in meaning.files_of(data) if is_made(path)))
    problems: list[Problem] = []
    for further in (
        document.problems,
        schema_problems(document, schema),
        meaning.meaning_problems(document, data, made),
    ):
        # A setting that is wrong in one way would be refused again in another.
        known = {problem.column for problem in problems}
        problems += [problem for problem in further if problem.column not in known]
    raise_any(sorted(problems, key=lambda problem: problem.line or 0))
    values = with_defaults(document.data, schema, schema)
    calibration = values["calibration"]
    several = values["tree"] if values["labels"] == meaning.SEVERAL else None
    if several is not None:
        stated = document.data.get("calibration") or {}
        calibration |= {k: v for k, v in meaning.METHODS_OF_CALLS.items() if k not in stated}
    chosen = parse_method(calibration["method"], document.where).text
    compared = [parse_method(text, document.where).text for text in calibration["compare"]]
    methods = tuple(dict.fromkeys([*compared, chosen]))
    base = values["calibration_set"]
    queries = tuple(
        _table_set(entry["name"], entry, several, shift_settings(values, entry["shift"] or {}))
        for entry in values["queries"]
    )
    settings = Settings().with_values({name: values[name] for name in SECTIONS})
    settings = settings.with_values({"calibration": {"method": chosen}})
    return Configuration(
        document=document,
        run=values["run"],
        values=values,
        settings=settings,
        calibration_set=_table_set("calibration_set", base, several),
        queries=queries,
        tools=tuple(map(_tool_set, values["tools"])),
        methods=methods,
        method=chosen,
        troves=tuple(trove_of(entry, base) for entry in values["troves"]),
        training_proteins=values["training"]["proteins"],
        cluster_table=settings.clustering.table,
        made_around=made,
    )


def _table_set(
    name: str,
    values: Mapping[str, Any],
    several: Mapping[str, Any] | None,
    shift: ShiftSettings | None = None,
) -> TableSet:
    spec = {
        key: values[key]
        for key in TABLE_KEYS
        if key in values and (key != "genome" or values[key])
    }
    return TableSet(
        name=name,
        scores=_tables(values["scores"]),
        spec=spec if several is None else {**spec, "several": several},
        labels=values.get("labels"),
        proteins=values.get("proteins"),
        match=values.get("match", "first_word"),
        truth=values.get("truth"),
        tools={name: _tables(paths) for name, paths in values.get("tools", {}).items()},
        shift=shift,
    )


def _tables(scores: str | Sequence[str]) -> tuple[str, ...]:
    return expanded((scores,) if isinstance(scores, str) else scores)


def _tool_set(values: Mapping[str, Any]) -> ToolSet:
    spec = {key: values[key] for key in TABLE_KEYS if key in values}
    return ToolSet(
        name=values["name"], scores=_tables(values["scores"]), spec=spec, classes=values["classes"]
    )


CONFIGURATION_FILE = "config.yaml"


def for_workflow(
    files: Sequence[Path],
    overrides: Mapping[str, Any],
    given: Mapping[str, Any],
    is_made: Callable[[str], bool],
) -> Configuration:
    """Return the configuration of a workflow, however Snakemake was given it.

    `is_made` says of a file whether a rule of a workflow around this one makes it.
    """
    from snakemake.exceptions import WorkflowError

    try:
        if len(files) > 1:
            problem = "this is a second configuration."
            raise refuse(str(files[1]), problem, "Give one --configfile.")
        if not files and dict(given) != dict(overrides):
            return from_mapping(given, "configuration of the module", is_made)
        path, here = Path(files[0]) if files else Path(CONFIGURATION_FILE), Path.cwd()
        # As it is seen from here, where it lies below.
        return load(path.relative_to(here) if path.is_relative_to(here) else path, overrides)
    except InputError as error:
        raise WorkflowError(error.text()) from None


def demo_text() -> str:
    """Return the configuration of a demo: a file of the package, or at the top of a checkout."""
    packed = workflow_folder() / CONFIGURATION_FILE
    path = packed if packed.exists() else workflow_folder().parent / CONFIGURATION_FILE
    return path.read_text("utf-8")


def environment_file() -> Path:
    """Return the conda environment that the package is pinned in."""
    return workflow_folder() / "envs" / "credence.yaml"


def option(name: str, value: Any) -> list[str]:
    """Return an option of a command with its value; nothing where it has none."""
    return [] if value is None else [name, str(value)]


def options(name: str, values: Iterable[Any]) -> list[str]:
    """Return an option once for each value; a tuple gives several words."""
    parts = (value if isinstance(value, tuple) else (value,) for value in values)
    return [word for part in parts for word in (name, *map(str, part))]


MB = 1e6
PACKED = {".gz": 6, ".zst": 6}  # bytes of a table for one of its packed file
# Megabytes of two Snakemakes that stand above a command on a node: measured, 210 each.
MEGABYTES_ABOVE = 450
MORE = 2  # times as much at each further attempt
# Threads of what works on sequences, by their megabytes: below, threads.
THREADS = ((100.0, 2), (1000.0, 8))
MOST_THREADS = 16

Need = Callable[[Any, Iterable[str], int], int]


def megabytes(paths: Iterable[str]) -> float:
    """Return the size of files together, as they will be unpacked."""
    files = [Path(str(path)) for path in paths]
    return sum(file.stat().st_size * PACKED.get(file.suffix, 1) for file in files) / MB


def minutes(least: float, for_each_mb: float = 0.0) -> Need:
    """Return what `runtime` of a rule is: a function of its input and of the attempt.

    While input is missing the function raises FileNotFoundError, which is how
    Snakemake learns that the need cannot be known yet; it asks again.
    """

    def need(wildcards: Any, input: Iterable[str], attempt: int) -> int:
        more: int = MORE ** (attempt - 1)
        return round((least + for_each_mb * megabytes(input)) * more)

    return need


def memory(least: float, for_each_mb: float = 0.0) -> Need:
    """Return what `mem_mb` of a rule is, as :func:`minutes` does, with Snakemake on top."""
    return minutes(least + MEGABYTES_ABOVE, for_each_mb)


def several(wildcards: Any, input: Iterable[str]) -> int:
    """Return the threads of a rule that works on sequences; missing files count nothing."""
    size = megabytes(path for path in input if Path(path).exists())
    return next((threads for below, threads in THREADS if size < below), MOST_THREADS)


def few(wildcards: Any, input: Iterable[str]) -> int:
    """Return the same of a rule that searches for few: one thread where others have two."""
    threads = several(wildcards, input)
    return threads if threads > THREADS[0][1] else 1


AUDITED_SQUARE_MB = 40.0  # 20,000 proteins; an hour of one core or so
SEARCHED_MB = 30.0  # 100,000 proteins; ten minutes on one core or so


def searches(settings: Configuration) -> int:
    """Return the number of jobs that search for relatives; only one engine divides that."""
    if settings.values["clustering"]["engine"] != "mmseqs":
        return 1
    asked: int | None = settings.values["scatter"]["cluster"]
    paths = filter(None, [settings.calibration_set.proteins, settings.training_proteins])
    return asked or max(1, round(sum(map(_size, paths)) / SEARCHED_MB))


def audits(settings: Configuration) -> int:
    """Return the number of jobs that audit, where everyone is examined."""
    split, proteins = settings.values["split"], settings.calibration_set.proteins
    if split["audit"] != "exhaustive" or split["recipe"] != "balanced" or not proteins:
        return 1
    asked: int | None = settings.values["scatter"]["audit"]
    return asked or max(1, round(_size(proteins) ** 2 / AUDITED_SQUARE_MB))


def _size(path: str) -> float:
    """Return the megabytes of a table; nothing of one that is not there or is simulated."""
    return megabytes([path]) if path not in meaning.DEMO_FILES and Path(path).is_file() else 0.0
