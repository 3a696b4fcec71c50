"""Every error that Strata raises on purpose.

    StrataError
    ├── SettingsError          a configuration key or value is wrong
    ├── InputError             what the user named cannot be used: path, repository, query
    │   ├── NothingIndexed     there is no index where one was asked for
    │   ├── NotFound           what was asked for by its name is not in the index
    │   └── Unreadable         a listed file may not be read
    ├── SourceMoved            a file or commit changed while a run was reading it
    ├── NotAgreed              a run would cost money, and nobody agreed to that
    ├── EncoderError           an encoder, model or tokenizer cannot be used
    │   └── EncoderUnavailable a service that encodes does not answer, or refuses
    ├── BusyError              another process holds the repository's write lock
    ├── StorageError           the artifact store cannot be written (disk full, read-only)
    └── ArtifactError          an artifact cannot be used
        ├── ArtifactMissing    it is not in the store
        ├── ArtifactCorrupt    its bytes are not those that were written
        ├── FormatUnsupported  it has another format version; both numbers are named
        └── ArtifactMismatch   artifacts that do not belong together: row order, encoder, settings

A message names the thing, the value and the next step. The tree is mirrored in docs/errors.md; a test compares the two.
"""

from __future__ import annotations


class StrataError(Exception):
    """Base of all errors that carry a message for the user."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class SettingsError(StrataError):
    """A configuration key or value is wrong; the message holds the dotted key."""


class InputError(StrataError):
    """What the user named cannot be used: a path, a repository, a query."""


class NothingIndexed(InputError):
    """There is no published index where one was asked for."""


class NotFound(InputError):
    """What was asked for by its name is not in the index: a repository, a chunk."""


class Unreadable(InputError):
    """A listed file may not be read, or its disk fails; only that file is left out."""


class SourceMoved(StrataError):
    """A file or commit changed while a run was reading it; running again repairs it."""


class EncoderError(StrataError):
    """An encoder, model or tokenizer cannot be loaded or gave an unusable result."""


class EncoderUnavailable(EncoderError):
    """A service that encodes does not answer, or refuses; no text is at fault."""


class NotAgreed(StrataError):
    """A run would cost money, and nobody agreed to that; `tokens` is how many would be paid for."""

    def __init__(self, message: str, tokens: int, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.tokens = tokens


class BusyError(StrataError):
    """Another process holds the write lock of the repository."""


class StorageError(StrataError):
    """The artifact store cannot be written: disk full, read-only, not permitted."""


class ArtifactError(StrataError):
    """An artifact cannot be used."""


class ArtifactMissing(ArtifactError):
    """The artifact is not in the store."""


class ArtifactCorrupt(ArtifactError):
    """The artifact's bytes are not those that were written."""


class FormatUnsupported(ArtifactError):
    """The artifact has a format version outside the range this release reads."""

    def __init__(self, name: str, found: int, oldest: int, current: int) -> None:
        action = "run `strata index` to rebuild it" if found < oldest else "use the newer release that wrote it"
        super().__init__(f"{name} has format version {found}; this release reads {oldest} to {current}", hint=action)
        self.found = found
        self.current = current


class ArtifactMismatch(ArtifactError):
    """Artifacts that do not belong together: other row order, encoder or settings."""
