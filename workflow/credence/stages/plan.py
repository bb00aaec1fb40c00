"""The stage `plan`: which proteins to verify next, as a table to be filled in."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from credence.draws import keys_of
from credence.findings import DECISIONS
from credence.lists.decision import Counts
from credence.lists.held_out import CONFIDENCE_STEPS
from credence.lists.plan import STRATUM_EDGES, by_stratum, plan_of, stratum_of
from credence.progress import echo
from credence.stages.lists import NO_CONFIDENCE, Table, cluster_of, opened_table
from credence.stages.reading import require_other
from credence.stages.settings import Settings
from credence.tables.writing import write_table

VERIFY_CALLS = (
    "Look up whether each of these proteins has the label of predicted_class; then add its calls "
    "to the scores and its true labels to the table of these, and run again."
)


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
    table, counts = opened_table(confidences, calibration, shift, Settings())
    planned = plan_of_table(table, counts, number, clusters, out)
    how: Any = {"spreadsheet_safe": spreadsheet_safe, "in_six_decimals": True}
    write_table(Path(out), planned.columns, **how)
    n_query = int(counts.every.sum())
    of_all = f"{planned.n} of {n_query:,} predictions to verify"
    echo(f"Wrote {out}: {of_all if n_query else NO_CONFIDENCE}.")
    for sentence in planned.sentences:
        echo(sentence)


@dataclass(frozen=True, kw_only=True, eq=False)
class Planned:
    """The predictions to verify, and what is gained."""

    columns: dict[str, Any]
    sentences: list[str]

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.columns["id"])


def plan_of_table(
    table: Table, counts: Counts, number: int, clusters: str | None, name: str
) -> Planned:
    """Return which predictions of a table to verify; sentences call the plan by its name."""
    ranking, n_query = table.ranking, by_stratum(counts.every)
    *_, place, _ = chosen = _one_of_each_family(table, cluster_of(clusters, table))
    n_most = np.bincount(place, minlength=n_query.size)
    plan = plan_of(ranking.rules.held_out, n_query, number, n_most.reshape(n_query.shape))
    n_verify, first = plan.n_verify.ravel(), np.cumsum(n_most) - n_most
    rows = np.flatnonzero(np.arange(len(place)) - first[place] < n_verify[place])
    ids, confidence, decision, place, size = (column[rows] for column in chosen)
    class_, stratum = np.divmod(place, len(STRATUM_EDGES))
    columns = {
        "id": ids,
        "true_class": np.full(len(rows), "", dtype=object),
        "predicted_class": np.array(ranking.class_names, dtype=object)[class_],
        "confidence": confidence,
        "decision": decision,
        "stratum_from": STRATUM_EDGES[stratum],
        "stratum_to": np.append(STRATUM_EDGES[1:], 1.0)[stratum],
        "chance": n_verify[place] / n_most[place] / size,  # of its family, and of itself there
        "families_known": plan.n_known.ravel()[place],
    }
    sentences = []
    if len(rows) < number:
        of_each = ", and of each family one is taken" if clusters else ""
        sentences.append(f"{name}: fewer than {number}, since there are no more{of_each}.")
    every = Counter[str]()
    for piece, *_ in table.pieces():
        every.update(piece["decision"].to_pylist())
    planned = Counter(decision.tolist())
    of_decisions = [
        f"{planned[word]} of {every[word]:,} {word}" for word in DECISIONS if every[word]
    ]
    sentences.append(f"By their decision, to verify are: {', '.join(of_decisions)}.")
    width, after = plan.width(), plan.width(plan.n_verify)
    for at, class_name in enumerate(ranking.class_names):
        if n := int(plan.n_verify[at].sum()):
            sentences.append(
                f"{class_name}: {n} of {int(n_query[at].sum()):,}. The precision at a confidence "
                f"is known to ± {width[at] / 2:.2f} now, and to about ± {after[at] / 2:.2f} "
                "once these are verified."
            )
    sentences.append(
        VERIFY_CALLS
        if ranking.tree is not None
        else "Fill in true_class, in the classifier's names, and leave it empty where nothing was "
        "found; then give the table to credence trove add as --labels."
    )
    return Planned(columns=columns, sentences=sentences)


def _one_of_each_family(table: Table, cluster_of: Mapping[str, str]) -> tuple[Any, ...]:
    """Return id, confidence, decision, class and stratum of one of each family, and their number.

    It is drawn by the ids, of calls by their labels too. In a stratum they are in an order drawn
    by the families' names.
    """
    parts = []
    for piece, code, step in table.pieces():
        rows = np.flatnonzero((code >= 0) & (step >= 0))
        place = code[rows] * len(STRATUM_EDGES) + stratum_of(CONFIDENCE_STEPS[step[rows]])
        named = (piece[name].to_numpy()[rows] for name in ("id", "confidence", "decision"))
        parts.append((*named, place))
    ids, confidence, decision, place = (np.concatenate(part) for part in zip(*parts, strict=True))
    family = keys_of([cluster_of.get(id_, id_) for id_ in ids])
    drawn = keys_of(ids)
    if table.ranking.tree is not None:  # each call of a protein is as likely
        drawn = keys_of([f"{id_}\t{code}" for id_, code in zip(ids, place, strict=True)])
    order = np.lexsort((drawn, family))
    _, first, size = np.unique(family[order], return_index=True, return_counts=True)
    order = order[first]
    by_place = np.argsort(place[order], kind="stable")
    order = order[by_place]
    return ids[order], confidence[order], decision[order], place[order], size[by_place]
