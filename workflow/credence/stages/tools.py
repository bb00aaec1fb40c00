"""The stage `combine`: the answers of several tools as one score table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from credence.predictions import Predictions, Strings, from_scores
from credence.problems import Problem, gathering, nearest, plural, raise_any, refuse
from credence.progress import echo
from credence.records import from_record
from credence.stages import reading
from credence.stages.settings import MAIN_TOOL, Settings, ToolSet
from credence.tables.contract import AGREE, SURE, TOOL
from credence.tables.formats import TableSpec
from credence.tables.samples import Samples, write_samples
from credence.tables.shards import expanded
from credence.tables.stage_files import CalibrationFile, read_calibration
from credence.tables.writing import write_record, write_table
from credence.tools.combining import Answers, Tool, facts_of, in_table_order
from credence.tools.judging import classes_named, combine


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadTool:
    """What one tool answered of labelled proteins."""

    entry: ToolSet
    predictions: Predictions
    classes: Mapping[str, str]  # Its classes, each with the run's; "" for none of them

    def again(self, tables: Sequence[str]) -> Samples:
        """Return what it answers of other proteins."""
        facts = facts_of(self.predictions)
        spec = reading.table_spec(tables, None, self.entry.spec)
        return read_again(self.entry.name, self.classes, facts, tables, spec)

    def description(self) -> str:
        """Return what there is of it, in one line."""
        n = plural(self.predictions.n_samples, "protein")
        pairs = (
            f"{name} is {target or 'none'}"
            for name, target in self.classes.items()
            if name != target
        )
        return "; ".join([f"tool {self.entry.name}: {n}", *pairs])


def stated_tools(text: str) -> tuple[ToolSet, ...]:
    """Return the further tools that --tools gives, or refuse names that are taken."""
    remedy = 'Write [{"name": "…", "scores": ["TABLE"], "spec": {}, "classes": {}}].'
    stated = reading.json_value(text, "--tools", remedy)
    tools = from_record(tuple[ToolSet, ...], stated, "--tools", remedy)
    if not tools:
        raise refuse("--tools", "there is no further tool.", remedy)
    fault = "the tool {!r} has no table."
    bare = [tool.name for tool in tools if not tool.scores]
    raise_any(
        Problem(where="--tools", what=fault.format(name), remedy=remedy, column="scores")
        for name in bare
    )
    names, other = [MAIN_TOOL, *(tool.name for tool in tools)], "Give it another name."
    fault = f"is taken: {MAIN_TOOL!r} is the tool of TABLE."
    taken = (name for place, name in enumerate(names) if name in names[:place])
    raise_any(Problem(where="--tools", what=f"{name!r} {fault}", remedy=other) for name in taken)
    return tools


def read_tools(tools: Sequence[ToolSet], main: Samples) -> dict[str, ReadTool]:
    """Return what each tool answered, or all that is wrong with their tables."""
    read: dict[str, ReadTool] = {}
    problems: list[Problem] = []
    known = main.predictions.ids
    for entry in tools:
        with gathering(problems):
            spec = reading.table_spec(entry.scores, None, entry.spec)
            predictions = reading.read_set(entry.scores, spec).predictions
            classes, wrong = mapped(entry, predictions, main.predictions.class_names)
            problems += wrong
            # Where only the best is named.
            more = tuple(name for name in classes if name not in predictions.class_names)
            predictions = replace(predictions, class_names=predictions.class_names + more)
            read[entry.name] = ReadTool(entry=entry, predictions=predictions, classes=classes)
            if not set(known) & set(predictions.ids):
                n = plural(predictions.n_samples, "protein")
                fault = f"none of its {n} is in the calibration set"
                alike = f"where ids are like {known[0]!r} and here like {predictions.ids[0]!r}"
                remedy = (
                    f"Give the scores of the same proteins, or leave the tool {entry.name!r} out."
                )
                raise refuse(entry.scores[0], f"{fault}, {alike}.", remedy)
    raise_any(problems)
    return read


def mapped(
    entry: ToolSet, predictions: Predictions, run: tuple[str, ...]
) -> tuple[dict[str, str], list[Problem]]:
    """Return the run's class of each class of a tool, "" for none of them, and what is wrong."""
    where, problems = entry.scores[0], []
    classes = {name: name for name in predictions.class_names if name in run}
    for name, target in entry.classes.items():
        column = f"classes.{name}"
        if predictions.scores is not None and name not in predictions.class_names:
            fault = f"the tool {entry.name!r} has no class {name!r}."
            problems.append(
                Problem(
                    where=where,
                    what=fault,
                    remedy=nearest(name, predictions.class_names),
                    column=column,
                )
            )
        if target is not None and target not in run:
            fault = f"{target!r}, to which the tool {entry.name!r} maps {name!r}, is no class."
            problems.append(
                Problem(where=where, what=fault, remedy=nearest(target, run), column=column)
            )
        classes[name] = target or ""
    for name in (name for name in predictions.class_names if name not in classes):
        fault = f"nothing says which class {name!r} of the tool {entry.name!r} is."
        stated = f"{json.dumps(name, ensure_ascii=False)}: one of {', '.join(run)}, or null"
        problems.append(Problem(where=where, what=fault, remedy=f"Write classes: {{{stated}}}."))
    if not problems and not any(classes.values()):
        fault = f"no class of the tool {entry.name!r} is mapped to one of the run."
        problems.append(
            Problem(where=where, what=fault, remedy="Map one with classes, or leave the tool out.")
        )
    return classes, problems


