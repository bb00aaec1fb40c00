"""Calibrated confidence, class by class, for protein classifiers.

    import credence
    known = credence.read(scores, classes=["Portal", "Collar"], labels=truth)
    calibration = credence.fit(known)
    credence.annotate(new_scores, calibration).to_pandas()

`dir(credence)` lists all that there is. The functions are imported when one of
them is first used, so that `import credence` itself takes no time.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from credence.answers import (
        AnnotatedTable,
        ClassProportions,
        EvaluatedMethods,
        FittedCalibration,
        ProteinGroups,
        ScoreTable,
    )
    from credence.api import annotate, evaluate, fit, load, read, save, shift, split
    from credence.problems import InputError
    from credence.selecting import compare, list, plan, thresholds

__version__ = "0.1.0"

__all__ = [
    "AnnotatedTable",
    "ClassProportions",
    "EvaluatedMethods",
    "FittedCalibration",
    "InputError",
    "ProteinGroups",
    "ScoreTable",
    "__version__",
    "annotate",
    "compare",
    "evaluate",
    "fit",
    "list",
    "load",
    "plan",
    "read",
    "save",
    "shift",
    "split",
    "thresholds",
]


# Where a name is that is neither a record nor one of the first functions.
HOMES = {"InputError": "problems"}
HOMES |= dict.fromkeys(("compare", "list", "plan", "thresholds"), "selecting")


def __getattr__(name: str) -> Any:
    """Return a function or record, importing it now."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = "answers" if name[0].isupper() else "api"
    home = HOMES.get(name, home)
    module = import_module(f"{__name__}.{home}")
    return globals().setdefault(name, getattr(module, name))


def __dir__() -> Iterable[str]:
    """Return the table of contents."""
    return __all__
