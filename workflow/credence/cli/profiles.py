"""Where the jobs of a run go: this machine, or a cluster."""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from credence.problems import nearest, refuse

LOCAL = "local"
FILE = "config.yaml"
PLUGIN = "snakemake_executor_plugin_slurm"
SECONDS = 20  # a controller that is up answers in less than one


def profile_folder(name: str) -> Path:
    """Return the folder of a profile.

    Parameters
    ----------
    name : str
        One of those that come with the workflow, or a folder of the user's own.
    """
    from credence.configuration import workflow_folder

    above = workflow_folder() / "profiles"
    known = sorted(path.name for path in above.iterdir() if (path / FILE).exists())
    if name in known:
        return above / name
    if (Path(name) / FILE).is_file():
        return Path(name).resolve()
    if Path(name).is_dir():
        raise refuse(name, f"there is no {FILE} in this folder.", "Name the folder of a profile.")
    raise refuse(
        "--profile",
        f"{name!r} is neither a profile of the workflow nor a folder.",
        nearest(name, known),
    )


def require_scheduler(profile: Path) -> None:
    """Raise where a profile hands jobs to SLURM and SLURM cannot take them.

    Snakemake would wait for a controller that is down, and then say so on a
    hundred lines.

    Parameters
    ----------
    profile : Path
        Folder of the profile.
    """
    from credence.configuration.reading import read_document

    file = profile / FILE
    if read_document(file, str(file)).data.get("executor") != "slurm":
        return
    if find_spec(PLUGIN) is None:
        raise refuse(
            str(file),
            "it hands jobs to SLURM, and Snakemake's plugin for that is not installed here.",
            "Run credence from an environment that has it: docs/cluster.md.",
        )
    if shutil.which("sbatch") is None:
        raise refuse(
            str(file),
            "it hands jobs to SLURM, and there is no sbatch on this machine.",
            "Run it where jobs are handed in, on a login node, or with --profile local.",
        )
    if not _controller_answers():
        raise refuse(
            str(file),
            "it hands jobs to SLURM, and SLURM's controller does not answer (scontrol ping).",
            "Wait, or ask those who run the cluster; what was made is kept, and a run goes on.",
        )


def _controller_answers() -> bool:
    try:
        done = subprocess.run(
            ["scontrol", "ping"], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return " is UP" in done.stdout
