"""Which definition a call means. In: the symbols artifacts of all buckets. Out: an outcome for every call."""

from pipelines.discover.graph.binding.bind import Bound, bind_calls
from pipelines.discover.graph.binding.resolver import Binding, Outcome

__all__ = ["Binding", "Bound", "Outcome", "bind_calls"]
