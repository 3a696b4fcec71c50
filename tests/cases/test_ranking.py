"""Faults of ranking that users of other indexers reported, as what must hold here: which file stands first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pipelines.errors import InputError
from pipelines.retrieval import Query, Searcher, open_generation
from pipelines.settings import Settings, override
from pipelines.store import ArtifactStore
from tests.cases.builders import make_git_repository
from tests.serving.builds import SETTINGS, build, document_of, publish

BIG = "".join(f"def step_{number}(value):\n    return value + {number}\n\n\n" for number in range(6_500))
DECOY = "# getUserById " * 20 + "\nUSERS = {}\n"
FILES = {
    "docs/korean.md": "# 휴가\n\n초과근무 수당을 계산한다\n",
    "docs/chinese.md": "# 服务\n\nSSH铁律服务器 的配置\n",
    "docs/russian.md": "# Деньги\n\nкассовый разрыв и его причины\n",
    "docs/accent.md": "# Words\n\na naïve approach\n",
    "src/overtime.py": "class OvertimeService:\n    def pay(self):\n        return 1\n",
    "src/codes.py": 'FAULT = "HCA060T"\n',
    "src/users.ts": "export function getUserById(id: string) {\n  return find(id);\n}\n",
    "src/html.ts": "export function parseHTMLResponse(text: string) {\n  return read(text);\n}\n",
    "src/snake.py": "def snake_case_name2():\n    return 2\n",
    "src/client.js": "export function oauth2Client() {\n  return connect();\n}\n",
    "src/kebab-file.css": ".box { color: red }\n",
    "src/decoy.py": DECOY,
    "src/abort.js": "export function stop(signal) {\n  return signal instanceof AbortSignal;\n}\n",
    "src/install.js": "export const read = () => open('package-lock.json');\n",
    "src/errors.js": "throw failure('ERR_HTTP_HEADERS_SENT');\n",
    "src/run.sh": "node --max_old_space_size=4096 main.js\n",
    "src/path.rs": "pub fn go() {\n    foo::bar();\n}\n",
    "src/cjk.py": "def tide():\n    # 潮汐の計算\n    return 3\n",
    "src/big.py": BIG,
    "src/rare.py": "def calm():\n    return 'zyzzogeton'\n",
    "src/limits.go": "package limits\n\nconst defaultPort = 80\n\ntype Server struct {\n\tReadTimeout int\n}\n",
    "src/Level.java": "public enum Level {\n  QUIET,\n  LOUD;\n\n  private final int volume = 3;\n}\n",
    "src/store.py": (
        "class Shut(Exception):\n    pass\n\n\n"
        "def lend(book, reader):\n    if book.lent:\n"
        '        raise Shut(f"book {book} is already lent to another reader")\n    return reader\n'
    ),
    "src/server.go": (
        "package limits\n\nfunc (s *Server) Mount(path string) {\n\tif s.taken[path] {\n"
        '\t\tpanic("two mounts claim the path \'" + path + "\'")\n\t}\n}\n'
    ),
    "src/answer.js": (
        "export function refuse(request) {\n  const body = `cannot accept a body of ${request.size} bytes`;\n"
        "  return [413, 'The body of the request is too large', body];\n}\n"
    ),
    "docs/faults.md": (
        "# Faults\n\n## book is already lent to another reader\n\nThe book is already lent to another reader: wait.\n\n"
        "## two mounts claim the path\n\nA panic `two mounts claim the path` means that a path is taken.\n\n"
        "## The body of the request is too large\n\nThe body of the request is too large for us.\n\n"
        "## ERR_HTTP_HEADERS_SENT\n\nERR_HTTP_HEADERS_SENT means that ERR_HTTP_HEADERS_SENT was thrown.\n\n"
        "## the bridge has been closed for the winter\n\nOnly a ferry runs.\n"
    ),
    "tests/test_users.py": "def test_prop_users():\n    assert getUserById(3)\n",
}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    root = make_git_repository(tmp_path_factory.mktemp("ranking") / "code", FILES)
    store = ArtifactStore(root / ".strata")
    settings: Settings = override(SETTINGS, "evaluation", known_items=1)
    plan = build(root, store, settings)
    publish(store, plan)
    with open_generation(store, "sample", document_of(plan).generation) as generation:
        yield Searcher([generation], None)


def first(searcher: Searcher, text: str, **options: object) -> str:
    return searcher.search(Query(text, **options)).hits[0].path  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("초과근무", "docs/korean.md"),
        ("SSH铁律服务器", "docs/chinese.md"),
        ("кассовый разрыв", "docs/russian.md"),
        ("naïve", "docs/accent.md"),
        ("OvertimeService", "src/overtime.py"),
        ("HCA060T", "src/codes.py"),
        ("潮汐", "src/cjk.py"),
    ],
)
def test_words_of_any_script_find_their_file(searcher: Searcher, text: str, path: str) -> None:
    """73"""
    assert first(searcher, text) == path
    assert first(searcher, text, mode="lexical") == path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("getUserById", "src/users.ts"),
        ("getuserbyid", "src/users.ts"),
        ("user by id", "src/users.ts"),
        ("parseHTMLResponse", "src/html.ts"),
        ("parse response", "src/html.ts"),
        ("PARSEHTMLRESPONSE", "src/html.ts"),
        ("snake_case_name2", "src/snake.py"),
        ("case name", "src/snake.py"),
        ("oauth2Client", "src/client.js"),
        ("oauth client", "src/client.js"),
        ("kebab-file", "src/kebab-file.css"),
        ("kebab", "src/kebab-file.css"),
    ],
)
def test_names_are_found_whole_in_parts_and_in_any_case(searcher: Searcher, text: str, path: str) -> None:
    """74"""
    assert first(searcher, text) == path


def test_the_definition_stands_before_what_mentions_it_twenty_times(searcher: Searcher) -> None:
    """74"""
    hits = searcher.search(Query("getUserById")).hits
    assert [hit.path for hit in hits[:3]].index("src/users.ts") == 0
    assert hits[0].line == 1


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("AbortSignal", "src/abort.js"),
        ("package-lock.json", "src/install.js"),
        ("ERR_HTTP_HEADERS_SENT", "src/errors.js"),
        ("max_old_space_size", "src/run.sh"),
        ("foo::bar", "src/path.rs"),
        ("zyzzogeton", "src/rare.py"),
    ],
)
def test_an_exact_token_is_first(searcher: Searcher, text: str, path: str) -> None:
    assert first(searcher, text) == path


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("Shut: book 7 is already lent to another reader", "src/store.py", 7),
        ('  File "src/store.py", line 7, in lend\nShut: book 7 is already lent to another reader', "src/store.py", 0),
        ("panic: two mounts claim the path '/a'", "src/server.go", 5),
        ("limits.(*Server).Mount(0xc000012, {0x1, 0x2})", "src/server.go", 3),
        ("HTTP 413: The body of the request is too large", "src/answer.js", 3),
        ("error: cannot accept a body of 99 bytes", "src/answer.js", 2),
        ("ERR_HTTP_HEADERS_SENT", "src/errors.js", 1),
        ("Error [ERR_HTTP_HEADERS_SENT]: Cannot set headers", "src/errors.js", 1),
        ("the bridge has been closed for the winter", "docs/faults.md", 0),
    ],
)
def test_a_message_that_is_pasted_finds_what_raises_it(searcher: Searcher, text: str, path: str, line: int) -> None:
    hit = searcher.search(Query(text)).hits[0]
    assert hit.path == path
    assert line in (0, hit.line)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("Mount(", "src/server.go", 3),
        ("server->Mount(path)", "src/server.go", 3),
        ("(*Server).Mount", "src/server.go", 3),
        ("func (s *Server) Mount(path string) {", "src/server.go", 3),
        ("lend(book, reader)", "src/store.py", 5),
        ("get_user_by_id", "src/users.ts", 1),
        ("get-user-by-id", "src/users.ts", 1),
        ("default_port", "src/limits.go", 3),
        ("read-timeout", "src/limits.go", 6),
        ("snakeCaseName2", "src/snake.py", 1),
    ],
)
def test_calls_and_other_spellings_find_the_definition(searcher: Searcher, text: str, path: str, line: int) -> None:
    hit = searcher.search(Query(text)).hits[0]
    assert (hit.path, hit.line) == (path, line)
    assert "definition" in hit.terms


@pytest.mark.parametrize("number", [0, 3_217, 6_499])
def test_a_definition_in_a_large_file_is_first_for_its_name(searcher: Searcher, number: int) -> None:
    hit = searcher.search(Query(f"step_{number}")).hits[0]
    assert (hit.path, hit.symbol, hit.line) == ("src/big.py", f"step_{number}", 4 * number + 1)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("defaultPort", "src/limits.go", 3),
        ("ReadTimeout", "src/limits.go", 6),
        ("Server.ReadTimeout", "src/limits.go", 6),
        ("LOUD", "src/Level.java", 3),
        ("Level.LOUD", "src/Level.java", 3),
        ("volume", "src/Level.java", 5),
        ("FAULT", "src/codes.py", 1),
    ],
)
def test_what_has_no_chunk_of_its_own_is_first_with_its_line(
    searcher: Searcher, text: str, path: str, line: int
) -> None:
    hit = searcher.search(Query(text)).hits[0]
    assert (hit.path, hit.line) == (path, line)


def test_a_constant_without_a_chunk_of_its_own_is_called_by_its_name(searcher: Searcher) -> None:
    hit = searcher.search(Query("FAULT")).hits[0]
    assert (hit.kind, hit.symbol) == ("module", "FAULT")


@pytest.mark.parametrize("limit", [0, -1, 10_000])
def test_a_limit_out_of_range_is_refused_with_the_range(limit: int) -> None:
    with pytest.raises(InputError, match=f"limit = {limit}"):
        Query("anything", limit=limit)


def test_filters_come_before_the_pool(searcher: Searcher) -> None:
    hits = searcher.search(Query("return value", kinds=("class",), candidate_pool=10)).hits
    assert {hit.kind for hit in hits} == {"class"} or not hits
    assert first(searcher, "return", paths=("src/rare.py",), candidate_pool=10) == "src/rare.py"
    assert first(searcher, "bar", languages=("rust",), candidate_pool=10) == "src/path.rs"
