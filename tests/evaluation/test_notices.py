"""What a reader has to know before trusting the numbers of an evaluation, in whole sentences."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from credence.evaluation.cautions import cautions_of_draws
from credence.findings import Caution
from credence.sentences import _CAUTIONS, notices_of

HELD_OUT: Any = SimpleNamespace(n_folds=5, n_draws=20, level=0.95)
TESTED: Any = SimpleNamespace(n_folds=0, n_draws=20, level=0.95)


def said(caution: Caution, results: Any = HELD_OUT) -> str:
    whole = SimpleNamespace(**vars(results), cautions=(caution,))
    (notice,) = notices_of(whole)  # type: ignore[arg-type]
    assert (notice.kind, notice.class_name, notice.is_warning) == (
        *(caution.kind, caution.class_name, caution.is_warning),
    )
    return notice.text


def test_too_few_draws_for_quantiles_are_told_of() -> None:
    (caution,) = cautions_of_draws(20, 0.95)
    assert not caution.is_warning
    assert said(caution) == (
        "The intervals rest on 20 bootstrap resamples, and quantiles at 95 % need 100: they reach "
        "as far as the spread of the resamples and Student's t say."
    )
    (finer,) = cautions_of_draws(200, 0.999)
    assert finer.counts == {"needed": 5000}
    assert "need 5,000:" in said(finer)


def test_enough_draws_or_none_are_not_mentioned() -> None:
    assert [*cautions_of_draws(100, 0.95), *cautions_of_draws(500, 0.99)] == []
    assert list(cautions_of_draws(0, 0.95)) == []


CLIPPED = Caution(kind="clipped", methods=("kernel",), counts={"proteins": 3, "mistaken": 1})
FEW = Caution(
    kind="few clusters", class_name="B", counts={"proteins": 3, "independent": 1}, is_warning=True
)
LEFT_OUT = Caution(kind="left out", methods=("kernel",), counts={"proteins": 1})
RAW = Caution(kind="unseen class", class_name="B", methods=("uncalibrated",))
SAID = (
    (
        Caution(kind="ties", counts={"proteins": 1}),
        "1 protein of the calibration set has two or more classes with the same best score. The "
        "class that comes first in the table counts as predicted.",
    ),
    (
        Caution(kind="no relatives", is_warning=True),
        "Every protein of the calibration set counts as independent of all others. If some are "
        "relatives, the intervals are too narrow and the held-out numbers too good. Give the "
        "sequences, or a table of clusters.",
    ),
    (
        Caution(kind="weights"),
        "Proteins of the calibration set carry different weights. Shares and metrics are "
        "weighted; counts of proteins are not.",
    ),
    (
        RAW,
        "No calibration protein is predicted to be B. Predictions of this class get no "
        "confidence, but of uncalibrated the raw score.",
    ),
    (
        FEW,
        "The 3 proteins predicted to be B count as only 1 independent case, fewer than the 5 "
        "folds. Held-out numbers of this class are uncertain.",
    ),
    (
        replace(FEW, counts={"proteins": 1, "independent": 1}),
        "Only one calibration protein is predicted to be B, so no fit without it can judge it. "
        "There are no held-out numbers of this class.",
    ),
    (
        Caution(kind="no true member", class_name="B"),
        "No calibration protein is truly B, so every prediction of it was wrong.",
    ),
    (
        Caution(kind="fallback", class_name="B", methods=("a", "b"), note="no bandwidth"),
        "B (a, b): no bandwidth.",
    ),
    (Caution(kind="fallback", class_name="B", note="no bandwidth"), "B: no bandwidth."),
    (
        LEFT_OUT,
        "kernel gives 1 protein no held-out confidence, because the class predicted occurs in no "
        "other fold. They are left out of the held-out numbers.",
    ),
    (
        CLIPPED,
        "kernel gives 3 proteins a held-out confidence of 0 or 1, and 1 of these was mistaken. "
        "For the negative log-likelihood they count as 1e-15 away from 0 or 1.",
    ),
    (
        Caution(
            kind="reliability", class_name="B", methods=("kernel",), counts={"off": 3, "bins": 9}
        ),
        "Confidences of kernel for B are not calibrated on proteins that the fit did not see: in "
        "3 of 9 bins the mean confidence lies outside the 95 % interval of the precision.",
    ),
)


@pytest.mark.parametrize(("caution", "text"), SAID)
def test_every_caution_has_its_sentence(caution: Caution, text: str) -> None:
    assert said(caution) == text


def test_no_template_is_left_unread() -> None:
    assert {caution.kind for caution, _ in SAID} | {"few draws"} == set(_CAUTIONS)


def test_of_a_test_set_nothing_is_said_to_be_held_out() -> None:
    assert said(Caution(kind="no relatives"), TESTED) == (
        "Every protein of the test set counts as independent of all others. If some are "
        "relatives, the intervals are too narrow. Give the sequences, or a table of clusters."
    )
    assert said(LEFT_OUT, TESTED) == (
        "kernel gives 1 protein no confidence, because calibration never saw the class "
        "predicted. They are left out of the numbers."
    )
    assert said(replace(CLIPPED, counts={"proteins": 1, "mistaken": 0}), TESTED) == (
        "kernel gives 1 protein a confidence of 0 or 1, and 0 of these were mistaken. For the "
        "negative log-likelihood they count as 1e-15 away from 0 or 1."
    )
