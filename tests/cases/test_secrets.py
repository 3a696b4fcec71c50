"""Reported faults of secrets in an index: what is planted anywhere in a repository is found nowhere in the store."""

from __future__ import annotations

import base64
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.discover.secrets import find_secrets
from pipelines.store import ArtifactStore
from resources.environment import variables_for_child
from tests.assets_defs.builders import CODE, CONFIG, commit, git
from tests.cases.builders import make_git_repository, paths_in
from tests.discover.secret_corpus import draw, password, positives
from tests.serving.builds import build

SOURCE = random.Random("cases")
KEY = "AK" + "IA" + draw(SOURCE, "upper", 16)
TOKEN = "gh" + "p_" + draw(SOURCE, "mixed", 36)
PASSWORD = password(SOURCE)
#: No detector knows it: what the deny list and the settings are for.
UNKNOWN = "heliotrope " + draw(SOURCE, "lower", 9)
#: Values shorter than this stand in a store by chance: digests are hexadecimal.
LEAST_CHARS = 12
ENDINGS = (
    *("py", "md", "yaml", "js", "ts", "c", "cpp", "go", "java", "rs", "rb", "php", "cs", "kt", "sh", "lua", "html"),
    *("json", "toml", "ini", "txt", "rst", "adoc", "vue", "sql", "tf", "xml", "properties", "Dockerfile", "ex"),
)
CELLS = [{"cell_type": "code", "source": [f"api_key = '{TOKEN}'\n", "def load():\n", f"    return '{KEY}'\n"]}]
CODE_WITH_SECRETS = f'''"""Module that knows {KEY}."""

TOKEN = "{TOKEN}"


# sent with {TOKEN}
def connect(host, password="{PASSWORD}", *, key: str = "{KEY}"):
    """Connect with {KEY}.

    >>> connect("h", password="{PASSWORD}")
    """
    return connect(host, "{KEY}").send(token="{TOKEN}").{TOKEN}()


class {TOKEN}:
    def unaffected(self):
        return 1
'''


def planted() -> dict[str, str]:
    """Return files that hold each secret of the corpus, and some secrets in every place that a parser looks at."""
    corpus = {
        f"corpus/{number:03}.{ENDINGS[number % len(ENDINGS)]}": example.text + "\n"
        for number, example in enumerate(positives())
    }
    return corpus | {
        "strata.toml": CONFIG.replace("[index]\n", f'[index]\nexclude = ["gone.py", "{TOKEN}.txt"]\n'),
        ".strataignore": f"ignored-{TOKEN}.py\n",
        ".env": f"TOKEN={TOKEN}\n",
        ".env.example": f"TOKEN={TOKEN}\n",
        "id_rsa": f"{KEY}\n",
        "connect.py": CODE_WITH_SECRETS,
        "connect.go": f'package p\n\n// Dial uses {KEY}\nfunc Dial(key string) {{ open("{TOKEN}") }}\n',
        "connect.js": f"/** {TOKEN} */\nexport function dial(key = '{KEY}') {{ return open('{TOKEN}') }}\n",
        "guide.md": f"# Keys {KEY}\n\nUse {TOKEN}.\n\n## {TOKEN}\n\ntext\n",
        "analysis.ipynb": json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
        "long.json": json.dumps({"a": "x" * 100_000, "key": KEY, "b": "y" * 100_000}),
        "nul.yaml": f"key: {KEY}\nother: \0\n",
        f"{TOKEN}.txt": "excluded\n",
        f"ignored-{TOKEN}.py": "x = 1\n",
        f"names/{KEY}.py": "def named_after_a_key():\n    return 1\n",
        f"folder-{TOKEN}/inside.py": "def in_a_folder():\n    return 1\n",
    }


def values() -> list[str]:
    """Return the text of everything secret, line by line."""
    spans = [example.text[start:end] for example in positives() for start, end in example.secrets]
    lines = [line for text in spans for line in text.replace("\\n", "\n").split("\n")]
    return [KEY, TOKEN, PASSWORD, *(line for line in lines if len(line) >= LEAST_CHARS)]


