"""The stage `plan`: which proteins to verify next, as a table to be filled in."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from credence.draws import keys_of
from credence.lists.plan import EDGES, Plan, by_stratum, plan_of, stratum_of
from credence.progress import echo
from credence.stages.lists import Table, cluster_of, opened_table
from credence.stages.reading import require_other
from credence.tables.writing import write_table

SPARE = 20  # rows kept for each that is wanted, as relatives of a chosen one are passed over


def plan_verification(
    confidences: str,
    out: str,
    calibration: str,
    shift: str | None,
    number: int,
    clusters: str | None,
    spreadsheet_safe: bool,
) -> None:
    """Write which predictions to verify next, one of a family, with a column for their class."""
    require_other((out,), [confidences, calibration, shift, clusters])
    table, counts = opened_table(confidences, calibration, shift)
    ranking = table.ranking
    n_use = by_stratum(counts)
    plan = plan_of(ranking.held_out, n_use, number)
    columns = _chosen(table, plan, cluster_of(clusters, table))
    write_table(Path(out), columns, spreadsheet_safe=spreadsheet_safe, in_six_decimals=True)
    n_chosen = len(columns["id"])
    echo(f"Wrote {out}: {n_chosen} of {int(n_use.sum()):,} predictions to verify.")
    if n_chosen < number:
        of_each = ", and of each family one is taken" if clusters else ""
        echo(f"{out}: fewer than {number}, since there are no more{of_each}.")
    taken = np.zeros_like(plan.n_verify)
    stratum = stratum_of(np.array(columns["confidence"], dtype=np.float64))
    for name, place in zip(columns["predicted_class"], stratum.tolist(), strict=True):
        taken[ranking.class_names.index(name), place] += 1
    width, after = plan.width(), plan.width(taken)
    for class_, name in enumerate(ranking.class_names):
        if n := int(taken[class_].sum()):
            echo(
                f"{name}: {n} of {int(n_use[class_].sum()):,}. The share right at a confidence is "
                f"known to ± {width[class_] / 2:.2f} now, and to about ± {after[class_] / 2:.2f} "
                "once these are verified."
            )
    echo(
        "Fill in true_class, in the classifier's names, and leave it empty where nothing was "
        "found; then give the table to credence trove add as --labels."
    )


def _chosen(table: Table, plan: Plan, cluster_of: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the rows of the plan: in each stratum the least by a hash of their ids."""
    n_strata = len(EDGES)
    wanted = plan.n_verify.ravel()
    kept: dict[int, list[tuple[int, str, float]]] = {int(p): [] for p in np.flatnonzero(wanted)}
    for piece, code, _ in table.pieces():
        confidence = piece["confidence"].to_numpy().astype(np.float64)
        place = np.where(code >= 0, code * n_strata + stratum_of(confidence), -1)
        for stratum, rows in kept.items():
            own = np.flatnonzero((place == stratum) & ~np.isnan(confidence))
            ids = piece["id"].take(own).to_pylist()
            found = zip(keys_of(ids).tolist(), ids, confidence[own].tolist(), strict=True)
            rows[:] = sorted([*rows, *found])[: SPARE * int(wanted[stratum])]
    names = table.ranking.class_names
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    families: set[str] = set()
    for stratum, rows in kept.items():
        class_, part = divmod(stratum, n_strata)
        n_left = int(wanted[stratum])
        for _, id_, confidence in rows:
            family = cluster_of.get(id_, id_)
            if n_left and family not in families:
                families.add(family)
                n_left -= 1
                chance = wanted[stratum] / plan.n_use[class_, part]
                end = EDGES[part + 1] if part + 1 < n_strata else 1.0
                known = int(plan.n_known[class_, part])
                values = (id_, "", names[class_], confidence, EDGES[part], end, chance, known)
                for column, value in zip(columns.values(), values, strict=True):
                    column.append(value)
    return columns


# Of each protein: an empty true class, the stratum's range, the chance to be chosen, families.
COLUMNS = (
    *("id", "true_class", "predicted_class", "confidence"),
    *("stratum_from", "stratum_to", "chance", "families_known"),
)
