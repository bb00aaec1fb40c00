"""Options of commands: those of settings are made from the settings themselves."""

import importlib
import inspect
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from itertools import starmap
from typing import Any, TypeVar, get_type_hints

import click

from credence.problems import nearest, raise_any, refuse
from credence.progress import StageProgress
from credence.settings import SettingRule, item_of, schema_of, setting_rules, setting_type
from credence.stages.settings import SECTIONS, USES, Settings
from credence.tables.document import Document, schema_problems

Command = TypeVar("Command", bound=Callable[..., Any])
WORD_FOR_NULL = "none"


class OrNone(click.ParamType):  # type: ignore[type-arg]
    """A number, or the word none."""

    def __init__(self, number: Any) -> None:
        self.number = number
        self.name = f"{number.name} or none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """Return the number; None for the word."""
        return WORD_FOR_NULL if value == WORD_FOR_NULL else self.number.convert(value, param, ctx)


def as_one(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return decorators as one, the first outermost."""

    def decorate(function: Command) -> Command:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def settings_options(stage: str) -> Callable[[Command], Command]:
    """Return an option for each setting of a stage, and --settings for all at once."""
    return as_one(
        *(_option(section, name) for section, names in USES[stage].items() for name in names),
        click.option(
            "--settings",
            "settings_json",
            default="{}",
            show_default=False,
            help="Any settings of the configuration that this command uses, as JSON: "
            "{section: {setting: value}}.",
        ),
    )


INPUT, SETTINGS, OUTPUT, OTHER, WORKFLOWS = OPTION_GROUPS = (
    *("Input", "Settings", "Output", "Computer and help"),
    "For workflows (JSON)",
)
OF_OUTPUT = (
    "out",
    "also",
    "spreadsheet_safe",
    "six_decimals",
    "ending",
    "samples_as",
    "only",
    "formats",
)
OF_COMPUTER = ("threads", "pieces", "share", "timeout", "cores", "profile", "directory")


class SettingOption(click.Option):
    """An option that is a setting of a stage."""


class GroupedHelp(click.Command):
    """A command whose help begins with a sentence and an example, with its options in groups."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence and the example, then all else."""
        first, _, rest = inspect.cleandoc(self.help or "").partition("\n\n")
        for text in (first, self.epilog or ""):
            formatter.write_text(text)
            formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        if rest:
            formatter.write_paragraph()
            formatter.write_text(rest)
        self.format_options(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        rows: dict[str, list[tuple[str, str]]] = {group: [] for group in OPTION_GROUPS}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                rows[group_of(param)].append(record)
        for group, records in rows.items():
            if records:
                with formatter.section(group):
                    formatter.write_dl(records)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)


class CommandsBelow(GroupedHelp, click.Group):
    """A command with further ones below it."""

    command_class = GroupedHelp


def group_of(param: click.Parameter) -> str:
    """Return the group of an option: JSON is for workflows, what it writes is output."""
    text = str(getattr(param, "help", None) or "")
    if text.endswith("JSON.") or str(param.name).endswith("_json"):
        return WORKFLOWS
    if isinstance(param, SettingOption):
        return SETTINGS
    if param.name in OF_COMPUTER or "--help" in param.opts:
        return OTHER
    return OUTPUT if param.name in OF_OUTPUT or text.startswith("Also ") else INPUT


class StageCommand(GroupedHelp):
    """A command that hands what it is given to a function of `stages/`.

    Its settings become one argument, `settings`. What an option says stands above what
    --settings says, and that above the default. A function that has an argument `asked`
    gets the names of the settings that options gave; one that has `given`, a record of the
    options that name the files which it opens.
    """

    target = ""  # Module and function

    def invoke(self, ctx: click.Context) -> None:
        """Import the function and call it."""
        module, name = self.target.split(".")
        function = getattr(importlib.import_module(f"credence.stages.{module}"), name)
        given, wanted = dict(ctx.params), inspect.signature(function).parameters
        if "settings_json" in given:
            given, asked = with_settings(str(self.name).replace("-", "_"), given)
            if "asked" in wanted:
                given["asked"] = asked
        if "given" in wanted:
            record = get_type_hints(function)["given"]
            names = given.keys() & {entry.name for entry in fields(record)}
            given["given"] = record(**{name: given.pop(name) for name in names})
        with StageProgress(str(self.name)):
            function(**given)


