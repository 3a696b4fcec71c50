"""The address of an embeddings service: what a url of the settings names, checked without touching the network.

In: a url. Out: host, port and path. Texts go over TLS, unless they stay on this machine. What may hold a password,
a user or a query, is no part of it, so an address can be shown, and stand in a digest.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

_PATH = "/embeddings"
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where texts are posted to."""

    secure: bool
    host: str
    port: int
    path: str  # of the service's `embeddings`

    @classmethod
    def parse(cls, url: str) -> Endpoint:
        """Read the url of a service, with or without the `/embeddings` at its end.

        :raises ValueError: saying what is wrong with it, without repeating it.
        """
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError("it is no https:// address")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("it has more than host, port and path")
        if not (url.isascii() and url.isprintable()) or " " in url:
            raise ValueError("it has characters that do not belong into an address")
        path = parts.path.rstrip("/").removesuffix(_PATH) + _PATH
        found = cls(parts.scheme == "https", parts.hostname, parts.port or _PORTS[parts.scheme], path)
        if not found.secure and not found.local:
            raise ValueError("only an address of this machine may go without https")
        return found

    @property
    def local(self) -> bool:
        """Tell whether it is on this machine."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def authority(self) -> str:
        """Return the host, with its port where that is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS["https" if self.secure else "http"] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return self.authority + self.path
