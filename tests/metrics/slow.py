"""Slow, obvious twins of the metrics: loops over proteins, one after the other."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

Row = tuple[float, bool, float]  # confidence, right, weight


def nll(rows: list[Row]) -> float:
    def one(p: float, t: bool) -> float:
        return -math.log(min(max(p if t else 1.0 - p, 1e-15), 1.0 - 1e-15))

    return sum(w * one(p, t) for p, t, w in rows) / sum(w for _, _, w in rows)


def brier(rows: list[Row]) -> float:
    return sum(w * (p - t) ** 2 for p, t, w in rows) / sum(w for _, _, w in rows)


def accuracy(rows: list[Row]) -> float:
    return sum(w * t for _, t, w in rows) / sum(w for _, _, w in rows)


def width_bin(p: float, n_bins: int) -> int:
    """Left-open bins, the first closed at 0."""
    for number in range(n_bins):
        if p <= np.linspace(0.0, 1.0, n_bins + 1)[number + 1]:
            return number
    return n_bins - 1


def by_width(rows: list[Row], n_bins: int = 15) -> list[list[Row]]:
    bins: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        bins[width_bin(row[0], n_bins)].append(row)
    return list(bins.values())


def by_count(rows: list[Row], n_bins: int = 15) -> list[list[Row]]:
    total = sum(w for _, _, w in rows)
    bins: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        before = sum(w for p, _, w in rows if p < row[0])
        tied = sum(w for p, _, w in rows if p == row[0])
        bins[min(int((before + tied / 2) / total * n_bins), n_bins - 1)].append(row)
    return list(bins.values())


def gap(part: list[Row]) -> float:
    weight = sum(w for _, _, w in part)
    return (sum(w * p for p, _, w in part) - sum(w * t for _, t, w in part)) / weight


def l1(parts: list[list[Row]], rows: list[Row]) -> float:
    total = sum(w for _, _, w in rows)
    return sum(sum(w for _, _, w in part) / total * abs(gap(part)) for part in parts)


def squared(parts: list[list[Row]], rows: list[Row]) -> float:
    total = sum(w for _, _, w in rows)
    return sum(sum(w for _, _, w in part) / total * gap(part) ** 2 for part in parts)


def ece(rows: list[Row]) -> float:
    return l1(by_width(rows), rows)


def ece2(rows: list[Row]) -> float:
    return math.sqrt(squared(by_width(rows), rows))


def ece_count(rows: list[Row]) -> float:
    return l1(by_count(rows), rows)


def ece2_count(rows: list[Row]) -> float:
    return math.sqrt(squared(by_count(rows), rows))


def mce(rows: list[Row]) -> float:
    return max(abs(gap(part)) for part in by_width(rows))


def ece_debiased(rows: list[Row]) -> float:
    total = sum(w for _, _, w in rows)
    kish = total**2 / sum(w**2 for _, _, w in rows)
    answer = 0.0
    for part in by_count(rows):
        share = sum(w for _, _, w in part) / total
        n_bin, rate = share * kish, accuracy(part)
        if n_bin > 1:
            answer += share * (gap(part) ** 2 - rate * (1 - rate) / (n_bin - 1))
    return math.sqrt(max(answer, 0.0))


N_CELLS = 256


def heat(cell: int, sigma: float) -> np.ndarray:
    """What one unit in a cell becomes, by the series of cosines on [0, 1]."""
    at = (np.arange(N_CELLS) + 0.5) / N_CELLS
    place = (cell + 0.5) / N_CELLS
    answer = np.ones(N_CELLS)
    for k in range(1, N_CELLS):
        damping = math.exp(-((k * math.pi * sigma) ** 2) / 2)
        if damping < 1e-30:  # and less for each that follows
            break
        answer += 2 * damping * math.cos(k * math.pi * place) * np.cos(k * math.pi * at)
    return answer / N_CELLS


def on_grid(rows: list[Row], sigma: float, value) -> np.ndarray:  # type: ignore[no-untyped-def]
    total = sum(w for _, _, w in rows)
    answer = np.zeros(N_CELLS)
    for p, t, w in rows:
        answer += w / total * value(p, t) * heat(width_bin_fast(p), sigma)
    return answer


def width_bin_fast(p: float) -> int:
    return max(math.ceil(p * N_CELLS) - 1, 0)


def ece_smooth(rows: list[Row]) -> float:
    """Bisect for the bandwidth that equals what it leaves."""
    low, high = 0.0, 1.0
    for _ in range(24):
        middle = (low + high) / 2
        left = np.abs(on_grid(rows, middle, lambda p, t: t - p)).sum()
        low, high = (middle, high) if left > middle else (low, middle)
    return low


def ece_kernel(rows: list[Row]) -> float:
    total = sum(w for _, _, w in rows)
    kish = total**2 / sum(w**2 for _, _, w in rows)
    place = [(width_bin_fast(p) + 0.5) / N_CELLS for p, _, _ in rows]
    mean = sum(w * x for x, (_, _, w) in zip(place, rows, strict=True)) / total
    variance = sum(w * (x - mean) ** 2 for x, (_, _, w) in zip(place, rows, strict=True)) / total
    sigma = 1.06 * math.sqrt(variance) * kish ** (-1 / 5)
    at = (np.arange(N_CELLS) + 0.5) / N_CELLS
    weight = on_grid(rows, sigma, lambda p, t: 1.0)
    outcome = on_grid(rows, sigma, lambda p, t: float(t))
    return float(np.abs(at * weight - outcome).sum())


def area(rows: list[Row]) -> float:
    """The rows' confidence serves as their score."""
    parts = by_width(rows, 20)
    return sum(abs(gap(part)) for part in parts) / len(parts)


