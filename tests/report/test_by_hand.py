"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import math

from credence.problems import plural
from credence.report import html, wording
from credence.report.journal import layout
from credence.report.sections import lists, lookup, measuring
from credence.report.verdict import StatedVerdict


def test_data_text_gives_data_as_json_that_can_stand_inside_a_script_element() -> None:
    assert (
        str(html.data_text({"name": "</script>", "value": float("nan")}))
        == '{"name":"\\u003c/script\\u003e","value":null}'
    )


def test_labels_gives_names_short_enough_for_an_axis() -> None:
    assert layout.axis_labels(("a" * 30 + "1", "a" * 30 + "2"))[0] == "1 aaaaaaaaaaaaaaaaaaaaa…"


def test_percent_gives_a_share_in_percent() -> None:
    assert lists.percent(0.05) == "5 %"
    assert lists.percent(0.125) == "12.5 %"


def test_proteins_that_would_halve_an_interval() -> None:
    assert lookup.more_needed(0.26, 0.67, 26.0, 0.95) == 78
    assert lookup.more_needed(0.0, 0.86, 1.0, 0.95) == 19


def test_words_of_test_gives_what_a_test_shows() -> None:
    assert measuring.words_of_test(0.0004, 0.8) == "off: p <0.001, power 0.80"
    assert measuring.words_of_test(0.25, 0.8) == "not seen off: p 0.250, power 0.80"
    assert measuring.words_of_test(1.0, 0.09) == "no answer: power 0.09"
    assert measuring.words_of_test(0.5, math.nan) == "no answer: power not known"
    assert measuring.words_of_test(math.nan, math.nan) == "–"


def test_p_words_gives_a_p_value_with_three_decimals() -> None:
    assert measuring.p_words(0.0004) == "<0.001"
    assert measuring.p_words(0.25) == "0.250"
    assert measuring.p_words(float("nan")) == "–"


def test_share_gives_a_probability_with_two_decimals_or_three_near_0_and_1() -> None:
    assert wording.share(0.934) == "0.93"
    assert wording.share(0.9962) == "0.996"
    assert wording.share(0.9999) == ">0.999"
    assert wording.share(1.0) == "1.00"
    assert wording.share(float("nan")) == "–"
    assert wording.share(0.0001) == "<0.001"


def test_interval_gives_an_interval_in_brackets_or_nothing() -> None:
    assert wording.interval(0.9, 0.95) == "(0.90–0.95)"
    assert wording.interval(float("nan"), 1.0) == ""


def test_with_interval_gives_a_probability_with_its_interval() -> None:
    assert wording.with_interval(0.93, 0.9, 0.95) == "0.93 (0.90–0.95)"


def test_rounded_gives_a_number_with_so_many_decimals() -> None:
    assert wording.rounded(-0.25, 1) == "−0.2"
    assert wording.rounded(0.25, 3, "+") == "+0.250"
    assert wording.rounded(-0.0001, 3, "+") == "0.000"
    assert wording.rounded(math.nan, 1) == "–"


def test_loss_gives_a_metrics_value_or_a_difference_with_its_sign_and_its_interval() -> None:
    assert wording.loss(0.1234, 0.1, 0.2) == "0.123 (0.100 to 0.200)"
    assert wording.loss(float("nan"), 0.1, 0.2) == "–"
    assert wording.loss(7.1, 2.0, 12.0, 1, "+") == "+7.1 (+2.0 to +12.0)"


def test_score_gives_a_score_with_as_many_decimals_as_its_scale_asks_for() -> None:
    assert wording.score(7.0, 10.0) == "7"
    assert wording.score(7.25, 10.0) == "7.25"
    assert wording.score(0.725, 1.0) == "0.725"
    assert wording.score(float("nan"), 1.0) == "–"


def test_round_score_gives_a_score_from_which_on_something_holds() -> None:
    assert wording.round_score(7.2501, 10.0) == "7.26"
    assert wording.round_score(7.25, 10.0) == "7.25"
    assert wording.round_score(0.1 + 0.2, 1.0) == "0.3"


def test_count_gives_a_whole_number_with_commas_between_thousands() -> None:
    assert wording.count(46801) == "46,801"


def test_shown_gives_a_text_or_a_count_as_tables_show_it() -> None:
    assert wording.shown(1200) == "1,200"
    assert wording.shown("Portal") == "Portal"
    assert wording.shown("") == "–"


def test_plural_gives_a_count_with_its_noun() -> None:
    assert plural(1, "protein") == "1 protein"
    assert plural(1200, "family", "families") == "1,200 families"


def test_as_sentence_gives_a_text_that_begins_as_sentences_do() -> None:
    assert wording.as_sentence("the true class is Portal") == "The true class is Portal"


def test_shortened_gives_a_name_that_fits_into_a_figure() -> None:
    assert wording.shortened("Portal") == "Portal"
    assert wording.shortened("a very long name of a rare class") == "a very long name of a r…"


def test_slug_gives_an_anchor_of_letters_digits_and_hyphens() -> None:
    assert wording.slug("Tail shaft", 7) == "7-tail-shaft"
    assert wording.slug("<script>", 1) == "1-script"


def test_control_characters_are_shown_as_replacement_characters() -> None:
    assert wording.printable("a" + chr(0) + "b") == "a" + wording.REPLACEMENT + "b"


def test_names_of_gives_class_names_for_a_sentence() -> None:
    assert wording.in_words(["Portal", "Collar"]) == "Portal and Collar"
    assert wording.in_words("abcdefg") == "a, b, c, d and 3 more"


def test_points_gives_a_difference_of_shares_without_its_sign() -> None:
    assert wording.points(-0.0213) == "2.1 percentage points"


def test_a_good_verdict_is_not_worse_than_a_good_one() -> None:
    assert list(StatedVerdict(state="good", checks=()).worse_than("good")) == []


def test_another_classifier_would_be_noticed_so_often() -> None:
    assert wording.noticed_if_off(0.093) == (
        "scores that put confidences five percentage points off would be noticed in 9 of 100 "
        "samples"
    )


def test_ends_of_an_interval_that_are_nearly_0_or_1_are_shown_as_0_and_1() -> None:
    assert wording.interval(0.0002, 0.99972) == "(0.00–1.00)"
    assert wording.interval(0.0006, 0.9991) == "(0.001–0.999)"
    assert wording.share(0.99972) == ">0.999"
