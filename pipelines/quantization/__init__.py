"""How small it can be. In: vectors. Out: binary_codes; at query time: bits, pool, rescoring."""
