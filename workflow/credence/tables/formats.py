"""Formats of score tables, and what a user states about a table, checked against them."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from credence.problems import Problem, ProblemList, nearest

COLUMN_ROLES = ("id", "true_class", "predicted_class", "score", "network", "classes", "term")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Names of the columns that play a role; None where no column does."""

    id: str | None = None  # Names of the proteins; without one they are named after their rows
    # Truth, the tool's own verdict, its top score, number of the network.
    true_class: str | None = None
    predicted_class: str | None = None
    score: str | None = None
    network: str | None = None
    term: str | None = None  # Class that a row scores, where a protein has a row for each
    genome: str | None = None  # Genome, contig or sample that a protein is of; the user names it
    classes: tuple[str, ...] | None = None  # Columns of the classes; None: every column left over
    # Only columns that end so are classes; the suffix is no part of the name.
    class_suffix: str = ""
    ignored: tuple[str, ...] = ()  # Columns that may be there and say nothing here
    optional: frozenset[str] = frozenset()  # Roles whose column may be absent


@dataclass(frozen=True, kw_only=True)
class Format:
    """One way in which a classifier writes its scores."""

    name: str  # What users write
    summary: str  # One line for `credence check` and the documentation
    columns: Columns  # Which column plays which role
    delimiter: str = ","  # Between cells, where the file's ending is neither .csv nor .tsv
    scale: float | None = 1.0  # What a row sums to; None: the user has to state it
    sum_to_scale: bool = True  # Whether rows sum to the scale
    vector: bool = True  # Whether there is a score for every class, or only the best
    configurable: bool = False  # Whether a user names the columns
    arrays: bool = False  # Whether the file is a set of arrays (npz), not a table
    # Brings a label to the form in which two spellings of a class are equal.
    spell: Callable[[str], str] = str.strip
    # The class that a column is named after, suffix gone.
    class_name: Callable[[str], str] = str.strip
    label_of_id: Callable[[str], str] | None = None  # The label that the name of a protein carries
    # What stands where the tool gave no score at all; a row of nothing else is listed as unscored.
    # Empty: such a row is refused.
    blanks: frozenset[str] = frozenset()
    zero_row_class: str | None = None  # Class that gets the whole scale in a row of zeros
    slack: float = 0.0  # How far, as a share of the scale, scores may exceed it
    header_start: str = ""  # How the header begins where it looks like a comment
    quoted: bool = True  # Whether cells may stand in quotation marks
    id_start: str = ""  # What stands before the name of every protein, and is no part of it
    # Of a file without a header: names of the columns, a row's cells for them, how verdicts look.
    names: tuple[str, ...] = ()
    cells: Callable[[list[str]], list[str]] = list
    verdict_like: str = ""
    # Where a row holds several calls: the cells of each of them, read so with several labels.
    calls: Callable[[list[str]], list[list[str]]] | None = None
    is_distance: bool = False  # Lower is better: read as 1 / (1 + distance)
    is_long: bool = False  # Whether a protein has a row for each class
    is_calls: bool = False  # Whether a row is a call, or a cell is one
    # Class names that tell this format from another of the same columns.
    known_classes: tuple[str, ...] = ()


def fold(name: str) -> str:
    """Return a name without capitals and without blanks around it."""
    return name.strip().casefold()


SOME_NAMES = 3  # that are shown of many


def taken_as_one(recased: Mapping[str, str]) -> str:
    """Return what is said of labels and ids that were taken for others, but for capitals."""
    some = [f"{text!r} is taken for {name!r}" for text, name in recased.items()]
    more = f", and so are {len(some) - SOME_NAMES:,} more" if len(some) > SOME_NAMES else ""
    return f"{', '.join(some[:SOME_NAMES])}{more}: they differ in capital letters alone"


