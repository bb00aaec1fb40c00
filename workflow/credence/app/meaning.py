"""What a schema cannot say of a configuration: names that nothing bears, missing files.

Every check is given the document and its data as far as they have the right types, with
every default filled in (`well_typed`). It yields a setting, what is wrong and the remedy.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from credence.problems import InputError, Problem, nearest, raise_any, refuse
from credence.stages.settings import MAIN_TOOL, MORE_RESAMPLES, ONE_RESAMPLE, world_settings
from credence.tables.document import Document, SettingPath
from credence.tables.shards import expanded, names_many
from credence.tables.text import is_date
from credence.tables.writing import device_of

Data = Mapping[str, Any]
Wrong = tuple[SettingPath, str, str]
FOLDER_OF_RELEASES = "releases"  # the folder beside those of the query sets
BASE = "base"  # what release 0 is called
COMPOSITION, NO_FEATURES = "composition", "none"
STATED = "stated"
SEVERAL = "several"
# What is fitted to calls unless methods are stated: curves of one label starve, and the stack of
# all methods takes hours for thousands of labels (decision 0043).
METHODS_OF_CALLS: Mapping[str, Any] = {
    "method": "hierarchical",
    "compare": ["uncalibrated", "class_only", "platt", "isotonic", "hierarchical"],
}
DEMO_FOLDER = "demo"
# What the command `simulate` writes into it; a test keeps the two lists equal.
NAMES_OF_DEMO_FILES = (
    "README.txt calibration.csv proteins.fasta labels.tsv calibration_networks.npz "
    "training.fasta my_phages.csv my_phages.fasta my_phages.gff3 "
    "my_phages_genomes.tsv trove_htj.csv trove_htj.fasta "
    "trove_mixed.csv trove_mixed.fasta truth/families.tsv truth/planted.tsv"
)
DEMO_FILES = tuple(f"{DEMO_FOLDER}/{name}" for name in NAMES_OF_DEMO_FILES.split())


def meaning_problems(document: Document, data: Data, made: Collection[str] = ()) -> list[Problem]:
    """Return all that a schema cannot say; files that rules make need not be there."""
    checks = (
        _method_problems,
        _set_problems,
        _demo_problems,
        _folder_problems,
        partial(_file_problems, made=made),
        _sequence_problems,
        _shift_problems,
        _event_problems,
        _trove_problems,
        _tool_problems,
        _novelty_problems,
        _several_problems,
    )
    return [document.problem(*details) for check in checks for details in check(document, data)]


def class_problems(document: Document, class_names: Sequence[str]) -> list[Problem]:
    """Return the classes of shares and events that the tables do not have."""
    data, named = document.data, list[tuple[SettingPath, str]]()
    blocks: list[tuple[SettingPath, Any]] = [(("shift",), data.get("shift"))]
    for position, entry in enumerate(data.get("queries") or []):
        blocks.append((("queries", position, "shift"), entry.get("shift")))
    for path, block in blocks:
        shares = (block or {}).get("class_proportions") or {}
        named += [((*path, "class_proportions", name), name) for name in shares]
    events = data.get("events") or {}
    for group, classes in (events.get("groups") or {}).items():
        named += [(("events", "groups", group, at), name) for at, name in enumerate(classes)]
    return [
        document.problem(path, f"there is no class {name!r}.", nearest(name, class_names))
        for path, name in named
        if name not in class_names
    ]


def _refused(check: Callable[..., object], *arguments: Any) -> tuple[Problem, ...]:
    """Return the problems with which a function refuses its arguments; none if it does not."""
    try:
        check(*arguments)
    except InputError as error:
        return error.problems
    return ()


def _listed(values: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the entries of a list that have the right type, with their places."""
    return ((at, value) for at, value in enumerate(values) if value is not None)


def _methods(data: Data) -> Iterator[tuple[SettingPath, str]]:
    calibration = data["calibration"]
    yield ("calibration", "method"), calibration["method"]
    for position, text in _listed(calibration["compare"]):
        yield ("calibration", "compare", position), text


