"""A `with` block whose every failure says what was being done.

Runtimes and tokenizers raise exceptions of their own, bare `Exception` among them; a user needs the model or the chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

from pipelines.errors import EncoderError, StrataError

_PANIC = "PanicException"


@dataclass(frozen=True, slots=True)
class Explained:
    """Turns an exception of the block into an EncoderError that begins with `what`."""

    what: str
    hint: str = ""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, StrataError):
            kind_of = type(error) if isinstance(error, EncoderError) else EncoderError
            raise kind_of(f"{self.what}: {error.message}", hint=error.hint or self.hint) from error
        # An interrupt and the like pass as they are; a panic of a Rust library looks like one, and can only be named.
        if isinstance(error, Exception) or (kind is not None and kind.__name__ == _PANIC):
            raise EncoderError(f"{self.what}: {type(error).__name__}: {error}", hint=self.hint) from error
