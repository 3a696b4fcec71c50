"""Is it better than before. In: a generation, judgments. Out: eval_runs."""

from pipelines.evaluation.judgments import Case, load_judgments
from pipelines.evaluation.runs import Evaluation, build_evaluation, evaluate, evaluate_generation

__all__ = ["Case", "Evaluation", "build_evaluation", "evaluate", "evaluate_generation", "load_judgments"]
