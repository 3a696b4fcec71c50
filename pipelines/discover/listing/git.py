"""How git is asked: with everything switched off by which a repository could run code, use the network or be changed.

In: a folder. Out: what one git command printed, or an InputError that says what git says. A repository is untrusted
input, its own .git/config included, so the following is set for each command, above every configuration file:

- no file system monitor, no hooks, no filter driver that a configuration names, no network protocol, no prompt;
- no lock and no write to the index; no replaced objects, so that ids are those of the contents;
- variables such as GIT_DIR, which a hook or a terminal may have exported, are dropped by `env -u`. All others (PATH,
  HOME) are inherited unread, so the user's own git settings and excludes count as they do for `git status`.

A folder of another owner is refused by git itself, and that refusal is passed on: only the user can lift it.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.errors import InputError

#: Seconds one git command may take; listing a million files on a slow disk takes one minute. A FIFO in the place of an
#: ignore file would otherwise hang for ever, and so would a line of one that git's matcher takes exponential time for.
TIMEOUT_S = 300.0
#: What `git rev-parse --local-env-vars` names, and what else changes the meaning of a path or names a program.
_DROPPED = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)
_SET = {
    "LC_ALL": "C",  # messages are compared below
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_SAFE_CONFIG = (("core.fsmonitor", "false"), ("core.hooksPath", "/dev/null"), ("submodule.recurse", "false"))
_COMMAND_NOT_FOUND = 127  # exit code of `env`
_FATAL = 128  # exit code of git for everything that it cannot do


@dataclass(frozen=True, slots=True)
class Answer:
    """What a git command gave back."""

    code: int
    output: bytes
    message: str


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git in one folder. `git_dir` and `work_tree` override git's own search for a repository."""

    folder: Path
    git_dir: Path | None = None
    work_tree: Path | None = None
    config: tuple[tuple[str, str], ...] = _SAFE_CONFIG

    def with_config(self, *more: tuple[str, str]) -> Git:
        """Return the same with more configuration values, which win over all configuration files."""
        return replace(self, config=(*self.config, *more))

    def command(self, *arguments: str | bytes) -> list[str | bytes]:
        """Return the whole command line, starting with `env`."""
        values = {**_SET, "GIT_CONFIG_COUNT": str(len(self.config))}
        for number, (key, value) in enumerate(self.config):
            values |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        places = [f"--git-dir={self.git_dir}"] if self.git_dir else []
        places += [f"--work-tree={self.work_tree}"] if self.work_tree else []
        dropped = [part for name in _DROPPED for part in ("-u", name)]
        return ["env", *dropped, *(f"{key}={value}" for key, value in values.items()), "git", *places, *arguments]

    def ask(self, *arguments: str | bytes, data: bytes = b"", timeout: float = TIMEOUT_S, late: str = "") -> Answer:
        """Run git and return its answer, whatever its exit code.

        :param timeout: seconds that it may take. :param late: what to look for if it takes longer.
        :raises InputError: if git is not installed or does not end in time.
        """
        try:
            done = subprocess.run(
                self.command(*arguments),
                cwd=self.folder,
                input=data,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            hint = "look for a FIFO, a very slow disk, or a line with many '*' in a .gitignore below it"
            command = " ".join(["git", *map(str, arguments[:1])])
            raise InputError(
                f"{command} did not end within {timeout:g} s in {self.folder}", hint=late or hint
            ) from None
        except FileNotFoundError as error:
            if error.filename == "env":
                raise _not_installed() from None
            raise InputError(f"the folder {self.folder} is gone") from None
        except OSError as error:
            raise InputError(f"cannot run git in {self.folder}: {error.strerror}") from error
        if done.returncode == _COMMAND_NOT_FOUND:
            raise _not_installed()
        return Answer(done.returncode, done.stdout, done.stderr.decode("utf-8", "backslashreplace").strip())

    def run(self, *arguments: str | bytes, data: bytes = b"") -> bytes:
        """Run git and return what it printed; InputError with git's own message if it fails."""
        answer = self.ask(*arguments, data=data)
        if answer.code:
            raise self.failure(answer)
        return answer.output

    def failure(self, answer: Answer) -> InputError:
        """Return the error for an answer that is not usable."""
        if "dubious ownership" in answer.message:
            return InputError(
                f"git refuses {self.folder}: it belongs to another user",
                hint=f"if you trust it: git config --global --add safe.directory {self.folder}",
            )
        first = answer.message.partition("\n")[0].removeprefix("fatal: ")
        return InputError(f"git cannot read {self.folder}: {first or f'exit code {answer.code}'}")


@dataclass(frozen=True, slots=True)
class Repository:
    """The git repository that a folder belongs to. `prefix` is the folder's path in it, empty or ending with '/'."""

    git: Git
    bare: bool
    object_format: str  # "sha1" or "sha256"
    prefix: bytes
    filters: tuple[str, ...]  # filter drivers that some configuration names; never run

    def commit(self, revision: str) -> str:
        """Return the full id of the commit that a revision names, "" if it names none."""
        if revision.startswith("-") or not revision.isprintable():
            return ""
        answer = self.git.ask("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        return "" if answer.code else answer.output.decode("ascii").strip()


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that a folder lies in, None for a folder outside every repository.

    :raises InputError: if git refuses the repository, or the folder is inside a .git folder.
    """
    git = Git(folder)
    answer = git.ask(
        "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--show-object-format", "--show-prefix"
    )
    if answer.code:
        outside = "(or any " in answer.message  # "... of the parent directories)", "... parent up to mount point ..)"
        if answer.code == _FATAL and answer.message.startswith("fatal: not a git repository") and outside:
            return None
        raise git.failure(answer)
    bare, inside, object_format, prefix = answer.output.split(b"\n", 3)
    if bare == b"true":
        top = Path(git.run("rev-parse", "--absolute-git-dir").removesuffix(b"\n").decode("utf-8", "surrogateescape"))
        if not top.samefile(folder):
            raise InputError(f"{folder} is inside the bare repository {top}", hint=f"give {top} itself")
    elif inside != b"true":
        raise InputError(f"{folder} is not part of a git working tree", hint="give the folder that was checked out")
    filters = _filter_drivers(git)
    silenced = [
        (f"filter.{name}.{key}", value)
        for name in filters
        for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    ]
    return Repository(
        git.with_config(*silenced), bare == b"true", object_format.decode("ascii"), prefix.removesuffix(b"\n"), filters
    )


def blob_id(data: bytes, object_format: str) -> str:
    """Return the id that git gives a content."""
    hasher = hashlib.new(object_format, b"blob %d\0" % len(data), usedforsecurity=False)
    hasher.update(data)
    return hasher.hexdigest()


def _filter_drivers(git: Git) -> tuple[str, ...]:
    """Name the filter drivers of all configuration files; asking runs none of them."""
    answer = git.ask("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
    keys = answer.output.decode("utf-8", "surrogateescape").split("\0")[:-1]
    names = {key.removeprefix("filter.").rpartition(".")[0] for key in keys}
    return tuple(sorted(names - {""}))


@contextmanager
def scratch_repository(work_tree: Path | None = None) -> Iterator[Git]:
    """Make an empty repository that is gone at the end: git's own rules for a folder that is no repository.

    :param work_tree: the folder that the rules are for; an empty temporary one by default.
    """
    with TemporaryDirectory(prefix="strata-git-") as name:
        # a folder with a HEAD, objects and refs is a repository for git
        git_dir = Path(name) / "git"
        for part in ("objects", "refs"):
            (git_dir / part).mkdir(parents=True)
        (git_dir / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        folder = work_tree or Path(name) / "tree"
        folder.mkdir(exist_ok=True)
        yield Git(folder, git_dir, folder)


def _not_installed() -> InputError:
    return InputError("git is not installed, or not on the PATH", hint="install git 2.31 or newer")