def make_planted(root: Path) -> Path:
    make_git_repository(root, planted())
    for name, encoding in (("little.py", "utf-16-le"), ("big.py", "utf-16-be")):
        (root / name).write_bytes(f'\ufeffdef read():\n    return "{KEY}"\n'.encode(encoding))
    git(root, "checkout", "-q", "-b", f"branch-{TOKEN}")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", f"use {TOKEN}")
    return root


def strata(root: Path, *arguments: str, code: Path = CODE) -> subprocess.CompletedProcess[bytes]:
    """Run the command line from a checkout, with the logs of Dagster in the store."""
    given = {"PYTHONPATH": f"{code}:{CODE}", "STRATA_HOME": None, "STRATA_CONFIG": None, "DAGSTER_HOME": None}
    return subprocess.run(
        [sys.executable, "-m", "assets_defs.command", *arguments],
        cwd=root,
        env=variables_for_child(given),
        capture_output=True,
        check=False,
    )


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield all bytes below a folder: names, files as they are, and what tables and databases hold compressed."""
    for path in sorted(folder.rglob("*")):
        yield "name", str(path.relative_to(folder)).encode()
        if not path.is_file():
            continue
        yield str(path), path.read_bytes()
        if path.suffix == ".parquet":
            sink = pa.BufferOutputStream()
            table = pq.read_table(path)
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            yield str(path), sink.getvalue().to_pybytes()
        elif path.suffix == ".db":
            yield str(path), b"\n".join(_cells(path))


def _cells(database: Path) -> Iterator[bytes]:
    with sqlite3.connect(database) as connection:
        names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
        for name in names:
            for row in connection.execute(f'select * from "{name}"'):
                for cell in row:
                    data = cell if isinstance(cell, bytes) else str(cell).encode()
                    yield data
                    try:
                        yield zlib.decompress(data)
                    except zlib.error:
                        continue


def leaks(folder: Path, wanted: list[str], *outputs: bytes) -> list[str]:
    """Return where a value stands in clear, in base64 or in UTF-16."""
    forms = {
        form: value
        for value in wanted
        for form in (
            value.encode(),
            base64.b64encode(value.encode()).rstrip(b"=")[:-1],
            value.encode("utf-16-le"),
            value.encode("utf-16-be"),
        )
    }
    found = []
    for place, data in (*contents(folder), *(("output", output) for output in outputs)):
        found += [f"{value!r} in {place}" for form, value in forms.items() if form in data]
    return found


@pytest.mark.slow
def test_what_is_planted_is_nowhere_in_the_store_or_the_output(tmp_path: Path) -> None:
    """81, 82"""
    root = make_planted(tmp_path / "parcels")
    store = root / ".strata"
    outputs = []
    for arguments in (
        ("index", ".", "--json"),
        ("query", "connect", "--json"),
        ("query", "named_after_a_key", "--mode", "lexical"),
        ("status",),
        ("index", ".", "--dry-run"),
        ("index", ".", "--full"),
    ):
        done = strata(root, *arguments)
        assert done.returncode in (0, 1), done.stderr.decode()
        outputs += [done.stdout, done.stderr]
    assert json.loads(outputs[0])["published"]
    assert leaks(store, values(), *outputs) == []
    shown = paths_in(ArtifactStore(store), "parcels")
    assert {"connect.py", "little.py", "big.py", "guide.md", ".env.example"} <= shown
    assert "unaffected" in repr(list(contents(store)))  # what is beside a secret is still there


def a_release(folder: Path, *lines: str) -> Path:
    """Return a checkout of this project with a longer deny list."""
    shutil.copytree(CODE / "resources", folder / "resources", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(CODE / "data", folder / "data", ignore=shutil.ignore_patterns("store"))
    for name in ("pipelines", "assets_defs"):
        (folder / name).symlink_to(CODE / name)
    with (folder / "data" / "deny.txt").open("a") as file:
        file.writelines(f"{line}\n" for line in lines)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["deny", "secret"])
def test_after_a_change_of_the_rule_alone_nothing_is_left(tmp_path: Path, rule: str) -> None:
    """82"""
    files = {"strata.toml": CONFIG, "kept.py": "def kept():\n    return 1\n"}
    text = f"# strata: allow-secret-below\nKEY = '{KEY}'\n\n\ndef plain():\n    return '{UNKNOWN}'\n"
    root = make_git_repository(tmp_path / "parcels", files | {"plain.py": text})
    store = root / ".strata"
    assert strata(root, "index", ".").returncode == 0
    assert leaks(store, [UNKNOWN])
    assert leaks(store, [KEY])
    code = CODE
    if rule == "deny":
        code = a_release(tmp_path / "release", "plain.py")
    else:
        (root / "plain.py").write_text(text.replace("# strata: allow-secret-below\n", "#\n"))
    done = strata(root, "index", ".", code=code)
    assert done.returncode == 0, done.stderr.decode()
    assert leaks(store, [KEY]) == []
    assert bool(leaks(store, [UNKNOWN])) == (rule == "secret")
    assert leaks(store, ["kept"])


def test_offsets_of_what_stands_around_a_secret_are_those_of_the_source(tmp_path: Path) -> None:
    """82"""
    text = f"\u4ed3 = '{TOKEN}'\n\n\ndef after():\n    return '{KEY}'\n"
    data = text.encode()
    assert [data[span.start_byte : span.end_byte].decode() for span in find_secrets(text)] == [TOKEN, KEY]


LOCK_FILES = {
    "package-lock.json": '"node_modules/a": {{"version": "1.0.0", "integrity": "sha512-{b64}=="}},\n',
    "pnpm-lock.yaml": "  /a-token@1.0.0:\n    resolution: {{integrity: sha512-{b64}==}}\n",
    "uv.lock": '{{ url = "https://f.example.org/{hex}/a.whl", hash = "sha256:{hex}", size = 1 }},\n',
    "go.sum": "github.com/a/token v1.0.0 h1:{b64:.43}=\n",
    "Cargo.lock": 'name = "secrets"\nchecksum = "{hex}"\n',
    "page.html": '<script src="a.js" integrity="sha256-{b64:.43}="></script>\n',
    "package.json": '{{"packageManager": "pnpm@9.0.0+sha512.{hex}{hex}"}}\n',
    "image.css": "a {{ background: url(data:image/png;base64,{b64}{b64}{b64}) }}\n",
    "CHANGELOG.md": "* fix the token ([{hex:.7}](https://github.com/a/b/commit/{hex:.40}))\n",
}


@pytest.mark.parametrize("name", LOCK_FILES)
def test_hashes_are_no_secrets_and_a_key_among_them_is_one(name: str) -> None:
    """79"""
    lines = [LOCK_FILES[name].format(b64=draw(SOURCE, "b64", 86), hex=draw(SOURCE, "hex", 64)) for _ in range(300)]
    assert find_secrets("".join(lines)) == []
    with_key = "".join([*lines[:150], f'"x": "https://r.example.org/?k={KEY}"\n', *lines[150:]])
    assert [span.detector for span in find_secrets(with_key)] == ["aws-access-key"]


@pytest.mark.parametrize("path", ["c.py", "caf\u00e9/settings.yaml", "tests/fixtures/c.py"])
@pytest.mark.parametrize("encoding", ["ascii", "utf-16-le"])
def test_a_key_is_found_with_its_line_whatever_the_encoding_and_the_path(
    tmp_path: Path, path: str, encoding: str
) -> None:
    """81"""
    root = make_git_repository(tmp_path / "parcels", {"strata.toml": CONFIG})
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    mark = "\ufeff" if encoding != "ascii" else ""
    (root / path).write_bytes(f'{mark}x = 1\nkey = "{KEY}"\n'.encode(encoding))
    commit(root)
    store = ArtifactStore(tmp_path / "store")
    plan = build(root, store)
    rows = [
        row
        for bucket in plan.buckets.values()
        for row in store.open(bucket.targets["symbols"].ref).table("secrets.parquet").to_pylist()
    ]
    assert [(row["path"], row["start_line"], row["detector"]) for row in rows] == [(path, 2, "aws-access-key")]
