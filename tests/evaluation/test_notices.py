from __future__ import annotations

from credence.evaluation.notices import notices_of_draws


def test_too_few_draws_for_quantiles_are_told_of() -> None:
    (notice,) = notices_of_draws(20, 0.95)
    assert not notice.is_warning
    assert notice.text == (
        "The intervals rest on 20 bootstrap resamples, and quantiles at 95 % need 100: they reach "
        "as far as the spread of the resamples and Student's t say."
    )
    assert "quantiles at 99.9 % need 5,000:" in notices_of_draws(200, 0.999)[0].text


def test_enough_draws_or_none_are_not_mentioned() -> None:
    assert notices_of_draws(100, 0.95) == notices_of_draws(500, 0.99) == ()
    assert notices_of_draws(0, 0.95) == ()