def _method_problems(document: Document, data: Data) -> Iterator[Wrong]:
    from credence.calibrators.method_spec import parse_method

    for path, text in _methods(data):
        for problem in _refused(parse_method, text, document.where, document.line(path)):
            setting = f"{problem.column}: " if problem.column else ""
            yield path, setting + problem.what, problem.remedy


def _sets(data: Data) -> Iterator[tuple[SettingPath, Data, str]]:
    """Yield each set: where it stands, what it says, and the setting of its FASTA file."""
    if "calibration_set" in data:
        yield ("calibration_set",), data["calibration_set"], "proteins"
    for name, fasta in (("queries", "proteins"), ("troves", "fasta"), ("tools", "proteins")):
        for position, entry in _listed(data[name]):
            yield (name, position), entry, fasta


def _set_problems(document: Document, data: Data) -> Iterator[Wrong]:
    from credence.tables.formats import FORMAT_OF, instead_of

    for path, entry, fasta in _sets(data):
        name = entry.get("format")
        if name is not None and name not in FORMAT_OF:
            yield (*path, "format"), f"{name!r} is not a format.", instead_of(name)
        is_query_set = path[0] == "queries"  # has a truth instead; the schema refuses labels there
        if isinstance(labels := entry.get("labels"), dict) and not is_query_set:
            yield from _label_problems((*path, "labels"), labels, entry[fasta] is not None)


def _label_problems(path: SettingPath, labels: Data, has_proteins: bool) -> Iterator[Wrong]:
    from credence.tables.labels import label_finder

    pattern = labels["pattern"]
    if (labels["table"] is None) == (pattern is None):
        problem = "labels come from a table or from FASTA headers."
        yield path, problem, "Give table or pattern, one of the two."
    if pattern is None:
        return
    path = (*path, "pattern")
    for refusal in _refused(label_finder, pattern, ""):
        yield path, refusal.what, refusal.remedy
    if not has_proteins:
        yield path, "labels in FASTA headers need a FASTA file.", "Give proteins of this set."


def _demo_problems(document: Document, data: Data) -> Iterator[Wrong]:
    if "demo" not in document.data:
        return
    for refusal in _refused(world_settings, data.get("demo", {}), document.where):
        yield ("demo", str(refusal.column)), refusal.what, refusal.remedy
    if not data["simulated"]:
        problem = "the inputs are simulated and this does not say so."
        yield ("simulated",), problem, "Write simulated: true, or remove demo."


def _folder_problems(document: Document, data: Data) -> Iterator[Wrong]:
    """Yield what is wrong with names that become folders; a trove's is ``01-name``."""
    names: list[tuple[SettingPath, str]] = [
        (("queries", position, "name"), entry["name"])
        for position, entry in _listed(data["queries"])
        if entry.get("name") is not None
    ]
    for path, name in [(("run",), data.get("run", "")), *names]:
        if device_of(name) is not None:
            yield path, f"{name!r} is the name of a device on Windows.", "Choose another name."
    taken: dict[str, str] = {}  # two names that differ in case only may be one folder
    for path, name in names:
        if name.lower() in taken:
            capitals = "" if taken[name.lower()] == name else "; capitals make no difference"
            problem = f"{name!r} names an earlier query set{capitals}."
            yield path, problem, "Give each its own name."
        taken.setdefault(name.lower(), name)
        if name.lower() == FOLDER_OF_RELEASES:
            problem = f"{name!r} is the folder of the releases."
            yield path, problem, "Give the query set another name."


def _file_problems(document: Document, data: Data, made: Collection[str]) -> Iterator[Wrong]:
    will_be_there = {*made, *(DEMO_FILES if "demo" in document.data else ())}
    for path, text in files_of(data):
        if not text or text in will_be_there:
            continue
        if (wrong := path_problem(text)) is not None:
            yield path, *wrong
        elif {"scores", "tools"} & set(path) and names_many(text):
            for problem in _refused(_tables_of_a_job, text):
                yield path, f"{text!r}: {problem.what}", problem.remedy
        elif Path(text).is_dir():
            yield path, f"{text!r} is a folder.", "Name a file."
        elif not Path(text).exists():
            remedy = "Fix the path; it starts where you run the command."
            yield path, f"there is no file {text!r}.", remedy