class NameLookup(dict[str, int]):
    """Label → index of its class, -1 for none; classes spelt alike by their full names only.

    With `any_case`, what is no class is taken for the only one that differs in capitals alone.
    """

    def __init__(
        self,
        class_names: tuple[str, ...],
        spell: Callable[[str], str] = str.strip,
        synonyms: Mapping[str, str] = MappingProxyType({}),
        *,
        any_case: bool = False,
    ) -> None:
        self.class_names, self._spell = class_names, spell
        exact = {name: index for index, name in enumerate(class_names)}
        n_alike = Counter(map(spell, class_names))
        known = {spell(name): index for name, index in exact.items() if n_alike[spell(name)] == 1}
        for text, name in synonyms.items():
            if name in exact:
                known[text] = known[spell(text)] = exact[name]
        self._certain = known | exact
        self._folded: defaultdict[str, set[int]] = defaultdict(set)
        for name, index in self._certain.items() if any_case else ():
            self._folded[fold(name)].add(index)
        self.recased: dict[str, str] = {}  # Label → the class that it was taken for
        super().__init__(self._certain)

    def __missing__(self, text: str) -> int:
        index = self._certain.get(self._spell(text), -1)
        alike = self._folded.get(fold(self._spell(text)), ())
        if index < 0 and len(alike) == 1:
            (index,) = alike
            self.recased[text] = self.class_names[index]
        self[text] = index
        return index

    def misfit(self, text: str, proteins: str) -> tuple[str, str]:
        """Return what is wrong with a label of `proteins` that is no class, and the remedy."""
        parts = parts_of(text)
        if len(parts) > 1 and any(self[part] >= 0 for part in parts):
            return f"{text!r} holds several labels ({proteins}).", ONE_LABEL_EACH
        remedy = nearest(text, self.class_names, WHERE_NONE_IS_NEAR)
        return f"{text!r} is no class ({proteins}).", remedy


def parts_of(text: str) -> list[str]:
    """Return the labels that a cell may hold: what stands between ;, | or commas."""
    return [part for part in re.split("[;|,]", text) if part.strip()]


WHERE_NONE_IS_NEAR = (
    " If it means one of them, state it in synonyms; else leave these proteins out, or take a "
    "classifier that knows it."
)
ONE_LABEL_EACH = "Give each the one class to judge by, or leave these proteins out."


def named(first: str, n_proteins: int) -> str:
    """Return how some proteins are named by the first of them."""
    return f"protein {first!r}" if n_proteins == 1 else f"{n_proteins:,} proteins, {first!r} first"


class Gathering(dict[str, int]):
    """Label → code in the order of appearance, for tables that do not list classes."""

    def __init__(self, synonyms: Mapping[str, str]) -> None:
        super().__init__({"": -1})
        self._synonyms = synonyms
        self.names: dict[str, int] = {}

    def __missing__(self, text: str) -> int:
        name = text.strip()
        name = self._synonyms.get(name, name)
        code = self.names.setdefault(name, len(self.names)) if name else -1
        self[text] = code
        return code


EC = "EC:"


def nearest_ec(row: list[str]) -> list[str]:
    """Return the name of a protein, the first of its EC numbers, and what stands after it."""
    return [row[0], *(row[1].rpartition("/")[::2] if len(row) > 1 else ("", ""))]


def ec_calls(row: list[str]) -> list[list[str]]:
    """Return each EC number of a row of CLEAN by itself."""
    return [[row[0], *cell.removeprefix(EC).rpartition("/")[::2]] for cell in row[1:] if cell]


def deepgoplus_calls(row: list[str]) -> list[list[str]]:
    """Return each term of a row, which are written GO:0003674|0.98."""
    return [[row[0], *cell.rpartition("|")[::2]] for cell in row[1:] if cell]


EGGNOG_SCORE, EGGNOG_TERMS = 3, 9  # columns of emapper 2.1


def eggnog_calls(row: list[str]) -> list[list[str]]:
    """Return each GO term of a row of eggNOG-mapper with the row's bit score."""
    if len(row) <= EGGNOG_TERMS or row[EGGNOG_TERMS] == "-":
        return []
    return [[row[0], term, row[EGGNOG_SCORE]] for term in row[EGGNOG_TERMS].split(",")]


