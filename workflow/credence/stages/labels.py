"""The stage `labels`: calibration proteins whose label is doubtful."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from credence.findings import DoubtfulLabel, DoubtfulLabels
from credence.lists.labels import Doubts, PlantedErrors, class_chances, doubts_of, plant
from credence.predictions import Integers, Labelled, Strings
from credence.problems import refuse
from credence.progress import echo
from credence.stages.reading import LabelledFiles, in_order_of_ids, require_other
from credence.tables.contract import Clusters
from credence.tables.writing import check_table_ending, write_record, write_table

MOST_LABELS_SHOWN = 10  # of the list, on the page


def doubtful_labels(
    given: LabelledFiles,
    out: str,
    families: str | None,
    record: str | None,
    error: float,
    spreadsheet_safe: bool,
) -> None:
    """Write the calibration proteins whose label is doubtful, the most doubtful first."""
    require_other((out, families, record), given.files)
    for path in filter(None, (out, families)):
        check_table_ending(Path(path))
    known = given.open()
    labelled = in_order_of_ids(known.calibrating("none").labelled)
    classes = np.unique(labelled.true_class)
    if len(classes) < 2:
        name = labelled.predictions.class_names[classes[0]]
        fault = f"all labels are {name!r}, so no label can be doubtful."
        raise refuse(known.where, fault, "Give labelled proteins of two classes or more.")
    clusters = sorted(set(labelled.cluster.tolist()))
    if len(clusters) < 2:
        fault = f"all proteins are in the cluster {clusters[0]!r}, and none is left to learn from."
        raise refuse(known.where, fault, "Give labelled proteins of other families too.")
    doubts = doubts_of(labelled, class_chances(labelled))
    planted = plant(labelled, doubts)
    _, false = planted.at(doubts.doubt)
    ranked = np.lexsort((np.arange(labelled.n_samples), -doubts.doubt))
    listed = ranked[(doubts.doubt[ranked] > 0.0) & (false[ranked] <= error)]
    columns = label_columns(labelled, doubts, listed, known.clusters)
    columns["expected_false"] = false[listed].tolist()
    write_table(Path(out), columns, spreadsheet_safe=spreadsheet_safe, in_six_decimals=True)
    mixed = families_of(labelled)
    if families is not None:
        write_table(Path(families), mixed, spreadsheet_safe=spreadsheet_safe)
    lines = [f"Wrote {out}: {len(listed):,} of {labelled.n_samples:,} labels are doubtful."]
    sentences = label_sentences(doubts, planted, listed, error)
    if record is not None:
        names = ("id", "label", "suggested_class", "expected_false", "why")
        rows = zip(*(columns[name][:MOST_LABELS_SHOWN] for name in names), strict=True)
        shown = tuple(
            DoubtfulLabel(id=id_, label=label, suggested=suggested, false=false, why=why)
            for id_, label, suggested, false, why in rows
        )
        record_of_list = DoubtfulLabels(
            n=labelled.n_samples, n_listed=len(listed), sentences=tuple(sentences), first=shown
        )
        write_record(Path(record), record_of_list)
    lines += sentences
    if len(set(labelled.cluster.tolist())) == labelled.n_samples:
        lines.append(
            "No protein has a known relative: its own scores are all that speaks for or against "
            "a label. Give --clusters."
        )
    elif mixed["cluster"]:
        where = "" if families is None else f", listed in {families}"
        lines.append(f"Families with two labels or more: {len(mixed['cluster']):,}{where}.")
    lines.append("No label was changed. Look at each before you change one.")
    echo("\n".join(lines))


def label_sentences(
    doubts: Doubts, planted: PlantedErrors, listed: Integers, error: float
) -> list[str]:
    """Return what can be stated of a list, of which the last label is the least doubtful."""
    lines = []
    n_odd = int((doubts.doubt > 0.0).sum())
    if planted.share > 0.0 and len(listed):
        lines.append(
            f"Compared with planted wrong labels, at least {planted.share:.1%} of the labels look "
            "wrong."
        )
    elif n_odd:
        lines.append(
            f"Labels with more evidence against than for them: {n_odd:,}. But so few are as "
            "doubtful as planted wrong labels that all of them may be right."
        )
    if planted.share > 0.0 and len(listed):
        recall, false = planted.at(doubts.doubt[listed[-1:]])
        lines.append(
            f"Cautiously estimated, {false[0]:.0%} of the labels on this list are right after "
            f"all, and the list has {recall[0]:.0%} of the wrong labels. Both fail where scores "
            "contradict right labels as strongly as wrong ones."
        )
    elif n_odd and not len(listed):
        lines.append(
            f"The list is empty: of any list more than {error:.0%} of the labels may be right. "
            "To see them all the same: --error 1."
        )
    return lines


def label_columns(
    labelled: Labelled, doubts: Doubts, listed: Integers, known: Clusters | None
) -> dict[str, list[Any]]:
    """Return the columns of the list, but for its error."""
    names = np.array(labelled.predictions.class_names, dtype=object)
    suggested = doubts.suggested[listed]
    nearest = Nearest(labelled, known)
    rows = list(zip(listed.tolist(), suggested.tolist(), strict=True))
    relatives = [nearest.of(row, class_) for row, class_ in rows]
    return {
        "id": labelled.predictions.ids[listed].tolist(),
        "label": names[labelled.true_class[listed]].tolist(),
        "suggested_class": names[suggested].tolist(),
        "p_label": doubts.p_label[listed].tolist(),
        "p_suggested": doubts.p_suggested[listed].tolist(),
        "doubt": doubts.doubt[listed].tolist(),
        "cluster": labelled.cluster[listed].tolist(),
        "relatives_same": doubts.n_same[listed].tolist(),
        "relatives_other": doubts.n_other[listed].tolist(),
        "nearest_relative": [relative for relative, _ in relatives],
        "identity": [identity for _, identity in relatives],
        "why": [why(doubts, row, names[class_]) for row, class_ in rows],
    }


def as_columns(names: Sequence[str], rows: Sequence[Sequence[object]]) -> dict[str, list[object]]:
    """Return rows as columns."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def why(doubts: Doubts, row: int, suggested: str) -> str:
    """Return in words what speaks against a label."""
    same, other = int(doubts.n_same[row]), int(doubts.n_other[row])
    reasons = []
    if doubts.p_suggested[row] > doubts.p_label[row]:
        reasons.append(f"its scores suggest {suggested}")
    if same and doubts.by_relatives[row] > 0.0:
        reasons.append(f"scores of relatives with its label suggest {suggested}")
    if doubts.n_suggested[row]:
        reasons.append(f"{doubts.n_suggested[row]} of {same + other} relatives are {suggested}")
    if other:
        reasons.append("two labels or more in its family")
    return "; ".join(reasons)


