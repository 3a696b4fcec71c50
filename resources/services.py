"""Which services a user's environment lets texts be sent to, and the key for them.

STRATA_API_HOST  host, or host:port, of the embeddings service that texts may leave this machine for
STRATA_API_KEY   the key that is sent to that host, and to no other

An address alone may have come with a clone, in a configuration or a store; so a host beyond this machine is only spoken
to where the environment names it too. The key is read for each request, kept nowhere, and shown nowhere.
"""

from __future__ import annotations

import os

from pipelines.endpoint import Endpoint
from pipelines.errors import SettingsError

HOST_VARIABLE = "STRATA_API_HOST"
KEY_VARIABLE = "STRATA_API_KEY"


def api_key(endpoint: Endpoint) -> str:
    """Return the key for an address, "" where the environment has none for it.

    :raises SettingsError: if texts may not be sent there, or the key cannot be one.
    """
    named = os.environ.get(HOST_VARIABLE, "").strip().lower()
    mine = named in (endpoint.authority, endpoint.host, f"{endpoint.host}:{endpoint.port}")
    if not mine and not endpoint.local:
        raise SettingsError(
            f"texts may not be sent to {endpoint.authority}: {HOST_VARIABLE} names {named or 'no host'}",
            hint=f"set {HOST_VARIABLE}={endpoint.authority}, and {KEY_VARIABLE} to your key for it, if you trust it",
        )
    key = os.environ.get(KEY_VARIABLE, "").strip() if mine else ""
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingsError(f"{KEY_VARIABLE} holds characters that no key has")
    return key
