"""Who may ask a server, and by which name. In: a request's headers. Out: allowed, or why not.

A server on a loopback address answers everybody on the machine; any other address needs a token. The Host header must
be a name of this server: else a page from elsewhere could have its own name resolved to this machine and read what it
likes (DNS rebinding). An address in numbers cannot be resolved to anything else.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from pipelines.errors import InputError, SettingsError

#: A shorter token could be guessed.
MIN_TOKEN_CHARS = 16
#: Where a browser keeps that it has signed in. It holds a proof of the token, not the token.
COOKIE = "strata_session"
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of one server. `names` are in lower case; `token` is "" where none is needed."""

    names: frozenset[str]
    token: str = ""
    any_address: bool = False  # it listens on all addresses of the machine, so any of them may be its name

    def knows_host(self, header: str) -> bool:
        """Tell whether a Host header names this server."""
        name = _host_name(header)
        return name in self.names or (self.any_address and _address(name) is not None)

    def admits(self, authorization: str, session: str) -> bool:
        """Tell whether a request shows the token, or that its browser has signed in with it."""
        if not self.token:
            return True
        given = authorization[len(_BEARER) :].strip() if authorization[: len(_BEARER)].lower() == _BEARER else ""
        return self.is_token(given) or hmac.compare_digest(session.encode(), self.session.encode())

    def is_token(self, given: str) -> bool:
        """Compare a token with the right one; the time this takes tells nothing about it."""
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode())

    @property
    def session(self) -> str:
        """What the browser of someone who knows the token keeps: it ends when the token changes."""
        return hmac.new(self.token.encode(), b"strata page session", "sha256").hexdigest()


def make_access(host: str, token: str, other_names: Iterable[str] = ()) -> Access:
    """Return the rules for a server on a host.

    :raises SettingsError: if the host is no loopback address and there is no token, or one that could be guessed.
    """
    if token and (len(token) < MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable()):
        raise SettingsError(
            f"the access token must have at least {MIN_TOKEN_CHARS} characters, all of them printable ASCII",
            hint="make one with `openssl rand -hex 32`",
        )
    if not token and not is_loopback(host):
        raise SettingsError(
            f"{host} can be reached from other machines, and there is no access token",
            hint="set STRATA_TOKEN, or give --token-file FILE, or serve on 127.0.0.1",
        )
    given = _address(host)
    everywhere = given is not None and given.is_unspecified
    own = {socket.gethostname().lower()} if everywhere else {host.lower().strip("[]")}
    return Access(_LOOPBACK_NAMES | own | {name.lower() for name in other_names}, token, everywhere)


def is_loopback(host: str) -> bool:
    """Tell whether a host can be reached from this machine alone."""
    address = _address(host)
    if address is not None:
        return address.is_loopback
    return all(found.is_loopback for found in map(_address, resolve(host)) if found is not None)


def resolve(host: str) -> list[str]:
    """Return the addresses of a host, those of IPv4 first.

    :raises InputError: if it has none.
    """
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InputError(f"{host!r} is no address of this machine: {error}", hint="give --host 127.0.0.1") from error
    return [str(item[4][0]) for item in sorted(found, key=lambda item: item[0] != socket.AF_INET)]


def _host_name(header: str) -> str:
    """Return the host of a Host header, without its port, in lower case; "" for what is no host."""
    name = header.strip().lower()
    if name.startswith("["):
        inner, closed, port = name[1:].partition("]")
        return inner if closed and (not port or _is_port(port)) else ""
    host, colon, port = name.partition(":")
    return host.removesuffix(".") if not colon or _is_port(":" + port) else ""


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
