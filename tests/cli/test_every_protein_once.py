"""Every command that writes one row a protein writes each input id exactly once."""

from __future__ import annotations

import shlex
from collections import Counter
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from credence.app import COMMANDS, run_command_line
from credence.simulate.law import WorldSettings
from credence.tables import samples as samples_module
from credence.tables import writing
from small_worlds import write_world

SMALL = WorldSettings(
    n_calibration=120, n_query=41, n_training=20, n_trove=9, n_defects=2, n_training_relatives=3
)
FIT, AGAIN = "--method histogram --resamples 0", "--method histogram --resamples 20"
CALIBRATION = "demo/calibration.csv --format phanns-labelled"
# Names that a table has to quote, or that a spreadsheet takes for a formula or a number.
HARD_IDS = ("=1+2", "O'Neil", 'say "a"', "tail, long", "007", "NA", "nan", "é–ß", "#1", "a b")
CATEGORIES = ("tail", "lysis", "connector")

# Command → what is called, in this order, and what holds the rows of which proteins.
CALLS: dict[str, list[tuple[str, dict[str, str]]]] = {
    "check": [
        (f"{CALIBRATION} --labelled --samples samples.parquet", {"samples.parquet": "set"}),
        ("hard.csv --format wide --spec SPEC --samples hard.tsv", {"hard.tsv": "hard"}),
        ("hard.csv --format wide --spec SPEC --out hard.json", {}),
        ("demo/my_phages.csv --format phanns --out check.json", {}),
        (
            "demo/calibration_networks.npz --format networks-npz --samples networks.parquet",
            {"networks.parquet": "each network"},
        ),
    ],
    "cluster": [
        (
            "demo/proteins.fasta --training demo/training.fasta --engine exact --out clusters.tsv",
            {"clusters.tsv": "set, training"},
        ),
    ],
    "split": [
        (
            f"{CALIBRATION} --clusters clusters.tsv --training demo/training.fasta --groups 4"
            " --out groups.tsv",
            {"groups.tsv": "set, training"},
        ),
    ],
    "fit": [
        (f"{CALIBRATION} --groups groups.tsv {FIT} --out k.json", {}),
        (f"hard.csv --format wide --spec SPEC {FIT} --out h.json", {}),
        (f"best.tsv --format phynteny --labels labels.tsv {FIT} --out b.json", {}),
        (f"best.tsv --format phynteny --labels labels.tsv {AGAIN} --out b3.json", {}),
        (f"{CALIBRATION} --groups groups.tsv {AGAIN} --out k3.json", {}),
    ],
    "annotate": [
        ("demo/my_phages.csv --format phanns --calibration k.json --out u.tsv"
         " --also u.parquet",
         {"u.tsv": "use", "u.parquet": "use"}),
        ("half_1.csv half_2.csv --format phanns --calibration k.json --out halves.tsv",
         {"halves.tsv": "use"}),
        ("hard.csv --format wide --spec SPEC --calibration h.json --out h.tsv.gz",
         {"h.tsv.gz": "hard"}),
        ("best.tsv --format phynteny --calibration b.json --out b.tsv", {"b.tsv": "best"}),
    ],
    "attach": [
        ("demo/trove_htj.csv --name htj --fasta demo/trove_htj.fasta"
         " --samples demo/calibration.csv --samples-format phanns-labelled --groups groups.tsv"
         " --proteins demo/proteins.fasta --training demo/training.fasta --engine exact --out htj",
         {"htj/attach.tsv": "trove", "htj/samples.parquet": "set, added",
          "htj/groups.tsv": "set, training, added"}),
    ],
    "release": [
        ("htj --number 1 --samples htj/samples.parquet --groups htj/groups.tsv"
         " --calibration k.json --attached htj/attach.json --publish public"
         " --out htj/release.json",
         {"public/groups.tsv": "set, training, added", "public/attach.tsv": "trove"}),
    ],
    "compare": [
        ("b.json b3.json --table best.tsv --format phynteny --out moved.tsv",
         {"moved.tsv": "best"}),
        ("k.json k3.json --table demo/my_phages.csv --format phanns --out u_moved.parquet",
         {"u_moved.parquet": "use"}),
    ],
}  # fmt: skip

