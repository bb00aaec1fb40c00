"""``credence demo --from-fasta``: sequences and labels in, a page out."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from small_worlds import call


@pytest.mark.long
def test_labelled_sequences_become_a_page_with_confidences_that_hold(tmp_path: Path) -> None:
    done = call(tmp_path, "demo", "--from-fasta")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "reports/demo/index.html").read_text()
    assert "Where do the scores come from?" in page
    assert (tmp_path / "reports/demo/classifier.npz").is_file()
    found = pd.read_csv(tmp_path / "reports/demo/use/confidences.tsv", sep="\t")
    truth = pd.read_csv(tmp_path / "demo/truth/families.tsv", sep="\t").set_index("id")
    # Of the mix of the calibration set: what is asked is whether published scores are like those
    # that calibrated, not whether the other mix is found.
    is_right = found["predicted_class"] == truth["true_class"].loc[found["id"]].to_numpy()
    assert abs(found["uncorrected_confidence"].mean() - is_right.mean()) < 0.06
