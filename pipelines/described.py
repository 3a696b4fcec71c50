"""The described form of a small document, such as a manifest, compared with one that was read.

In: plain values of JSON and a description. Out: nothing, or an error that names the place. A description is

    str, int, bool, dict, ..     a value of that type; a truth value is no number
    natural                      a whole number from 0 on
    [description]                a list of any length
    (description, ..)            a list of just these items
    {key: description}           an object with at least these keys
    Each(description)            an object of any keys
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipelines.errors import ArtifactCorrupt

#: Stands for a part that is not there.
_LACKING = object()


@dataclass(frozen=True, slots=True)
class Each:
    """Describes an object by its values."""

    value: Any


def natural(value: object) -> bool:
    """Tell whether a value is a whole number from 0 on."""
    return type(value) is int and value >= 0


def require_described(value: object, description: Any, thing: str, hint: str = "run `strata index`") -> None:
    """Raise ArtifactCorrupt, naming `thing` and the place in it, unless a value is as it is described."""
    if fault := _fault(value, description):
        raise ArtifactCorrupt(f"{thing} {fault}", hint=hint)


def _fault(value: Any, description: Any, place: str = "") -> str:
    """Return what is wrong, "" if nothing."""
    if value is _LACKING:
        return f"has no {place}"
    if not _fits(value, description):
        return f"is damaged at {place}" if place else "is damaged"
    for key, part, inner in _parts(value, description):
        if type(part) is inner or (inner is natural and type(part) is int and part >= 0):
            continue  # most parts are such, and an index has hundreds of them
        if fault := _fault(part, inner, f"{place}.{key}" if place else str(key)):
            return fault
    return ""


def _fits(value: Any, description: Any) -> bool:
    """Compare a value alone, without what it holds."""
    if isinstance(description, type):
        return type(value) is description
    if isinstance(description, (dict, Each)):
        return isinstance(value, dict)
    if isinstance(description, (list, tuple)):
        return isinstance(value, list) and (isinstance(description, list) or len(value) == len(description))
    fits: bool = description(value)
    return fits


def _parts(value: Any, description: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """Yield the key of each described part of a value, the part and its description."""
    if isinstance(description, dict):
        yield from ((key, value.get(key, _LACKING), inner) for key, inner in description.items())
    elif isinstance(description, Each):
        yield from ((key, item, description.value) for key, item in value.items())
    elif isinstance(description, list):
        if set(map(type, value)) == {description[0]}:
            return
        yield from ((place, item, description[0]) for place, item in enumerate(value))
    elif isinstance(description, tuple):
        yield from ((place, *pair) for place, pair in enumerate(zip(value, description, strict=True)))
