from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.errors import InputError
from pipelines.training.packages import (
    Package,
    find_packages,
    held_out_names,
    is_held_out,
    is_permissive,
    refuse_held_out,
)
from tests.training.builders import COPYRIGHT, make_debian_binary, make_debian_source, make_npm, make_wheel

#: The projects that any evaluation of this project draws on, by language.
EVALUATED = """
aiohttp celery click cpython dask django fastapi flask httpx jinja2 model2vec networkx nltk pandas pillow pydantic
pydantic-core pygments requests rich scikit-learn scrapy sphinx sqlalchemy starlette statsmodels sympy typer urllib3
werkzeug xarray
axios chalk commander express fastify koa lodash mocha moment redux rxjs socket.io trpc vitest vue webpack zod
chi cobra echo fiber gin gorilla/mux logrus viper
actix-web axum clap hyper rayon serde tokio
commons-io commons-lang gson guava jackson-databind junit okhttp
abseil curl fmt leveldb libuv nginx nlohmann-json redis spdlog sqlite zlib
Dapper MessagePack-CSharp Newtonsoft.Json Polly
devise rack rails sidekiq sinatra
guzzle laravel monolog slim symfony
Exposed kotlinx.coroutines ktor okio akka cats circe http4s Alamofire Kingfisher RxSwift SnapKit vapor
ecto phoenix plug aeson lens pandoc xmonad lazy.nvim mini.nvim nvim-lspconfig telescope.nvim zig zig-clap zls
bash-it bats-core nvm oh-my-zsh
"""
HELD_OUT = Path(__file__).parents[2] / "data" / "encoder" / "held-out.txt"
CODE = "def parse(tree): return tree"


def test_every_kind_of_archive_gives_name_licence_and_its_own_files(tmp_path: Path) -> None:
    for index in range(4):
        make_wheel(tmp_path, f"pkg{index}", {"a.py": CODE, "vendor/b.py": "foreign", "c.min.py": "foreign"})
    make_npm(tmp_path, "@x/tool", {"a.js": "let tree"})
    make_debian_source(tmp_path, "lib", {"a.c": "int inode;"})
    make_debian_binary(tmp_path, "librust-x-dev", {"./usr/share/cargo/a.rs": "fn tree() {}"})
    found = find_packages(tmp_path)
    assert [(item.registry, item.name, item.version, item.licence) for item in found if "pkg" not in item.name] == [
        ("debian", "lib", "1:1.2-3", "Expat"),
        ("debian", "librust-x-dev", "0.3", "Expat"),
        ("npm", "@x/tool", "2.0", "ISC"),
    ]
    suffixes = frozenset({".py", ".js", ".c", ".rs"})
    assert [path.rpartition("/")[2] for item in found for path, _ in item.files(suffixes)] == [
        "a.c", "a.rs", "a.js", *["a.py"] * 4
    ]  # fmt: skip


def test_files_of_another_licence_are_left_out(tmp_path: Path) -> None:
    stanza = (
        "\nFiles: tools/* gpl.c\n still/?.c\nLicense: GPL-2+\n text\n\nFiles: tools/free.c\nLicense: BSD-3-clause\n"
    )
    files = dict.fromkeys(("a.c", "gpl.c", "tools/b.c", "tools/free.c", "still/d.c", "still/dd.c", "ee/e.c"), "int x;")
    make_debian_source(tmp_path, "lib", files, COPYRIGHT + stanza)
    (package,) = find_packages(tmp_path)
    found = [path.partition("/")[2] for path, _ in package.files(frozenset({".c"}))]
    assert found == ["a.c", "still/dd.c", "tools/free.c"]


def test_copies_of_held_out_projects_inside_others_are_left_out(tmp_path: Path) -> None:
    names = held_out_names(HELD_OUT)
    copies = ["zlib-1.2.3/a.c", "src/sqlite3.c", "src/nlohmann/json.hpp", "src/redis/a.c"]
    files = [*copies, "src/redistribute.c", "src/json.c"]
    make_debian_source(tmp_path, "zlib-like", dict.fromkeys(files, "int x;"))
    (package,) = find_packages(tmp_path)
    suffixes = frozenset({".c", ".hpp"})
    assert len(list(package.files(suffixes))) == len(files)
    assert [path for path, _ in package.files(suffixes, names)] == [
        "zlib-like-1.2/src/json.c", "zlib-like-1.2/src/redistribute.c"
    ]  # fmt: skip


def test_a_source_package_without_its_description_is_told(tmp_path: Path) -> None:
    make_debian_source(tmp_path, "lib", {})
    (tmp_path / "lib_1.2-3.dsc").unlink()
    with pytest.raises(InputError, match=r"lib_1\.2-\*\.dsc"):
        find_packages(tmp_path)


def test_one_package_in_two_archives_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        make_wheel(folder, "twice", {})
    with pytest.raises(InputError, match="are one package"):
        find_packages(tmp_path)


@pytest.mark.parametrize("licence", ["GPL-3.0-only", "MIT OR GPL-2.0", "Proprietary", ""])
def test_a_licence_that_is_not_permissive_is_refused(tmp_path: Path, licence: str) -> None:
    make_wheel(tmp_path, "bad", {"a.py": CODE}, licence)
    with pytest.raises(InputError, match=r"bad-1\.0"):
        find_packages(tmp_path)


@pytest.mark.parametrize("name", ["librust-tokio-dev", "@rails/ujs", "Flask", "libcommons-io-java", "socket.io-client"])
def test_projects_of_the_evaluation_are_refused_under_any_name(name: str) -> None:
    with pytest.raises(InputError, match="held out"):
        refuse_held_out([Package("x", name, "1", "MIT", Path(name))], HELD_OUT)


@pytest.mark.parametrize("name", ["click-plugins-x", "reclick", "zodiac", "librust-serde-json-dev"])
def test_only_whole_words_of_a_name_count(name: str) -> None:
    assert is_held_out(name, held_out_names(HELD_OUT)) == (name in {"click-plugins-x", "librust-serde-json-dev"})


def test_every_project_that_is_evaluated_on_is_held_out() -> None:
    names = held_out_names(HELD_OUT)
    assert [name for name in EVALUATED.split() if not is_held_out(name, names)] == []
    assert len(EVALUATED.split()) == len(names)


@pytest.mark.parametrize("manifest", ["code.json", "vocab-idf.json"])
def test_nothing_that_ships_was_made_from_a_project_of_the_evaluation(manifest: str) -> None:
    rows = json.loads((HELD_OUT.parent / manifest).read_text())["packages"]
    names = held_out_names(HELD_OUT)
    assert len(rows) > 200
    assert [row["name"] for row in rows if is_held_out(row["name"], names)] == []
    assert [row["name"] for row in rows if not row["version"] or not is_permissive(row["licence"])] == []
