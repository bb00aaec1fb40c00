"""PhANNs' ten networks: what docs/events.md says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from credence.events.event import events_of
from credence.events.event_judging import EventOptions, study_events
from credence.events.features import EventEvidence
from credence.predictions import label
from credence.tables.formats import TableSpec
from credence.tables.samples import read_samples


@pytest.mark.long
def test_the_regression_is_better_than_its_rival_as_the_page_on_events_says(
    real_data: Path,
) -> None:
    table = real_data / "phanns_ten_networks.npz"
    samples = read_samples(table, TableSpec(format="networks-npz"))
    assert samples.true_class is not None
    labelled = label(samples.predictions, samples.true_class)
    events = events_of(["predicted_class"], {}, samples.predictions.class_names)
    options = EventOptions(compare=(), n_folds=5, agrees=False)
    _, finding = study_events(
        labelled, EventEvidence(predictions=labelled.predictions), events, options, {}
    )
    found = finding.events[0]
    nll = {row.method: row.value for row in found.metrics if row.metric == "nll"}
    # Two decimals: the document says 0.118 and 0.142.
    assert nll["logistic"] == pytest.approx(0.118, abs=0.002)
    assert nll["one_vs_all"] == pytest.approx(0.142, abs=0.002)
