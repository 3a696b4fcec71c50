"""Documentation in the source's own words. In: comments and docstrings as written. Out: their text without markers."""

from __future__ import annotations

import re

#: Documentation beyond this says no more about what a definition is for; in characters.
MAX_DOC_CHARS = 2_000
#: A declaration is cut here; in characters.
MAX_SIGNATURE_CHARS = 400
_LICENCE = re.compile(r"copyright|licen[cs]e|spdx-|all rights reserved|\(c\) \d{4}", re.IGNORECASE)
#: The signs of a comment, and those by which Haddock and LuaDoc tell documentation.
_OPENING = re.compile(r"^\s*(?:/\*+!?<?|//+[!<]*|#+!?|<!--|--\[=*\[|--+(?: [|^])?|\{-+(?: ?[|^])?|=begin\b)\s?")
#: What a comment of several lines ends with, by what it begins with, and the sign that may be repeated before it.
_CLOSING = {"/*": ("*/", "*"), "<!": ("-->", "-"), "{-": ("-}", "-"), "=b": ("=end", ""), "--": ("]", "]=")}
_LONG_LUA = re.compile(r"--\[=*\[")
_STAR = re.compile(r"^\s*\*+(?!/)\s?")
_STRING = re.compile(r"""^~?[a-zA-Z]{0,2}("{3}|'{3}|"|')(.*?)\1?$""", re.DOTALL)
_LETTER = re.compile(r"[^\W_]")
#: White space, and the backslashes that continue a line of the preprocessor.
_FOLDED = re.compile(r"(?:\s|\\(?=\s))+")
#: What a declaration ends with before its body: an opening brace, a colon, the sign of an assignment.
_BEFORE_BODY = " \t\r\n{:=;"


def is_licence(comment: str) -> bool:
    """Tell whether a comment at the top of a file is its licence or copyright notice."""
    return _LICENCE.search(comment) is not None


def comment_text(comment: str) -> str:
    """Return a comment's lines without markers; a line without a letter or digit is a rule, not text."""
    comment = comment.strip()
    start = comment[:2]
    block = start in _CLOSING and (start != "--" or _LONG_LUA.match(comment) is not None)
    lines: list[str] = []
    if block:
        closing, repeated = _CLOSING[start]
        comment = comment.removesuffix(closing).rstrip(repeated)
    for line in comment.splitlines():
        inner = block and bool(lines)
        plain = line if inner and start != "/*" else (_STAR if inner else _OPENING).sub("", line)
        lines.append(plain.strip() if _LETTER.search(plain) else "")
    return "\n".join(lines)


def docstring_text(literal: str) -> str:
    """Return the text of a string literal that documents what it stands in."""
    matched = _STRING.match(literal.strip())
    return "\n".join(line.strip() for line in (matched[2] if matched else literal).splitlines())


def join_doc(parts: list[str]) -> str:
    """Join pieces of documentation, drop empty lines and cut at the limit."""
    text = "\n".join(parts)
    return "\n".join(line for line in text.splitlines() if line)[:MAX_DOC_CHARS]


def fold_signature(declaration: str) -> str:
    """Return a declaration as one line."""
    declaration = declaration[: 4 * MAX_SIGNATURE_CHARS]
    folded = _FOLDED.sub(" ", declaration).strip() if "\\" in declaration else " ".join(declaration.split())
    arrow = folded.endswith("=>")
    return (folded if arrow else folded.rstrip(_BEFORE_BODY))[:MAX_SIGNATURE_CHARS]