def first_call(calls: Callable[[list[str]], list[list[str]]]) -> Callable[[list[str]], list[str]]:
    """Return what reads only the first call of a row; blanks where it has none."""
    return lambda row: [*calls(row), [row[0], "", ""]][0]


CLEAN = Format(
    name="clean",
    summary="CLEAN's <name>_maxsep.csv: id, EC number/distance, …; the nearest number counts",
    columns=Columns(id="id", predicted_class="nearest", score="distance"),
    vector=False,
    sum_to_scale=False,
    spell=lambda text: text.strip().removeprefix(EC),
    blanks=frozenset({""}),
    names=("id", "nearest", "distance"),
    cells=nearest_ec,
    calls=ec_calls,
    verdict_like=EC,
    is_distance=True,
)


def spell_deepvp(text: str) -> str:
    """Return a class with underscores; DeePVP writes `Major tail` in its verdicts."""
    return "_".join(text.replace("_", " ").split())


# Of Empathi's classes those that every protein has a score for; the others are of the proteins
# of one of these alone.
BROAD = (
    *("pvp", "DNA-associated", "transcriptional_regulator", "packaging_assembly"),
    *("adsorption-related", "cell_wall_depolymerase", "RNA-associated", "nucleotide_metabolism"),
    *("ejection", "phosphorylation", "transferase", "reductase", "crispr", "anti-restriction"),
    *("sir2", "toxin", "super_infection", "lysis"),
)

CLASSES = (
    *("Major capsid", "Minor capsid", "Baseplate", "Major tail", "Minor tail", "Portal"),
    *("Tail fiber", "Tail shaft", "Collar", "HTJ", "Other"),
)
OTHER_SPELLINGS = {"shaft": "tail shaft", "others": "other"}  # in PhANNs' own files
N_NETWORKS = 10


def spell_phanns(text: str) -> str:
    """Return a label in the form in which PhANNs' own spellings are equal."""
    form = " ".join(text.replace("_", " ").replace("-", " ").casefold().split())
    return OTHER_SPELLINGS.get(form, form)


PHANNS_FORMAT = Format(
    name="phanns",
    summary="PhANNs CSV (web, batch or single file): first header cell empty, a column per class",
    columns=Columns(id="", ignored=("Confidence",)),
    scale=float(N_NETWORKS),
    spell=spell_phanns,
    known_classes=CLASSES,
)

NUMBER_AT_END = re.compile(r"[_\d]+$")  # of an id, after a label

UNKNOWN = "unknown function"
CATEGORIES = (
    *("head and packaging", "integration and excision", "tail"),
    *("moron, auxiliary metabolic gene and host takeover", "DNA, RNA and nucleotide metabolism"),
    *("connector", "transcription regulation", "lysis", "other", UNKNOWN),
)
NOT_A_LETTER = re.compile(r"[^a-z]+")


def spell_phrogs(text: str) -> str:
    """Return a category with underscores for blanks and commas."""
    return NOT_A_LETTER.sub("_", text.strip().casefold())


IN_FULL = {spell_phrogs(name): name for name in CATEGORIES}


def category(text: str) -> str:
    """Return the full name of a category; a stranger's name is left as it is."""
    return IN_FULL.get(spell_phrogs(text), text)


NO_SIGNAL = "NO_SP"
NO_SIGNAL_COLUMN = "OTHER"
EXCESS = 1e-3  # seen: a few units of the fourth decimal above 1


def spell_signalp6(text: str) -> str:
    """Return the short name of a class."""
    short = text.partition("(")[0].strip()
    return NO_SIGNAL_COLUMN if short == NO_SIGNAL else short


VPF_UNKNOWN = "unknown"


def spell_vpf(text: str) -> str:
    """Return a category as VPF-PLM has it, to which unknown function is unknown."""
    return spell_phrogs(VPF_UNKNOWN if text.strip().casefold() == UNKNOWN else text)


