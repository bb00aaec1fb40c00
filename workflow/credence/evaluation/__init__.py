"""How good confidences are: in-sample and held-out, never mixed."""

from credence.evaluation.evaluate import Evaluation, evaluate
from credence.evaluation.judging import EvaluationOptions
from credence.evaluation.use_sets import summarise_use_set

__all__ = ["Evaluation", "EvaluationOptions", "evaluate", "summarise_use_set"]
