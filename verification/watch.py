"""How often a log of samples alarms where nothing changed, and where something did.

    python verification/watch.py

Samples differ in their class proportions (Dirichlet, concentration as stated) and size
(log-normal around that stated), and proteins come in families. From sample
13 on a class takes a share more.
"""

from __future__ import annotations

import numpy as np

from credence.composition.over_time import Course, alarms_of

N_SAMPLES, CHANGES_AT = 30, 12
N_QUIET, N_CHANGED = 400, 60
# Classes, concentration, proteins of a sample, proteins of a family.
WORLDS = (
    (11, 20, 300, 1),
    (11, 200, 100, 5),
    (3, 5, 1000, 1),
    (30, 50, 3000, 3),
    (2, 50, 60, 1),
    (11, 1e6, 500, 5),
    (11, 1e6, 500, 1),
)


def draw(rng: np.random.Generator, world: tuple[float, ...], more: float = 0.0) -> Course:
    """Return a course of samples in which a class takes so much more, sooner or later."""
    n_classes, concentration, size, family = world
    usual = rng.dirichlet(np.ones(int(n_classes)))
    counts, flagged = [], []
    for sample in range(N_SAMPLES):
        share = rng.dirichlet(usual * concentration + 1e-9)
        novel = rng.beta(0.05 * concentration, 0.95 * concentration)
        if sample >= CHANGES_AT:
            share, novel = (1.0 - more) * share, min(1.0, novel + more)
            share[0] += more
        n = max(int(size * np.exp(rng.normal(0.0, 0.7)) / family), 4)
        counts.append(rng.multinomial(n, share) * family)
        flagged.append(rng.binomial(n, novel) / n)
    effect = np.full(N_SAMPLES, 0.05)
    return Course(
        counts=np.array(counts, dtype=np.float64),
        flagged=np.array(flagged),
        p_value=rng.uniform(size=N_SAMPLES),
        effect=effect,
        relatives=float(family),
    )


def main() -> None:
    """Print a line for each world."""
    rng = np.random.default_rng(0)
    print("| classes | concentration | proteins | family | false alarms | +0.1 | +0.2 | +0.4 |")
    print("|---|---|---|---|---|---|---|---|")
    for world in WORLDS:
        quiet = [bool(alarms_of(draw(rng, world))) for _ in range(N_QUIET)]
        cells = [*(f"{part:g}" for part in world), f"{np.mean(quiet):.3f}"]
        for more in (0.1, 0.2, 0.4):
            seen = []
            for _ in range(N_CHANGED):
                alarms = alarms_of(draw(rng, world, more))
                seen.append(any(alarm.subject == "mix" and 0 in alarm.classes for alarm in alarms))
            cells.append(f"{np.mean(seen):.2f}")
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
