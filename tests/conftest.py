"""Fixtures that several folders of tests share, and the order of files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from credence import progress

# Findings written by hand, pages of them, release folders of drawn worlds, known numbers.
pytest_plugins = ["small_findings", "shift_findings", "drawn_releases", "known_numbers"]

# Folders whose files take long; they begin first, so that no process waits for one at the end.
LONG_FIRST = (
    "tests/workflow/",
    "tests/docs/",
    "tests/faults/",
    "tests/browser/",
    "tests/cli/",
    "tests/engines/",
    "tests/calibrators/",
    "tests/test_",
)

# Slow, and like others that stay: the same of another method, ending, width or colour, or one
# more refusal of its kind. They run with `make test-long`.
LONG = (
    *(
        f"{name}auto]"
        for name in (
            "test_scaling_the_scores_changes_no_confidence[",
            "test_permuting_classes_changes_no_confidence[",
            "test_permuting_rows_changes_no_confidence[",
            "test_the_order_of_rows_is_nothing[",
            "test_fitting_and_asking_leave_their_inputs_as_they_were[",
            "test_a_scarce_class_gives_its_share_with_jeffreys_prior[2-",
            "test_a_scarce_class_gives_its_share_with_jeffreys_prior[3-",
            "test_a_one_sided_class_is_never_certain[True-",
            "test_no_interval_is_given_when_none_is_asked_for[",
            "test_every_method_is_judged_and_drawn[",
        )
    ),
    # Of a stack by itself: test_a_scarce_class_has_the_interval_of_its_share.
    "test_a_scarce_class_gives_its_share_with_jeffreys_prior[1-auto]",
    "test_every_method_is_judged_and_drawn[trees]",
    "test_methods_of_every_kind_can_be_compared[platt -> kernel]",
    "test_summing_up_for_the_page_holds_a_piece[tsv]",
    "test_annotating_holds_a_chunk[parquet]",
    "test_annotating_several_tables_holds_a_chunk",
    "test_annotating_an_ensemble_holds_a_chunk[npz]",
    "test_annotating_an_ensemble_holds_a_chunk[parquet]",
    "test_few_sets_of_very_unlike_families_are_taken_for_another_classifier",
    "test_there_is_no_serious_finding_of_accessibility[two classes-dark]",
    "test_figures_are_as_wide_as_columns_and_no_taller_than_a_page[174]",
    "test_another_composition_of_one_use_set_redoes_its_part_alone",
    "test_without_a_confidence_to_keep_consistency_lowers_the_log_loss",
    "test_neither_rows_nor_classes_have_an_order",
    "test_a_table_that_grows_beyond_measure_is_refused_in_little_memory",
    "test_a_shift_file_of_other_classes_is_no_part_of_a_page",
    "test_the_same_findings_give_the_same_bytes_in_other_processes",
    "test_the_examples_of_the_help_work_one_after_the_other",
    "test_editing_the_package_remakes_everything",
    # Beside ones of the same law, reader or order of rows that stay.
    "test_snakemake_at_the_root_plans_the_same_as_credence_run",
    "test_a_one_sided_class_is_never_certain[False-auto]",
    "test_any_classifier_is_wrapped_and_keeps_its_predictions[the default method]",
    "test_few_and_many_classes_are_fitted_alike[60]",
    *(
        f"test_the_minimum_is_that_of_a_general_optimiser_on_the_plain_formula[{name}]"
        for name in ("0-nll", "0-brier", "1-brier")
    ),
    *(
        f"{name}[{method}]"
        for name in (
            "test_scaling_the_scores_changes_no_confidence",
            "test_permuting_classes_changes_no_confidence",
            "test_permuting_rows_changes_no_confidence",
        )
        for method in ("cstswa", "macest")
    ),
    "test_each_row_twice_is_weight_2[cstswa]",
    "test_the_likelihood_on_phanns_table_is_the_one_known[cstswa-0.19602]",
    "test_more_parameters_never_fit_worse",
    "test_no_case_fails_or_gives_a_share_that_is_none[thirty classes-bbse_hard]",
    "test_the_calibration_sets_own_composition_changes_nothing[random_trees]",
    "test_neither_the_order_of_rows_nor_of_classes_moves_a_share_or_its_interval[rlls]",
    "test_mmseqs_finds_the_same_groups",
    "test_20000_proteins_in_12_groups_are_even_within_seconds",
    "test_a_table_of_distances_counts_before_those_of_novelty",
    "test_whatever_columns_are_called_what_init_writes_passes_check",
    "test_the_same_bytes_twice_and_in_another_order",
    "test_two_runs_on_one_core_and_on_two_write_the_same_bytes",
    "test_rows_in_another_order_write_the_same_metrics",
    "test_the_same_comparison_gives_the_same_bytes",
    "test_the_newer_release_may_come_first",
    "test_a_release_against_itself_changes_nothing",
    "test_fit_writes_the_same_bytes_twice",
    "test_losses_in_sample_stand_beside_those_held_out_in_whatever_order_columns_come",
    "test_parts_joined_are_the_bytes_of_the_whole[use.parquet-7]",
    "test_parts_joined_are_the_bytes_of_the_whole[gaps.csv-7]",
    "test_checking_an_ensemble_holds_a_chunk[parquet]",
    "test_no_relative_crosses_a_strict_split_of_real_proteins[set_aside]",
    "test_pieces_are_the_whole_to_the_bit[parquet]",
    "test_intervals_hold_their_numbers_and_have_width[kernel]",
    "test_the_chance_of_a_false_guarantee_is_at_most_what_is_left_of_certainty[chances0]",
    "test_the_chance_of_a_false_guarantee_is_at_most_what_is_left_of_certainty[chances1]",
)


@pytest.fixture(scope="session", autouse=True)
def no_progress() -> Iterator[None]:
    """Keep lines of progress off what commands print, however slow the machine is.

    For the whole session: fixtures that several tests share run commands as well.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "SECONDS_BEFORE_FIRST", 3600.0)
        yield


SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real tables, or skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the real tables are not beside this checkout: {SHARED_DATA} is absent")
    return SHARED_DATA


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is long, and put files that take long first; within a file the order stays."""
    for item in items:
        if item.name in LONG:
            item.add_marker(pytest.mark.long)

    def place(item: pytest.Item) -> int:
        found = [at for at, folder in enumerate(LONG_FIRST) if item.nodeid.startswith(folder)]
        return found[0] if found else len(LONG_FIRST)

    items.sort(key=place)


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """Return the schema of the configuration."""
    from credence.app import configuration

    return configuration.load_schema()
