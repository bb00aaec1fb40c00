"""`credence check-page`: a workflow can stop where a verdict is not good enough."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from credence.app import run_command_line


def record(folder: Path, state: str, *checks: str) -> str:
    entries = [
        {
            "name": "mix",
            "query_set": "use",
            "state": one,
            "value": None,
            "good": 0.8,
            "bad": None,
            "n_affected": 3,
            "headline": f"A check that is {one}",
            "text": "Why.",
        }
        for one in checks
    ]
    path = folder / "report.json"
    path.write_text(json.dumps({"verdict": {"state": state, "checks": entries}}))
    return str(path)


@pytest.mark.parametrize(
    ("state", "checks", "required", "code"),
    [
        ("good", ("good",), "good", 0),
        ("care", ("care", "good"), "good", 1),
        ("care", ("care", "not checked"), "care", 0),
        ("care", ("not checked", "good"), "good", 1),
        ("not to be used", ("not to be used", "care"), "care", 1),
    ],
)
def test_the_exit_code_follows_the_verdict(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    state: str,
    checks: tuple[str, ...],
    required: str,
    code: int,
) -> None:
    path = record(tmp_path, state, *checks)
    assert run_command_line(["check-page", path, "--require", required]) == code
    out, err = capsys.readouterr()
    assert out == f"{path}: {state}\n"
    assert bool(err) == bool(code)
    if code:
        assert f"{checks[0]}: use: A check that is {checks[0]}. Why." in err


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "is not JSON"),
        ("[]", "JSON"),
        ('{"sections": []}', "it holds no verdict"),
        ('{"verdict": {"state": "good"}}', "checks"),
        ('{"verdict": {"state": "good", "checks": [{"name": 3}]}}', "name"),
    ],
)
def test_what_is_no_record_of_a_page_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, what: str
) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    assert run_command_line(["check-page", str(path)]) == 2
    shown = capsys.readouterr().err
    assert what in shown
    assert "report.json of a finished run" in shown
