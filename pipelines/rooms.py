"""A package that loads a name when it is asked for. In: which name stands in which module. Out: its `__getattr__`.

A query needs a few names of a stage and must not wait for the libraries that only a build needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: str, rooms: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    :param package: its `__name__`. :param rooms: the module of each name that it shows, relative to the package.
    """

    def load(name: str) -> Any:
        if name not in rooms:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{rooms[name]}"), name)

    return load
