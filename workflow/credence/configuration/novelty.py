"""Settings of novelty: by what proteins are told, and which use-sets are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credence.configuration.names import path_problem
from credence.configuration.reading import Document, SettingPath
from credence.problems import InputError, Problem

COMPOSITION, NONE = "composition", "none"


@dataclass(frozen=True)
class NoveltySettings:
    """By what proteins are told.

    Parameters
    ----------
    features : str
        ``composition``, ``none``, or a file of vectors of all proteins.
    components : int
        Greatest number of axes.
    flag : float
        Novelty above which a protein is flagged.
    has_proteins : bool
        Whether the calibration set has a FASTA file.
    """

    features: str
    components: int
    flag: float
    has_proteins: bool

    @property
    def vectors(self) -> str | None:
        """The file of vectors, where there is one."""
        return None if self.features in (COMPOSITION, NONE) else self.features

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to tell proteins by."""
        return self.vectors is not None or (self.features == COMPOSITION and self.has_proteins)

    def compares(self, proteins: str | None) -> bool:
        """Return whether a use-set can be compared.

        Parameters
        ----------
        proteins : str, optional
            Its FASTA file.
        """
        return self.is_wanted and (self.vectors is not None or proteins is not None)

    @property
    def words(self) -> list[str]:
        """Options of ``credence novelty``."""
        return ["--components", str(self.components), "--flag", str(self.flag)]


def novelty_settings(values: Mapping[str, Any]) -> NoveltySettings:
    """Return the settings of a configuration whose defaults are filled in.

    Parameters
    ----------
    values : mapping
        The configuration.
    """
    own = values["novelty"]
    return NoveltySettings(
        own["features"],
        own["components"],
        float(own["flag"]),
        values["calibration_set"]["proteins"] is not None,
    )


def needs_places(method: str) -> bool:
    """Return whether a method asks where proteins lie.

    Parameters
    ----------
    method : str
        In canonical spelling.
    """
    from credence.calibrators.protocol import Need
    from credence.calibrators.spec import parse_method

    return parse_method(method, "method").needs is Need.PLACE


def novelty_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with what the configuration says of novelty.

    Parameters
    ----------
    document : Document
        What the user wrote.
    """
    data = document.data
    novelty, labelled = data.get("novelty"), data.get("calibration_set")
    features = novelty.get("features", COMPOSITION) if isinstance(novelty, dict) else COMPOSITION
    has_proteins = isinstance(labelled, dict) and labelled.get("proteins") is not None
    if isinstance(features, str) and features not in (COMPOSITION, NONE):
        if (wrong := path_problem(features)) is not None:
            yield document.problem(("novelty", "features"), *wrong)
        elif not Path(features).is_file():
            yield document.problem(
                ("novelty", "features"),
                f"there is no file {features!r}.",
                f"Write {COMPOSITION}, {NONE}, or the path of a file of vectors.",
            )
        has_proteins = True
    for path, text in _methods(data):
        if not _asks(text):
            continue
        if features == NONE or not has_proteins:
            yield document.problem(
                path,
                f"{text!r} asks where proteins lie, and nothing tells it.",
                f"Write novelty: {{features: {COMPOSITION}}}."
                if features == NONE and has_proteins
                else "Give proteins of the calibration set, or vectors as novelty: {features: …}.",
            )
        elif path == ("calibration", "method"):
            yield document.problem(
                path,
                f"{text!r} gives no interval, and cannot be corrected for a composition.",
                "Put it among compare, and publish another method.",
            )


def _asks(text: str) -> bool:
    try:
        return needs_places(text)
    except InputError:
        return False


def _methods(data: Mapping[str, Any]) -> Iterator[tuple[SettingPath, str]]:
    calibration = data.get("calibration")
    if not isinstance(calibration, dict):
        return
    if isinstance(calibration.get("method"), str):
        yield ("calibration", "method"), calibration["method"]
    compare = calibration.get("compare")
    for at, text in enumerate(compare if isinstance(compare, list) else ()):
        if isinstance(text, str):
            yield ("calibration", "compare", at), text