def outcome_variance(rows: list[Row]) -> float:
    rate = accuracy(rows)
    return sum(w * (t - rate) ** 2 for _, t, w in rows) / sum(w for _, _, w in rows)


def sharpness(rows: list[Row]) -> float:
    rate, total = accuracy(rows), sum(w for _, _, w in rows)
    return sum(
        sum(w for _, _, w in part) / total * (accuracy(part) - rate) ** 2
        for part in by_width(rows)
    )


def calibration(rows: list[Row]) -> float:
    return squared(by_width(rows), rows)


def remainder(rows: list[Row]) -> float:
    """E[Var(p | bin)] − 2 E[Cov(t, p | bin)] (decision 0009)."""
    total, answer = sum(w for _, _, w in rows), 0.0
    for part in by_width(rows):
        weight = sum(w for _, _, w in part)
        mean, rate = sum(w * p for p, _, w in part) / weight, accuracy(part)
        variance = sum(w * (p - mean) ** 2 for p, _, w in part) / weight
        covariance = sum(w * (p - mean) * (t - rate) for p, t, w in part) / weight
        answer += weight / total * (variance - 2 * covariance)
    return answer


def of_classes(vectors: list[list[float]], true: list[int], weight: list[float], name: str):  # type: ignore[no-untyped-def]
    """SCE, ACE and TACE: ECE of each class's probability, averaged."""
    found = []
    for k in range(len(vectors[0])):
        rows = [(v[k], y == k, w) for v, y, w in zip(vectors, true, weight, strict=True)]
        if name == "tace":
            rows = [row for row in rows if row[0] > 1e-3]
        if rows:
            found.append(l1(by_width(rows) if name == "sce" else by_count(rows), rows))
    return sum(found) / len(found)


TWINS = {
    "nll": nll,
    "brier": brier,
    "accuracy": accuracy,
    "gap": gap,
    "ece": ece,
    "ece2": ece2,
    "ece_count": ece_count,
    "ece2_count": ece2_count,
    "ece_top_label": ece,
    "ece_top_label_weighted": ece,
    "mce": mce,
    "ece_debiased": ece_debiased,
    "ece_smooth": ece_smooth,
    "ece_kernel": ece_kernel,
    "area": area,
    "outcome_variance": outcome_variance,
    "sharpness": sharpness,
    "calibration": calibration,
    "remainder": remainder,
}
