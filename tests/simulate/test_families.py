from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from credence.simulate.law import WorldSettings, score_law
from credence.simulate.sequences import draw_families, whole_shares

SETTINGS = WorldSettings()


def test_fixed_composition_gives_every_class_its_share_to_the_protein() -> None:
    shares = score_law().prevalence
    families = draw_families(SETTINGS, 4680, shares, np.random.default_rng(3))
    counts = np.bincount(families.member_class, minlength=11)
    assert counts.tolist() == whole_shares(shares, 4680).tolist()
    assert counts.sum() == families.size.sum() == families.n_members == 4680
    assert np.abs(counts - 4680 * shares).max() < 1


def test_sampled_composition_varies_more_than_that_of_independent_proteins() -> None:
    settings = replace(SETTINGS, class_proportions="sampled")
    shares = score_law().prevalence
    rng = np.random.default_rng(4)
    counts = [
        (draw_families(settings, 2000, shares, rng).member_class == 10).sum() for _ in range(60)
    ]
    independent = 2000 * shares[10] * (1 - shares[10])
    assert np.var(counts) > 2 * independent
    # The mean is the share itself: four standard errors of sixty draws.
    assert abs(np.mean(counts) - 2000 * shares[10]) < 4 * np.std(counts) / np.sqrt(60)


def test_family_sizes_are_heavy_tailed_with_many_singletons() -> None:
    families = draw_families(SETTINGS, 46_801, score_law().prevalence, np.random.default_rng(5))
    # P(size 1) = 1 / sum of m^-2.5 up to 300 = 0.745; cut families add a few.
    assert np.mean(families.size == 1) == pytest.approx(0.745, abs=0.02)
    assert 100 < families.size.max() <= 300


def test_single_families_have_one_member_and_no_copies() -> None:
    settings = replace(SETTINGS, family_size="single")
    families = draw_families(settings, 500, score_law().prevalence, np.random.default_rng(6))
    assert (families.size == 1).all()
    assert not families.is_duplicate.any()


def test_a_familys_first_member_is_never_a_copy_and_some_others_are() -> None:
    families = draw_families(SETTINGS, 20_000, score_law().prevalence, np.random.default_rng(7))
    first = np.cumsum(families.size) - families.size
    assert not families.is_duplicate[first].any()
    further = families.n_members - families.n_families
    # A share of 0.05, within four standard errors.
    bound = 4 * np.sqrt(0.05 * 0.95 / further)
    assert families.is_duplicate.sum() / further == pytest.approx(0.05, abs=bound)


def test_members_of_a_family_share_its_name_and_class() -> None:
    families = draw_families(SETTINGS, 800, score_law().prevalence, np.random.default_rng(8))
    names = families.names("simulated_family")
    assert len(np.unique(names)) == families.n_families
    for name in np.unique(names):
        assert len(np.unique(families.member_class[names == name])) == 1
