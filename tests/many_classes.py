"""Findings of many classes and methods: those of few, again and again under other names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from credence.findings import Findings
from credence.records import from_record, to_record

N_POINTS = 101  # of a curve, as evaluations have


def enlarged(findings: Findings, n_classes: int, n_methods: int) -> Findings:
    """Return findings of so many classes and methods, their curves as fine as real ones."""
    few = replace(findings, releases=None)
    names = few.results.class_names
    copies = -(-n_classes // len(names))
    record = _copied(to_record(few), "class_name", names, copies, set(range(n_classes)))
    methods = tuple(method.name for method in few.methods)
    times = -(-n_methods // len(methods))
    results = _copied(record["results"], "method", methods, times, set(range(n_methods)))
    record["results"] = results
    record["methods"] = _repeated(record["methods"], "name", methods, n_methods)
    for curve in record["results"]["curves"]:
        score = np.array(curve["score"], dtype=float)
        finer = np.linspace(score[0], score[-1], N_POINTS)
        for key in ("value", "lower", "upper", "support"):
            values = np.array(curve[key], dtype=float)
            curve[key] = [None if np.isnan(v) else v for v in np.interp(finer, score, values)]
        curve["score"] = finer.tolist()
    return from_record(Findings, record)


def _named(name: str, copy: int) -> str:
    return f"{name} {copy + 1}" if copy else name


def _repeated(entries: list[Any], key: str, names: tuple[str, ...], n: int) -> list[Any]:
    """Return entries with the names of the first n copies."""
    copies = -(-n // len(names))
    found = [{**one, key: _named(one[key], k)} for k in range(copies) for one in entries]
    return found[:n]


def _copied(value: Any, key: str, names: tuple[str, ...], copies: int, kept: set[int]) -> Any:
    """Return a record in which what is of a name is there once for each of its copies."""

    def is_kept(name: str, copy: int) -> bool:
        return copy * len(names) + names.index(name) in kept

    if isinstance(value, dict):
        return {k: _copied(v, key, names, copies, kept) for k, v in value.items()}
    if not isinstance(value, list):
        return value
    if key == "class_name":
        if value == list(names):
            return [_named(name, k) for k in range(copies) for name in names if is_kept(name, k)]
        if len(value) == len(names) and all(
            isinstance(row, list) and len(row) == len(names) for row in value
        ):  # a matrix: classes are taken for others of the same copy
            n = len(names)
            nothing = 0 if isinstance(value[0][0], int) else 0.0
            return [
                [value[i % n][j % n] if i // n == j // n else nothing for j in sorted(kept)]
                for i in sorted(kept)
            ]
    if value and all(
        isinstance(one, dict) and one.get(key, "") in (None, *names) for one in value
    ):
        return [
            _copied({**one, key: one[key] and _named(one[key], k)}, key, names, copies, kept)
            for k in range(copies)
            for one in value
            if (is_kept(one[key], k) if one[key] else k == 0)
        ]
    return [_copied(one, key, names, copies, kept) for one in value]