# What the others write instead.
OTHERS = {
    "nothing of single proteins": {"run", "demo", "init", "trove", "show", "check-page"},
    "rows of classes, methods or metrics": {
        *("shift", "evaluate", "figures", "report", "thresholds")
    },
    "what was learnt": {"fit", "events", "novelty"},
    "scores, checked where they are written": {"combine"},
    "the genome of the user": {"gff"},
    "its own proteins": {"simulate"},
    "a line a sample, or a genome": {"watch", "genomes"},
    "some proteins, chosen": {"list", "plan", "labels"},
}


def test_a_new_command_says_whether_it_writes_a_row_a_protein() -> None:
    others = set().union(*OTHERS.values())
    assert (set(CALLS) | others) == set(COMMANDS)


def ids_of(path: Path) -> list[str]:
    """Return the ids of a table, as they stand in it."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)["id"].tolist()
    table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False, na_filter=False)
    return table["id"].tolist()


def write_inputs(folder: Path) -> None:
    """Write the world, a query set as two tables, ids that are hard to write, a tool's blanks."""
    write_world(folder, SMALL)
    header, *rows = (folder / "demo" / "my_phages.csv").read_text().splitlines()
    for name, part in (("half_1.csv", rows[:20]), ("half_2.csv", rows[20:])):
        (folder / name).write_text("\n".join([header, *part]) + "\n")
    hard = pd.DataFrame({"protein": [*HARD_IDS, *(f"p{row}" for row in range(20))]})
    hard["class"] = ["yes" if row % 3 else "no" for row in range(len(hard))]
    hard["yes"] = [(row * 7) % 10 / 10 for row in range(len(hard))]
    hard["no"] = (1.0 - hard["yes"]).round(1)
    hard.to_csv(folder / "hard.csv", index=False)
    lines, labels = ["ID\tphynteny_category\tphynteny_score"], ["id\ttrue_class"]
    for row in range(40):
        category = CATEGORIES[row % 3]
        lines.append(f"b{row}\t" + ("\t" if row % 4 == 0 else f"{category}\t{row % 7 + 3}.0"))
        labels.append(f"b{row}\t{category if row % 5 else CATEGORIES[(row + 1) % 3]}")
    (folder / "best.tsv").write_text("\n".join(lines) + "\n")
    (folder / "labels.tsv").write_text("\n".join(labels) + "\n")


def expected(folder: Path) -> dict[str, list[str]]:
    """Return the ids that were given, by what rows are of."""

    def first_cells(name: str) -> list[str]:
        return [line.split(",")[0] for line in (folder / name).read_text().splitlines()[1:]]

    def headers(name: str) -> list[str]:
        lines = (folder / name).read_text().splitlines()
        return [line[1:].split()[0] for line in lines if line.startswith(">")]

    groups = pd.read_csv(folder / "groups.tsv", sep="\t", dtype=str)
    outcomes = pd.read_csv(folder / "htj" / "attach.tsv", sep="\t", dtype=str)
    found = {
        "set": first_cells("demo/calibration.csv"),
        "training": headers("demo/training.fasta"),
        "use": first_cells("demo/my_phages.csv"),
        "trove": first_cells("demo/trove_htj.csv"),
        "hard": pd.read_csv(folder / "hard.csv", na_filter=False, dtype=str)["protein"].tolist(),
        "best": [f"b{row}" for row in range(40)],
        "calibrating": groups.loc[groups["role"] == "calibration", "id"].tolist(),
        "added": outcomes.loc[outcomes["outcome"] == "added", "id"].tolist(),
    }
    found["each network"] = found["set"] * 10
    return found


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which every call was made, in pieces of a few rows."""
    folder = tmp_path_factory.mktemp("once")
    spec = '{"columns": {"id": "protein", "true_class": "class"}, "scale": 1.0}'
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        in_pieces = partial(samples_module.stream_samples, chunk_rows=7)
        patch.setattr(samples_module, "stream_samples", in_pieces)
        patch.setattr(writing, "GROUP_ROWS", 5)
        write_inputs(folder)
        for command, calls in CALLS.items():
            for text, _ in calls:
                words = [spec if word == "SPEC" else word for word in shlex.split(text)]
                assert run_command_line([command, *words]) == 0, (command, text)
    return folder


WRITTEN = {path: of for calls in CALLS.values() for _, own in calls for path, of in own.items()}


@pytest.mark.parametrize("path", WRITTEN)
def test_every_id_is_written_exactly_once(done: Path, path: str) -> None:
    known = expected(done)
    wanted = [name for part in WRITTEN[path].split(", ") for name in known[part]]
    assert len(wanted) > 5
    written = [name.removeprefix("training:") for name in ids_of(done / path)]
    assert Counter(written) == Counter(wanted)
