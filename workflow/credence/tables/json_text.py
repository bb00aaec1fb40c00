"""Records as JSON that a person can read and that floats survive bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from credence.problems import refuse


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: arrays as lists, NaN as None.

    Examples
    --------
    >>> plain({"lower": np.array([0.5, np.nan]), "n": np.int64(3)})
    {'lower': [0.5, None], 'n': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value


def json_text(record: Any) -> str:
    """Return a record as JSON that a person can read and a float survives.

    Keys keep their order; a list without mappings stands on one line.

    Examples
    --------
    >>> print(json_text({"b": [0.1, float("nan")], "a": {"n": 3}}), end="")
    {
      "b": [0.1, null],
      "a": {
        "n": 3
      }
    }
    """
    return _json_lines(plain(record), "") + "\n"


def _json_lines(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        entries = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_json_lines(entry, inner)}"
            for key, entry in value.items()
        ]
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        entries = [inner + _json_lines(entry, inner) for entry in value]
        return "[\n" + ",\n".join(entries) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def nulls_to_nan(record: Any) -> Any:
    """Return a record read from JSON, with NaN for the nulls in lists of numbers.

    A null that stands alone stays None.

    Examples
    --------
    >>> nulls_to_nan({"lower": [0.5, None], "model": None})
    {'lower': [0.5, nan], 'model': None}
    """
    if isinstance(record, dict):
        return {key: nulls_to_nan(entry) for key, entry in record.items()}
    if isinstance(record, list):
        if any(entry is None for entry in record) and all(
            entry is None or (isinstance(entry, int | float) and not isinstance(entry, bool))
            for entry in record
        ):
            return [float("nan") if entry is None else entry for entry in record]
        return [nulls_to_nan(entry) for entry in record]
    return record


def utf8_text(path: Path, remedy: str) -> str:
    """Return the text of a file of credence's own."""
    where = str(path)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise refuse(where, "this file does not exist.", remedy) from None
    except IsADirectoryError:
        raise refuse(where, "this is a folder.", remedy) from None
    except OSError as error:
        raise refuse(
            where, f"it cannot be read ({error.strerror}).", "Give a file that you may read."
        ) from None
    except UnicodeDecodeError as error:
        raise refuse(
            where, f"byte {error.start + 1} is not UTF-8, so this is no calibration file.", remedy
        ) from None


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """Return the JSON record of a file."""
    where = str(path)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise refuse(where, "there is no such file.", remedy) from None
    except IsADirectoryError:
        raise refuse(where, "this is a folder.", remedy) from None
    except OSError as error:
        raise refuse(where, f"it cannot be read ({error.strerror}).", remedy) from None
    except UnicodeDecodeError:
        raise refuse(where, "this is not text in UTF-8.", remedy) from None
    except json.JSONDecodeError as error:
        what = f"this is not JSON, or not the whole of it: {error.msg}."
        raise refuse(where, what, remedy, error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise refuse(where, f"this is no record of credence ({error}).", remedy) from None
    if not isinstance(record, dict):
        raise refuse(str(path), "this is not a JSON record.", remedy)
    return record
