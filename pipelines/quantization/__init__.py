"""How small it can be. In: vectors. Out: binary_codes; at query time: bits, pool, rescoring."""

from pipelines.quantization.codes import build_codes
from pipelines.quantization.extension import BitMap
from pipelines.quantization.pool import hamming_pool
from pipelines.quantization.rescoring import asymmetric_scores, rescore

__all__ = ["BitMap", "asymmetric_scores", "build_codes", "hamming_pool", "rescore"]
