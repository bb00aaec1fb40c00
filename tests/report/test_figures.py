from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from credence.findings import Findings
from credence.report import style
from credence.report.figures import draw, to_svg
from credence.report.plots import ComparisonPlot, ConfidencePlot, DistancePlot, ReliabilityPlot
from credence.report.sections.lookup import Lookup


def confidence_plot(findings: Findings, n_methods: int) -> ConfidencePlot:
    results = findings.results
    curves = tuple(c for c in results.curves if c.class_name == "Portal")
    chosen = tuple(replace(curves[-1], method=f"method_{k}") for k in range(n_methods))
    entry = results.classes[0]
    return ConfidencePlot(
        curves=chosen,
        histogram=results.histograms[0],
        share=entry.share,
        score_min=entry.score_min,
        score_max=entry.score_max,
        scale=results.scale,
    )


def comparison(value: float) -> ComparisonPlot:
    return ComparisonPlot(
        axis="NLL",
        rows=("all", "A"),
        methods=("m", "n"),
        value=((0.2, 0.3), (0.25, value)),
        lower=((0.1, 0.2), (0.2, math.nan)),
        upper=((0.3, 0.4), (0.3, math.nan)),
    )


def test_the_curve_drawn_is_the_curve_found_within_the_scores_seen(small: Findings) -> None:
    plot = confidence_plot(small, 1)
    axes = draw(plot).axes[0]
    lines = {line.get_label(): line for line in axes.get_lines()}
    drawn = dict(zip(*(values.tolist() for values in lines["confidence"].get_data()), strict=True))
    found = dict(zip(plot.curves[0].score, plot.curves[0].value, strict=True))
    assert drawn == {s: v for s, v in found.items() if plot.score_min <= s <= plot.score_max}
    assert set(lines["class only"].get_ydata()) == {plot.share}


def test_the_bars_are_the_shares_and_an_empty_bin_has_none(small: Findings) -> None:
    bars = draw(confidence_plot(small, 1)).axes[0].patches
    heights = [bar.get_height() for bar in bars]
    assert heights == [0.0, 0.4, 0.7, 0.9]


def test_points_of_reliability_stand_where_the_bins_say(small: Findings) -> None:
    bins = small.results.reliability[0].bins
    axes = draw(ReliabilityPlot(names=("held out",), bins=(bins,))).axes[0]
    points = next(line for line in axes.get_lines() if len(line.get_xdata()) == 3)
    assert points.get_xdata().tolist() == list(bins.mean[1:])
    assert points.get_ydata().tolist() == list(bins.share[1:])


def test_a_number_far_beyond_the_rest_is_an_arrow_that_names_it() -> None:
    axes = draw(comparison(9.0)).axes[0]
    assert [text.get_text() for text in axes.texts] == ["9.00"]
    assert axes.get_xlim()[1] < 9.0


def test_numbers_of_two_methods_beyond_the_axis_do_not_lie_upon_each_other() -> None:
    value = ((0.2, 0.3), (0.25, 7.0), (0.2, 8.0), (0.2, 9.0))
    figure = draw(
        ComparisonPlot(
            axis="NLL",
            rows=("all", "A"),
            methods=("m", "n", "o", "p"),
            value=value,
            lower=value,
            upper=value,
        )
    )
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 3
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])


def test_a_number_among_the_rest_is_no_arrow() -> None:
    axes = draw(comparison(0.35)).axes[0]
    assert not axes.texts
    assert axes.get_xlim()[1] > 0.35


def test_an_interval_that_does_not_hold_its_number_is_drawn_where_it_lies() -> None:
    plot = replace(
        comparison(0.35), lower=((0.1, 0.2), (0.2, 0.4)), upper=((0.3, 0.25), (0.3, 0.5))
    )
    axes = draw(plot).axes[0]
    drawn = [
        tuple(np.round(segment[:, 0], 6).tolist())
        for lines in axes.collections
        for segment in lines.get_segments()
    ]
    assert drawn == [(0.1, 0.3), (0.2, 0.25), (0.2, 0.3), (0.4, 0.5)]
    points = [
        line.get_xdata().tolist() for line in axes.get_lines() if line.get_marker() != "None"
    ]
    assert points[:2] == [[0.2, 0.3], [0.25, 0.35]]


@pytest.mark.parametrize("n_methods", [1, 2, 7, 20])
def test_every_method_has_a_line_and_a_name_of_its_own(small: Findings, n_methods: int) -> None:
    svg = to_svg(confidence_plot(small, n_methods), "figure")
    if n_methods > 1:
        assert [svg.count(f">method_{k}<") for k in range(n_methods)] == [1] * n_methods
    looks = {(style.colour_of(k), style.line_of(k)) for k in range(n_methods)}
    assert len(looks) == n_methods


def test_names_in_scripts_without_glyphs_or_with_markup_are_drawn_as_text(small: Findings) -> None:
    plot = replace(comparison(0.3), rows=("衣壳蛋白", "<script>$x^2$"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg = to_svg(plot, "figure")
    assert ">衣壳蛋白<" in svg
    assert ">&lt;script&gt;$x^2$<" in svg


def test_a_comparison_without_any_number_is_not_asked_for(small: Findings) -> None:
    from credence.report.sections.methods import section, verdict_on_methods

    blank = tuple(
        replace(m, value=math.nan) if m.sample == "held_out" else m for m in small.results.metrics
    )
    without = replace(small, results=replace(small.results, metrics=blank))
    built = section(without)
    assert verdict_on_methods(Lookup(without)) == (
        "Nothing could be cross-validated, so the methods cannot be compared."
    )
    assert "methods-nll" not in repr(built)


@pytest.mark.parametrize("peak", [40, 165, 1000])
def test_the_label_of_shares_lies_within_the_picture(peak: int) -> None:
    rest = (1000 - peak) // 29
    counts = (peak, *([rest] * 29))
    edges = tuple(place / 20 for place in range(31))
    figure = draw(
        DistancePlot(names=("calibration", "use"), edges=edges, counts=(counts, counts), flag=1.0)
    )
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.yaxis.label.get_window_extent().x0 >= 0
    assert len(axes.get_yticks()) >= 3