# Bytes of file names; a job's command holds them twice, and 131,072 at most.
MOST_BYTES_NAMED = 50_000


def _tables_of_a_job(text: str) -> None:
    """Refuse a folder or a pattern whose files are too many for the command of one job."""
    names = expanded([text])
    if sum(len(name) + 1 for name in names) > MOST_BYTES_NAMED:
        problem = f"its {len(names):,} files are too many for one job."
        remedy = "Annotate them by themselves: credence annotate with a folder as --out."
        raise refuse(text, problem, remedy)
    raise_any(
        [
            Problem(where=name, what=wrong[0], remedy=wrong[1])
            for name in names
            if (wrong := path_problem(name)) is not None
        ]
    )


def path_problem(text: str) -> tuple[str, str] | None:
    """Return what is wrong with a path as it is written, and the remedy; None if nothing."""
    if text.startswith("-"):
        return f"{text!r} begins with a dash, as an option does.", f"Write './{text}'."
    if "{" in text or "}" in text:
        problem = f"{text!r} has a brace, and Snakemake takes what braces hold for a wildcard."
        return problem, "Rename it without { and }."
    if re.search(r"<[a-z][a-z0-9_]*>", text):
        problem = (
            f"{text!r} has < and >, and Snakemake takes what they hold for a folder of its own."
        )
        return problem, "Rename it without < and >."
    return None


def files_of(data: Data) -> Iterator[tuple[SettingPath, str]]:
    """Yield every file that a configuration names, with the setting that names it."""
    for path, entry, fasta in _sets(data):
        labels = entry.get("labels")
        yield from _paths((*path, "scores"), entry.get("scores", []))
        if path[0] == "queries":
            for name, tables in entry["tools"].items():
                yield from _paths((*path, "tools", name), tables)
        for key in (fasta, "clusters", "labels", "truth"):
            if isinstance(entry.get(key), str):
                yield (*path, key), entry[key]
        if isinstance(labels, dict) and labels["table"] is not None:
            yield (*path, "labels", "table"), labels["table"]
    files = {"training": "proteins", "clustering": "table", "tree": "table"}
    for section, key in files.items():
        if data[section][key] is not None:
            yield (section, key), data[section][key]


def _paths(path: SettingPath, tables: Any) -> Iterator[tuple[SettingPath, str]]:
    if isinstance(tables, str):
        yield path, tables
    else:
        for position, text in _listed(tables or []):
            yield (*path, position), text


def _tool_problems(document: Document, data: Data) -> Iterator[Wrong]:
    """Yield names of tools that are taken, or that a query set gives and nobody knows."""
    taken: set[str] = {MAIN_TOOL}
    for position, entry in _listed(data["tools"]):
        name, path = entry.get("name"), ("tools", position, "name")
        if name == MAIN_TOOL:
            problem = f"{name!r} is the name of the calibration set's own tool."
            yield path, problem, "Give this one another name."
        elif name in taken:
            yield path, f"{name!r} names an earlier tool.", "Give each its own name."
        taken |= {name} if isinstance(name, str) else set()
    known = sorted(taken - {MAIN_TOOL})
    for position, entry in _listed(data["queries"]):
        for name in entry["tools"] if isinstance(entry.get("tools"), dict) else ():
            if name not in known:
                remedy = nearest(name, known) if known else "Describe it under tools."
                yield ("queries", position, "tools", name), f"there is no tool {name!r}.", remedy


def _has_sequences(data: Data) -> bool:
    return data.get("calibration_set", {}).get("proteins") is not None


def _sequence_problems(document: Document, data: Data) -> Iterator[Wrong]:
    if "calibration_set" not in data or _has_sequences(data):
        return
    if data["training"]["proteins"] is not None:
        problem = "relatives of the training proteins cannot be found without sequences."
        yield ("training", "proteins"), problem, "Give proteins of the calibration set too."
    if data["split"]["recipe"] == "phanns":
        problem = "PhANNs' recipe clusters sequences, and there are none."
        remedy = "Give proteins of the calibration set, or write recipe: balanced."
        yield ("split", "recipe"), problem, remedy


