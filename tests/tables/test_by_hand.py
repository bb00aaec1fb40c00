"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.tables import (
    contract,
    document,
    fasta,
    formats,
    guess,
    labels,
    samples,
    scan,
    stage_files,
    writing,
)


def test_a_set_is_the_names_of_its_classes_in_the_classifiers_order() -> None:
    assert contract.set_texts(
        np.array([[True, True], [False, False]]), ("Portal", "HTJ")
    ).tolist() == ["Portal|HTJ", ""]


def test_dotted_gives_the_path_of_a_setting_as_one_word() -> None:
    assert document.dotted(("queries", 0, "name")) == "queries[0].name"


def test_shown_gives_a_value_as_a_user_writes_it() -> None:
    assert document.as_written("ten") == "'ten'"
    assert document.as_written(None) == "null"
    assert document.as_written(True) == "true"
    assert document.as_written([1, "a"]) == '[1, "a"]'


def test_residues_are_capitals_without_gaps_and_the_stop_at_the_end() -> None:
    assert fasta._residues("mkl-VW.X*") == "MKLVWX"


def test_ids_of_gives_what_of_each_header_is_the_id() -> None:
    assert fasta.ids_of(np.array(["p1 portal protein"], dtype=object), "first_word").tolist() == [
        "p1"
    ]


def test_spell_deepvp_gives_a_class_with_underscores() -> None:
    assert formats.spell_deepvp("Major tail") == formats.spell_deepvp("Major_tail")


def test_spellings_of_phanns_are_equal() -> None:
    assert (
        formats.spell_phanns("shaft")
        == formats.spell_phanns("tail_shaft")
        == formats.spell_phanns("Tail shaft")
    )


def test_label_of_id_gives_the_label_in_front_of_the_number_if_there_is_a_number() -> None:
    names = ("tail_shaft_3", "others_", "HTJ_7", "portal")
    label_of_id = formats.FORMAT_OF["phanns-labelled"].label_of_id
    assert [label_of_id(name) for name in names] == ["tail_shaft", "others", "HTJ", "portal"]


def test_spell_phrogs_gives_a_category_with_underscores_for_blanks_and_commas() -> None:
    one, other = "DNA, RNA and nucleotide metabolism", "DNA_RNA_and_nucleotide_metabolism"
    assert formats.spell_phrogs(one) == formats.spell_phrogs(other)


def test_category_gives_the_full_name_of_a_category() -> None:
    assert formats.category("head_and_packaging") == "head and packaging"


def test_spell_signalp6_gives_the_short_name_of_a_class() -> None:
    assert formats.spell_signalp6("SP(Sec/SPI)") == "SP"
    assert formats.spell_signalp6("NO_SP") == "OTHER"


def test_labels_from_headers_gives_the_labels_that_the_headers_of_a_fasta_file_carry() -> None:
    headers = ["p1 class=HTJ"]
    found = labels.labels_from_headers("a.fasta", ["p1"], headers, [1], "=(?P<label>.+)")
    assert found.texts.tolist() == ["HTJ"]


def test_in_order_gives_the_names_of_networks_each_once_by_their_numbers() -> None:
    assert samples.in_order(["10", "2", "1", "2"]) == ("1", "2", "10")


def test_pool_gives_the_pooled_scores_and_the_scale_to_which_their_rows_sum() -> None:
    assert (
        repr(samples.pool(np.array([[[0.5, 0.5], [0.9, 0.1]]]), "sum", 0.1))
        == "(array([[1.4, 0.6]]), 2.0)"
    )
    assert (
        repr(samples.pool(np.array([[[0.5, 0.5], [0.9, 0.1]]]), "log_sum", 0.1))
        == "(array([[0.9, 0.1]]), 1.0)"
    )


def test_a_protein_begins_where_the_id_changes() -> None:
    assert samples._begins_protein(np.array(["a", "b", "b"], dtype=object), "a").tolist() == [
        False,
        True,
        False,
    ]


def test_shown_gives_a_number_as_messages_show_it() -> None:
    assert scan.shown(10.0) == "10"
    assert scan.shown(0.055) == "0.055"


def test_made_up_gives_predictions_of_every_class_with_scores_from_even_to_certain() -> None:
    assert stage_files.made_up(("a", "b"), 10.0, 0.01).n_samples == 24


def test_known_proteins_gives_by_what_some_proteins_are_found_again() -> None:
    known = stage_files.known_proteins(np.array(["p1", "2"], dtype=object), {"p1": "MK"})
    assert known.notes(np.array(["p1", "2", "p3"], dtype=object), {"p3": "MK"}).tolist() == [
        32768,
        0,
        65536,
    ]


def test_settings_record_gives_every_setting_of_a_fit_with_its_value() -> None:
    assert stage_files.settings_record(
        parse_method("class_only", "example"), FitOptions(n_draws=50)
    )["stages"] == [{"method": "class_only"}]


def test_plain_gives_a_name_in_small_letters_words_apart() -> None:
    assert guess.plain("Protein_ID") == "protein id"
    assert guess.plain("trueClass") == "true class"


def test_a_device_of_windows_is_one_with_any_ending() -> None:
    names = ("aux.tsv", "Com1", "auxiliary.tsv")
    assert [writing.device_of(name) for name in names] == ["aux", "Com1", None]


def test_six_decimals_make_no_0_and_no_1_of_another_number() -> None:
    numbers = np.array([0.0, 1e-9, 0.123456789, 0.95, 0.9999998, 1.0])
    assert writing.six_decimals(numbers).tolist() == [0.0, 1e-6, 0.123456, 0.95, 0.999999, 1.0]
