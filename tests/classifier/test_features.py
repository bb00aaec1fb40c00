"""The features of a protein: words by hand, and against the slow obvious count."""

import itertools

import numpy as np
import pytest
from Bio.SeqUtils.ProtParam import ProteinAnalysis

from credence.classifier.features import FeatureSet, feature_set, unknown_residues
from credence.novelty.space import CHEMISTRY, RESIDUES, SIDE_CHAINS
from credence.problems import InputError

TEXTS = ("MKVLAAGW", "ACDX*EFBGHZIK", "MM", "WWWWYYYYCCCCDDDDE", "A")
SEQUENCES = np.array(TEXTS, dtype=object)


def counted_slowly(sequence, groups, length):
    letter_of = {residue: str(at) for at, group in enumerate(groups) for residue in group}
    text = "".join(letter_of.get(residue, "?") for residue in sequence)
    letters = map(str, range(len(groups)))
    words = ["|".join(word) for word in itertools.product(letters, repeat=length)]
    found = dict.fromkeys(words, 0.0)
    if len(groups) > 10:
        text = [letter_of.get(residue, "?") for residue in sequence]
    places = len(text) - length + 1
    for start in range(places):
        word = "|".join(text[start : start + length])
        if word in found:
            found[word] += 1.0 / places
    return list(found.values())


@pytest.mark.parametrize(
    ("name", "groups", "length"),
    [
        ("di", tuple(RESIDUES), 2),
        ("tri", tuple(RESIDUES), 3),
        ("di_sc", SIDE_CHAINS, 2),
        ("tri_sc", SIDE_CHAINS, 3),
        ("tetra_sc", SIDE_CHAINS, 4),
    ],
)
def test_words_are_counted_over_the_places_where_one_could_stand(name, groups, length):
    slow = [counted_slowly(sequence, groups, length) for sequence in TEXTS]
    np.testing.assert_allclose(FeatureSet(name).of(SEQUENCES), slow, atol=1e-7)


def test_two_words_by_hand():
    # MKV: M is of AILMV (0), K of HKR (4), V of AILMV: words 0-4 and 4-0, of two places.
    found = FeatureSet("di_sc").of(np.array(["MKV"], dtype=object))[0]
    assert {place: found[place] for place in np.flatnonzero(found)} == {4: 0.5, 28: 0.5}


@pytest.mark.parametrize(
    ("name", "width"),
    [("di_sc_p", 57), ("tri_sc_p", 351), ("tetra_sc_p", 2409), ("di_tri_p", 8408), ("all", 11201)],
)
def test_a_union_has_the_features_of_its_parts(name, width):
    assert feature_set(name, "x").n_features == width
    assert FeatureSet(name).of(SEQUENCES).shape == (5, width)


def test_properties_are_those_of_biopython():
    sequence = "MKVLAAGWCCYFDEHRKST"
    found = dict(
        zip(CHEMISTRY, FeatureSet("p").of(np.array([sequence], dtype=object))[0], strict=True)
    )
    slow, n = ProteinAnalysis(sequence), len(sequence)
    reduced, cystines = slow.molar_extinction_coefficient()
    assert found["log length"] == pytest.approx(np.log(n))
    assert found["mean residue weight"] == pytest.approx(slow.molecular_weight() / n)
    assert found["aromaticity"] == pytest.approx(slow.aromaticity())
    assert found["isoelectric point"] == pytest.approx(slow.isoelectric_point(), abs=1e-3)
    assert found["instability index"] == pytest.approx(slow.instability_index(), rel=1e-6)
    assert found["hydropathy"] == pytest.approx(slow.gravy(), rel=1e-5)
    assert found["extinction reduced"] == pytest.approx(reduced / n)
    assert found["extinction cystines"] == pytest.approx(cystines / n)


def test_unknown_residues_are_counted_and_make_no_word():
    assert unknown_residues(SEQUENCES).tolist() == [0, 4, 0, 0, 0]
    found = FeatureSet("di").of(np.array(["AXC", "XX"], dtype=object))
    assert not found.any()


def test_a_protein_has_the_same_features_alone_and_among_others():
    together = FeatureSet("tri_sc_p").of(SEQUENCES)
    alone = [FeatureSet("tri_sc_p").of(SEQUENCES[at : at + 1])[0] for at in range(5)]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("name", ["", "penta", "di_di", "tetra", "di_sc_q"])
def test_a_name_of_no_features_is_refused(name):
    with pytest.raises(InputError) as error:
        feature_set(name, "--features")
    assert str(error.value) == (
        f"--features: {name!r} is no set of features. Join some of di, tri, di_sc, tri_sc, "
        "tetra_sc, p with _, as in tetra_sc_p; or write all."
    )
