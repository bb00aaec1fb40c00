"""A short form of the fuzzer; make test-fuzz is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.fuzzing import fuzz

N_INPUTS = 150
SEED = 1


def test_inputs_that_are_nearly_right_are_read_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the fuzzer goes elsewhere; this brings the tests back
    assert [found.text for found in fuzz(tmp_path, 0, N_INPUTS, SEED)] == []