CREDENCE_FORMAT = "credence"  # credence's own tables; any with a column `id` may be of this format
WIDE_FORMAT = Format(
    name="wide",
    summary="any table with a column per class; columns and scale are named by you",
    columns=Columns(id="id", ignored=("",)),
    scale=None,
    configurable=True,  # pandas' index is nameless
)

FORMATS: tuple[Format, ...] = (
    replace(
        PHANNS_FORMAT,
        name="phanns-labelled",
        label_of_id=partial(NUMBER_AT_END.sub, ""),
        summary="PhANNs CSV whose row names carry the true class: baseplate_1, shaft_3, other_12",
    ),
    PHANNS_FORMAT,
    Format(
        name="phanns3",
        summary="PhANNs3 CSV: header, a column per class, prediction, confidence",
        columns=Columns(id="header", predicted_class="prediction", ignored=("confidence",)),
        spell=spell_phanns,
    ),
    Format(
        name="phanns3-labelled",
        summary="PhANNs3 CSV with truth: true_class, a column per class, prediction; ids row_1, …",
        columns=Columns(true_class="true_class", predicted_class="prediction"),
        spell=spell_phanns,
    ),
    Format(
        name="deeplocpro",
        summary="DeepLocPro CSV: unnamed index, ACC, Localization, six classes",
        columns=Columns(id="ACC", predicted_class="Localization", ignored=("",)),
    ),
    Format(
        name="signalp6",
        summary="SignalP 6 prediction_results.txt: # ID, Prediction, a column per class, CS "
        "Position",
        columns=Columns(id="# ID", predicted_class="Prediction", ignored=("CS Position",)),
        delimiter="\t",
        spell=spell_signalp6,
        slack=EXCESS,
        header_start="# ID",
        quoted=False,
    ),
    Format(
        name="deepvp",
        summary="DeePVP CSV: Header, ten columns <class>_score, Possible_class",
        columns=Columns(id="Header", predicted_class="Possible_class", class_suffix="_score"),
        spell=spell_deepvp,
    ),
    Format(
        name="phold",
        summary="phold per-CDS TSV: cds_id and ten columns <category>_bitscore_proportion",
        columns=Columns(
            id="cds_id",
            predicted_class="function_with_highest_bitscore_proportion",
            class_suffix="_bitscore_proportion",
        ),
        delimiter="\t",
        spell=spell_phrogs,
        class_name=category,
        blanks=frozenset({""}),
        zero_row_class=UNKNOWN,
    ),
    Format(
        name="phavip",
        summary="PhaVIP CSV: accession, pred, score (the best class only)",
        columns=Columns(id="accession", predicted_class="pred", score="score"),
        vector=False,
        sum_to_scale=False,
    ),
    Format(
        name="phynteny",
        summary="Phynteny TSV: ID, phynteny_category, phynteny_score (the best class only)",
        columns=Columns(id="ID", predicted_class="phynteny_category", score="phynteny_score"),
        delimiter="\t",
        scale=float(N_NETWORKS),
        vector=False,
        sum_to_scale=False,
        spell=spell_phrogs,
        blanks=frozenset({"", "NA"}),
        quoted=False,
    ),
    Format(
        name="vpf-plm",
        summary="VPF-PLM's <name>_functional_probabilities.csv: no first name, ten PHROGs "
        "categories",
        columns=Columns(id=""),
        spell=spell_vpf,
        id_start=">",
        known_classes=(*CATEGORIES[:-1], VPF_UNKNOWN),
    ),
    Format(
        name="empathi",
        summary="Empathi's predictions_<name>.csv: the 18 classes that every protein has a score "
        "for",
        columns=Columns(id="", classes=BROAD),
        sum_to_scale=False,
    ),
    Format(
        name="deepfri",
        summary="DeepFRI's <name>_predictions.csv: Protein, GO_term/EC_number, Score; labels: "
        "several",
        columns=Columns(id="Protein", predicted_class="GO_term/EC_number", score="Score"),
        vector=False,
        sum_to_scale=False,
    ),
    Format(
        name="deepgoplus",
        summary="DeepGOPlus' TSV without a header: id, GO:0003674|0.98, …; labels: several",
        columns=Columns(id="id", predicted_class="term", score="score"),
        delimiter="\t",
        vector=False,
        sum_to_scale=False,
        blanks=frozenset({""}),
        names=("id", "term", "score"),
        cells=first_call(deepgoplus_calls),
        calls=deepgoplus_calls,
        verdict_like="GO:",
    ),
    Format(
        name="eggnog",
        summary="eggNOG-mapper's .emapper.annotations: GO terms and bit scores, the greatest of "
        "which you state as scale; labels: several",
        columns=Columns(id="query", predicted_class="term", score="score"),
        delimiter="\t",
        scale=None,
        vector=False,
        sum_to_scale=False,
        quoted=False,
        blanks=frozenset({""}),
        names=("query", "term", "score"),
        cells=first_call(eggnog_calls),
        calls=eggnog_calls,
        verdict_like="GO:",
    ),
    Format(
        name="genomad",
        summary="geNomad's <name>_aggregated_classification.tsv: seq_name, three <class>_score",
        columns=Columns(id="seq_name", class_suffix="_score"),
        delimiter="\t",
        known_classes=("chromosome", "plasmid", "virus"),
    ),
    CLEAN,
    replace(
        CLEAN,
        name="clean-gmm",
        is_distance=False,
        summary="the same with CLEAN's own confidence after the EC number, not a distance",
    ),
    Format(
        name="networks-npz",
        summary="npz: an array (proteins, networks, classes) or a matrix per network, id, "
        "class_names "
        "(, true_class)",
        columns=Columns(
            id="id", true_class="true_class", network="network", optional=frozenset({"true_class"})
        ),
        scale=None,
        arrays=True,
    ),
    Format(
        name=CREDENCE_FORMAT,
        summary="credence's own table: id, true_class, a column per class (, network), TSV or "
        "Parquet",
        columns=Columns(
            id="id",
            true_class="true_class",
            predicted_class="predicted_class",
            score="score",
            network="network",
            optional=frozenset({"true_class", "predicted_class", "score", "network"}),
        ),
        delimiter="\t",
        scale=None,
    ),
    WIDE_FORMAT,
    Format(
        name="top-score",
        summary="any table with the best class and its score; columns and scale are named by you",
        columns=Columns(id="id", predicted_class="predicted_class", score="score", ignored=("",)),
        scale=None,
        vector=False,
        sum_to_scale=False,
        configurable=True,
    ),
    Format(
        name="long",
        summary="any table with a row per protein and class (id, term, score); "
        "what is absent is 0",
        columns=Columns(id="id", term="term", score="score", ignored=("",)),
        scale=None,
        configurable=True,
        is_long=True,
    ),
)

