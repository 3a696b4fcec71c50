"""Which definition a call means. In: symbols, calls and imports of all buckets. Out: an outcome for every call."""

from pipelines.discover.binding.definitions import Definitions
from pipelines.discover.binding.imports import Imports
from pipelines.discover.binding.resolver import Binding, Outcome, Resolver

__all__ = ["Binding", "Definitions", "Imports", "Outcome", "Resolver"]