def with_settings(stage: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what a command is given with its settings as one, and which of them options gave."""
    given = dict(given)
    sections = _parsed(given.pop("settings_json"), stage)
    asked = []
    for section, names in USES[stage].items():
        for name in names:
            value = given.pop(f"{section}_{name}")
            if value is not None and value != ():
                is_none = value == WORD_FOR_NULL and setting_type(SECTIONS[section], name)[1]
                sections.setdefault(section, {})[name] = None if is_none else value
                asked.append(name)
    return given | {"settings": Settings().with_values(sections)}, asked


def stage_command(
    target: str, example: str, name: str | None = None
) -> Callable[[Callable[[], None]], StageCommand]:
    """Return a decorator that makes a :class:`StageCommand`; what it decorates holds the help."""

    def decorate(described: Callable[[], None]) -> StageCommand:
        epilog = f"Example: credence {example}"
        made = click.command(name, cls=StageCommand, epilog=epilog)(described)
        made.target = target
        return made

    return decorate


def _option(section: str, name: str) -> Callable[[Any], Any]:
    """Return the option of one setting; absent means that it was not given."""
    default, rule = setting_rules(SECTIONS[section])[name]
    kind, may_be_absent = setting_type(SECTIONS[section], name)
    word = rule.option or "--" + name.replace("_", "-")
    text = f"{rule.text[0].upper()}{rule.text[1:]}."
    # What a configuration says with null is a word here, and an empty list is for JSON.
    text = text.replace("null: ", f"{WORD_FOR_NULL}: ").replace("; []", "; in --settings: []")
    facts: dict[str, Any] = {"help": text}
    if kind is bool:
        word = word if default is False else f"{word}/--no-{word[2:]}"
        facts |= {"is_flag": True, "default": None}
    elif kind is tuple:
        if item_of(SECTIONS[section], name) is float:
            text = f"{text} [default: {', '.join(f'{number:g}' for number in default)}]"
            facts["type"] = _type_of(float, rule)
        facts |= {"multiple": True, "help": f"{text} Repeat it."}
    elif kind not in (str, int, float):
        schema = schema_of(SECTIONS[section])["properties"][name]
        facts |= {"callback": partial(_mapping, schema), "help": f"{text} As JSON."}
    else:
        type_ = _type_of(kind, rule)
        shown = (
            WORD_FOR_NULL if default is None else f"{default:g}" if kind is float else str(default)
        )
        if isinstance(default, Mapping):
            shown = json.dumps(default)
            type_ = WordOrMapping(rule.choices, rule.schema)
            facts["metavar"] = f"[{'|'.join(rule.choices)}|JSON]"
        facts["type"] = OrNone(type_) if may_be_absent else type_
        facts["help"] = f"{text}  [default: {shown}]"
        if rule.alone:
            facts |= {"is_flag": False, "flag_value": rule.alone}
    return click.option(word, f"{section}_{name}", cls=SettingOption, **facts)


def _type_of(kind: type, rule: SettingRule) -> Any:
    if kind is str:
        return KnownWord(rule.choices) if rule.choices else click.STRING
    low: Any = rule.low if rule.above is None else rule.above
    high: Any = rule.high if rule.below is None else rule.below
    if kind is int:
        return click.IntRange(low, high)
    return Finite(low, high, min_open=rule.above is not None, max_open=rule.below is not None)


class Finite(click.FloatRange):
    """A number of a range; neither infinite nor nan, which no range keeps out."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class KnownWord(click.Choice):  # type: ignore[type-arg]
    """One of some words; another one is answered with the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """Return the word."""
        if value not in self.choices and param is not None:
            name = param.opts[0].removeprefix("--").replace("-", " ")
            raise refuse(param.opts[0], f"{value!r} is no {name}.", nearest(value, self.choices))
        return super().convert(value, param, ctx)


class WordOrMapping(KnownWord):
    """One of some words, or settings as JSON."""

    def __init__(self, choices: Sequence[str], schema: Mapping[str, Any]) -> None:
        super().__init__(choices)
        self.schema = schema

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """Return the word, or the mapping."""
        if not isinstance(value, str) or not value.startswith("{") or param is None:
            return super().convert(value, param, ctx)
        return _mapping(self.schema, ctx, param, value)


def _mapping(
    schema: Mapping[str, Any], context: click.Context, option: click.Parameter, value: str | None
) -> Any:
    """Return the settings of a JSON text; refuse what a configuration would refuse."""
    from credence.stages.reading import json_settings

    if value is None:
        return None
    settings = dict(json_settings(value, option.opts[0]))
    raise_any(schema_problems(Document(where=option.opts[0], data=settings, lines={}), schema))
    return settings


def _parsed(text: str, stage: str) -> dict[str, dict[str, Any]]:
    """Return checked sections of --settings; refuse what a configuration would refuse."""
    if text == "{}":
        return {}
    from credence.stages.reading import json_settings

    values = dict(json_settings(text, "--settings"))
    sections = {name: schema_of(SECTIONS[name]) for name in USES[stage]}
    schema = {"type": "object", "additionalProperties": False, "properties": sections}
    raise_any(schema_problems(Document(where="--settings", data=values, lines={}), schema))
    return {section: dict(entries) for section, entries in values.items()}


def _shipped(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Return the file of a calibration that comes with credence and is named here."""
    from credence.tables.ready_made import named_file

    return value if value is None or context.resilient_parsing else named_file(value)


def _options_with(**facts: Any) -> Callable[..., Callable[[Command], Command]]:
    """Return a function that makes one option for each keyword, whose value is its help."""

    def option(name: str, text: str) -> Callable[[Command], Command]:
        callback = _shipped if name == "calibration" else None
        word = "--" + name.replace("_", "-")
        return click.option(word, name, help=text, callback=callback, **facts)

    return lambda **texts: as_one(*starmap(option, texts.items()))


file_options = _options_with()
required_options = _options_with(required=True)
repeated_options = _options_with(multiple=True)
flag_options = _options_with(is_flag=True)
table_options = as_one(
    click.option(
        "--format", "format_", help="Format of the table; credence check TABLE proposes one."
    ),
    click.option(
        "--spec",
        "spec_json",
        default="{}",
        help="How the table is read, as JSON: keys of calibration_set in the configuration.",
    ),
)


def _expanded(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> Any:
    from credence.tables.shards import expanded

    return value if context.resilient_parsing else expanded(value)


tables_as_given = click.argument("tables", nargs=-1, metavar="TABLE...")
# With each file that a folder or a pattern among them names.
tables_argument = click.argument(
    "tables", nargs=-1, required=True, metavar="TABLE...", callback=_expanded
)
optional_tables_argument = click.argument(
    "tables", nargs=-1, metavar="[TABLE...]", callback=_expanded
)
group_options = file_options(
    groups="Table from credence split; only proteins with the role calibration are used.",
    clusters="Table of clusters (families); those of --groups unless given.",
)
labelled_options = as_one(tables_argument, table_options, group_options)
labels_option = file_options(labels="Table of true classes: id and true_class.")
threads_option = click.option(
    "--threads", type=click.IntRange(1), default=1, show_default=True, help="Cores to use."
)
pieces_options = as_one(
    click.option(
        "--pieces",
        metavar="FOLDER",
        help="Keep finished pieces in this folder; a command that was stopped goes on.",
    ),
    click.option(
        "--share",
        metavar="STEP:K/N",
        help="Do only part K of N of a step, to divide it among machines (docs/cluster.md).",
    ),
)
spreadsheet_option = flag_options(
    spreadsheet_safe="Put a quote before cells that a spreadsheet would run as a formula."
)
six_decimals_option = flag_options(
    six_decimals="Write six decimals in text tables; Parquet has all digits."
)
also_option = file_options(also="Also write the same rows in another format: conf.parquet, say.")


def default_option(name: str, default: Any, text: str, **facts: Any) -> Callable[[Any], Any]:
    """Return an option whose help says its default."""
    return click.option(name, default=default, show_default=True, help=text, **facts)


def rows_option(name: str, words: str, text: str, *to: str) -> Callable[[Any], Any]:
    """Return an option that takes several words, whose names are given, any number of times."""
    n_words = len(words.split())
    return click.option(name, *to, nargs=n_words, multiple=True, metavar=words, help=text)


def out_option(text: str) -> Callable[[Command], Command]:
    """Return the option ``--out`` with its help."""
    return required_options(out=text)


WAYS_TO_MATCH = click.Choice(["full", "first_word"])
match_option = default_option(
    "--match", "first_word", "How table ids are matched to FASTA headers.", type=WAYS_TO_MATCH
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
config_option = default_option("--config", "config.yaml", "The configuration.")
