"""What the functions of :mod:`credence.api` return: records that show themselves.

Each prints as plain text, as a table in a notebook, becomes a DataFrame with
`to_pandas`, and draws itself with `plot`. pandas and matplotlib are imported
only by those two.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from credence.calibrators.protocol import components_asked
from credence.confidence import Confidence, Note
from credence.evaluation.evaluate import metric_columns
from credence.evaluation.judging import TEST_SAMPLE
from credence.findings import (
    ACCEPT,
    Findings,
    ProteinList,
    Results,
    ShiftFinding,
    SplitFinding,
    UseLists,
)
from credence.metrics.all_metrics import METRICS_BY_NAME
from credence.predictions import Predictions, Strings
from credence.report import style
from credence.report.painting import paint_reliability
from credence.report.sections.lookup import reliability_plot
from credence.report.wording import as_sentence, loss, rounded
from credence.sentences import FAMILIES_UNKNOWN, notices_of, sentences_of_mix
from credence.stages.fit import sets_notices
from credence.stages.reading import LabelledTables
from credence.stages.settings import SetsSettings, SplitSettings
from credence.tables.contract import Groups, named_columns
from credence.tables.joining import census_of
from credence.tables.stage_files import CalibrationFile, ShiftFile, made_up

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes  # noqa: F401 (of the bases below, in quotes)
    from numpy.typing import NDArray

Drawn = TypeVar("Drawn")  # Where a record draws itself: axes, or an array of them

N_CURVE_SCORES = 60  # scores at which a curve is drawn
SHOWN_AT = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the scale: scores whose confidence is printed
METRICS_OF_METHODS = ("nll", "brier", "ece", "calibration", "sharpness")
BLUE, GREY, PALE = "#0072b2", "#6a6b6c", "#d7d8d9"  # of every figure of the page
PANELS_WIDE = 4


@dataclass(frozen=True, kw_only=True)
class View:
    """What a record shows of itself: a heading, sentences and a small table."""

    heading: str
    sentences: Sequence[str] = ()
    names: Sequence[str] = ()  # Of the table's columns
    rows: Sequence[Sequence[str]] = ()  # The first cell is the row's name


class Shown(ABC, Generic[Drawn]):
    """A record that shows itself; each kind says what with `_view` and `_columns`."""

    @abstractmethod
    def _view(self) -> View:
        """Return what it shows as text."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return everything as columns."""

    @abstractmethod
    def _draw(self, axes: Any) -> None:
        """Draw into axes."""

    def _new_axes(self, pyplot: Any) -> Any:
        """Return the axes of a new figure."""
        return pyplot.subplots(figsize=(6.0, 4.0), layout="constrained")[1]

    def __repr__(self) -> str:
        view = self._view()
        lines = [f"{type(self).__name__}: {view.heading}", *view.sentences]
        table = [list(view.names), *map(list, view.rows)] if view.rows else []
        wide = [max(map(len, column)) for column in zip(*table, strict=True)]
        for row in table:
            cells = [row[0].ljust(wide[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:], wide[1:], strict=True)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        view = self._view()
        text = "".join(f"<p>{escape(sentence)}</p>" for sentence in view.sentences)
        head = "".join(f"<th>{escape(name)}</th>" for name in view.names)
        body = "".join(
            f"<tr><th style='text-align:left'>{escape(row[0])}</th>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in view.rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        name = f"<p><b>{type(self).__name__}</b>: {escape(view.heading)}</p>"
        return name + text + (table if view.rows else "")

    def to_pandas(self) -> "pd.DataFrame":
        """Return everything as a DataFrame, a row each as the files have them."""
        import pandas as pd

        return pd.DataFrame(dict(self._columns()))

    def plot(self, axes: Drawn | None = None) -> Drawn:
        """Draw the record, and return the axes.

        Parameters
        ----------
        axes : matplotlib axes, optional
            Where to draw, for a calibration one for each class; a new figure unless given.
        """
        import matplotlib as mpl
        from matplotlib import pyplot

        # As the page draws, on white whatever the notebook's colours.
        white = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "white")
        with mpl.rc_context(style.PAGE_STYLE | white):
            drawn: Drawn = self._new_axes(pyplot) if axes is None else axes
            self._draw(drawn)
        return drawn


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScoreTable(Shown["Axes"], LabelledTables):
    """What a classifier predicted for some proteins, checked; :func:`credence.read` makes it.

    Parameters
    ----------
    where : str
        The table, as messages name it.
    samples : Samples
        Predictions, true classes where they are known, rows without scores.
    groups : Groups, optional
        What each protein is used for.
    clusters : Clusters, optional
        Which proteins are relatives.
    read_as : mapping, optional
        How its file was read, which a calibration keeps.
    """

    @property
    def predictions(self) -> Predictions:
        """What the classifier predicted."""
        return self.samples.predictions

    @property
    def ids(self) -> Strings:
        """Names of the proteins that have scores."""
        return self.predictions.ids

    @property
    def class_names(self) -> tuple[str, ...]:
        """Classes, in the classifier's order."""
        return self.predictions.class_names

    def _counts(self) -> tuple[Any, Any, Any]:
        """Return how many are predicted to be of each class, are so, and are both."""
        n_classes, predicted = len(self.class_names), self.predictions.predicted_class
        true = self.samples.true_class
        known = np.full(len(predicted), -1) if true is None else true
        return (
            np.bincount(predicted, minlength=n_classes),
            np.bincount(known[known >= 0], minlength=n_classes),
            np.bincount(predicted[known == predicted], minlength=n_classes),
        )

    def _view(self) -> View:
        predicted, true, right = self._counts()
        is_labelled = self.samples.true_class is not None
        heading = f"{len(self.ids)} proteins, {len(self.class_names)} classes, from {self.where}"
        sentences = [f"{notice}." for notice in census_of(self.samples).notices()]
        if is_labelled:
            rate = f"{100 * right.sum() / max(predicted.sum(), 1):.1f} %"
            sentences.insert(0, f"{rate} of the predictions are right.")
        if is_labelled and self.groups is None and self.clusters is None:
            sentences.append(_sentence(FAMILIES_UNKNOWN))
        names = ["class", "predicted", "of the class", "right", "precision"]
        counts = zip(self.class_names, predicted, true, right, strict=True)
        rows = [
            [name, str(n), str(n_true), str(n_right), f"{n_right / n:.2f}" if n else "–"]
            for name, n, n_true, n_right in counts
        ]
        keep = 5 if is_labelled else 2
        return View(
            heading=heading,
            sentences=sentences,
            names=names[:keep],
            rows=[row[:keep] for row in rows],
        )

    def _columns(self) -> Mapping[str, Any]:
        predictions, true = self.predictions, self.samples.true_class
        names = np.array([*predictions.class_names, ""], dtype=object)
        columns: dict[str, Any] = {"id": predictions.ids}
        if true is not None:
            columns["true_class"] = names[true]
        columns["predicted_class"] = names[predictions.predicted_class]
        if predictions.top_score is not None:
            columns["score"] = predictions.top_score
        return columns

    def _draw(self, axes: Any) -> None:
        predicted, _, right = self._counts()
        is_labelled = self.samples.true_class is not None
        _draw_bars(axes, self.class_names, predicted, *((right, "right") if is_labelled else ()))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FittedCalibration(Shown["NDArray[np.object_]"]):
    """A calibration; :func:`credence.fit` and :func:`credence.load` make it.

    `plot` draws the confidence over the score, a panel a class. A line is dotted where
    calibration saw no score. A method that sees the whole vector is asked as if the other
    classes shared the rest evenly.

    Parameters
    ----------
    file : CalibrationFile
        The fitted method with all that has to be known to use it, as its file has it.
    """

    file: CalibrationFile

    @property
    def method(self) -> str:
        """The method with its settings, as users write it."""
        return self.file.method_spec

    @property
    def class_names(self) -> tuple[str, ...]:
        """Classes, in the classifier's order."""
        return self.file.class_names

    def _view(self) -> View:
        file = self.file
        options, counts = file.settings.get("options", {}), file.counts
        heading = f"{file.method_spec}, from {counts.get('n', 'an unknown number of')} proteins"
        sentences = ["Without intervals (resamples = 0)."]
        if n_draws := options.get("n_draws", 0):
            level = f"{100 * options['level']:g} %"
            sentences = [f"{level} intervals, {n_draws} bootstrap resamples over clusters."]
        relatives = counts.get("relatives", "it is not known how relatives count")
        sentences.append(_sentence(str(relatives)))
        if file.sets is not None:
            share, kind = file.sets.options.level, file.sets.options.kind.replace("_", "-")
            sentences.append(f"With {kind} prediction sets of {100 * share:g} %.")
            sentences += map(_sentence, sets_notices(file, SetsSettings(level=share)))
        sentences.append(f"Confidence at scores out of {file.scale:g}:")
        curves = self._columns()
        rows, places = [], np.array(SHOWN_AT) * file.scale
        for name in file.class_names:
            of_class = curves["class"] == name
            score, confidence = curves["score"][of_class], curves["confidence"][of_class]
            shown = np.interp(places, score, confidence)
            rows.append([name, *(rounded(value, 2) for value in shown)])
        names = ["class", *(f"{place:g}" for place in places)]
        return View(heading=heading, sentences=sentences, names=names, rows=rows)

    def _columns(self) -> Mapping[str, Any]:
        predictions, confidence = self._curves()
        names = np.array(self.class_names, dtype=object)
        return {
            "class": names[predictions.predicted_class],
            "score": predictions.top_score,
            "confidence": confidence.value,
            "lower": confidence.lower,
            "upper": confidence.upper,
            "support": confidence.support,
            "note": confidence.notes,
        }

    def _curves(self) -> tuple[Predictions, Confidence]:
        """Return made-up predictions of every class at rising scores, and their confidences."""
        file = self.file
        predictions = made_up(file.class_names, file.scale, file.resolution, N_CURVE_SCORES)
        n_components = components_asked(file.calibration)
        places = np.full((predictions.n_samples, n_components), np.nan)
        predictions = replace(predictions, places=places)
        return predictions, file.calibration.confidence(predictions)

    def _new_axes(self, pyplot: Any) -> Any:
        n_classes = len(self.class_names)
        wide, high = min(n_classes, PANELS_WIDE), -(-n_classes // PANELS_WIDE)
        figure, axes = pyplot.subplots(
            high, wide, figsize=(2.0 * wide + 0.6, 1.7 * high + 0.5), sharex=True,
            sharey=True, squeeze=False, layout="constrained",
        )  # fmt: skip
        for panel in axes.flat[n_classes:]:
            panel.set_visible(False)
        figure.supxlabel(f"score out of {self.file.scale:g}", fontsize="medium")
        figure.supylabel("confidence", fontsize="medium")
        return axes

    def _draw(self, axes: Any) -> None:
        curves = self._columns()
        outside = int(Note.BELOW_RANGE | Note.ABOVE_RANGE)
        is_in_range = (self._curves()[1].note & outside) == 0
        for name, panel in zip(self.class_names, np.ravel(axes), strict=False):
            rows = curves["class"] == name
            score, value, is_seen = (
                curves["score"][rows],
                curves["confidence"][rows],
                is_in_range[rows],
            )
            lower, upper = curves["lower"][rows], curves["upper"][rows]
            panel.fill_between(score, lower, upper, where=is_seen, color=BLUE, alpha=0.25, lw=0)
            panel.plot(score, value, color=BLUE, linestyle=":", linewidth=1.0)
            panel.plot(score, np.where(is_seen, value, np.nan), color=BLUE)
            panel.set(title=name, ylim=(0, 1.02), xlim=(0, self.file.scale))
            if np.isnan(value).all():
                panel.text(0.5, 0.5, "never predicted", transform=panel.transAxes, ha="center")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AnnotatedTable(Shown["Axes"]):
    """Every prediction with its confidence; :func:`credence.annotate` makes it.

    Parameters
    ----------
    columns : mapping of str to array
        The table `confidences`, as `credence annotate` writes it; notes are words.
    class_names : tuple of str
        Classes, in the classifier's order.
    method : str
        The method with its settings.
    lists : UseLists, optional
        Which predictions can be used, and how many are right; None where the
        calibration does not say what held-out proteins show.
    correction : ShiftFile, optional
        The class proportions that confidences are corrected for; None where they are not.
    """

    columns: Mapping[str, Any]
    class_names: tuple[str, ...]
    method: str
    lists: UseLists | None = None
    correction: ShiftFile | None = None

    def __getitem__(self, name: str) -> "NDArray[Any]":
        return np.asarray(self.columns[name])

    def __len__(self) -> int:
        return len(self.columns["id"])

    def _view(self) -> View:
        value, predicted = self["confidence"], self["predicted_class"]
        n_known = int((~np.isnan(value)).sum())
        heading = f"{len(self)} proteins, {n_known} with a confidence by {self.method}"
        every = () if self.lists is None else self.lists.every
        right = {entry.class_name: entry for entry in every}
        sentences = [_right_in_words(right[None])] if right else []
        counts = Counter(sorted(self["note"].astype(str)))
        sentences += [f"{count} × {note}." for note, count in counts.items() if note]
        rows = []
        for name in self.class_names:
            of_class = value[predicted == name]
            known = of_class[~np.isnan(of_class)]
            mean = rounded(known.mean() if len(known) else np.nan, 2)
            n_accepted = str(((predicted == name) & (self["decision"] == ACCEPT)).sum())
            expected = rounded(right[name].right if name in right else np.nan, 0)
            rows.append([name, str(len(of_class)), expected, mean, n_accepted])
        names = ["class", "predicted", "expected right", "mean confidence", ACCEPT]
        return View(heading=heading, sentences=sentences, names=names, rows=rows)

    def _columns(self) -> Mapping[str, Any]:
        return self.columns

    def _draw(self, axes: Any) -> None:
        every = np.array([(self["predicted_class"] == name).sum() for name in self.class_names])
        if self.lists is None:
            _draw_bars(axes, self.class_names, every)
            return
        expected = {entry.class_name: entry.right for entry in self.lists.every}
        right = np.nan_to_num([expected.get(name, 0.0) for name in self.class_names])
        _draw_bars(axes, self.class_names, every, right, "expected right")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EvaluatedMethods(Shown["Axes"]):
    """How good methods are on proteins that did not fit them; :func:`credence.evaluate` makes it.

    Parameters
    ----------
    findings : Findings
        All that was found, as the page of a run shows it.
    """

    findings: Findings

    @property
    def results(self) -> Results:
        """Every number that was found."""
        return self.findings.results

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods; the first is what the others are compared with."""
        return tuple(method.name for method in self.findings.methods)

    def _view(self) -> View:
        results = self.results
        heading = f"{results.n_samples} proteins in {results.n_clusters} clusters"
        heading += (
            ", that the calibration never saw"
            if results.sample == TEST_SAMPLE
            else f", cross-validated by family in {results.n_folds} folds"
        )
        losses = {
            (row.method, row.metric): loss(row.value, row.lower, row.upper)
            for row in results.metrics
            if row.class_name is None and row.sample == results.sample
        }
        names = [name for name in METRICS_OF_METHODS if (self.methods[0], name) in losses]
        sentences = [
            notice.text
            for notice in (*self.findings.notices, *notices_of(results))
            if notice.is_warning or notice.kind == "overlap"
        ]
        rows = [[method, *(losses[method, name] for name in names)] for method in self.methods]
        sample = "test set" if results.sample == TEST_SAMPLE else "held-out"
        titles = [sample, *(METRICS_BY_NAME[name].title for name in names)]
        return View(heading=heading, sentences=sentences, names=titles, rows=rows)

    def _columns(self) -> Mapping[str, Any]:
        return metric_columns(self.results)

    def _draw(self, axes: Any) -> None:
        diagrams = {
            row.method: row
            for row in self.results.reliability
            if row.class_name is None and row.sample == self.results.sample
        }
        shown = tuple(diagrams[method] for method in self.methods)
        paint_reliability(axes, reliability_plot(self.methods, shown))
        axes.set(xlabel="confidence, cross-validated by family (mean of bin)", ylabel="precision")
        _add_legend(axes)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProteinGroups(Shown["Axes"]):
    """What each protein is used for; :func:`credence.split` makes it.

    Parameters
    ----------
    groups : Groups
        Id, cluster, group, role, reason and class of each protein, those of training too.
    finding : SplitFinding
        How even the groups are, and what the audit found.
    settings : SplitSettings
        How they were made.
    """

    groups: Groups
    finding: SplitFinding
    settings: SplitSettings

    def _view(self) -> View:
        from credence.stages.split import split_messages

        roles = Counter(sorted(self.groups.role.astype(str)))
        heading = ", ".join(f"{n} {role.replace('_', ' ')}" for role, n in roles.items())
        messages = split_messages(self.finding, self.settings)
        sentences = [line.replace("--", "") for line in messages]  # options are keywords here
        cluster, group = self.groups.cluster, self.groups.group
        groups = self.finding.groups
        rows = [[x.name, str(x.n), str(len(set(cluster[group == x.name])))] for x in groups]
        return View(
            heading=heading,
            sentences=sentences,
            names=["group", "proteins", "clusters"],
            rows=rows,
        )

    def _columns(self) -> Mapping[str, Any]:
        return named_columns(self.groups)

    def _draw(self, axes: Any) -> None:
        groups = self.finding.groups
        counts = np.array([group.n for group in groups])
        _draw_bars(axes, [group.name for group in groups], counts)
        axes.set_ylabel("group")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClassProportions(Shown["Axes"]):
    """How frequent the classes are in a query set; :func:`credence.shift` makes it.

    Parameters
    ----------
    file : ShiftFile
        What was found, and confidences corrected for it, as their file has them.
    """

    file: ShiftFile

    @property
    def finding(self) -> ShiftFinding:
        """All that was found, as the page of a run shows it."""
        return self.file.finding

    def _columns(self) -> Mapping[str, Any]:
        from credence.stages.shift import composition_table

        return named_columns(composition_table(self.finding))

    def _view(self) -> View:
        finding = self.finding
        heading = f"{finding.n_query} proteins of {finding.name}, by {finding.estimator}"
        rows = []
        for entry in finding.classes:
            values = (
                entry.calibration_proportion,
                entry.share,
                entry.lower,
                entry.upper,
                entry.weight,
            )
            rows.append([entry.class_name, *(rounded(value, 3) for value in values)])
        names = ["class", "in calibration", "here", "lower", "upper", "times as frequent"]
        return View(
            heading=heading, sentences=list(sentences_of_mix(finding)), names=names, rows=rows
        )

    def _draw(self, axes: Any) -> None:
        columns = self._columns()
        place = np.arange(len(columns["class"]))[::-1]
        here, ends = columns["query_proportion"], np.stack([columns["lower"], columns["upper"]])
        reach = np.nan_to_num(np.abs(ends - here))
        ring = {"facecolors": "none", "edgecolors": GREY, "label": "calibration"}
        axes.scatter(columns["calibration_proportion"], place, s=40, zorder=3, **ring)
        dot = {"fmt": "o", "color": BLUE, "capsize": 2, "label": self.finding.name}
        axes.errorbar(here, place, xerr=reach, **dot)
        axes.set_yticks(place, columns["class"])
        axes.set_xlim(left=0)
        axes.set(xlabel="proportion of the proteins", ylabel="class")
        _add_legend(axes)


def _sentence(text: str) -> str:
    return f"{as_sentence(text)}."


def _right_in_words(proteins: ProteinList) -> str:
    if np.isnan(proteins.right):
        return "How many of the predictions are right is not known."
    ends = f"{proteins.right_lower:.0f} to {proteins.right_upper:.0f}"
    return f"About {proteins.right:.0f} ({ends}) of the predictions are expected to be right."


def _draw_bars(
    axes: Any, names: Sequence[str], every: Any, part: Any = None, word: str = ""
) -> None:
    """Draw a bar for each name, filled for the part that a word names."""
    place = np.arange(len(names))[::-1]
    axes.barh(place, every, color=PALE if word else BLUE, label="predicted")
    if part is not None:
        axes.barh(place, part, color=BLUE, height=0.5, label=word)
    if word:
        _add_legend(axes)
    axes.set_yticks(place, names)
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="number of proteins", ylabel="predicted class")


def _add_legend(axes: Any) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=5, borderaxespad=0.2)
