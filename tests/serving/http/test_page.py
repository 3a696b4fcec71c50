from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.retrieval.builders import Doc
from tests.serving.http.clients import HTML, client_of
from tests.serving.library_of import SmallLibrary, library_of

HOSTILE = [
    Doc(
        "a/<img src=x onerror=alert(1)>/\"'&.py",
        "def hostile():\n    '</code></pre><script>alert(1)</script>'\n    # \u202e} \x1b[31m\n    return hostile",
        "hostile<b>",
        scope='"><i>',
        language="<u>",
    )
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with client_of(library_of(tmp_path_factory.mktemp("page"))) as client:
        yield client


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", page)))


class Outline(HTMLParser):
    """Collects elements, and tells whether they are closed in order."""

    VOID = frozenset({"meta", "link", "input", "br", "col", "rect", "path", "circle"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.wrong: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_the_first_page_asks_and_tells_how(client: TestClient) -> None:
    page = client.get("/").text
    assert 'name="q"' in page
    assert "By meaning" in page
    assert "is-ready" in page


def test_an_address_is_the_whole_search(client: TestClient) -> None:
    page = client.get("/?q=with_retry&fusion=late&language=python&path=orders/**&limit=1&keyword_and=1").text
    assert re.search(r'value="late"[^>]* checked', page)
    assert '<option value="python" selected>' in page
    assert 'name="path" value="orders/**"' in page
    assert re.search(r'name="keyword_and" value="1" checked', page)
    assert page.count('class="hit"') == 1
    assert "with_retry" in page


def test_a_hit_shows_where_it_is_why_and_what(client: TestClient) -> None:
    page = client.get("/?q=with_retry").text
    assert 'orders/<b>retry.py</b><span class="at">:1</span>' in page
    assert "<mark>with_retry</mark>" in page
    assert 'class="defines"' in page
    assert re.search(r'<rect class="share lexical" x="0', page)
    assert "lexical rank" in page


def test_the_score_is_the_one_that_programs_get(client: TestClient) -> None:
    hits = client.post("/api/semantic/query", json={"query": "with_retry"}).json()["hits"]
    page = client.get("/?q=with_retry").text
    assert re.findall(r"Score </span>([^<]+)<", page) == [f"{hit['score']:.4f}" for hit in hits]
    assert hits[0]["terms"]["definition"] > 0
    assert "The bar leaves out definition" in page


def test_every_filter_can_be_taken_back(client: TestClient) -> None:
    page = unescape(client.get("/?q=retry&language=python&path=orders/**").text)
    assert 'href="/?q=retry&path=orders%2F%2A%2A"' in page
    assert 'href="/?q=retry&language=python"' in page


def test_several_values_of_a_filter_are_kept(client: TestClient) -> None:
    page = client.get("/?q=retry&language=python&language=markdown&kind=function&kind=section").text
    assert page.count('name="language"') == 2
    assert '<option value="markdown" selected>' in page


def test_nothing_found_says_what_may_help(client: TestClient) -> None:
    answer = client.get("/?q=zzyzx+qwxyz&keyword_and=1&language=python")
    assert answer.status_code == 200
    assert "Nothing found" in answer.text
    assert "All words" in answer.text


@pytest.mark.parametrize(
    ("address", "status", "told"),
    [
        ("/?q=x&mode=psychic", 422, "mode 'psychic' is not known"),
        ("/?q=x&fusion=late&mode=lexical", 422, "semantic pool"),
        ("/?q=x&limit=100000", 422, "limit"),
        ("/?q=x&limit=ten", 422, "limit must be a whole number"),
        ("/?q=x&language=klingon", 422, "klingon"),
        ("/?q=x&repo=nowhere", 404, "nowhere"),
        ("/chunk", 404, "is not served"),
        ("/chunk?in=sample&id=zz", 404, "no chunk"),
        ("/nothing", 404, "not found"),
        ("/static/..%2Fpage.py", 404, ""),
        ("/static/nothing.css", 404, "nothing.css"),
    ],
)
def test_an_error_is_a_page_that_keeps_what_was_asked(client: TestClient, address: str, status: int, told: str) -> None:
    answer = client.get(address, headers=HTML)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert told in text_of(answer.text)
    assert 'role="alert"' in answer.text
    if "q=x" in address:
        assert 'value="x"' in answer.text


def test_parameters_that_say_nothing_here_are_passed_over(client: TestClient) -> None:
    assert client.get("/?q=retry&utm_source=mail&mode=&limit=").status_code == 200


def test_a_hit_opens_its_chunk_and_leads_back(client: TestClient) -> None:
    page = client.get("/?q=backoff&language=python").text
    hit = re.search(r'class="hit" href="([^"]+)"', page)
    assert hit
    chunk = client.get(unescape(hit[1]))
    assert chunk.status_code == 200
    assert "<mark>backoff</mark>" in chunk.text
    assert 'id="L2"' in chunk.text
    assert 'href="/?q=backoff&amp;language=python"' in chunk.text
    assert "Called by" in chunk.text
    assert "with_retry" in chunk.text


def test_a_chunk_opens_at_the_line_of_its_address(client: TestClient) -> None:
    page = unescape(client.get("/?q=backoff&language=python").text)
    hit = re.search(r'class="hit" href="([^"#]+)#L1"', page)
    assert hit
    assert "&line=1&" in hit[1]
    assert 'class="line is-opened" id="L1"' in client.get(hit[1]).text
    for other in ("2", "0", "99", "-1", "one", "9" * 5000):
        chunk = client.get(hit[1].replace("line=1", "line=" + other))
        assert chunk.status_code == 200
        assert chunk.text.count("is-opened") == (other == "2")


def test_what_is_rarely_changed_is_shown_once_it_is(client: TestClient) -> None:
    assert '<details class="advanced">' in client.get("/?q=retry&candidate_pool=256&fusion=rrf").text
    page = client.get("/?q=retry&candidate_pool=99&scoring=asymmetric").text
    assert '<details class="advanced" open>' in page
    assert 'name="candidate_pool" value="99"' in page
    assert "Advanced <b>2</b>" in page


def test_what_stands_around_a_hit_is_shown_on_demand(client: TestClient) -> None:
    page = client.get("/?q=with_retry&expand=neighbors&limit=1").text
    assert "calls" in text_of(page)
    assert "orders/backoff.py:1" in page
    assert "direct caller" in client.get("/?q=backoff&expand=blast&limit=1").text


@pytest.mark.parametrize(("state", "told"), [("stale", "may be old"), ("building", "being built"), ("error", "wrong")])
def test_a_state_that_is_not_ready_is_told(tmp_path: Path, state: str, told: str) -> None:
    library = library_of(tmp_path)
    library.states["sample"] = state
    with client_of(library) as client:
        page = client.get("/?q=retry").text
    assert f"is-{state}" in page
    assert told in page
    assert 'class="hit"' in page


def test_a_page_without_an_index_says_how_to_make_one(tmp_path: Path) -> None:
    with client_of(SmallLibrary(tmp_path)) as client:
        assert "Nothing to search yet" in client.get("/").text
        answer = client.get("/?q=retry", headers=HTML)
    assert answer.status_code == 503
    assert "<code>strata index PATH</code>" in answer.text


def test_nothing_of_a_repository_is_markup(tmp_path: Path) -> None:
    with client_of(library_of(tmp_path, HOSTILE, ())) as client:
        search = client.get("/", params={"q": 'hostile "><script>alert(2)</script>', "path": "<svg onload=1>**"})
        plain = client.get("/?q=hostile")
        hit = re.search(r'class="hit" href="([^"]+)"', plain.text)
        assert hit
        chunk = client.get(unescape(hit[1]))
        problem = client.get("/chunk", params={"in": "<script>alert(3)</script>"}, headers=HTML)
    for page in (search.text, plain.text, chunk.text, problem.text):
        outline = Outline(page)
        assert outline.wrong == []
        assert outline.open == []
        assert {tag for tag, _ in outline.found} & {"img", "i", "u", "iframe"} == set()
        assert [attributes for tag, attributes in outline.found if tag == "script" and "src" not in attributes] == []
        assert not [name for _, attributes in outline.found for name in attributes if name.startswith("on")]
        assert not [name for _, attributes in outline.found for name in attributes if name == "style"]
        assert "\u202e" not in page
        assert "\x1b" not in page
    assert "\\u202e" in chunk.text
    assert "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;" in chunk.text


def test_everything_comes_from_this_server(client: TestClient) -> None:
    for address in ("/", "/?q=retry", "/nothing"):
        outline = Outline(client.get(address, headers=HTML).text)
        links = [
            value for _, attributes in outline.found for name, value in attributes.items() if name in ("src", "href")
        ]
        assert all(value and (value.startswith("/") or value.startswith("#")) for value in links)
    for name in ("page.css", "page.js", "icon.svg"):
        content = client.get(f"/static/{name}").text
        assert not re.findall(r"https?://(?!www\.w3\.org/)", content)
        assert "@import" not in content
