"""How good confidences are: in-sample and held-out, never mixed."""

from credence.evaluation.evaluate import Evaluation, evaluate
from credence.evaluation.judging import EvaluationOptions

__all__ = ["Evaluation", "EvaluationOptions", "evaluate"]
