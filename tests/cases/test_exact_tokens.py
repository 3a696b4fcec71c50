"""Exact tokens are first, in whatever file they stand, although other files hold all their parts, and more often."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from pipelines.records import SearchMode
from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.settings import Settings, override
from pipelines.store import ArtifactStore
from tests.cases.builders import make_git_repository
from tests.serving.builds import SETTINGS, build, document_of, publish

#: Where each token stands once: a path, and what is written there.
TOKENS = {
    "AbortSignal": ("src/wait.ts", "export function wait(stop: AbortSignal) {\n  return stop.aborted;\n}\n"),
    "package-lock.json": ("src/install.js", "export const read = () => open('package-lock.json');\n"),
    "ERR_HTTP_HEADERS_SENT": ("src/reply.js", "export function late() {\n  throw fault('ERR_HTTP_HEADERS_SENT');\n}\n"),
    "max_old_space_size": ("bin/run.sh", "#!/bin/sh\nnode --max_old_space_size=4096 main.js\n"),
    "foo::bar": ("src/call.rs", "pub fn go() {\n    foo::bar();\n}\n"),
    "E0499": ("src/borrow.rs", "// rustc says E0499 without this\npub fn borrow() {}\n"),
    "TS2345": ("src/cast.ts", "// @ts-expect-error TS2345\nexport const cast = parse(1);\n"),
    "0x80070005": ("src/access.c", "int denied(long code) {\n    return code == 0x80070005;\n}\n"),
    "EADDRINUSE": ("src/listen.js", "server.on('error', (e) => e.code === 'EADDRINUSE' && again());\n"),
    "CVE-2021-44228": ("SECURITY.md", "# Advisories\n\nNot affected by CVE-2021-44228.\n"),
    "PW-4102": ("src/stock.py", 'class Gone(Exception):\n    code = "PW-4102"\n'),
    "spring.datasource.url": ("conf/application.properties", "spring.datasource.url=jdbc:h2:mem\n"),
    "max-http-header-size": ("conf/application.yaml", "server:\n  max-http-header-size: 16KB\n"),
    "editor.formatOnSave": ("conf/settings.json", '{\n  "editor.formatOnSave": true\n}\n'),
    "DATABASE_POOL_TIMEOUT": ("conf/deploy.toml", '[env]\nDATABASE_POOL_TIMEOUT = "30"\n'),
    "--experimental-loader": ("bin/test.sh", "#!/bin/sh\nnode --experimental-loader ./load.mjs\n"),
    "std::unordered_map": (
        "src/table.cpp",
        "int count() {\n    std::unordered_map<int, int> seen;\n    return 0;\n}\n",
    ),
    "潮汐表": ("src/tide.py", "def tide():\n    # 潮汐表を計算する\n    return 3\n"),
    "кассовый": ("src/cash.py", "def gap():\n    # кассовый разрыв\n    return 4\n"),
    "zyzzogeton": ("src/rare.py", "def calm():\n    return 'zyzzogeton'\n"),
}
#: Chunks that hold none of the tokens.
FILLER = {
    f"lib/part_{number:02}.py": "".join(
        f"def step_{number}_{step}(value):\n    return value + {step}\n\n\n" for step in range(200)
    )
    for number in range(15)
}


def decoys() -> dict[str, str]:
    """Return for each token of several parts two files that hold the parts many times, but never the token itself."""
    files = {}
    for number, token in enumerate(TOKENS):
        parts = [part.lower() for part in reversed(re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+", token))]
        if len(parts) > 1:
            said = f"    return '{' and '.join(parts)}'\n"
            files[f"docs/decoy_{number}.md"] = "# Notes\n\n" + f"{' and '.join(parts)}\n" * 20
            files[f"src/decoy_{number}.py"] = f"def of_{'_then_'.join(parts)}():\n{said * 10}"
    return files


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    files = FILLER | decoys() | dict(TOKENS.values())
    root = make_git_repository(tmp_path_factory.mktemp("tokens") / "code", files)
    store = ArtifactStore(root / ".strata")
    settings: Settings = override(SETTINGS, "evaluation", known_items=1)
    plan = build(root, store, settings)
    publish(store, plan)
    with open_generation(store, "sample", document_of(plan).generation) as generation:
        assert generation.count > 3_000
        yield Searcher([generation], None)


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.LEXICAL])
@pytest.mark.parametrize("token", TOKENS)
def test_a_token_that_stands_once_is_first(searcher: Searcher, token: str, mode: SearchMode) -> None:
    hits = searcher.search(Query(token, mode=mode)).hits
    assert hits[0].path == TOKENS[token][0]


@pytest.mark.parametrize("token", ["ERR_HTTP_HEADERS_SENT", "EADDRINUSE", "DATABASE_POOL_TIMEOUT", "AbortSignal"])
def test_the_case_of_a_token_does_not_matter(searcher: Searcher, token: str) -> None:
    assert searcher.search(Query(token.lower())).hits[0].path == TOKENS[token][0]
