"""Where jobs of a run go, and what is said when they cannot go there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import refusals
from credence.app import run
from credence.app.run import snakemake_command

ROOT = Path(__file__).resolve().parents[2]
SLURM = ROOT / "workflow" / "profiles" / "slurm"
LOCAL = SLURM.with_name("local")


def program(folder: Path, name: str, says: str) -> None:
    """Put a program in a folder that says one thing, whatever it is asked."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def login_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is all of PATH, with the plugin installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(run, "PLUGIN", "credence")
    return tmp_path


def refusal(profile: Path) -> str:
    return refusals.refusal(run.require_scheduler, profile)


def test_a_profile_is_found_by_its_name_or_its_folder(tmp_path: Path) -> None:
    assert run.profile_folder("slurm") == SLURM
    assert run.profile_folder(os.path.relpath(SLURM)) == SLURM
    for name, message in {
        "slrm": "--profile: 'slrm' is neither a profile of the workflow nor a folder. "
        "Did you mean 'slurm'?",
        str(tmp_path): f"{tmp_path}: there is no config.yaml in this folder. "
        "Name the folder of a profile.",
    }.items():
        assert refusals.refusal(run.profile_folder, name) == message


def test_two_cores_are_asked_for_here_and_none_elsewhere() -> None:
    here = snakemake_command("a.yaml", None, (), LOCAL)
    assert here[here.index("--cores") :] == ["--cores", "2"]
    assert here[here.index("--profile") + 1] == str(LOCAL)
    # A number of cores would bound what one job may have on a node.
    assert "--cores" not in snakemake_command("a.yaml", None, ("--dry-run",), SLURM)
    assert snakemake_command("a.yaml", 8, (), SLURM)[-2:] == ["--cores", "8"]


def test_a_configuration_whose_name_begins_with_a_dash_is_no_option() -> None:
    for name, given in {"-a.yaml": "./-a.yaml", "a.yaml": "a.yaml", "/b/-a": "/b/-a"}.items():
        words = snakemake_command(name, None, (), LOCAL)
        assert words[words.index("--configfile") + 1] == given


def test_the_profile_of_this_machine_asks_for_no_scheduler() -> None:
    run.require_scheduler(LOCAL)


def test_a_missing_plugin_is_named(login_node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PLUGIN", "no_such_plugin")
    assert refusal(SLURM) == (
        f"{SLURM}/config.yaml: it hands jobs to SLURM, and Snakemake's plugin for that is not "
        "installed here. Run credence from an environment that has it: docs/cluster.md."
    )


def test_a_machine_without_slurm_is_named(login_node: Path) -> None:
    assert refusal(SLURM) == (
        f"{SLURM}/config.yaml: it hands jobs to SLURM, and there is no sbatch on this machine. "
        "Run it where jobs are handed in, on a login node, or with --profile local."
    )


def test_a_controller_that_is_down_is_named_and_one_that_is_up_passes(login_node: Path) -> None:
    program(login_node, "sbatch", "")
    program(login_node, "scontrol", "Slurmctld(primary) at head is DOWN")
    assert refusal(SLURM) == (
        f"{SLURM}/config.yaml: it hands jobs to SLURM, and SLURM's controller does not answer "
        "(scontrol ping). Wait, or ask those who run the cluster; what was made is kept, and a "
        "run goes on."
    )
    program(login_node, "scontrol", "Slurmctld(primary) at head is UP")
    run.require_scheduler(SLURM)