def _shift_problems(document: Document, data: Data) -> Iterator[Wrong]:
    common = data["shift"]
    blocks = [
        (("queries", place, "shift"), entry["shift"]) for place, entry in _listed(data["queries"])
    ]
    for path, block in ((("calibration",), data["calibration"]), (("shift",), common), *blocks):
        if block and block.get("resamples") == 1:
            yield (*path, "resamples"), ONE_RESAMPLE, MORE_RESAMPLES
    yield from _composition_problems(("shift",), common, {})
    for position, entry in _listed(data["queries"]):
        path = ("queries", position, "shift")
        yield from _composition_problems(path, entry["shift"] or {}, common)


def _composition_problems(path: SettingPath, block: Data, above: Data) -> Iterator[Wrong]:
    from credence.composition.estimators import ESTIMATOR_NAMES, SUM_TOLERANCE

    method, shares = block.get("method"), block.get("class_proportions")
    where = (*path, "class_proportions")
    if method is not None and method not in ESTIMATOR_NAMES:
        problem = f"{method!r} is not an estimator of class proportions."
        yield (*path, "method"), problem, nearest(method, ESTIMATOR_NAMES)
    elif method == STATED and shares is None and above.get("class_proportions") is None:
        yield (
            where,
            "no class proportions are stated.",
            "Give one, {class: share}, or another method.",
        )
    elif method not in (None, STATED, "auto") and shares is not None:
        problem = f"class proportions are stated, and the method is {method!r}."
        yield where, problem, "Write method: stated, or remove class_proportions."
    values = [-1.0 if share is None else share for share in (shares or {}).values()]
    if shares is None or not all(0 <= share <= 1 for share in values):
        return  # the schema says which
    if abs(sum(values) - 1.0) > SUM_TOLERANCE:
        remedy = f"up to {SUM_TOLERANCE:g} off, they are divided by their sum."
        problem = f"the shares sum to {sum(values):.4g}."
        yield where, problem, f"Give shares that sum to 1; {remedy}"


def _event_problems(document: Document, data: Data) -> Iterator[Wrong]:
    from credence.events.event import STANDING
    from credence.events.forecasters import FORECASTER_OF

    events = data["events"]
    named: list[tuple[SettingPath, str, str, list[str]]] = [
        (("forecaster",), events["forecaster"], "forecaster", list(FORECASTER_OF))
    ]
    for key, kind, known in (
        ("ask", "event", list(STANDING)),
        ("compare", "forecaster", list(FORECASTER_OF)),
    ):
        named += [((key, at), name, kind, known) for at, name in _listed(events[key])]
    for path, name, kind, known in named:
        if name not in known:
            yield ("events", *path), f"there is no {kind} {name!r}.", nearest(name, known)


def _trove_problems(document: Document, data: Data) -> Iterator[Wrong]:
    names = {BASE: "release 0"}
    for position, entry in _listed(data["troves"]):
        path: SettingPath = ("troves", position)
        name, date = entry.get("name"), entry["date"]
        # Two names that differ in case only are one folder on some file systems.
        if name is not None and name.lower() in names:
            problem = f"{name!r} is taken by {names[name.lower()]}; capitals make no difference."
            yield (*path, "name"), problem, "Give each trove its own name."
        if name is not None:
            names.setdefault(name.lower(), f"trove {name!r}")
        if date is not None and not is_date(date):
            yield (*path, "date"), f"{date!r} is not a date.", "Write it like 2026-11-21."
        has_table = data["clustering"]["table"] is not None
        for key, is_there in (("fasta", _has_sequences(data)), ("clusters", has_table)):
            is_given = entry[key] is not None
            if is_given != is_there:
                yield (*path, key), *TROVE_NEEDS[key, is_given]


def date_notices(document: Document, today: str) -> list[Problem]:
    """Return dates of troves that are likely wrong: they are shown, and never used."""
    notices: list[Problem] = []
    last, before = "", ""  # the latest date of the troves so far, and whose it is
    for position, entry in _listed(document.data.get("troves") or []):
        day, path = entry.get("date"), ("troves", position, "date")
        if day is None:
            continue
        if day > today:
            notices.append(document.problem(path, f"{day} is after today.", CORRECT_DATE))
        if day < last:
            problem = f"{day} is before the date of trove {before!r}, which joins earlier: {last}."
            notices.append(document.problem(path, problem, CORRECT_ORDER))
        last, before = max((last, before), (day, entry["name"]))
    return notices


