from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from credence.novelty import detector as detectors
from credence.novelty.detector import (
    Detector,
    evidence_of,
    foils_of,
    interval_of,
    known_kind,
    learn,
    noticed,
    odds_of,
    orders_of,
    range_of_power,
    sample_test,
)
from credence.novelty.space import SIDE_CHAINS
from credence.predictions import Floats, Strings
from credence.records import from_record, to_record

N = 60  # families


def names(values: list[str]) -> Strings:
    return np.array(values, dtype=object)


def proteins(n: int = N, seed: int = 0) -> Strings:
    """Proteins with an order of residues: every third is of one group."""
    rng = np.random.default_rng(seed)
    every = rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), (n, 150))
    every[:, ::3] = rng.choice(list("AILMV"), (n, 50))
    return names(["M" + "".join(letters) for letters in every])


def seen(sequences: Strings) -> Floats:
    n = len(sequences)
    scores = np.zeros((n, 5))
    blank = np.full(n, np.nan)
    return evidence_of(sequences, scores, scores, blank, blank, np.zeros((n, 1)))


def kind_of(found: Detector, evidence: Floats) -> Floats:
    odds = odds_of(found.far(evidence), found.slope, found.offset, len(found.held))
    return known_kind(odds)[0]


@pytest.fixture(scope="module")
def known() -> Strings:
    return proteins()


@pytest.fixture(scope="module")
def family() -> Strings:
    return names([f"family {number}" for number in range(N)])


@pytest.fixture(scope="module")
def found(known: Strings, family: Strings) -> Detector:
    made = {kind: (seen(one), family) for kind, one in foils_of(known, family).items()}
    made["the same again"] = (seen(proteins(N, 1)), names([f"other {at}" for at in range(N)]))
    detector = learn(seen(known), family, made)
    assert detector is not None
    return detector


def test_foils_keep_what_they_should_and_are_the_same_whoever_stands_beside(
    known: Strings, family: Strings
) -> None:
    made = foils_of(known, family)
    for kind, one in made.items():
        assert all(text.startswith("M") and len(text) == 151 for text in one), kind
    assert sorted(made["shuffled"][3]) == sorted(known[3]) != list(made["shuffled"][3])
    assert made["reversed"][3] == "M" + known[3][:0:-1]
    again = foils_of(known[::-1], family[::-1])
    assert again["shuffled"][::-1].tolist() == made["shuffled"].tolist()
    assert foils_of(names(["W"]), names(["a"]))["reversed"].tolist() == ["W"]


def test_the_order_of_residues_is_counted_as_by_hand() -> None:
    # Half of the residues are A, half are D: AD two of three times, by chance a quarter of them.
    order, unknown = orders_of(names(["ADAD", "X"])).reshape(2, detectors.LAGS, 7, 7)
    # Standardised residues are ±1: of A and D one place on −1, −1, −1 by √3.
    assert order[0, 0, 5] == pytest.approx(3 / np.sqrt(3))
    assert order[0, 0, 0] == pytest.approx(-3 / np.sqrt(3))
    assert order[1, 0, 0] == pytest.approx(2 / np.sqrt(2))
    assert not order[3:].any()  # no two residues are so far apart
    assert not unknown.any()


def slow_order(text: str) -> Floats:
    """Residue by residue, standardised, and multiplied with what stands so many places later."""
    here = np.array([[float(letter in own) for own in SIDE_CHAINS] for letter in text])
    share = here.mean(axis=0)
    here = (here - share) / np.sqrt(np.maximum(share * (1.0 - share), 1.0 / len(text)))
    found = np.zeros((detectors.LAGS, 7, 7))
    for lag in range(1, min(detectors.LAGS, len(text) - 1) + 1):
        for one, two in zip(here[:-lag], here[lag:], strict=True):
            found[lag - 1] += np.outer(one, two) / np.sqrt(len(text) - lag)
    return found.ravel()


def test_the_order_of_residues_is_that_of_the_slow_twin() -> None:
    texts = names(["MKXXVLAAGWYCDE", "A", "MK", "*X-", "MKTAYIAKQR" * 4, "GG", "WYWYWYWYW"])
    expected = [slow_order(text) for text in texts]
    np.testing.assert_allclose(orders_of(texts), expected, rtol=1e-12, atol=1e-12)
    assert orders_of(texts[:0]).shape == (0, detectors.LAGS * 49)


def test_p_values_are_those_of_the_slow_twin(found: Detector) -> None:
    asked = seen(
        np.concatenate([proteins(5, 2), foils_of(proteins(5, 3), proteins(5, 3))["random"]])
    )
    scores = found.scores(asked)
    slow = [
        (1 + sum(held >= row[fold] for held, fold in zip(found.held, found.fold, strict=True)))
        / (1 + len(found.held))
        for row in scores
    ]
    np.testing.assert_allclose(found.p_values(asked), slow)


def test_the_interval_of_power_holds_what_other_families_would_show() -> None:
    rng, truth = np.random.default_rng(0), stats.norm.sf(stats.norm.isf(0.05) - 1.5)
    covered = []
    for _ in range(300):
        held, foils = rng.normal(size=70), rng.normal(1.5, size=70)
        k, n = noticed(held, foils)
        ranges = (range_of_power(held, foils), interval_of(k, n))
        covered.append([lower <= truth <= upper for lower, upper in ranges])
    ours, of_foils_alone = np.mean(covered, axis=0)
    assert ours >= 0.95 > 0.8 > of_foils_alone


