"""One number, one decision: are counts, lists and confidences the same wherever they stand?

Of each query set of a finished run: the accepted predictions on the first screen, the lines of the
list and the rows with `accept` are one number at every error rate, and the list of the command is
the run's byte for byte. The shortest way, `fit`, `annotate` and `list` by themselves, gives the
confidences, decisions and list of the run:

    PYTHONPATH=. python verification/one_number.py --run . --name demo

In the real table (../shared/data), halves of which calibrate by the shortest way; of the others a
sample is drawn with 80, 90 and 98 % background. Counts are compared as above, and lists at 5 and
10 % with the truth. A draw is written when it is done, and the same command goes on from there:

    PYTHONPATH=. python verification/one_number.py --draws 10 --rows draws.tsv

Ends with 1 where a number differs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from benchmarks.data import real_table

from credence.app import run_command_line
from credence.app.configuration import load
from credence.lists.decision import background_of
from credence.predictions import Labelled

SEED = 20261128
N_KNOWN, N_QUERY = 3_000, 3_000  # rows of the real table
BACKGROUND_SHARES = (0.8, 0.9, 0.98)
ERRORS = (0.05, 0.1)
LARGE_CLASS = 20  # listed predictions: of smaller ones the share wrong is chance
MOST_TIMES = 1.1  # as wrong as asked, on average over the draws
LAST_DIGIT = 1e-6  # of tables in six decimals
NUMBERS = ("confidence", "lower", "upper", "uncorrected_confidence", "q_value")


@dataclass(kw_only=True)
class Compared:
    """What was compared so far."""

    n: int = 0
    differing: list[str] = field(default_factory=list)

    def state(self, where: str, *values: object) -> None:
        """Print values that have to be the same, and count them."""
        self.n += 1
        is_same = all(value == values[0] for value in values)
        print(f"{where}: {' = '.join(map(str, values)) if is_same else values}", flush=True)
        if not is_same:
            self.differing.append(where)


def command(*words: object) -> None:
    """Run a command of the package; end where it fails."""
    asked, printed = list(map(str, words)), io.StringIO()
    with contextlib.redirect_stderr(printed):
        code = run_command_line(asked)
    if code:
        print(printed.getvalue(), file=sys.stderr)
        raise SystemExit(f"credence {' '.join(asked)} ended with {code}.")


def read(path: Path) -> pd.DataFrame:
    """Return a table that the package wrote."""
    return pd.read_csv(path, sep="\t", comment="#", dtype={"predicted_class": str})


def accepted_on_screen(report: Path, n_sets: int) -> int | None:
    """Return the accepted predictions on the first screen; None where several sets share it."""
    if n_sets != 1:
        return None
    sections = json.loads(report.read_text("utf-8"))["sections"]
    (screen,) = next(part["blocks"] for part in sections if part["name"] == "first")
    stated = {answer["text"]: answer["number"] for answer in screen["answers"]}
    number = next(number for text, number in stated.items() if text.startswith("accepted at"))
    return int(number.replace(",", ""))


def compare_run(home: Path, name: str, compared: Compared) -> None:
    """Compare a finished run's numbers with one another and with those of the shortest way."""
    configuration = load(home / "config.yaml")
    reports, results = home / "reports" / name, home / "results" / name
    release = sorted((results / "releases").iterdir())[-1]
    calibration = json.loads((reports / "calibration.json").read_text("utf-8"))
    for query_set in configuration.queries:
        folder = reports / query_set.name
        table = read(folder / "confidences.tsv")
        is_accepted = table["decision"] == "accept"
        screen = accepted_on_screen(reports / "report.json", len(configuration.queries))
        first, *_ = configuration.settings.lists.error
        for error in configuration.settings.lists.error:
            listed = read(folder / f"list_{error:g}.tsv")
            is_call = ~table["predicted_class"].isin(background_names(table))
            numbers = [len(listed), int((is_call & (table["q_value"] <= error)).sum())]
            if error == first:
                numbers += [int(is_accepted.sum()), *([] if screen is None else [screen])]
            compared.state(f"{query_set.name}, accepted at {error:g}", *numbers)
        with tempfile.TemporaryDirectory() as made:
            shortest = Path(made)
            compared_alone(
                compared,
                query_set.name,
                shortest,
                fit=[
                    release / "samples.parquet", "--format", "credence", "--groups",
                    release / "groups.tsv", "--method", calibration["method"],
                    "--resamples", calibration["settings"]["options"]["n_draws"],
                ],
                annotate=[
                    *(home / table for table in query_set.scores),
                    "--spec", json.dumps(query_set.spec), "--spreadsheet-safe", "--six-decimals",
                    *novelty_of(home, reports, query_set.proteins),
                ],
                of_run=folder,
                error=first,
            )  # fmt: skip


