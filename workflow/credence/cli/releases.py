"""The releases of a run, by name."""

from __future__ import annotations

from pathlib import Path

from credence.problems import nearest, refuse


def calibration_or_release(calibration: str | None, release: str | None, config: str) -> str:
    """Return the calibration file that a user names, or that of a release.

    Parameters
    ----------
    calibration : str, optional
        A calibration file.
    release : str, optional
        Name or folder of a release.
    config : str
        Configuration of the run that has releases of such names.
    """
    if (calibration is None) == (release is None):
        raise refuse(
            "--calibration",
            "a calibration is named by its file or by its release.",
            "Give --calibration or --release, one of the two.",
        )
    if calibration is not None:
        return calibration
    assert release is not None
    folder = Path(release)
    if folder.is_dir():
        files = [folder / "calibration.json", *sorted((folder / "calibrations").glob("*.json"))]
        found = [file for file in files if file.exists()]
        if len(found) == 1 or (found and found[0] == files[0]):
            return str(found[0])
        what = "several calibrations are" if found else "no calibration is"
        raise refuse(release, f"{what} in this folder.", "Name the file with --calibration.")
    return _by_name(release, config)


def _by_name(release: str, config: str) -> str:
    from credence import configuration

    settings = configuration.load(config)
    name_of = {folder: folder.split("-", 1)[1] for folder in settings.releases}
    chosen = [folder for folder, name in name_of.items() if release in (folder, name)]
    if not chosen:
        raise refuse(
            "--release",
            f"{release!r} is no release of {config}.",
            nearest(release, list(name_of.values())),
        )
    method = configuration.slug(settings.method)
    path = Path("results", settings.run, "releases", chosen[0], "calibrations", f"{method}.json")
    if not path.exists():
        what = f"release {release!r} was not derived yet: there is no file {path}."
        raise refuse("--release", what, f"Run credence run --config {config} first.")
    return str(path)
