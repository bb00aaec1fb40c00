"""What jobs ask of a cluster."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from credence.app.configuration import few, memory, minutes, several

RULES = sorted((Path(__file__).resolve().parents[2] / "workflow" / "rules").glob("*.smk"))


def blocks() -> dict[str, str]:
    """Return the text of every rule, by its name."""
    found = {}
    for path in RULES:
        parts = re.split(r"(?m)^rule (\w+):$", path.read_text())
        found |= dict(zip(parts[1::2], parts[2::2], strict=True))
    return found


@pytest.mark.parametrize("name", blocks())
def test_every_rule_states_its_threads_memory_and_time_and_is_measured(name: str) -> None:
    text = blocks()[name]
    assert re.search(r"\n    threads: (1|configuration\.(several|few))\n", text)
    assert re.search(r"\n        mem_mb=configuration\.memory\([\d., ]+\),\n", text)
    assert re.search(r"\n        runtime=configuration\.minutes\([\d., ]+\),\n", text)
    assert "\n    benchmark:\n" in text
    assert "\n    log:\n" in text
    # The profile says how often a job is tried; a rule's own number would multiply it.
    assert "retries" not in text
    # Jobs of a group are given one node, whatever they need.
    assert "\n    group:" not in text


def test_needs_grow_with_the_input_and_double_with_each_attempt(tmp_path: Path) -> None:
    one, packed = tmp_path / "a.csv", tmp_path / "b.csv.gz"
    one.write_bytes(bytes(3_000_000))
    packed.write_bytes(bytes(500_000))  # 3 MB once it is unpacked
    need = memory(100, 20)
    assert need(None, [], 1) == 550  # with the 450 MB of Snakemake
    assert need(None, [str(one)], 1) == 610
    assert need(None, [str(one), str(packed)], 1) == 670
    assert [need(None, [str(one)], attempt) for attempt in (1, 2, 3)] == [610, 1220, 2440]
    assert minutes(10, 0.5)(None, [str(one), str(packed)], 2) == 26


def test_a_need_is_not_known_while_input_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        memory(100, 20)(None, [str(tmp_path / "absent.csv")], 1)


def test_sequences_get_more_threads_when_there_are_more(tmp_path: Path) -> None:
    def threads(size: int) -> int:
        path = tmp_path / "proteins.fasta"
        with path.open("wb") as handle:
            handle.truncate(size)
        return several(None, [str(path), str(tmp_path / "absent.fasta")])

    assert [threads(size) for size in (0, 99_000_000, 100_000_000, 10**9)] == [2, 2, 8, 16]
    assert few(None, []) == 1