CORRECT_DATE = "Correct it, if it is wrong."
CORRECT_ORDER = "Correct it, or the order of the troves, if one of the two is wrong."

# What a trove has and the calibration set lacks (True), and the other way round.
TROVE_NEEDS = {
    ("fasta", False): (
        "repeats and relatives cannot be found without sequences.",
        "Give the FASTA file of this trove, as the calibration set has one.",
    ),
    ("fasta", True): (
        "there is nothing to compare these sequences with.",
        "Give proteins of the calibration set too, or leave this out.",
    ),
    ("clusters", False): (
        "clusters come from a table (clustering.table), and this trove has none.",
        "Give a table of id and cluster of its proteins, with the same names of clusters.",
    ),
    ("clusters", True): (
        "the other clusters do not come from a table.",
        "Leave this out, or give clustering.table.",
    ),
}


def _several_problems(document: Document, data: Data) -> Iterator[Wrong]:
    """Yield what is asked of several labels a protein that only one label can answer."""
    if data["labels"] != SEVERAL:
        for name in ("table", "separator"):
            if data["tree"][name] is not None:
                yield ("tree", name), "a tree is for several labels.", "Write labels: several."
        return
    if data["tree"]["table"] is not None and data["tree"]["separator"] is not None:
        problem = "the tree is stated twice, by a table and by a separator."
        yield ("tree", "separator"), problem, "Leave one of the two out."
    alone = {
        "demo": "the demo's proteins have one class each",
        "troves": "troves join sets of one class a protein",
        "tools": "tools are combined where a protein has one class",
    }
    for name, why in alone.items():
        if document.data.get(name):
            yield (name,), f"{why}, and labels is several.", f"Leave {name} out."
    events = document.data.get("events") or {}
    if events.get("ask") or events.get("groups"):
        problem = "groups of classes are of one class a protein, and labels is several."
        yield ("events",), problem, "Leave events out; labels above others in a tree say as much."
    if data["evaluation"]["doubtful_labels"]:
        problem = "doubtful labels are found by the scores of exclusive classes."
        yield ("evaluation", "doubtful_labels"), problem, "Write false."


def needs_places(method: str) -> bool:
    """Return whether a method asks where proteins lie."""
    from credence.calibrators.method_spec import parse_method
    from credence.calibrators.protocol import Need

    return parse_method(method, "method").needs is Need.PLACE


def is_held_out_by_fit(method: str, n_folds: int) -> bool:
    """Return whether a fit finds all that is asked of held-out proteins in so many folds."""
    from credence.calibrators.crossfit import DEFAULT_FOLDS
    from credence.calibrators.method_spec import parse_method

    gives_vector = parse_method(method, "method").gives_vector
    return n_folds == DEFAULT_FOLDS and not gives_vector and not needs_places(method)


def _novelty_problems(document: Document, data: Data) -> Iterator[Wrong]:
    features, has_proteins = data["novelty"]["features"], _has_sequences(data)
    if features not in (COMPOSITION, NO_FEATURES):
        where = ("novelty", "features")
        if (wrong := path_problem(features)) is not None:
            yield where, *wrong
        elif not Path(features).is_file():
            remedy = f"Write {COMPOSITION}, {NO_FEATURES}, or the path of a file of vectors."
            yield where, f"there is no file {features!r}.", remedy
        has_proteins = True
    for path, text in _methods(data):
        if _refused(needs_places, text) or not needs_places(text):
            continue
        if features == NO_FEATURES or not has_proteins:
            remedy = "Give proteins of the calibration set, or vectors as novelty: {features: …}."
            if has_proteins:
                remedy = f"Write novelty: {{features: {COMPOSITION}}}."
            yield (
                path,
                f"{text!r} needs to know how far proteins are from each other, and neither "
                "sequences nor vectors are given.",
                remedy,
            )
        elif path == ("calibration", "method"):
            problem = f"{text!r} gives no interval, and cannot be corrected for class proportions."
            yield path, problem, "Put it among compare, and publish another method."
