from __future__ import annotations

import random
from pathlib import Path

from pipelines.discover import list_files
from pipelines.discover.listing.shown import masked, shown_paths
from pipelines.discover.secrets import find_secrets
from pipelines.records import SkipReason
from pipelines.settings import IndexSettings
from tests.discover.secret_corpus import draw, password

SOURCE = random.Random("shown")
TOKEN = "gh" + "p_" + draw(SOURCE, "mixed", 36)


def test_a_secret_is_masked_byte_for_byte() -> None:
    assert masked("index.py") == "index.py"
    assert masked(f"exclude: old/{TOKEN}.py") == f"exclude: old/{'_' * len(TOKEN)}.py"


def test_paths_are_shown_as_they_are_or_masked_and_told_apart() -> None:
    plain = [b"a.py", "\u4ed3/b\u00e9.py".encode(), b"line\nend.py"]
    odd = [b"caf\xe9.py", b"caf\\xe9.py"]
    secret = [f"{TOKEN[:-1]}{letter}/x.py".encode() for letter in "ab"]
    shown, skips = shown_paths([*plain, *odd, *secret])
    assert [shown[path] for path in plain] == [path.decode() for path in plain]
    assert [shown[path] for path in odd] == ["caf\\xe9.py?", "caf\\xe9.py"]
    hidden = "_" * len(TOKEN) + "/x.py"
    assert sorted(shown[path] for path in secret) == [hidden, hidden + "?"]
    assert {path: skip.reason for path, skip in skips.items()} == {
        odd[0]: SkipReason.PATH_NOT_UTF8,
        secret[0]: SkipReason.DENIED,
        secret[1]: SkipReason.DENIED,
    }


def test_no_listing_holds_a_secret_of_a_path_or_a_pattern(tmp_path: Path) -> None:
    value = password(SOURCE)
    (tmp_path / TOKEN).mkdir()
    for path in ("ok.py", f"{TOKEN}/a.py", f"password={value}", "old.py", "older.py"):
        (tmp_path / path).write_text("x = 1\n")
    (tmp_path / ".strataignore").write_text(f"# {TOKEN}\nold.py\n{TOKEN}[\n")
    settings = IndexSettings(exclude=("older.py", f"/{TOKEN}/b.py"))
    listing = list_files(tmp_path, "sample", settings)
    assert TOKEN not in repr(listing)
    assert value not in repr(listing)
    assert {file.path for file in listing.files if file.skip_reason is None} == {"ok.py"}
    denied = [file.skip_detail for file in listing.files if file.skip_reason is SkipReason.DENIED]
    assert denied == ["its path holds a secret"] * 2


def test_a_value_that_a_limit_cuts_ends_with_a_whole_character() -> None:
    text = "login bob password " + "a1B" + "\u00e9" * 100
    (span,) = find_secrets(text)
    text.encode()[: span.end_byte].decode()
    assert masked(text).startswith("login bob password ___")