FORMAT_OF: dict[str, Format] = {entry.name: entry for entry in FORMATS}

# Stands for every label of a query set that no calibration protein was called or is.
ANY_OTHER_LABEL = "(any other label)"


def as_calls(format_: Format) -> Format:
    """Return the format of the same tables where a protein has several labels.

    A row for each protein and class is a call, and so is each cell of a row with all classes.
    """
    columns = format_.columns
    if format_.is_long:
        columns = replace(columns, predicted_class=columns.term, term=None)
        return replace(format_, columns=columns, is_long=False, vector=False, is_calls=True)
    return replace(format_, is_calls=True, sum_to_scale=False)


def unknown_format(name: str, where: str) -> Problem:
    """Return the problem of a format that does not exist, with the nearest one."""
    return Problem(where=where, what=f"{name!r} is no format.", remedy=instead_of(name))


def instead_of(name: str) -> str:
    """Return the nearest format, or how counts are used, of which no table of proteins is made."""
    if name == "counts":
        return (
            "Counts name no proteins, so they make no run; fit them: credence fit TABLE "
            "--format counts --out calibration.json. Then: credence annotate."
        )
    return nearest(name, list(FORMAT_OF))


STATE_SCALE = (
    "State what a row sums to: scale: 1 in the configuration, scale=1 in Python, "
    "--spec '{\"scale\": 1}' elsewhere."
)
POOLINGS = ("sum", "log_sum")
MOST_SCALE = 1e12  # no tool's rows sum to more; the schema of the configuration has it too


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """How to read one score table."""

    format: str  # A name of `FORMATS`
    scale: float | None = None  # What a row sums to; None: the format's own
    # Classes demanded, in the order to use; None: as the header says.
    class_names: tuple[str, ...] | None = None
    # Generic formats: role → name of its column; `classes` → a list of names.
    columns: Mapping[str, Any] = field(default_factory=dict)
    # Further spelling of a class → its name.
    synonyms: Mapping[str, str] = field(default_factory=dict)
    sum_to_scale: bool | None = None  # Whether rows sum to the scale; None: the format's own
    # Of an ensemble's networks: `sum` of their softmaxes, or `log_sum`, the softmax of their
    # summed logs (Salamon et al. 2023, A.3).
    pooling: str = "sum"
    # Column that names the genome, contig or sample of each protein; any format may have one.
    genome: str | None = None
    logits: bool = False  # Whether the scores of a row are logits, of which the softmax is read
    # Where proteins have several labels: what says which of them count, and how they hang
    # together, by the settings of the section `tree`. None: one label a protein.
    several: Mapping[str, Any] | None = None

    @property
    def floor(self) -> float | None:
        """The least score of a call; None where any counts."""
        return None if self.several is None else self.several.get("floor")


