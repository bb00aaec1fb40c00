"""Run notebooks and keep what their cells print and draw, without Jupyter.

    python examples/notebooks/run.py examples/notebooks/*.ipynb

Cells see each other's names, as in Jupyter. A cell's output is what it prints, its last
expression, and the figures that it leaves open. Each notebook starts in an empty folder. The same
code gives the same bytes.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

DOTS_PER_INCH = 80  # small pictures: they are kept with the notebook


def output_of(source: str, names: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the text and the pictures, PNG in base64, that a cell gives."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
            if value is not None and not isinstance(value, plt.Axes):
                print(value)
    pictures = []
    for number in plt.get_fignums():
        drawn = io.BytesIO()
        plt.figure(number).savefig(
            drawn, format="png", dpi=DOTS_PER_INCH, metadata={"Software": ""}
        )
        pictures.append(base64.b64encode(drawn.getvalue()).decode())
    plt.close("all")
    return printed.getvalue(), pictures


def with_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the outputs of its cells, run one after the other."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            cells.append(cell)
            continue
        text, pictures = output_of("".join(cell["source"]), names)
        outputs: list[dict[str, Any]] = []
        if text:
            outputs.append(
                {"output_type": "stream", "name": "stdout", "text": text.splitlines(True)}
            )
        outputs += [
            {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}
            for picture in pictures
        ]
        cells.append(cell | {"outputs": outputs})
    return notebook | {"cells": cells}


def run(path: Path) -> None:
    """Run a notebook in an empty folder and write it again, with its outputs."""
    notebook = json.loads(path.read_text("utf-8"))
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            done = with_outputs(notebook)
        finally:
            os.chdir(here)
    path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run(Path(name))
