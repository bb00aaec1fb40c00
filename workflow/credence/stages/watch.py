"""The stage `watch`: a line for each annotated sample, and when to recalibrate."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from credence.composition.over_time import FEWEST, Course, alarms_of
from credence.composition.sameness import SketchCounts
from credence.confidence import NOTE_TEXTS, Note
from credence.findings import ACCEPT
from credence.predictions import Predictions
from credence.problems import ProblemList, plural, refuse
from credence.progress import echo
from credence.records import json_text
from credence.stages.lists import NO_HELD_OUT, ranking_of, require_made_by, table_and_counts
from credence.stages.reading import require_other
from credence.stages.settings import Settings
from credence.tables import contract
from credence.tables.digests import sha256_of
from credence.tables.ready_made import name_of
from credence.tables.source import open_table
from credence.tables.stage_files import CalibrationFile, read_calibration, refuse_calls
from credence.tables.text import is_date
from credence.tables.writing import check_table_ending, one_writer, write_table

PREDICTED_PREFIX = "predicted_"  # and a class: how many proteins
LOG_COLUMNS = (
    *(
        contract.Column(name=name)
        for name in ("date", "table", "table_sha256", "calibration", "calibration_sha256")
    ),
    contract.Column(name="proteins", kind=contract.Kind.INTEGER, low=0.0),
    *(
        replace(contract.SHARE_COLUMN, name=name)
        for name in ("accepted", "flagged", "p", "effect")
    ),
    *(contract.Column(name=name, may_be_empty=True) for name in ("flagged_most", "unlike_most")),
)
NOVEL, UNLIKE = NOTE_TEXTS[Note.NOVEL], NOTE_TEXTS[Note.CHANGED]
SINCE = {
    "scores": "the scores differ from those in calibration, whatever the class proportions "
    "(another version of the tool, or other proteins)",
    "mix": "classes are predicted in other proportions than in the first samples",
    "flagged": "more proteins than in the first samples are far from all known proteins",
}


@dataclass(frozen=True, kw_only=True)
class WatchAlarm:
    """What is no longer as it was."""

    subject: str  # scores, mix or flagged
    since: str  # Date of the first sample that shows it
    latest: str  # Of the last one, its p-value, and how many show it together
    p_value: float
    samples: int
    classes: tuple[str, ...]  # Of which calibration needs proteins


def watch_sample(confidences: str, calibration: str, date: str, log: str, as_json: bool) -> None:
    """Add an annotated table to a log, and say whether to recalibrate."""
    require_other((log,), [confidences, calibration])
    check_table_ending(Path(log))
    if not is_date(date):
        raise refuse("--date", f"{date!r} is not a date.", "Write it like 2026-11-21.")
    file = read_calibration(Path(calibration))
    refuse_calls(
        file,
        calibration,
        "the alarms take rows for proteins that know nothing of each other",
        "Verify some calls of each new sample, and judge them: credence evaluate.",
    )
    own_digest, digest = (sha256_of(Path(path)) for path in (confidences, calibration))
    numbers = _numbers(confidences, calibration, file)
    with one_writer(Path(log)):
        known = _read(log) if Path(log).exists() else pd.DataFrame()
        if len(known):
            same = (known.table_sha256 == own_digest) & (known.calibration_sha256 == digest)
            if len(other := known.date[same & (known.date != date)]):
                reason = f"in {log} this table has the date {other.iloc[0]!r}, not {date!r}."
                raise refuse("--date", reason, "Give that date, or remove that line first.")
            again = (known.table == confidences) & (known.calibration_sha256 == digest)
            known = known[~(same | (again & (known.date == date)))]
        line = (date, confidences, own_digest, name_of(calibration), digest, *numbers.values())
        names = [column.name for column in LOG_COLUMNS]
        new = pd.DataFrame([dict(zip([*names, *list(numbers)[7:]], line, strict=True))])
        rows = pd.concat([known, new], ignore_index=True).sort_values(names[:3])
        write_table(Path(log), {name: rows[name].to_numpy() for name in rows})
    lines = rows[rows.calibration_sha256 == digest]
    others = rows[rows.calibration_sha256 != digest].calibration
    names, reasons = list(dict.fromkeys(others)), reasons_of(lines, file)
    classes = list(dict.fromkeys(name for reason in reasons for name in reason.classes))
    if as_json:
        record = {"calibration": name_of(calibration), "samples": len(lines), "others": names}
        record |= {"is_due": bool(reasons), "classes": classes, "reasons": reasons}
        click.echo(json_text(record), nl=False)
        return
    beside = f"; {len(others)} by others: {', '.join(names)}" if names else ""
    n_samples = plural(len(lines), "sample")
    echo(f"Wrote {log}: {n_samples} by {name_of(calibration)}{beside}.")
    for sentence in alarm_texts(reasons, classes, lines):
        echo(f"{log}: {sentence}")


def _read(log: str) -> pd.DataFrame:
    """Return the lines of a log, checked."""
    further = contract.Column(
        name=PREDICTED_PREFIX, kind=contract.Kind.NUMBER, may_be_empty=True, low=0.0
    )
    read = contract.read_columns(Path(log), LOG_COLUMNS, (further,))
    problems = ProblemList(read.where)
    for number, day in zip(read.lines.tolist(), read.values["date"], strict=True):
        if day and not is_date(day):
            problems.add(f"{day!r} is not a date.", "Write it like 2026-11-21.", number, "date")
    problems.raise_any()
    return pd.DataFrame(read.values)


def _numbers(confidences: str, calibration: str, file: CalibrationFile) -> dict[str, Any]:
    """Return what a log keeps of a table of confidences."""
    path, names = Path(confidences), file.class_names
    ranking = ranking_of(file, None, Settings())
    if ranking is None:
        raise refuse(calibration, *NO_HELD_OUT)
    ranking = replace(ranking, is_corrected=contract.is_corrected(path))
    table, counts = table_and_counts(path, ranking)
    if counts.every.any():
        require_made_by(table, file, calibration)
    look = None if file.sketch is None else SketchCounts(file.sketch, names)
    n = n_accepted = n_unlike = 0
    count, flagged = np.zeros(len(names)), np.zeros(len(names))
    for piece, code, _ in table.pieces():
        n += len(code)
        n_accepted += piece["decision"].to_pylist().count(ACCEPT)
        notes = [note or "" for note in piece["note"].to_pylist()]
        n_unlike += sum(UNLIKE in note for note in notes)
        is_novel = np.array([NOVEL in note for note in notes], bool)
        count += np.bincount(code[code >= 0], minlength=len(names))
        flagged += np.bincount(code[(code >= 0) & is_novel], minlength=len(names))
        score = piece["score"].to_numpy().astype(np.float64)
        rows = np.flatnonzero((code >= 0) & ~np.isnan(score))
        if look is not None and len(rows):
            ids = piece["id"].to_numpy()[rows]
            look.add(
                Predictions(
                    ids=ids,
                    class_names=names,
                    scale=file.scale,
                    resolution=file.resolution,
                    predicted_class=code[rows],
                    top_score=score[rows],
                )
            )
    if n_unlike:
        echo(f"{confidences}: {n_unlike} of {n} rows have the note: {UNLIKE}.")
    sameness = None if look is None else look.found()
    header = open_table(path, contract.OWN_TABLE).header
    is_looked_for = contract.NOVELTY_NAMES[0] in header and n > 0
    return {
        "proteins": n,
        "accepted": n_accepted / n if n else np.nan,
        "flagged": flagged.sum() / n if is_looked_for else np.nan,
        "p": np.nan if sameness is None else sameness.p_value,
        "effect": np.nan if sameness is None else sameness.effect,
        "flagged_most": names[int(flagged.argmax())] if flagged.any() else "",
        "unlike_most": "" if sameness is None or look is None else look.most_moved(),
        **{f"{PREDICTED_PREFIX}{name}": n_own for name, n_own in zip(names, count, strict=True)},
    }


def reasons_of(lines: pd.DataFrame, file: CalibrationFile) -> list[WatchAlarm]:
    """Return why to recalibrate, by the lines of one calibration in the order of their dates."""
    assert file.held_out is not None
    size = np.bincount(file.held_out.cluster, minlength=1).astype(np.float64)
    relatives = max(float((size**2).sum() / max(size.sum(), 1.0)), 1.0)
    counts = lines[[f"{PREDICTED_PREFIX}{name}" for name in file.class_names]].to_numpy(np.float64)
    flagged, p_value, effect = lines[["flagged", "p", "effect"]].to_numpy(np.float64).T
    alarms = alarms_of(
        Course(counts=counts, flagged=flagged, p_value=p_value, effect=effect, relatives=relatives)
    )
    reasons = []
    for kind in SINCE:
        of_kind = [alarm for alarm in alarms if alarm.subject == kind]
        if not of_kind:
            continue
        last = of_kind[-1]
        latest = lines.iloc[last.sample]
        named = {"scores": latest.unlike_most, "flagged": latest.flagged_most}.get(kind, "")
        classes = [file.class_names[class_] for class_ in last.classes] or [str(named)]
        reasons.append(
            WatchAlarm(
                subject=kind,
                since=lines.iloc[of_kind[0].sample].date,
                latest=latest.date,
                p_value=last.p_value,
                samples=last.window,
                classes=tuple(filter(None, classes)),
            )
        )
    return reasons


def alarm_texts(reasons: list[WatchAlarm], classes: list[str], lines: pd.DataFrame) -> list[str]:
    """Return what a reader has to know of a log."""
    wanted = f", with proteins of {', '.join(classes)}" if classes else ""
    sentences = [f"recalibrate now{wanted}; credence plan chooses which to verify."]
    if not reasons:
        sentences = [
            f"no alarm in {plural(len(lines), 'sample')}. That is no proof: what is usual is "
            "known from the first samples alone, and small changes are not seen."
        ]
    for reason in reasons:
        named = f" ({', '.join(reason.classes)})" if reason.classes else ""
        seen = "one sample" if reason.samples == 1 else f"{reason.samples} samples together"
        when = f"{seen}, since {reason.since}, lastly {reason.latest}"
        sentences.append(f"{SINCE[reason.subject]}{named}: {when}, p = {reason.p_value:.2g}.")
    if any(reason.subject == "mix" for reason in reasons):
        sentences.append(
            "until then correct for the class proportions: credence shift, then annotate "
            "with --shift."
        )
    if len(lines) <= FEWEST:
        sentences.append(
            f"class proportions and flagged proteins are compared from sample {FEWEST + 1} on."
        )
    if lines.flagged.isna().all():
        sentences.append("flagged proteins are not known: annotate with --novelty.")
    if lines.p.isna().all():
        sentences.append(
            "scores are not compared: the calibration keeps no summary of its own, or there are "
            "too few."
        )
    return sentences
