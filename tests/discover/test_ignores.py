from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.discover.listing import patterns
from pipelines.discover.listing.ignores import pattern_fault
from pipelines.discover.listing.patterns import match_patterns
from pipelines.discover.listing.scopes import Scopes
from pipelines.errors import InputError
from tests.discover.git_repository import indexed, listing_of, make_repository, write

UNCLOSED = "'[' is never closed, so the pattern matches nothing"
IN_A_PART = "more than 4 '*' in one part of the path would take too long, so the pattern is not used"
IN_ALL = "more than 6 '*' would take too long, so the pattern is not used"
ENDS = "it ends with a backslash, so the pattern matches nothing"


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("[a-", UNCLOSED),
        ("/**/[a-", UNCLOSED),
        ("![", UNCLOSED),
        ("[]", UNCLOSED),
        ("[!]", UNCLOSED),
        ("[^]", UNCLOSED),
        ("[a\\]", UNCLOSED),
        ("[[:alpha:]", UNCLOSED),
        ("[ab][c", UNCLOSED),
        ("[[:letter:]]", "there is no class [:letter:], so the pattern matches nothing"),
        ("a\\", ENDS),
        ("\\\\\\", ENDS),
        ("*a" * 5, IN_A_PART),
        ("!src/*a?*a*a**a*", IN_A_PART),
        ("**/a/" * 7, IN_ALL),
        ("*a*/" * 4, IN_ALL),
        *[(good, "") for good in ("*a" * 4, "*/" * 20, "[*a]" * 20, "\\*" * 20, "*" * 60, "**/*.a*b/**/*.c*")],
        *[
            (good, "")
            for good in ("[a-z]", "[]]", "[!]a]", "[\\]]", "\\[", "[[:alpha:]_]", "[[:x]", "foo{", "a\\\\", "]")
        ],
    ],
)
def test_a_pattern_that_can_match_nothing_is_known(pattern: str, fault: str) -> None:
    assert pattern_fault(pattern) == fault


PATHS = [
    bytes([*map(ord, text)])
    for text in ("a", "b", "[", "]", "-", "\\", "!", ":", "[a", "a]", "a\\", "[]", "ab", "[a-", "a/b")
]


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.text("ab[]!^-\\:/", min_size=1, max_size=6))
def test_git_finds_no_match_for_a_pattern_that_is_told(pattern: str) -> None:
    if pattern_fault(pattern):
        assert match_patterns([pattern.removeprefix("!")], PATHS) == {}


def test_spaces_carriage_returns_comments_and_marks_are_no_faults(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfa.log  \r\n# [\n\n\\#x\n\\!x\nname\\ \nodd\\  \n[a-z]\r\n"
    root = make_repository(tmp_path, {".gitignore": content, ".strataignore": content, "a.py": "a\n"})
    assert listing_of(root).warnings == ()


def test_many_broken_lines_are_counted(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {".gitignore": "[\n" * 10, "a.py": "a\n"})
    assert listing_of(root).warnings == (
        *(f".gitignore, line {number}: {UNCLOSED}" for number in (1, 2, 3)),
        ".gitignore: 7 more lines of this kind",
    )


def test_an_ignore_file_that_is_not_used_is_told(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "r", {"a.py": "a\n", "sub/b.py": "b\n", "sub/.strataignore": "b.py\n" * 220_000})
    write(tmp_path, {"elsewhere": "*.py\n"})
    for name in (".strataignore", ".gitignore"):
        (root / name).symlink_to(tmp_path / "elsewhere")
    listing = listing_of(root)
    assert listing.warnings == (
        ".gitignore: not used, since it is a symbolic link",
        ".strataignore: not used, since it is a symbolic link",
        "sub/.strataignore: not used, since it is larger than 1048576 bytes",
    )
    assert indexed(listing) == {"a.py", "sub/b.py"}


def test_what_stands_in_the_place_of_an_ignore_file_stops_nothing(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": "a\n", "sub/b.py": "b\n"})
    os.mkfifo(root / "sub" / ".strataignore")
    (root / ".strataignore").mkdir()
    (root / ".gitignore").mkdir()
    listing = listing_of(root)
    assert (indexed(listing), listing.warnings) == ({"a.py", "sub/b.py"}, ())


#: Without its `*` counted, git takes minutes for this line and a name made for it.
ENDLESS, NAME = "*a" * 12 + "*b", "a" * 60 + ".py"


def test_a_line_that_would_take_git_too_long_costs_itself_alone(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {NAME: "a\n", "b.py": "b\n", ".strataignore": f"{ENDLESS}\nb.py\n"})
    listing = listing_of(root, include=("*.py", ENDLESS), exclude=(ENDLESS, "c.py"))
    assert indexed(listing) == {NAME}
    assert listing.warnings == (
        f"index.include, {ENDLESS!r}: {IN_A_PART}",
        f"index.exclude, {ENDLESS!r}: {IN_A_PART}",
        f".strataignore, line 1: {IN_A_PART}",
    )


def test_git_itself_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "TIMEOUT_S", 0.5)
    with pytest.raises(InputError, match=r"git check-ignore did not end within 0\.5 s") as caught:
        match_patterns([ENDLESS], [NAME.encode()])
    assert "patterns with several '*'" in caught.value.hint


def test_scopes_with_many_stars_take_no_time() -> None:
    scopes = Scopes(["**/a/" * 12 + "b", "*a" * 12 + "*b", "packages/**/x"])
    assert scopes.of("a/" * 100 + "a" * 60 + "/f.py") == ""
    assert scopes.of("packages/p/q/x/y/f.py") == "packages/p/q/x"
    assert scopes.of("packages/x/f.py") == "packages/x"