def novelty_of(home: Path, reports: Path, proteins: str | None) -> Sequence[object]:
    """Return the options by which proteins far from all known ones are noted as in the run."""
    known = reports / "novelty.json"
    if proteins is None or not known.exists():
        return ()
    return "--novelty", known, "--proteins", home / proteins


def background_names(table: pd.DataFrame) -> list[str]:
    """Return the background classes among those predicted, by their usual names."""
    names = sorted(set(table["predicted_class"]))
    return list(np.array(names, dtype=object)[background_of(names, None)])


def compared_alone(
    compared: Compared,
    name: str,
    folder: Path,
    *,
    fit: Sequence[object],
    annotate: Sequence[object],
    of_run: Path,
    error: float,
) -> None:
    """Compare the table and the list of a run with those of `fit`, `annotate` and `list` alone."""
    calibration, table = folder / "calibration.json", folder / "confidences.tsv"
    command("fit", *fit, "--out", calibration)
    command("annotate", *annotate, "--calibration", calibration, "--out", table)
    command(
        "list", table, "--calibration", calibration, "--error", error, "--spreadsheet-safe",
        "--out", folder / "list.tsv",
    )  # fmt: skip
    alone, there = read(table).set_index("id"), read(of_run / "confidences.tsv").set_index("id")
    compared.state(f"{name}, rows of the shortest way and of the run", len(alone), len(there))
    for column in NUMBERS:
        off = (alone[column] - there[column].reindex(alone.index)).abs()
        is_known = alone[column].notna() == there[column].reindex(alone.index).notna()
        n_off = int((off > LAST_DIGIT).sum() + (~is_known).sum())
        compared.state(f"{name}, rows whose {column} is another by the shortest way", n_off, 0)
    n_off = int((alone["decision"] != there["decision"].reindex(alone.index)).sum())
    compared.state(f"{name}, rows whose decision is another by the shortest way", n_off, 0)
    listed = read(folder / "list.tsv"), read(of_run / f"list_{error:g}.tsv")
    compared.state(
        f"{name}, ids on the list",
        *(tuple(part["id"]) == tuple(listed[0]["id"]) for part in listed),
        True,
    )


def write_rows(labelled: Labelled, path: Path, *, is_known: bool) -> None:
    """Write rows of a table as a lab has them."""
    predictions = labelled.predictions
    table = pd.DataFrame(predictions.scores, columns=list(predictions.class_names))
    table.insert(0, "id", predictions.ids)
    if is_known:
        names = np.array(predictions.class_names, dtype=object)
        table.insert(1, "true_class", names[labelled.true_class])
    table.to_csv(path, index=False)


