"""Fingerprints: what a result depends on, as one short string. In: plain values. Out: 32 hex digits of blake2b-128.

A fingerprint is the name of an immutable artifact and, at the same time, the Dagster data version of the partition that
holds it. Equal inputs, settings and code give equal fingerprints on every machine; anything else must differ.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

#: Marks a settings field that cannot change any output (a worker count): `field(metadata=NOT_AN_INPUT)`.
NOT_AN_INPUT: Mapping[str, Any] = {"fingerprint": False}


def digest_bytes(*parts: bytes) -> bytes:
    """Return blake2b-128 (16 bytes) over length-prefixed parts, so that ("ab", "c") and ("a", "bc") differ."""
    return hashlib.blake2b(length_prefixed(*parts), digest_size=16).digest()


def length_prefixed(*parts: bytes) -> bytes:
    """Return parts one after the other, each with its length in eight bytes before it."""
    return b"".join([piece for part in parts for piece in (len(part).to_bytes(8, "little"), part)])


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a plain value: dataclasses, mappings, sequences, strings, numbers, booleans, None.

    :param value: the value; mappings are order-free, sequences are not.
    :raises TypeError: if a value has no canonical form (a set, a float that is not finite, an object).
    """
    canonical = json.dumps(
        _canonical(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.blake2b(canonical.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _canonical(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _canonical(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.metadata.get("fingerprint", True)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): _canonical(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"a {type(value).__name__} has no fingerprint: {value!r}")
