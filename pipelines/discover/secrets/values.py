"""Whether a literal is a secret or stands for one. In: the bytes of one value. Out: a judgment.

Entropy is compared with what the value's own alphabet can reach: sixteen hexadecimal digits never exceed 4 bits a
character, so one threshold for all alphabets would miss every hexadecimal key.
"""

from __future__ import annotations

import math
import re
from collections import Counter

#: What a person writes in the place of a secret. Compared inside the value only: a comment beside it proves nothing.
_STAND_IN = re.compile(
    rb"(?i)example|sample|placeholder|dummy|change.?me|redacted|insert|your|fake|mock|[_-]here|todo|fixme|foobar|undefined|lorem|process\.env"
    rb"|environ|getenv|config\.|settings\.|https?:|file:"
)
#: Words that say what the value is for. A value is judged by what is left without them: "test-password-1" is nothing.
_NAMING = re.compile(rb"(?i)password|passwd|pass|secret|token|api.?key|key|credential|default|test|admin|user")
_TEMPLATE = re.compile(
    rb"\$\{|\$[A-Za-z_]\w{0,60}\Z|\$\(|\{\{|\}\}|<[^>]{0,80}>|%\(|%s|%[0-9]{0,3}[dxv]|#\{|\{[A-Za-z_][\w.]{0,60}\}|\.\.\.|\*\*\*|[xX]{4}"
)
_SEQUENCE = re.compile(
    rb"(?i)01234567|12345678|23456789|abcdefgh|87654321|98765432|0001020304|0102030405|00112233|aabbccdd|ffeeddcc|deadbeef"
    rb"|cafebabe|qwerty|asdfgh"
)
#: A pattern that a secret matches: classes, repeats.
_REGEX = re.compile(rb"\\[dwsDWS]|\[[^\]]{0,20}[a-zA-Z0]-[^\]]{0,20}\]|\{[0-9]{1,4},?[0-9]{0,4}\}\W{0,2}\Z|\(\?[:=!P<]")
#: What documents give away: AWS' examples, the subject of JSON Web Tokens (1234567890), the key of Azure's emulator.
_SAMPLES = re.compile(rb"EXAMPLE|eyJzdWIiOiIxMjM0NTY3ODkw|Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1")
_HEX = re.compile(rb"(?:0x)?([0-9a-fA-F]+)")
#: A value of at most so many different characters is a pattern; of a token, its prefix apart, the end is looked at.
_FEW_CHARACTERS, _TAIL_CHARS = 3, 16
_WORD = re.compile(rb"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_VOWEL = re.compile(rb"(?i)[aeiouy]")
_DIGITS = re.compile(rb"[0-9]+")
_LETTER_OR_DIGIT = re.compile(rb"[A-Za-z0-9]")

#: Least bits a character, and least length, by alphabet: 99 of 100 random draws have more (2.90 bits for 20 hexadecimal
#: digits, 2.75 for 12 letters and digits); numbers in a row and most names have less, or fail the test for words.
_HEX_BITS, _HEX_CHARS = 2.9, 20
_MIXED_BITS, _MIXED_CHARS = 2.75, 12
_WORD_SHARE, _NAME_NUMBERS = 0.5, 2
_PASSWORD_BITS, _PASSWORD_CHARS, _MAX_PASSWORD_CHARS = 2.5, 8, 128
_CORE_CHARS = 5  # of a password without the words that name it
_CHOSEN_CHARS, _CHOSEN_WORD_CHARS = 4, 8  # a short word in small letters is what examples have: scott:tiger
#: A call, a path, a member: read from somewhere, not written here. A version.
_CODE = re.compile(
    rb"[A-Za-z_][\w.]{0,100}\(|[.~]{0,2}/|[A-Za-z_]+[0-9]{0,3}(?:(?:[?!]?\.|::|->)[A-Za-z_]+[0-9]{0,3})+\Z|v?[0-9]{1,3}\.[0-9]{1,4}\.[0-9]"
)
#: Words in small letters, joined: an error code, a path, a name of something.
_JOINED = re.compile(rb"[a-z]+[0-9]{0,2}(?:[-_./:]{1,2}(?:[a-z]+[0-9]{0,2}|[0-9]{1,6}))+\Z")
#: The name of a constant.
_CONSTANT = re.compile(rb"[A-Z][A-Za-z0-9]{0,30}(?:_[A-Za-z0-9]{1,40})+\Z")


def entropy(value: bytes) -> float:
    """Return the Shannon entropy of a value in bits a character."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values()) if total else 0.0


def is_placeholder(value: bytes, *, words: bool = True) -> bool:
    """Tell whether a value stands for a secret: a template, a sequence, one repeated character, a telling word.

    :param words: whether the words count; not for tokens with a prefix, which may contain any word by chance.
    """
    body = value if words else value[-_TAIL_CHARS:]
    if len(set(body)) <= _FEW_CHARACTERS:
        return True
    if _SAMPLES.search(value) or _TEMPLATE.search(value) or _SEQUENCE.search(value):
        return True
    return words and (_STAND_IN.search(value) is not None or _REGEX.search(value) is not None)


def looks_random(value: bytes, *, quoted: bool = True) -> bool:
    """Tell whether a value was drawn by a machine: long and even enough for its alphabet, and not made of words.

    A value without quotes must not read as the name of a constant either.
    """
    if is_placeholder(value) or b" " in value or value.isdigit() or _CODE.match(value) or _JOINED.match(value):
        return False
    digits = _HEX.fullmatch(value)
    if digits:
        return len(digits[1]) >= _HEX_CHARS and entropy(digits[1].lower()) >= _HEX_BITS
    if len(_NAMING.sub(b"", value)) < _MIXED_CHARS or not value.isascii() or (not quoted and _CONSTANT.match(value)):
        return False
    return _is_mixed(value) and entropy(value) >= _MIXED_BITS and not _is_words(value)


def looks_chosen(value: bytes) -> bool:
    """Tell whether a password in a place that holds nothing else is more than a word for one."""
    core = _NAMING.sub(b"", value)
    return (
        not is_placeholder(value)
        and not _JOINED.match(value)
        and len(core) >= (_CHOSEN_WORD_CHARS if core.islower() else _CHOSEN_CHARS)
    )


def looks_like_password(value: bytes, *, quoted: bool) -> bool:
    """Tell whether what a password is set to is one; a value without quotes must not read as code either."""
    if is_placeholder(value) or b" " in value or not _PASSWORD_CHARS <= len(value) <= _MAX_PASSWORD_CHARS:
        return False
    if entropy(value) < _PASSWORD_BITS or _JOINED.match(value) or _is_foreign(value):
        return False
    if not quoted and _CONSTANT.match(value):
        return False
    core = _NAMING.sub(b"", value)
    if not quoted and (_is_words(core) or not _is_mixed(core)):
        return False
    has_letter = core.upper() != core.lower() or not core.isascii()
    has_other = re.search(rb"[^A-Za-z_./:@-]", core) is not None
    return len(core) >= _CORE_CHARS and has_letter and has_other and not _CODE.match(core)


def _is_foreign(value: bytes) -> bool:
    """Tell whether most of a value is in another script than Latin: it is read, not typed into a password field."""
    return 2 * sum(item > 127 for item in value) > len(value)


def _is_mixed(value: bytes) -> bool:
    has_digit = any(item in b"0123456789" for item in value)
    has_letter = value.upper() != value.lower()
    return has_letter and (has_digit or (value.upper() != value and value.lower() != value and len(value) >= 16))


def _is_words(value: bytes) -> bool:
    """Tell whether the value is words and at most two numbers, joined by separators or camel case: a name, a path."""
    words = sum(len(word) for word in _WORD.findall(value) if _VOWEL.search(word))
    share = words / max(1, len(_LETTER_OR_DIGIT.findall(value)))
    return share >= _WORD_SHARE and len(_DIGITS.findall(value)) <= _NAME_NUMBERS