def draw_rows(labelled: Labelled, number: int) -> Iterator[dict[str, object]]:
    """Yield what the lists of a half of the real table are worth, made by the other half."""
    rng = np.random.default_rng([SEED, number])
    known, others = np.array_split(rng.permutation(labelled.n_samples), 2)
    names = labelled.predictions.class_names
    is_background = background_of(names, None)[labelled.true_class]
    parts = others[is_background[others]], others[~is_background[others]]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        spec = ["--format", "wide", "--spec", json.dumps({"scale": 10, "columns": {"id": "id"}})]
        write_rows(labelled.take(known[:N_KNOWN]), folder / "known.csv", is_known=True)
        with_class = json.dumps({"scale": 10, "columns": {"id": "id", "true_class": "true_class"}})
        command("fit", folder / "known.csv", "--format", "wide", "--spec", with_class,
                "--resamples", 50, "--out", folder / "c.json")  # fmt: skip
        for share in BACKGROUND_SHARES:
            n_background = round(share * N_QUERY)
            sizes = n_background, N_QUERY - n_background
            rows = np.concatenate(
                [rng.choice(part, size, False) for part, size in zip(parts, sizes, strict=True)]
            )
            query = labelled.take(rows)
            write_rows(query, folder / "query.csv", is_known=False)
            command("annotate", folder / "query.csv", *spec, "--calibration", folder / "c.json",
                    "--lists", folder / "lists", "--out", folder / "conf.tsv")  # fmt: skip
            table = read(folder / "conf.tsv")
            right = pd.Series(query.is_correct, index=query.predictions.ids)
            for error in ERRORS:
                listed = read(folder / "lists" / f"list_{error:g}.tsv")
                command("list", folder / "conf.tsv", "--calibration", folder / "c.json",
                        "--error", error, "--out", folder / "l.tsv")  # fmt: skip
                certain = folder / "certain.tsv"
                command("list", folder / "conf.tsv", "--calibration", folder / "c.json",
                        "--error", error, "--certain", "--out", certain)  # fmt: skip
                is_right, sure = right[listed["id"]].to_numpy(), right[read(certain)["id"]]
                by_class = listed.assign(wrong=~is_right).groupby("predicted_class")["wrong"]
                large = by_class.mean()[by_class.size() > LARGE_CLASS]
                is_call = ~table["predicted_class"].isin(background_names(table))
                counts = {len(listed), len(read(folder / "l.tsv"))}
                counts.add(int((is_call & (table["q_value"] <= error)).sum()))
                if error == ERRORS[0]:
                    counts.add(int((table["decision"] == "accept").sum()))
                yield {
                    "draw": number, "background": share, "asked": error, "listed": len(listed),
                    "wrong": int((~is_right).sum()), "one count": len(counts) == 1,
                    "classes above twice": int((large > 2.0 * error).sum()),
                    "certain listed": len(sure), "certain wrong": int((~sure).sum()),
                }  # fmt: skip


def judged_draws(n_draws: int, path: Path, compared: Compared) -> None:
    """Print how wrong lists are over draws; those that are in the file already are taken."""
    labelled = real_table()
    if labelled is None:
        print("The real table is absent: nothing is drawn.")
        return
    rows = pd.read_csv(path, sep="\t") if path.exists() else pd.DataFrame({"draw": []})
    for number in range(n_draws):
        if number not in set(rows["draw"]):
            rows = pd.concat([rows, pd.DataFrame(draw_rows(labelled, number))], ignore_index=True)
            rows.to_csv(path, sep="\t", index=False)
            print(f"draw {number} done", flush=True)
    rows = rows[rows["draw"] < n_draws]
    compared.state(
        "draws in which all counts are one number", int(rows["one count"].sum()), len(rows)
    )
    print(pd.DataFrame(summary(rows)).to_string(index=False))


def summary(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield how wrong the lists of all draws are, by background and error asked for."""
    for (share, error), part in rows.groupby(["background", "asked"]):
        made = part[part["listed"] > 0]
        wrong = float((made["wrong"] / made["listed"]).mean()) if len(made) else 0.0
        is_held = part["certain wrong"] <= error * part["certain listed"]
        yield {
            "background": share,
            "asked": error,
            "draws with a list": f"{len(made)} of {len(part)}",
            "calls listed, median": part["listed"].median(),
            "wrong, mean": round(wrong, 4),
            "wrong of all": round(made["wrong"].sum() / max(made["listed"].sum(), 1), 4),
            "at most 1.1 times": wrong <= MOST_TIMES * error,
            "draws with a class above twice": int((part["classes above twice"] > 0).sum()),
            "--certain held": int(is_held.sum()),
            "--certain listed, median": part["certain listed"].median(),
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, help="folder in which credence run was started")
    parser.add_argument("--name", default="demo", help="of the run")
    parser.add_argument("--draws", type=int, default=0, help="halves of the real table")
    parser.add_argument("--rows", type=Path, default=Path("draws.tsv"), help="goes on from there")
    given = parser.parse_args()
    compared = Compared()
    if given.run is not None:
        compare_run(given.run, given.name, compared)
    if given.draws:
        judged_draws(given.draws, given.rows, compared)
    print(f"{compared.n} numbers, {len(compared.differing)} differ", *compared.differing, sep="\n")
    return int(bool(compared.differing))


if __name__ == "__main__":
    sys.exit(main())
