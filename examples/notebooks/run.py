"""Run notebooks and keep what their cells print and draw, without Jupyter.

    python examples/notebooks/run.py examples/notebooks/*.ipynb

A notebook becomes one Python program, which runs as a process of its own in an empty folder: cells
see each other's names, as in Jupyter. A cell's output is what it prints, its last expression, and
the figures that it leaves open. The same code gives the same bytes.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OUTPUTS = "outputs.jsonl"  # of the cells, a line each
DOTS_PER_INCH = 80  # small pictures: they are kept with the notebook
END_OF_CELL = "_end_of_cell"  # what the program calls after each cell


def end_of_cell(value: object = None) -> None:
    """Keep what a cell gave: the text that it printed, its last value, and its open figures.

    The program of a notebook calls it after each cell; its stdout is a text in memory.
    """
    import matplotlib.pyplot as plt

    if value is not None and not isinstance(value, plt.Axes):
        print(value)
    text = sys.stdout.getvalue()
    sys.stdout = io.StringIO()
    outputs: list[dict[str, Any]] = []
    if text:
        lines = text.splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    for number in plt.get_fignums():
        drawn = io.BytesIO()
        plt.figure(number).savefig(
            drawn, format="png", dpi=DOTS_PER_INCH, metadata={"Software": ""}
        )
        picture = base64.b64encode(drawn.getvalue()).decode()
        outputs.append(
            {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}
        )
    plt.close("all")
    with Path(OUTPUTS).open("a", encoding="utf-8") as handle:
        handle.write(json.dumps(outputs) + "\n")


def program_of(cells: list[str]) -> str:
    """Return the program that runs cells one after the other and keeps what each gives."""
    parts = [f"import io, sys\nfrom run import end_of_cell as {END_OF_CELL}"]
    parts.append("sys.stdout = io.StringIO()")
    for source in cells:
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        shown = "" if last is None else ast.unparse(last)
        parts += [ast.unparse(tree), f"{END_OF_CELL}({shown})"]
    return "\n".join(parts) + "\n"


def run(path: Path) -> None:
    """Run a notebook in an empty folder and write it again, with its outputs."""
    notebook = json.loads(path.read_text("utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "notebook.py")
        program.write_text(program_of(["".join(cell["source"]) for cell in code]), "utf-8")
        environment = os.environ | {"MPLBACKEND": "agg", "PYTHONPATH": str(HERE)}
        command = [sys.executable, program.name]
        subprocess.run(command, cwd=folder, env=environment, check=True)
        lines = Path(folder, OUTPUTS).read_text("utf-8").splitlines()
    for cell, outputs in zip(code, lines, strict=True):
        cell["outputs"] = json.loads(outputs)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run(Path(name))
