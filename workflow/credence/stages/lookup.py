"""The stage `export-lookup`: confidences by class and score, to be joined in a database."""

import json
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np

from credence import __version__
from credence.predictions import Predictions
from credence.problems import refuse
from credence.progress import echo
from credence.stages.reading import require_other
from credence.tables.contract import confidence_columns
from credence.tables.digests import sha256_of
from credence.tables.stage_files import CalibrationFile, confidence_of, read_calibration
from credence.tables.writing import TableWriter, write_text

MOST_ROWS = 10_000_000
OFF = 1e-9  # relative: by how much binary numbers miss a whole number of steps
GIVEN = ("confidence", "lower", "upper", "use", "note")  # what a statement adds to a table


def export_lookup(calibration: str, step: float, out: str) -> None:
    """Write the confidence of each class at each step of the score, and what joins them."""
    sql = str(Path(out).with_suffix(".sql"))
    require_other((out, sql), [calibration])
    if Path(out).suffix != ".parquet":
        raise refuse(out, "a lookup is a Parquet table.", "Let its name end in .parquet.")
    file = read_calibration(Path(calibration))
    if file.needs.is_vector:
        what = f"{file.method_spec!r} sees more than the best score: the {file.needs.value}."
        remedy = (
            "Fit a method that sees the best score alone (credence methods says which do), or "
            "annotate the tables: credence annotate FOLDER --out FOLDER."
        )
        raise refuse(calibration, what, remedy)
    n_steps = round(file.scale / step)
    if abs(n_steps * step - file.scale) > OFF * file.scale:
        what = f"the scale of scores, {file.scale:g}, is not a whole number of steps of {step:g}."
        decimals = max(0, round(math.log10(file.scale / step)))
        raise refuse("--step", what, f"Give {file.scale / 10**decimals:g}, say.")
    n_rows = (n_steps + 1) * len(file.class_names)
    if n_rows > MOST_ROWS:
        what = f"this makes {n_rows:,} rows, and {MOST_ROWS:,} are the most."
        raise refuse("--step", what, "Give a larger one.")
    steps = np.arange(n_steps + 1)
    # As texts say them, so that 7.13 is the number that is read from a table.
    scores = np.array(
        [float(Decimal(number) * Decimal(repr(step))) for number in range(n_steps + 1)]
    )
    none = np.empty(0)
    blank = Predictions(
        none.astype(object), file.class_names, file.scale, file.resolution, none.astype(np.int64)
    )
    names = ("predicted_class", "step", "score", *GIVEN, "support", "method")
    made_with = {"version of credence": __version__, "step": step, "scale": file.scale}
    made_with |= {"calibration": sha256_of(Path(calibration)), "method": file.method_spec}
    most, at = 0.0, ""
    with TableWriter(
        Path(out), names, metadata={"credence lookup": json.dumps(made_with)}
    ) as writer:
        for class_ in range(len(file.class_names)):
            predictions = blank.at_scores(class_, scores)
            confidence = confidence_of(file, predictions, calibration)
            columns = confidence_columns(predictions, confidence, file.method_spec)
            writer.write({name: (columns | {"step": steps})[name] for name in names})
            change = np.nan_to_num(np.abs(np.diff(confidence.value)))
            if change.max() > most:
                most, place = float(change.max()), int(change.argmax())
                at = f" ({file.class_names[class_]}, from {scores[place]:g} on)"
    write_text(Path(sql), statements(file, step, out, f"{most:.4f}{at}"))
    echo(
        f"Wrote {out}: {n_rows:,} rows, of {len(file.class_names)} classes in steps of {step:g}; "
        f"and {sql}, which joins it. From one step to the next a confidence changes by at most "
        f"{most:.4f}{at}."
    )


def statements(file: CalibrationFile, step: float, out: str, most: str) -> str:
    """Return the statements that join a lookup in DuckDB and in Spark."""
    lines = [
        f"-- Confidences of {json.dumps(file.method_spec)} by predicted class and score.",
        f"-- A score that is a whole number of steps of {step:g} gets exactly what credence",
        "-- annotate gives; any other gets confidence and interval of the nearest step.",
        f"-- From one step to the next, a confidence changes by at most {most}.",
        "-- Not here: q-values, and notes on ids, ties, families and on the whole table.",
    ]
    for dialect, table, name_of, text_of in (
        ("DuckDB", "read_parquet('{}')", _quoted('"'), lambda text: text.replace("'", "''")),
        ("Spark SQL", "parquet.`{}`", _quoted("`"), _escaped),
    ):
        scores = [name_of(name) for name in file.class_names]
        cases = [
            f"WHEN {score} = best_score THEN '{text_of(name)}'"
            for score, name in zip(scores, file.class_names, strict=True)
        ]
        source = table.format("shards/*.parquet" if dialect == "DuckDB" else "shards")
        lookup = table.format(text_of(out) if dialect == "DuckDB" else out.replace("`", "``"))
        given = ", ".join(f"l.{name}" for name in GIVEN)
        join = f"LEFT JOIN {lookup} AS l ON l.predicted_class = t.{{}}\n  AND l.step = "
        join += f"CAST(round(t.{{}} / CAST({step!r} AS DOUBLE)) AS BIGINT);"
        lines += [
            f"\n-- {dialect}, of a table with the columns predicted_class and score:",
            f"SELECT t.*, {given}\nFROM {source} AS t",
            join.format("predicted_class", "score"),
            f"\n-- {dialect}, of a table with a column for each class (of equals, the first):",
            f"WITH best AS (SELECT *, greatest({', '.join(scores)}) AS best_score FROM {source}),",
            f"t AS (SELECT *, CASE {' '.join(cases)} END AS best_class FROM best)",
            f"SELECT t.*, {given}\nFROM t",
            join.format("best_class", "best_score"),
        ]
    return "\n".join(lines) + "\n"


def _quoted(sign: str) -> Callable[[str], str]:
    return lambda name: sign + name.replace(sign, sign * 2) + sign


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
