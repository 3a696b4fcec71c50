"""Where a text holds secrets. In: a text. Out: their spans, never their text."""

from pipelines.discover.secrets.scan import SecretSpan, find_secrets

__all__ = ["SecretSpan", "find_secrets"]
