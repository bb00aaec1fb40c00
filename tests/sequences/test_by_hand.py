"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.relatives import (
    alignment,
    audit,
    cdhit,
    graph,
    mmseqs,
    pack,
    pairs,
    programs,
    strict,
)

NOBODY = np.zeros(3, dtype=bool)


def test_an_alignment_of_five_residues_covers_half_of_ten() -> None:
    assert alignment.alignment_of_long("MKWVTFISLL", "WVTFI") == (1.0, 1.0, 0.5)


def test_a_sample_of_all_but_few_bounds_what_crosses() -> None:
    assert audit.most_crossing(0, 1_000, 20_000) == 58
    assert audit.most_crossing(0, 9_014, 20_000) == 4


def test_a_clstr_file_names_the_representative_of_each() -> None:
    lines = [">Cluster 0", "0\t9aa, >a x... *", "1\t8aa, >b... at 1:8:1:8/87.50%"]
    found = cdhit.parse_clstr(lines, "x.clstr")
    assert [column.tolist() for column in found] == [["a", "b"], ["a", "a"]]


def test_components_are_numbered_from_the_first_node_on() -> None:
    assert graph.components(4, np.array([0, 2]), np.array([3, 2])).tolist() == [0, 1, 2, 0]


def test_the_first_by_id_of_the_longest_stands_for_a_component() -> None:
    ids = np.array(["b", "a", "c"], dtype=object)
    found = graph.representatives(np.array([0, 0, 1]), ids, np.array([5, 5, 9]))
    assert found.tolist() == [1, 1, 2]


def test_a_release_of_mmseqs_is_known_by_its_number_or_its_commit() -> None:
    assert mmseqs.release_of("14.7e284+ds-1") == 14
    assert mmseqs.release_of("8cc5ce367b5638c4306c2d7cfc652dd099a4643f") == 18


def test_whole_clusters_go_to_groups_and_relatives_of_training_to_none() -> None:
    names = np.array(["a", "b", "c", "d"], dtype=object)
    cluster, class_ = np.array(["a", "a", "c", "d"], dtype=object), np.array([0, 0, 0, 1])
    assert pack.pack(names, cluster, class_, 2).group.tolist() == ["1", "1", "2", "2"]
    learnt = np.array([True, False, False, False])
    found = pack.pack(names, cluster, class_, 2, is_training=learnt)
    assert found.reason[1] == "relative of training protein 'a'"


def test_the_kind_of_a_reason_names_no_protein() -> None:
    training = "relative of training protein"
    assert pack.kind_of(f"{training} 'x' (identity 0.72)") == training
    crossing = "relative of protein 'x' of group 3 (identity 0.41)"
    assert pack.kind_of(crossing) == "relative of protein"


def test_deviations_are_0_where_a_class_is_spread_evenly_and_half_where_it_is_not() -> None:
    found = pack.deviations(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2)
    assert found.round(3).tolist() == [0.167, 0.5]


def test_no_dealing_of_three_relatives_and_one_other_is_even() -> None:
    cluster = np.array([0, 0, 0, 1])
    assert pack.lower_bounds(cluster, np.zeros(4, dtype=int), 2).tolist() == [0.25]


def test_the_least_score_of_a_pair_grows_with_the_shorter_protein() -> None:
    found = pairs.Thresholds(identity=0.4, coverage=0.8).least_score([100, 200])
    assert found.round(1).tolist() == [72.0, 144.0]


def test_ranges_give_all_their_places() -> None:
    number, place = pairs.ranges(np.array([5, 0]), np.array([7, 1]))
    assert (number.tolist(), place.tolist()) == ([0, 0, 1], [5, 6, 0])


def test_equal_keys_before_each_are_counted() -> None:
    assert pairs.n_equal_before(np.array([3, 1, 3, 3])).tolist() == [0, 0, 1, 2]


def test_longer_proteins_need_a_higher_score() -> None:
    assert pairs.score_needed(300, [300, 1200]).round(1).tolist() == [82.5, 87.7]


def test_rare_letters_stand_for_known_ones_or_x() -> None:
    assert pairs.canonical("MUBZ?") == "MCDEX"


def test_each_sequence_is_there_once_the_longest_first() -> None:
    found = pairs.distinct(np.array(["MK", "MKV", "MK"], dtype=object))
    assert (found.texts.tolist(), found.code.tolist()) == (["MKV", "MK"], [1, 0, 1])


def test_the_largest_evalue_is_that_of_the_shortest_target() -> None:
    targets = np.array(["M" * 900, "M" * 100], dtype=object)
    assert programs.largest_evalue(targets, pairs.Thresholds(most_expected=0.01)) == 0.1


def test_the_score_of_a_diagonal_worth_an_alignment() -> None:
    found = programs.diagonal_needed(np.array([60, 120, 160, 900]))
    assert found.tolist() == [30.0, 36.0, 42.0, 45.0]


def test_one_row_touches_two_pairs() -> None:
    assert strict.fewest(np.array([0, 1]), np.array([1, 2]), 3, NOBODY).tolist() == [1]


def test_a_triangle_costs_two_rows_at_least() -> None:
    assert strict.least(np.array([0, 1, 2]), np.array([1, 2, 0]), 3, NOBODY) == 2
