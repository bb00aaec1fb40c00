"""A run of several tools, its page, and the same by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from small_worlds import call
from tools.test_combine_command import PAGE, write_tables

pytestmark = pytest.mark.long
CHEAP = (
    "calibration: {method: beta, compare: [class_only], resamples: 20}\nevaluation: {folds: 2}\n"
)
NAMES = {
    "set.tsv": "calibration.tsv", "set_second.csv": "second.csv", "use.tsv": "new.tsv",
    "use_second.csv": "new_second.csv", "set_clusters.tsv": "clusters.tsv",
}  # fmt: skip


def test_a_run_combines_tools_and_annotate_gives_the_same(tmp_path: Path) -> None:
    write_tables(tmp_path)
    for old, new in NAMES.items():
        (tmp_path / old).rename(tmp_path / new)
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "config.yaml").write_text(text.split("```yaml\n")[1].split("```")[0] + CHEAP)
    done = call(tmp_path, "run", "--cores", "1")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "reports/two/index.html").read_text(encoding="utf-8")
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[page.index('id="tools"') :]))
    assert "all 2 tools together find most probable is right for" in words
    found = pd.read_csv(tmp_path / "reports/two/new/confidences.tsv", sep="\t").set_index("id")
    done = call(
        tmp_path, "annotate", "new.tsv", "--format", "wide", "--spec",
        '{"scale": 1, "columns": {"id": "id"}}', "--tool", "second=new_second.csv",
        "--calibration", "reports/two/calibration.json", "--out", "o.tsv", "--six-decimals",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    own = pd.read_csv(tmp_path / "o.tsv", sep="\t").set_index("id")
    columns = ["tools_agree", "tool_second", "confidence_second", "predicted_class"]
    pd.testing.assert_frame_equal(own[columns], found[columns])
    pd.testing.assert_series_equal(
        own["confidence"], found["uncorrected_confidence"], check_names=False
    )
    again = call(tmp_path, "run", "--cores", "1")
    assert "Nothing to be done" in again.stdout + again.stderr