def test_foils_are_noticed_and_what_is_known_is_not(found: Detector) -> None:
    powers = {power.kind: power for power in found.powers}
    assert powers["shuffled"].power > 0.8 > 0.2 > powers["the same again"].power
    assert powers["shuffled"].lower < powers["shuffled"].power <= powers["shuffled"].upper
    assert powers["the same again"].area == pytest.approx(0.5, abs=0.12)
    new = seen(proteins(200, 4))
    assert np.mean(found.p_values(new) <= 0.05) < 0.1
    assert kind_of(found, new).mean() > 0.97
    assert found.kept > 0.97
    shuffled = seen(foils_of(proteins(200, 4), proteins(200, 4))["shuffled"])
    assert kind_of(found, shuffled).mean() < 0.1
    # One in five of them bears on the others little, and on itself much.
    mixed = kind_of(found, np.concatenate([new, shuffled[:50]]))
    assert mixed[:200].mean() > 0.85 > 0.5 > mixed[200:].mean()


def test_a_sample_of_foils_is_noticed_and_one_of_new_families_is_not(found: Detector) -> None:
    new = seen(proteins(100, 5))
    shuffled = seen(foils_of(proteins(100, 5), proteins(100, 5))["shuffled"])
    same = sample_test(found, found.far(new))
    assert same.n == 100 and same.p > 0.05
    assert sample_test(found, found.far(np.concatenate([new[:80], shuffled[80:]]))).p < 0.01
    by_kind = dict(zip([power.kind for power in found.powers], same.power, strict=True))
    assert by_kind["shuffled"][1] > 0.9 > by_kind["shuffled"][0] > by_kind["the same again"][2]


@pytest.mark.parametrize("n_foreign", [0, 2, 6, 40])
def test_the_share_of_a_sample_is_that_of_the_slow_twin(n_foreign: int) -> None:
    odds = np.concatenate([[0.01, 0.2, 0.5, 1.0], np.full(n_foreign, 8.0)])
    shares = np.linspace(1e-4, 1 - 1e-4, 100_001)[:, None]
    # The posterior mode under a prior of one foreign protein in twenty.
    log = np.log(1 - shares + shares * odds).sum(axis=1)
    prior = np.log(shares) + (detectors.BEFORE - 1) * np.log(1 - shares)
    place = int((log + prior[:, 0]).argmax())
    best, usual = float(shares[place, 0]), 0.05
    # Drawn back by a likelihood-ratio test, one-sided at 5 %: what chance explains is not applied.
    ratio = 2 * (log[place] - np.interp(usual, shares[:, 0], log))
    limit = stats.chi2.ppf(0.9, 1)
    kept = best if best < usual else usual + max(0, 1 - limit / ratio) * (best - usual)
    value, least = known_kind(odds)
    for answer, share in ((value, kept), (least, best)):
        kind = (1 - share) / (1 - share + share * odds) / 0.95
        np.testing.assert_allclose(answer, np.minimum(kind, 1.0), atol=2e-4)
    assert (least <= value).all()
    assert (n_foreign == 40) == bool(kept > 0.5)
    assert (n_foreign == 2) == bool(best > usual == kept)


def test_many_small_foreign_clusters_count_as_the_proteins_they_are() -> None:
    """Of 1,040 proteins 40 are foreign, but of 44 clusters 40 are."""
    odds = np.concatenate([np.full(1000, 0.2), np.full(40, 200.0)])
    one_of_each = np.concatenate([np.ones(4), np.zeros(996), np.ones(40)])
    value, least = known_kind(odds, standing=one_of_each)
    as_proteins, as_clusters = known_kind(odds), known_kind(odds[one_of_each > 0])
    np.testing.assert_allclose(value, as_proteins[0], atol=0.01)
    assert value[0] > 0.98 > 0.5 > value[-1]
    np.testing.assert_allclose(least[[0, -1]], as_clusters[1][[0, -1]], atol=0.01)


def test_where_foils_are_like_all_others_no_confidence_is_lowered() -> None:
    """Families that descend from random residues: nothing tells a foil from a new one."""
    rng = np.random.default_rng(7)
    random = names(["".join(rng.choice(list("ACDEFGHIKL"), 80)) for _ in range(2 * N)])
    family = names([f"family {number}" for number in range(N)])
    detector = learn(seen(random[:N]), family, {"random": (seen(random[N:]), family)})
    assert detector is not None
    assert detector.kept > 0.97
    assert detector.powers[0].lower < 0.05 < detector.powers[0].upper + 0.05
    # Nor that of proteins of another make, which such a detector may find foreign as a whole.
    others = names(["".join(rng.choice(list("LMNPQ"), 200)) for _ in range(50)])
    assert kind_of(detector, seen(others)).tolist() == pytest.approx([1.0] * 50)
    assert detector.powers[0].known_kind == pytest.approx(1.0)


def test_few_families_teach_nothing(known: Strings, family: Strings) -> None:
    few = slice(0, detectors.LEAST_FAMILIES - 1)
    made = {"shuffled": (seen(known[few]), family[few])}
    assert learn(seen(known[few]), family[few], made) is None
    assert learn(seen(known), family, {}) is None


def test_no_order_counts_and_a_record_brings_all_back(found: Detector, known: Strings) -> None:
    again = from_record(Detector, json.loads(json.dumps(to_record(found))))
    np.testing.assert_array_equal(again.p_values(seen(known)), found.p_values(seen(known)))
    assert to_record(again) == to_record(found)


def test_a_large_cluster_that_looks_foreign_takes_no_confidence_from_others() -> None:
    odds = np.concatenate([np.full(20, 0.5), np.full(200, 20.0)])
    one_of_each = np.concatenate([np.ones(21), np.zeros(199)])
    of_clusters, _ = known_kind(odds, standing=one_of_each)
    assert (of_clusters[:20] > 0.98).all()
    assert (of_clusters[20:] < 0.6).all()
    assert (known_kind(odds)[0][:20] < 0.5).all()
