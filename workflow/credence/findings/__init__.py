"""What a run found, as frozen typed records: the report's only input.

Every number is computed before it stands here. The records hold plain Python
values, so that they go to JSON and back unchanged; NaN is null there. They
name no clock, host or path: the same inputs give the same records.
"""

from credence.findings.chosen import (
    ChoiceTrial,
    ClassChoice,
    MethodChoices,
    SkippedCandidate,
)
from credence.findings.codec import from_record, to_record
from credence.findings.evaluated import (
    Bins,
    ClassCount,
    CurveFinding,
    Difference,
    FittedParameter,
    MetricValue,
    Notice,
    Reliability,
    Results,
    ScoreHistogram,
    ScoreNeeded,
)
from credence.findings.measured import CalibrationTest, Counting, Halves, NoiseFloor
from credence.findings.run import (
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
from credence.findings.sets import SetClass, SetsFinding
from credence.findings.shift import (
    ShiftClass,
    ShiftCurve,
    ShiftFinding,
    WhatIf,
    WhatIfPart,
)

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
