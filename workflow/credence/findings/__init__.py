"""What a run found, as frozen typed records: the report's only input.

Every number is computed before it stands here. The records hold plain Python
values, so that they go to JSON and back unchanged; NaN is null there. They
name no clock, host or path: the same inputs give the same records.
"""

from credence.findings.codec import from_record, to_record
from credence.findings.evaluated import (
    Bins,
    CalibrationTest,
    ChoiceTrial,
    ClassChoice,
    ClassCount,
    Counting,
    CurveFinding,
    Difference,
    FittedParameter,
    Halves,
    MethodChoices,
    MetricValue,
    NoiseFloor,
    Notice,
    Reliability,
    Results,
    ScoreHistogram,
    ScoreNeeded,
    SetClass,
    SetsFinding,
    SkippedCandidate,
)
from credence.findings.run_record import (
    SCHEMA,
    Findings,
    InputFile,
    MethodFinding,
    Provenance,
    Setting,
    UseClass,
    UseRow,
    UseSet,
)
from credence.findings.use_sets import ShiftClass, ShiftCurve, ShiftFinding, WhatIf, WhatIfPart

__all__ = [
    "SCHEMA",
    "Bins",
    "CalibrationTest",
    "ChoiceTrial",
    "ClassChoice",
    "ClassCount",
    "Counting",
    "CurveFinding",
    "Difference",
    "Findings",
    "FittedParameter",
    "Halves",
    "InputFile",
    "MethodChoices",
    "MethodFinding",
    "MetricValue",
    "NoiseFloor",
    "Notice",
    "Provenance",
    "Reliability",
    "Results",
    "ScoreHistogram",
    "ScoreNeeded",
    "SetClass",
    "SetsFinding",
    "Setting",
    "ShiftClass",
    "ShiftCurve",
    "ShiftFinding",
    "SkippedCandidate",
    "UseClass",
    "UseRow",
    "UseSet",
    "WhatIf",
    "WhatIfPart",
    "from_record",
    "to_record",
]