def answers_for(ids: Strings, predictions: Predictions) -> Answers:
    """Return the answers of a tool for the proteins at hand."""
    return Answers(
        predictions=predictions, row=pd.Index(predictions.ids).get_indexer(ids).astype(np.int64)
    )


def combine_tables(
    given: reading.LabelledFiles,
    out: str,
    settings: Settings,
    tools_json: str,
    calibration: str | None,
    tool: Sequence[str],
    answers: str | None,
    record: str | None,
) -> None:
    """Write one table of what several tools answered.

    What is stated of a labelled protein is of fits that did not see its family.
    """
    reading.require_other((out, answers, record), [*given.files, calibration])
    if calibration is not None:
        file = read_calibration(Path(calibration))
        further = tables_of(file, tool, calibration)
        combined = combine_query_set(given.tables, given.format_, given.spec_json, further, file)
        write_samples(Path(out), combined.samples, combined=True)
        if answers is not None:
            columns = combined.answers.reset_index()
            write_table(Path(answers), {name: columns[name].to_numpy() for name in columns})
        n, n_silent = combined.samples.n_samples, combined.n_silent
        silent = f", {n_silent} more without any answer" if n_silent else ""
        echo(f"Wrote {out}: {n} proteins{silent}.")
        return
    tools = stated_tools(tools_json)
    known = given.open()
    main, chosen = known.samples, known.calibrating(settings.calibration.weights).labelled
    ids, class_names = main.predictions.ids, main.predictions.class_names
    read = read_tools(tools, main)
    every = {name: answers_for(ids, entry.predictions) for name, entry in read.items()}
    every[MAIN_TOOL] = answers_for(ids, main.predictions)
    classes = {name: entry.classes for name, entry in read.items()}
    classes[MAIN_TOOL] = {name: name for name in class_names}
    rows = pd.Index(ids).get_indexer(chosen.predictions.ids)
    whole, held_out, _ = combine(
        chosen,
        {name: entry.take(rows) for name, entry in every.items()},
        classes,
        {entry.name: entry.spec for entry in tools},
        settings.calibration.level,
        settings.calibration.resamples,
    )
    log_p = in_table_order(whole.combined(whole.stated(every)), class_names)
    log_p[rows] = held_out
    predictions = from_scores(ids, class_names, np.exp(log_p), 1.0, 0.0)
    write_samples(Path(out), replace(main, predictions=predictions), combined=True)
    write_record(record, whole)
    for entry in tools:
        _echo_lacking(every[entry.name], entry.scores[0])
    if whole.alone:
        remark = f"combined, they are worse than {whole.alone!r} alone, which is followed"
        echo(f"{out}: {remark} wherever it answers.")
    echo(f"Wrote {out}: {len(ids)} proteins, {len(every)} tools.")


def _echo_lacking(answers: Answers, where: str) -> None:
    """Print how many proteins one table lacks, and how many are in it alone."""
    n_there, n = int(answers.is_there.sum()), len(answers.row)
    if n_there < n:
        echo(f"{where}: {n - n_there} of {n} proteins are not in it.")
    if n_more := answers.predictions.n_samples - n_there:
        remark = f"{n_more} of its proteins are not in the first table"
        echo(f"{where}: {remark}; they are left out.")


def tables_of(
    file: CalibrationFile, named: Sequence[str], where: str
) -> list[tuple[Tool, tuple[str, ...]]]:
    """Return the tables of tools given as name=table, or refuse what a calibration lacks."""
    problems: list[Problem] = []
    if file.tools is None:
        fault = "this calibration is of one tool."
        remedy = "Give one that was fitted to several tools, or leave --tool out."
        raise refuse(where, fault, remedy)
    known = {tool.name: tool for tool in file.tools.tools if tool.name != MAIN_TOOL}
    paths_by_tool: dict[str, list[str]] = {}
    for text in named:
        name, equals, path = text.partition("=")
        if not equals or not path:
            problems.append(
                Problem(
                    where="--tool", what=f"{text!r} names no table.", remedy="Write name=table."
                )
            )
        elif name not in known:
            fault = f"{name!r} is no tool of {where}."
            problems.append(Problem(where="--tool", what=fault, remedy=nearest(name, list(known))))
        else:
            paths_by_tool.setdefault(name, []).append(path)
    raise_any(problems)
    return [(known[name], expanded(paths)) for name, paths in paths_by_tool.items()]