class Nearest:
    """Relatives to look at beside a protein."""

    def __init__(self, labelled: Labelled, known: Clusters | None) -> None:
        self.ids, self.cluster = labelled.predictions.ids, labelled.cluster
        self.members: dict[tuple[str, int | None], list[str]] = defaultdict(list)
        for id_, cluster, label in zip(self.ids, self.cluster, labelled.true_class, strict=True):
            self.members[cluster, None].append(id_)
            self.members[cluster, int(label)].append(id_)
        self.stands_for: dict[str, str] = {}
        self.identity: dict[str, float] = {}
        if known is not None:
            self.stands_for = dict(zip(known.cluster, known.representative, strict=True))
            self.identity = dict(zip(known.ids, known.identity, strict=True))

    def of(self, row: int, suggested: int) -> tuple[str, float]:
        """Return a relative with the suggested class, or who stands for the cluster; identity."""
        id_, cluster = self.ids[row], self.cluster[row]
        first = self.stands_for.get(cluster, "")
        others = self.members.get((cluster, suggested), [])
        if others:
            relative = first if first in others else others[0]
        elif first not in ("", id_):
            relative = first
        else:
            relative = next(
                (member for member in self.members[cluster, None] if member != id_), ""
            )
        if not relative:
            return "", float("nan")
        of_one = id_ if relative == first else relative if id_ == first else ""
        return relative, self.identity.get(of_one, float("nan"))


def families_of(labelled: Labelled) -> dict[str, list[object]]:
    """Return the families with two labels or more, and whose label is the rarest."""
    names = labelled.predictions.class_names
    members: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    ids: Strings = labelled.predictions.ids
    for id_, cluster, label in zip(ids, labelled.cluster, labelled.true_class, strict=True):
        members[cluster][int(label)].append(id_)
    rows = []
    for cluster, by_label in sorted(members.items()):
        if len(by_label) > 1:
            # By how many proteins have it, then in the order of the classes.
            labels = sorted(by_label, key=lambda label: (-len(by_label[label]), label))
            counts = [len(by_label[label]) for label in labels]
            texts = [f"{names[label]} {n}" for label, n in zip(labels, counts, strict=True)]
            is_even = counts[-1] == counts[-2]
            rarest = ("", "") if is_even else (names[labels[-1]], " ".join(by_label[labels[-1]]))
            rows.append((cluster, sum(counts), "; ".join(texts), *rarest))
    return as_columns(("cluster", "proteins", "labels", "rarest_label", "rarest_ids"), rows)
