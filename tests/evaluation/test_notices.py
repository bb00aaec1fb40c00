from __future__ import annotations

from credence.evaluation.notices import notices_of_draws


def test_too_few_draws_for_the_ends_of_an_interval_are_warned_of() -> None:
    (notice,) = notices_of_draws(20, 0.95)
    assert notice.is_warning
    assert notice.text == (
        "The intervals rest on 20 draws, too few to reach the ends of a 95 % interval: they are "
        "too narrow. Take at least 40, or better 200."
    )
    assert "Take at least 20," in notices_of_draws(1, 0.9)[0].text


def test_enough_draws_or_none_need_no_warning() -> None:
    assert notices_of_draws(40, 0.95) == notices_of_draws(200, 0.99) == ()
    assert notices_of_draws(0, 0.95) == ()