def read_again(
    name: str,
    classes: Mapping[str, str],
    facts: Mapping[str, Any],
    tables: Sequence[str],
    spec: TableSpec,
) -> Samples:
    """Return later answers of a tool, its classes and its scale as they were."""
    samples = reading.read_set(tables, reading.as_calibrated(spec, tuple(classes), facts["scale"]))
    if facts_of(samples.predictions) != facts:
        fault = f"it does not give the scores that the tool {name!r} gave in calibration."
        raise refuse(tables[0], fault, "Give a table of the same columns.")
    return samples


@dataclass(frozen=True, kw_only=True, eq=False)
class CombinedTools:
    """What several tools say of proteins of unknown class."""

    samples: Samples  # Those that a tool scores, with the combined scores
    answers: pd.DataFrame  # Of each tool, by protein
    n_silent: int  # Proteins that no tool scores


def combine_query_set(
    tables: Sequence[str],
    format_: str | None,
    spec_json: str,
    further: Sequence[tuple[Tool, Sequence[str]]],
    file: CalibrationFile,
) -> CombinedTools:
    """Return the proteins of unknown class with combined scores, and the answers of each tool.

    Without tables of the first tool they are the proteins of the others, in their order.
    """
    whole = file.tools
    assert whole is not None
    problems: list[Problem] = []
    read: dict[str, Samples] = {}
    first = next(tool for tool in whole.tools if tool.name == MAIN_TOOL)
    for tool, paths in ((first, tables), *further) if tables else further:
        with gathering(problems):
            if tool is first:
                spec = reading.stated_spec(paths, format_, spec_json, file=file)
            else:
                spec = reading.table_spec(paths, None, tool.spec)
            read[tool.name] = read_again(tool.name, tool.classes, tool.facts, paths, spec)
    raise_any(problems)
    main = read.get(MAIN_TOOL)
    every = [main] if main is not None else list(read.values())
    ids = pd.unique(np.concatenate([_in_order(samples) for samples in every]))
    answers = {name: answers_for(ids, samples.predictions) for name, samples in read.items()}
    stated = whole.stated(answers)
    n_answers = np.sum([of_tool.is_there for of_tool in answers.values()], axis=0)
    log_p = in_table_order(whole.combined(stated), whole.class_names)
    predictions = from_scores(ids, whole.class_names, np.exp(log_p), 1.0, 0.0)
    genome, is_there = None, n_answers > 0
    if main is not None and main.genome is not None:
        genome = _in_order(main, main.genome)[is_there]
    lines = 1 + np.arange(int(is_there.sum()))
    there = Samples(
        predictions=predictions.take(is_there), true_class=None, lines=lines, genome=genome
    )
    names = np.array([*whole.sorted_names, ""], dtype=object)
    combined = np.array(whole.class_names, dtype=object)[predictions.predicted_class]
    columns: dict[str, Any] = {}
    n_agree = np.zeros(len(ids), dtype=np.int64)
    for name, place in classes_named(whole, answers).items():
        log_chance = stated[name][np.arange(len(ids)), place] if name in stated else np.nan
        columns[f"{TOOL}{name}"] = names[place]
        columns[f"{SURE}{name}"] = np.where(place >= 0, np.exp(log_chance), np.nan)
        n_agree += names[place] == combined
    pairs = zip(n_agree.tolist(), n_answers.tolist(), strict=True)
    agree = [f"{agree} of {n}" if n else "" for agree, n in pairs]
    for tool, paths in further:
        _echo_lacking(answers[tool.name], paths[0])
    return CombinedTools(
        samples=there,
        answers=pd.DataFrame({AGREE: agree, **columns}, index=pd.Index(ids, name="id")),
        n_silent=int((~is_there).sum()),
    )


def _in_order(samples: Samples, of_scored: Strings | None = None) -> Strings:
    """Return ids, or what else proteins with scores have, as in the table."""
    order = np.argsort(np.concatenate([samples.lines, samples.unscored_lines]), kind="stable")
    scored, unscored = samples.predictions.ids, samples.unscored_ids
    if of_scored is not None:
        scored, unscored = of_scored, np.full_like(unscored, "")
    return np.asarray(np.concatenate([scored, unscored])[order])


def read_answers(path: str) -> pd.DataFrame:
    """Return the answers of each tool that `credence combine` wrote, by protein."""
    try:
        table = pq.read_table(path).to_pandas().set_index("id")
        return table.loc[:, table.columns[table.columns.get_loc(AGREE) :]]
    except (OSError, pa.ArrowException, KeyError):
        fault = "these are no answers of several tools."
        raise refuse(path, fault, "Give the file of --answers of credence combine.") from None
