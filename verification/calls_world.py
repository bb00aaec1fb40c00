"""A world of proteins with several labels in a tree, of which each probability is known.

A family has true labels in some of three branches, of very unequal frequency. A tool scores the
true labels of a protein and some others, all it has in common with its family and the protein's
other labels beside noise of its own; what is not annotated is unknown, not false (open world). Of
label k at score s the probability of being right is, among proteins with a label in its branch,

    odds = odds of k among scored labels × exp(gap_k (s − middle_k)),

since scores of right and wrong calls are normal with one standard deviation.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
RESIDUES = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
SHARED_BY_FAMILY, SHARED_BY_PROTEIN = 0.3, 0.2  # of the variance of a score
ANNOTATED = 0.85  # share of a protein's branches of which its true labels are known
SCORE_FLOOR = 0.02


@dataclass(frozen=True, kw_only=True, eq=False)
class Hierarchy:
    """Labels of some branches, each a tree of a few levels."""

    names: tuple[str, ...]
    parent: Integers  # -1 of roots
    branch: Integers  # The root of each
    is_leaf: NDArray[np.bool_]
    weight: Floats  # Of leaves, in their branch; they sum to 1 there

    def closure(self) -> NDArray[np.bool_]:
        """Return whether each label (row) is, or is above, each other one (column)."""
        is_above = np.eye(len(self.names), dtype=np.bool_)
        for label, parent in enumerate(self.parent):  # parents come first
            if parent >= 0:
                is_above[:, label] |= is_above[:, parent]
        return is_above


@dataclass(frozen=True, kw_only=True, eq=False)
class CallsWorld:
    """Calls of proteins, and what holds of them."""

    hierarchy: Hierarchy
    ids: tuple[str, ...]  # Of the proteins
    family: Integers  # Of each protein
    protein: Integers  # Of each call
    label: Integers
    score: Floats
    is_true: NDArray[np.bool_]
    is_known: NDArray[np.bool_]  # Whether the protein has a known label in the branch
    probability: Floats  # That the call is right, given its label, its score and its branch
    truth: tuple[tuple[int, int], ...]  # Known true labels: protein and leaf


def hierarchy_of(rng: np.random.Generator, n_labels: int, n_branches: int = 3) -> Hierarchy:
    """Return a tree in which few leaves are frequent and most are rare (Zipf's law)."""
    names, parent, branch, depth = list[str](), list[int](), list[int](), list[int]()
    for root in range(n_branches):
        names.append(f"GO:{root:07d}")
        parent.append(-1)
        branch.append(root)
        depth.append(0)
    while len(names) < n_labels:
        above = int(rng.integers(len(names)))
        if depth[above] == 5:
            continue
        names.append(f"GO:{len(names):07d}")
        parent.append(above)
        branch.append(branch[above])
        depth.append(depth[above] + 1)
    parents, branches = np.array(parent), np.array(branch)
    is_leaf = ~np.isin(np.arange(len(names)), parents)
    weight = np.where(is_leaf, 1.0 / (1.0 + rng.permutation(len(names))), 0.0)
    for root in range(n_branches):
        is_here = branches == root
        weight[is_here] /= weight[is_here].sum()
    return Hierarchy(
        names=tuple(names), parent=parents, branch=branches, is_leaf=is_leaf, weight=weight
    )


def simulate(
    seed: int, n_proteins: int, n_labels: int, hierarchy: Hierarchy | None = None,
    family_size: float = 4.0, n_false: float = 12.0,
) -> CallsWorld:  # fmt: skip
    """Return a world; worlds of one hierarchy have the same tool, whose curves are its own."""
    tool = hierarchy or hierarchy_of(np.random.default_rng([seed, 0]), n_labels)
    rng, of_tool = np.random.default_rng([seed, 1]), np.random.default_rng([n_labels, 7])
    n_labels, closure = len(tool.names), tool.closure()
    # How well the tool knows a label: what is below resembles what is above.
    gap, middle = np.zeros(n_labels), np.zeros(n_labels)
    for label, parent in enumerate(tool.parent):
        base = (2.2, 0.0) if parent < 0 else (gap[parent], middle[parent])
        gap[label] = max(0.5, base[0] + 0.25 * of_tool.normal())
        middle[label] = base[1] + 0.3 * of_tool.normal()
    sizes = 1 + rng.geometric(1.0 / family_size, size=n_proteins)
    family = np.repeat(np.arange(n_proteins), sizes)[:n_proteins]
    n_families, roots = int(family[-1]) + 1, np.unique(tool.branch)
    has_branch = rng.random((n_families, len(roots))) < 0.7
    of_family = np.zeros((n_families, n_labels), dtype=np.bool_)
    leaves: list[list[int]] = [[] for _ in range(n_families)]
    for root in roots.tolist():
        here = np.flatnonzero(tool.branch == root)
        drawn = rng.choice(here, size=(n_families, 2), p=tool.weight[here])
        n_drawn = 1 + (rng.random(n_families) < 0.4)
        for number in range(2):
            rows = np.flatnonzero(has_branch[:, root] & (n_drawn > number))
            of_family[rows] |= closure[:, drawn[rows, number]].T
            for row in rows.tolist():
                leaves[row].append(int(drawn[row, number]))
    below = closure @ np.where(tool.is_leaf, tool.weight, 0.0)  # share of leaves at or below
    prevalence = 0.6 * below + 0.4 * (1.0 - (1.0 - below) ** 2)
    # Wrong labels are scored with a chance that grows with how frequent a label is.
    chance = np.minimum(0.6, n_false * (below + 0.02) / (below + 0.02).sum())
    is_scored = of_family[family] | (rng.random((n_proteins, n_labels)) < chance)
    protein, label = np.nonzero(is_scored)
    is_true = of_family[family[protein], label]
    kept = 1.0 - SHARED_BY_FAMILY - SHARED_BY_PROTEIN
    noise = math.sqrt(kept) * rng.normal(size=len(protein))
    noise += (
        math.sqrt(SHARED_BY_FAMILY) * rng.normal(size=(n_families, 3))[family[protein], label % 3]
    )
    noise += math.sqrt(SHARED_BY_PROTEIN) * rng.normal(size=n_proteins)[protein]
    place = np.where(is_true, 0.5, -0.5) * gap[label] + middle[label] + noise
    odds = prevalence / ((1.0 - prevalence) * chance).clip(1e-300)
    with np.errstate(divide="ignore"):
        log_odds = np.log(odds[label]) + gap[label] * (place - middle[label])
    score = np.round(scipy.special.expit(1.3 * place), 4)
    is_call = score >= SCORE_FLOOR
    protein, label, is_true = protein[is_call], label[is_call], is_true[is_call]
    is_annotated = rng.random((n_proteins, len(roots))) < ANNOTATED
    is_annotated &= has_branch[family]
    truth = tuple(
        (row, leaf)
        for row in range(n_proteins)
        for leaf in sorted(set(leaves[family[row]]))
        if is_annotated[row, tool.branch[leaf]]
    )
    return CallsWorld(
        hierarchy=tool,
        ids=tuple(f"protein_{seed}_{row:06d}" for row in range(n_proteins)),
        family=family,
        protein=protein,
        label=label,
        score=score[is_call],
        is_true=is_true,
        is_known=is_annotated[protein, tool.branch[label]],
        probability=scipy.special.expit(log_odds[is_call]),
        truth=truth,
    )


def write(world: CallsWorld, folder: Path, *, with_sequences: bool = True) -> None:
    """Write the files that a lab would have: calls, truth, the tree, proteins and clusters."""
    folder.mkdir(parents=True, exist_ok=True)
    names, ids = world.hierarchy.names, world.ids
    rows = zip(world.protein.tolist(), world.label.tolist(), world.score.tolist(), strict=True)
    _table(
        folder / "calls.tsv",
        "id\tterm\tscore",
        (f"{ids[p]}\t{names[k]}\t{s:g}" for p, k, s in rows),
    )
    _table(folder / "truth.tsv", "id\tterm", (f"{ids[p]}\t{names[k]}" for p, k in world.truth))
    _table(
        folder / "clusters.tsv",
        "id\tcluster",
        (f"{name}\tfamily_{number}" for name, number in zip(ids, world.family, strict=True)),
    )
    terms = ["format-version: 1.2"]
    for label, name in enumerate(names):
        terms += ["", "[Term]", f"id: {name}", f"name: role {label}"]
        if (parent := world.hierarchy.parent[label]) >= 0:
            terms.append(f"is_a: {names[parent]} ! role {parent}")
    (folder / "tree.obo").write_text("\n".join(terms) + "\n")
    if with_sequences:
        rng = np.random.default_rng(len(ids))
        lines = []
        ancestor = [rng.choice(RESIDUES, size=120) for _ in range(int(world.family[-1]) + 1)]
        for name, number in zip(ids, world.family.tolist(), strict=True):
            residues = ancestor[number].copy()
            at = rng.random(len(residues)) < 0.15
            residues[at] = rng.choice(RESIDUES, size=int(at.sum()))
            lines += [f">{name}", "".join(residues)]
        (folder / "proteins.fasta").write_text("\n".join(lines) + "\n")


def _table(path: Path, header: str, rows) -> None:  # type: ignore[no-untyped-def]
    path.write_text("\n".join([header, *rows]) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a world into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--proteins", type=int, default=3000)
    parser.add_argument("--labels", type=int, default=80)
    given = parser.parse_args(arguments)
    world = simulate(given.seed, given.proteins, given.labels)
    write(world, given.folder)
    query = simulate(given.seed + 1, given.proteins // 2, given.labels, world.hierarchy)
    write(query, given.folder / "query")


if __name__ == "__main__":
    main()
