"""How small it can be. In: vectors. Out: binary_codes; at query time: bits, pool, rescoring."""

from pipelines.quantization.codes import build_codes
from pipelines.quantization.pool import hamming_pool
from pipelines.quantization.rescoring import rescore
from pipelines.quantization.signs import sign_bits

__all__ = ["build_codes", "hamming_pool", "rescore", "sign_bits"]
