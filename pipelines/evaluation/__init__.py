"""Is it better than before. In: a generation, judgments. Out: eval_runs; answers to a benchmark."""

from pipelines.evaluation.benchmark import Subject, read_benchmark
from pipelines.evaluation.judgments import load_judgments
from pipelines.evaluation.runs import Evaluation, build_evaluation, evaluate, evaluate_generation
from pipelines.evaluation.ways import answer, means

__all__ = [
    "Evaluation",
    "Subject",
    "answer",
    "build_evaluation",
    "evaluate",
    "evaluate_generation",
    "load_judgments",
    "means",
    "read_benchmark",
]