def format_of(spec: TableSpec, where: str) -> Format:
    """Return the format that a specification names, with the columns that the user names."""
    problems = ProblemList(where)
    if spec.format not in FORMAT_OF:
        problems.problems.append(unknown_format(spec.format, where))
    if spec.scale is not None and not 0 < spec.scale <= MOST_SCALE:
        kind = "positive number" if not spec.scale > 0 else "scale of scores, but too large"
        problems.add(f"the scale {spec.scale} is no {kind}.", STATE_SCALE)
    if spec.pooling not in POOLINGS:
        problems.add(f"{spec.pooling!r} is no pooling.", nearest(spec.pooling, POOLINGS))
    names = spec.class_names
    if names is not None and len(set(map(str.strip, names))) < max(2, len(names)):
        problems.add("the classes stated are fewer than two or repeat.", "Name each class once.")
    if spec.class_names is not None:
        for text, name in spec.synonyms.items():
            if name not in spec.class_names:
                defect = f"the synonym {text!r} stands for {name!r}, which is no class."
                problems.add(defect, nearest(name, spec.class_names))
    problems.raise_any()
    format_ = FORMAT_OF[spec.format]
    return replace(format_, columns=_columns(spec, format_, where))


def _columns(spec: TableSpec, format_: Format, where: str) -> Columns:
    problems = ProblemList(where)
    if spec.columns and not format_.configurable:
        defect = f"the format {format_.name!r} knows its columns; none can be named."
        remedy = "Leave `columns` out, or use the format 'wide', 'top-score' or 'long'."
        problems.add(defect, remedy)
    stated: dict[str, Any] = {}
    for role, name in spec.columns.items():
        if role not in COLUMN_ROLES:
            problems.add(f"{role!r} is no role of a column.", nearest(role, COLUMN_ROLES))
        elif role == "classes" and not isinstance(name, str):
            stated[role] = tuple(str(entry) for entry in name)
        elif not isinstance(name, str) or role == "classes":
            kind = "a list of names" if role == "classes" else "the name of a column"
            problems.add(f"`columns: {role}` is {name!r}.", f"Give {kind}.")
        else:
            stated[role] = name
    problems.raise_any()
    # What has the classes of another table may be without its labels.
    needed = stated.keys() - ({"true_class"} if spec.class_names is not None else set())
    return replace(
        format_.columns,
        genome=spec.genome,
        **stated,
        optional=(format_.columns.optional | stated.keys()) - needed,
    )
