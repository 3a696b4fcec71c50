"""A labelled corpus of secrets and of what only looks like one, filled with random values when it is read.

Each text file holds entries: a line `%%% title`, then a template. `⟦alphabet:length⟧` stands for a random value, drawn
by a generator that the entry's title seeds, so that entries do not depend on one another and no scanner of a host takes
the files for a leak. In `positives.txt` every such value is a secret, or the variable part of one, except those of the
alphabet `outside`; in `negatives.txt` nothing is a secret.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent
_SLOT = re.compile(r"⟦([a-z0-9]+)(?::(\d+))?⟧")
_LETTERS_AND_DIGITS = string.ascii_letters + string.digits
_PEM_LINE = 64

ALPHABETS = {
    "hex": "0123456789abcdef",
    "hexup": "0123456789ABCDEF",
    "digits": string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "letters": string.ascii_letters,
    "mixed": _LETTERS_AND_DIGITS,
    "b64": _LETTERS_AND_DIGITS + "+/",
    "b64url": _LETTERS_AND_DIGITS + "-_",
    "outside": _LETTERS_AND_DIGITS,
}


@dataclass(frozen=True, slots=True)
class Example:
    """One text. `secrets` are the half-open spans of its random values in characters."""

    title: str
    text: str
    secrets: tuple[tuple[int, int], ...]


def positives() -> list[Example]:
    """Return texts that hold secrets."""
    return _read("positives.txt")


def negatives() -> list[Example]:
    """Return texts that hold none."""
    return _read("negatives.txt")


def _read(name: str) -> list[Example]:
    entries = (_FOLDER / name).read_text("utf-8").removeprefix("%%% ").split("\n%%% ")
    return [_fill(*entry.rstrip("\n").split("\n", 1)) for entry in entries]


def _fill(title: str, template: str) -> Example:
    source = random.Random(f"strata:{title}")
    pieces: list[str] = []
    secrets: list[tuple[int, int]] = []
    length = place = 0
    for slot in _SLOT.finditer(template):
        value = _value(source, slot[1], int(slot[2] or 0))
        pieces += [template[place : slot.start()], value]
        length += slot.start() - place
        if slot[1] != "outside":
            secrets.append((length, length + len(value)))
        length += len(value)
        place = slot.end()
    return Example(title, "".join([*pieces, template[place:]]), tuple(secrets))


def _value(source: random.Random, alphabet: str, length: int) -> str:
    if alphabet in ALPHABETS:
        return draw(source, alphabet, length)
    return _COMPOSED[alphabet](source, length)


def draw(source: random.Random, alphabet: str, length: int) -> str:
    """Return random characters of an alphabet."""
    return "".join(source.choice(ALPHABETS[alphabet]) for _ in range(length))


def password(source: random.Random) -> str:
    """Return a password as people and tools choose them: letters of both cases, digits and a sign."""
    characters = [draw(source, kind, 1) for kind in ("digits", "letters", "lower", "upper")]
    characters += [source.choice("!+.~"), *draw(source, "mixed", 7)]
    source.shuffle(characters)
    return "Z" + "".join(characters) + "k7"


def _pem(source: random.Random, lines: int, end: str = "\n") -> str:
    return end.join([*(draw(source, "b64", _PEM_LINE) for _ in range(lines - 1)), draw(source, "b64", 42) + "=="])


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _url_part(source: random.Random, document: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(document, separators=(",", ":")).encode()).decode().rstrip("=")


def _token(source: random.Random, subject: str) -> str:
    head = _url_part(source, {"alg": "HS256", "typ": "JWT"})
    return f"{head}.{_url_part(source, {'sub': subject, 'name': 'John Doe'})}.{draw(source, 'b64url', 43)}"


def _uuid(source: random.Random) -> str:
    return "-".join(draw(source, "hex", count) for count in (8, 4, 4, 4, 12))


def _discord(source: random.Random) -> str:
    account = _encoded("1" + draw(source, "digits", 18)).rstrip("=")
    return f"{account}.G{draw(source, 'b64url', 5)}.{draw(source, 'b64url', 38)}"


_COMPOSED: dict[str, Callable[[random.Random, int], str]] = {
    "pw": lambda source, _: password(source),
    "pw64": lambda source, _: _encoded(password(source)),
    "account": lambda source, _: _encoded(f"robot:{password(source)}"),
    "pem": lambda source, lines: _pem(source, lines),
    "pemescaped": lambda source, lines: _pem(source, lines, "\\n"),
    "pem64": lambda source, _: _encoded(
        "-----BEGIN RSA PRIVATE" + f" KEY-----\n{_pem(source, 4)}\n-----END RSA PRIVATE" + " KEY-----\n"
    ),
    "cert64": lambda source, _: _encoded(
        f"-----BEGIN CERTIFICATE-----\n{_pem(source, 4)}\n-----END CERTIFICATE-----\n"
    ),
    "jwt": lambda source, _: _token(source, draw(source, "digits", 10)),
    "jwtsample": lambda source, _: _token(source, "1234567890"),
    "uuid": lambda source, _: _uuid(source),
    "uuidish": lambda source, _: _uuid(source),
    "guid": lambda source, _: _uuid(source).upper(),
    "discord": lambda source, _: _discord(source),
}
