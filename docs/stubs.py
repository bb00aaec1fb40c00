"""The types of what `import credence` gives, in `workflow/credence/__init__.pyi`.

    python docs/stubs.py

writes them anew. Functions take their settings from one object (`stages/settings.py`), which no
type checker follows; here each setting stands with its name and type.
"""

import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import credence

ROOT = Path(__file__).resolve().parents[1]
STUB = ROOT / "workflow" / "credence" / "__init__.pyi"
HEAD = '''\
"""Types of the public names; made by docs/stubs.py."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:  # so that mypy reads these modules before this one
'''


def stub_of(package: ModuleType) -> str:
    """Return the stub of a package: its records imported, its functions with all their types."""
    things = {name: getattr(package, name) for name in package.__all__}
    records = {name: thing for name, thing in things.items() if inspect.isclass(thing)}
    homes: dict[str, list[str]] = {"credence.api": ["ColumnLike", "GroupsLike", "TableLike"]}
    for name, record in records.items():
        homes.setdefault(record.__module__, []).append(f"{name} as {name}")
    homes["credence.api"] = [", ".join(homes["credence.api"])]
    lines = [
        f"    from {home} import {name}" for home, names in sorted(homes.items()) for name in names
    ]
    lines += ["", "__version__: str", f"__all__ = {list(things)!r}", ""]
    lines += [signature_of(name, thing) for name, thing in things.items() if callable(thing)
              and name not in records]  # fmt: skip
    words = [sys.executable, "-m", "ruff", "format", "--config", str(ROOT / "pyproject.toml")]
    words += ["--stdin-filename", STUB.name, "-"]
    text = HEAD + "\n".join(lines) + "\n"
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def signature_of(name: str, function: object) -> str:
    """Return the line of a stub for a function."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    parts, has_star = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            parts.append("*")
            has_star = True
        default = "" if parameter.default is parameter.empty else " = ..."
        parts.append(f"{parameter.name}: {parameter.annotation}{default}")
    rows = "".join(f"    {part},\n" for part in parts)
    return f"def {name}(\n{rows}) -> {signature.return_annotation}: ..."


if __name__ == "__main__":
    STUB.write_text(stub_of(credence), "utf-8")
