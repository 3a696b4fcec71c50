"""git is the oracle: on many generated repositories the listing is what `git ls-files -co --exclude-standard` names."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.records import SkipReason
from tests.discover.git_repository import commit, git, indexed, listing_of, make_repository, skipped, write

FOLDERS = (
    "",
    "src/",
    "src/deep/",
    "dist/",
    "caf\u00e9/",
    "cafe\u0301/",
    "\u4e2d\u6587/",
    "a b/",
    "Lib/",
    "lib/",
    "-x/",
    "d\\e/",
)
NAMES = (
    "a.py",
    "A.py",
    "b.log",
    "x.tmp",
    "new\nline.py",
    "[a].py",
    "!not.py",
    "#hash.py",
    'quo"te.py',
    ":top.py",
    "end .py",
)
PATTERNS = (
    *(
        "*.log",
        "!b.log",
        "dist/",
        "/dist",
        "src/**",
        "!src/a.py",
        "**/deep",
        "deep/",
        "*.tmp\r",
        "[ab].py",
        "[!a]*.log",
    ),
    *(
        "\\!not.py",
        "\\#hash.py",
        "caf\u00e9/",
        "Lib/",
        "a?b/",
        "/*",
        "!*/",
        "[",
        "x\\",
        "*\\ .py",
        "# comment",
        "",
        "  ",
    ),
    *("d\\\\e/", "\ufeff*.tmp", "**/*.py", "!a.py", "/src/deep/a.py", "*"),
)


def ignore_text(rng: random.Random) -> str:
    return "".join(f"{rng.choice(PATTERNS)}\n" for _ in range(rng.randint(1, 4)))


def make_random(root: Path, rng: random.Random) -> None:
    """Make a repository of random files, ignore files at any level, tracked, changed, untracked and deleted files."""
    paths = [folder + name for folder in FOLDERS for name in NAMES]
    chosen = rng.sample(paths, rng.randint(3, 30))
    files: dict[str, str | bytes] = {path: f"{place}\n" for place, path in enumerate(chosen)}
    make_repository(root, {})
    if rng.random() < 0.7:
        files |= {f"{rng.choice(FOLDERS)}.gitignore": ignore_text(rng) for _ in range(rng.randint(1, 3))}
    if rng.random() < 0.3:
        (root / ".git/info/exclude").write_text(ignore_text(rng))
    if rng.random() < 0.3:
        (root / "excludes").write_text(ignore_text(rng))
        git(root, "config", "core.excludesFile", str(root / "excludes"))
    if rng.random() < 0.3:
        git(root, "config", "core.ignoreCase", "true")
    write(root, files)
    for path in rng.sample(chosen, len(chosen) // 2):
        git(root, "add", "-f", "--", f"./{path}")
    git(root, "commit", "-q", "--allow-empty", "-m", "some")
    for path in rng.sample(chosen, 2):
        if rng.random() < 0.5:
            (root / path).unlink()
        else:
            (root / path).write_text("changed\n")
    for place in range(rng.randint(0, 2)):
        (root / f"link{place}").symlink_to(rng.choice(["missing", ".", chosen[0]]))


def git_says(root: Path) -> set[str]:
    """Return what git names; a repository inside ends with '/'."""
    return {path.removesuffix("/") for path in git_names(root)}


def git_names(root: Path) -> set[str]:
    return set(filter(None, git(root, "ls-files", "-z", "-co", "--exclude-standard").split("\0")))


@pytest.mark.parametrize("seed", range(60))
def test_a_random_repository_is_listed_as_git_names_it(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    root = tmp_path / "r"
    make_random(root, rng)
    listing = listing_of(root)
    assert {file.path for file in listing.files} == git_says(root)
    assert len({file.path for file in listing.files}) == len(listing.files)
    for file in listing.files:
        if file.skip_reason is None:
            assert file.blob_id == git(root, "hash-object", "--no-filters", "--", f"./{file.path}")
        elif file.skip_reason is SkipReason.MISSING:
            assert not (root / file.path).exists()
    below = [path for path in ("src", "Lib") if (root / path).is_dir()]
    for folder in below:
        expected = git_says(root / folder)
        if expected:  # else git ignores the folder, and being given it is meant
            assert {file.path for file in listing_of(root / folder).files} == expected
    committed = set(filter(None, git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")))
    assert {file.path for file in listing_of(root, rev="HEAD").files} == committed


@pytest.mark.parametrize("seed", range(60, 75))
def test_a_folder_without_git_has_the_rules_of_a_fresh_repository(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "r"
    make_random(root, random.Random(seed))
    shutil.rmtree(root / ".git")
    plain = listing_of(root)
    git(root, "init", "-q")
    assert {file.path for file in plain.files} == git_says(root)
    assert plain.commit == ""


def add_worktree(root: Path) -> None:
    git(root, "worktree", "add", "-q", "-b", "side", "trees/one")


def add_submodule(root: Path) -> None:
    library = make_repository(root.parent / "library", {"l.py": "l\n"})
    git(root, "submodule", "--quiet", "add", str(library), "modules/lib")
    (root / ".gitmodules").write_bytes(b"\xef\xbb\xbf" + (root / ".gitmodules").read_bytes())


def add_nested(root: Path) -> None:
    make_repository(root / "inner/app", {"n.py": "n\n", ".gitignore": "*\n"})


def add_empty_nested(root: Path) -> None:
    (root / "blank").mkdir()
    git(root / "blank", "init", "-q")
    write(root, {"blank/e.py": "e\n"})


def set_sparse(root: Path) -> None:
    git(root, "sparse-checkout", "set", "src")


def skip_one(root: Path) -> None:
    git(root, "update-index", "--skip-worktree", "kept.py")
    (root / "kept.py").unlink()


def detach(root: Path) -> None:
    git(root, "checkout", "-q", "--detach", "HEAD~1")


def lose_head(root: Path) -> None:
    (root / ".git/HEAD").write_text("ref: refs/heads/none\n")


def assume_unchanged(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "kept.py")
    write(root, {"kept.py": "changed behind git's back\n"})


def split_index(root: Path) -> None:
    git(root, "update-index", "--split-index")
    write(root, {"later.py": "l\n"})
    git(root, "add", "later.py")


def untracked_cache(root: Path) -> None:
    git(root, "update-index", "--force-untracked-cache")
    git(root, "status")
    write(root, {"src/later.py": "l\n"})


SHAPES: tuple[Callable[[Path], None], ...] = (
    *(add_worktree, add_submodule, add_nested, add_empty_nested, set_sparse, skip_one, detach, lose_head),
    *(assume_unchanged, split_index, untracked_cache),
)
TOGETHER = (
    (add_submodule, add_nested, skip_one),
    (set_sparse, detach),
    (add_worktree, add_empty_nested, lose_head),
    (split_index, untracked_cache, assume_unchanged),
)
BOUNDARIES = {SkipReason.NESTED_REPOSITORY, SkipReason.SUBMODULE}


@pytest.mark.parametrize("shapes", [*((shape,) for shape in SHAPES), *TOGETHER])
def test_shapes_of_repositories(tmp_path: Path, shapes: tuple[Callable[[Path], None], ...]) -> None:
    root = make_repository(tmp_path / "r", {"src/a.py": "a\n", "kept.py": "k\n", ".gitignore": "*.log\n"})
    write(root, {"src/b.py": "b\n"})
    commit(root)
    for shape in shapes:
        shape(root)
    listing = listing_of(root)
    assert {file.path for file in listing.files} == git_says(root)
    boundaries = {path for path, reason in skipped(listing).items() if reason in BOUNDARIES}
    inside = {path for path in indexed(listing) if any(path.startswith(f"{other}/") for other in boundaries)}
    assert inside == set()
    for path in indexed(listing):
        assert (root / path).is_file()
    head = git(root, "rev-parse", "HEAD") if lose_head not in shapes else ""
    assert listing.commit == head


def test_every_reason_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    assert [reason for reason in SkipReason if f"| `{reason}` |" not in page] == []
