"""The law of the simulated scores, the same in every world; a seed only draws from it."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from credence.predictions import Floats
from credence.settings import setting

CLASS_NAMES = (
    *("Major capsid", "Minor capsid", "Baseplate", "Major tail", "Minor tail", "Portal"),
    *("Tail fiber", "Tail shaft", "Collar", "HTJ", "Other"),
)
N_CLASSES = len(CLASS_NAMES)
N_NETWORKS = 10
SCALE = 10.0  # PhANNs: the sum of ten softmaxes
DECIMALS_OF_SCORE = 2
RESOLUTION = 0.01

# Right and wrong predictions per predicted class of PhANNs' web model on its
# test set of 46,801 proteins: web_server/test_set_stats.csv, threshold 0, of
# github.com/Adrian-Cantu/PhANNs (MIT).
PUBLISHED_CORRECT = (2227, 63, 640, 398, 879, 4273, 479, 1884, 258, 1075, 27904)
PUBLISHED_WRONG = (564, 813, 287, 328, 447, 1022, 908, 50, 249, 848, 1205)
SHARE_OTHER = 0.64  # share of `Other` in that set, Salamon et al. 2023, doi 10.3390/make5030043
# True × predicted classes of PhANNs' first submission (same repository, branch
# minus_capsid, model_training/cat_tag_old.csv): says which classes are confused.
FIRST_CONFUSION = (
    (2420, 0, 2, 2, 3, 2, 0, 7, 0, 0, 20),
    (46, 9, 1, 0, 0, 3, 1, 1, 0, 2, 18),
    (371, 0, 331, 1, 7, 6, 10, 19, 0, 18, 88),
    (124, 1, 3, 353, 4, 0, 2, 7, 0, 0, 8),
    (94, 0, 4, 25, 751, 13, 21, 43, 0, 19, 100),
    (1127, 3, 1, 13, 1, 3538, 0, 11, 0, 53, 514),
    (121, 0, 16, 5, 21, 3, 400, 5, 16, 2, 59),
    (123, 0, 1, 11, 2, 1, 0, 1862, 0, 6, 25),
    (48, 0, 1, 2, 1, 0, 135, 2, 103, 2, 6),
    (117, 0, 10, 12, 2, 23, 0, 4, 0, 1041, 68),
    (3995, 4, 373, 390, 218, 316, 447, 240, 10, 1256, 26153),
)
# Shares in the query set: a viral metagenome is not a curated test set. Chosen.
QUERY_PREVALENCE = (0.09, 0.02, 0.06, 0.05, 0.09, 0.10, 0.10, 0.06, 0.03, 0.05, 0.35)

# Mean margin (in logits) by which a family's favoured class leads, where that
# class is the true one and where it is not, and the shapes of their gamma laws.
# Chosen so that some classes are over-confident (bold where wrong: Minor
# capsid, Major tail, HTJ), some under-confident (timid where right: Tail
# shaft, Other) and no two curves are the same.
MARGIN_CORRECT = (6.0, 2.6, 3.6, 6.5, 5.0, 5.5, 4.0, 4.6, 5.0, 7.0, 4.2)
MARGIN_WRONG = (2.2, 2.2, 1.6, 3.2, 1.5, 1.8, 2.4, 1.3, 2.6, 2.8, 1.9)
SHAPE_CORRECT = (2.0, 2.0, 2.0, 3.0, 2.0, 2.2, 1.8, 1.6, 2.5, 2.5, 1.8)
SHAPE_WRONG = (1.6, 1.8, 1.5, 2.2, 1.4, 1.5, 2.0, 1.4, 2.2, 1.8, 1.5)

LEAST_MARGIN = 0.5  # logits; keeps what the networks favour from flipping too often
TRUE_CLASS_IS_RIVAL = 0.6  # how often the true class comes second where it is not first
REST_BEHIND = 5.5  # logits by which the other classes trail the rival
SPREAD_REST = 2.0  # standard deviation of a family's logits of the other classes
SPREAD_MEMBER = 0.25  # of one member about its family, every class
SPREAD_NETWORK_FAMILY = 0.8  # of one network about the ten, shared by a family
SPREAD_NETWORK_MEMBER = 0.3  # the same, of one member
SPREAD_NETWORK_BIAS = 0.4  # of a network's lasting leaning towards a class
SPREAD_SHARPNESS = 0.12  # of a network's lasting sharpness, in logs
LAW_SEED = 20230726  # fixes the networks' lasting leanings; no world's seed
FIT_ROUNDS = 200  # of proportional fitting; it settles within thirty


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreLaw:
    """Arrays that fix P(ten networks' scores | true class)."""

    prevalence: Floats  # Share of each true class in the calibration population
    favour: Floats  # P(favoured class | true class) of a family
    rival: Floats  # P(second class | true class, favoured class)
    bias: Floats  # Lasting leaning of each network, in logits
    sharpness: Floats  # Factor on the logits of each network


@cache
def score_law() -> ScoreLaw:
    """Return the law of all worlds, its confusions fitted to published counts."""
    # Diagonal and column sums are the web model's; row sums are the first
    # submission's label counts, the structural ones scaled to 1 - SHARE_OTHER.
    correct = np.array(PUBLISHED_CORRECT, dtype=float)
    wrong = np.array(PUBLISHED_WRONG, dtype=float)
    total = correct.sum() + wrong.sum()
    first = np.array(FIRST_CONFUSION, dtype=float)
    structural = first.sum(axis=1)[:-1]
    structural *= (1.0 - SHARE_OTHER) * total / structural.sum()
    missed = np.append(structural, SHARE_OTHER * total) - correct
    cells = (first + 1.0) * (1.0 - np.eye(N_CLASSES))
    for _ in range(FIT_ROUNDS):
        cells *= (missed / cells.sum(axis=1))[:, None]
        cells *= wrong / cells.sum(axis=0)
    joint = cells + np.diag(correct)
    prevalence = joint.sum(axis=1) / joint.sum()
    favour = joint / joint.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(LAW_SEED)
    rival = np.zeros((N_CLASSES, N_CLASSES, N_CLASSES))
    for true_class in range(N_CLASSES):
        for favoured in range(N_CLASSES):
            share = favour[true_class].copy()
            share[favoured] = 0.0
            if favoured != true_class:
                share[true_class] = 0.0
                share *= (1.0 - TRUE_CLASS_IS_RIVAL) / share.sum()
                share[true_class] = TRUE_CLASS_IS_RIVAL
            rival[true_class, favoured] = share / share.sum()
    bias = rng.normal(0.0, SPREAD_NETWORK_BIAS, (N_NETWORKS, N_CLASSES))
    sharpness = np.exp(rng.normal(0.0, SPREAD_SHARPNESS, N_NETWORKS))
    return ScoreLaw(
        prevalence=prevalence, favour=favour, rival=rival, bias=bias, sharpness=sharpness
    )


MOST_SAMPLES = 100_000_000  # beyond it, ids alone fill the memory of any workstation


@dataclass(frozen=True, kw_only=True)
class WorldSettings:
    """What a simulated world is made of; the seed fixes every byte of it."""

    n_calibration: int = setting(
        4_680, "labelled proteins never seen in training", low=1, high=MOST_SAMPLES
    )
    n_query: int = setting(3_000, "proteins of the query set", low=1, high=MOST_SAMPLES)
    n_training: int = setting(2_000, "proteins of the training set", low=0, high=MOST_SAMPLES)
    n_trove: int = setting(300, "new HTJ proteins of the clean trove", low=1, high=MOST_SAMPLES)
    n_defects: int = setting(20, "proteins of each defect in the second trove", low=0, high=10_000)
    n_training_relatives: int = setting(
        40, "calibration proteins with a planted relative in training", low=0, high=MOST_SAMPLES
    )
    seed: int = setting(1, "seed of the world", low=0, high=2**63 - 1)
    family_tail: float = setting(2.5, "exponent of the family sizes", low=1.2, high=10.0)
    largest_family: int = setting(300, "greatest size of a family", low=1, high=100_000)
    family_size: str = setting(
        "heavy_tailed", "sizes of families", choices=("heavy_tailed", "single")
    )
    class_proportions: str = setting("fixed", "class proportions", choices=("fixed", "sampled"))
    length: float = setting(
        1.0, "length of proteins, where 1 is that of real ones", low=0.2, high=2.0
    )
