"""The search page in a real browser: what a person sees and does. Skipped where the machine has no Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.retrieval.builders import Doc
from tests.serving.http.servers import server_for
from tests.serving.library_of import CALLS, DOCS, SmallLibrary, library_of, wait_until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine (apt install chromium)")

WIDTHS = (390, 800, 1440)
LONG = Doc(
    "a/very/long/path/that/never/ends/" + "folder/" * 12 + "module_with_a_long_name.py",
    "def retry_" + "x" * 400 + "():\n    pass\n" + "    # " + "long " * 60,
    "retry_" + "x" * 300,
)
DEEP = Doc("orders/ledger.rst", "Text.\n" * 61 + "The ledger has a balance.", kind="section", language="rst")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # the sandbox of Chromium needs rights that a container's root has not
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with server_for(library_of(tmp_path_factory.mktemp("browsed"), [*DOCS, LONG, DEEP])) as url:
        yield url


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that may say nothing on its console: a blocked style or script would."""
    context = browser.new_context(viewport={"width": 1024, "height": 768})
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert [text for text in said if "status of" not in text] == []  # an error page has its status


def test_a_search_is_typed_and_shared_by_its_address(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("with_retry")
    page.keyboard.press("Enter")
    expect(page.locator("a.hit").first).to_have_text("orders/retry.py:1")
    expect(page.locator("mark").first).to_have_text("with_retry")
    assert page.url == url + "?q=with_retry"
    expect(page.locator(".status summary")).to_contain_text("Ready")


def test_filters_and_switches_apply_at_once_and_can_be_taken_back(page: Page, url: str) -> None:
    page.goto(url + "?q=retry")
    page.select_option("#f-language", "markdown")
    expect(page.locator("a.hit")).to_have_text(["README.md:1"])
    assert page.url == url + "?q=retry&language=markdown"
    expect(page.get_by_label("Late")).to_be_hidden()
    page.get_by_text("Advanced").click()
    page.get_by_label("Late").check()
    page.wait_for_url("**fusion=late**")
    expect(page.get_by_label("Late")).to_be_visible()  # what is not as usual stays in sight
    page.get_by_label("All words").check()
    page.wait_for_url("**keyword_and=1**")
    page.locator(".chips a").click()
    page.wait_for_url(lambda address: "language" not in address)
    assert "fusion=late" in page.url
    page.fill("#f-path", "orders/*")
    page.keyboard.press("Enter")
    page.wait_for_url("**path=orders**")
    for path in page.locator("a.hit").all_text_contents():
        assert path.startswith("orders/")


def test_the_keyboard_is_enough(page: Page, url: str) -> None:
    page.goto(url + "?q=call+attempts&language=python")
    hits = page.locator("a.hit")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(hits.nth(0)).to_be_focused()
    opened = hits.nth(0).text_content()
    page.keyboard.press("Enter")
    expect(page.locator(".chunk h1")).to_contain_text((opened or "").rpartition("/")[2].partition(":")[0])
    page.keyboard.press("Escape")
    page.wait_for_url(url + "?q=call+attempts&language=python")
    expect(hits.nth(0)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("/")  # in the box a slash is a slash
    assert "/" in page.locator("#q").input_value()


def test_a_hit_opens_at_its_line(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 500})
    page.goto(url + "?q=the+balance+of+a+ledger")
    expect(page.locator("a.hit").first).to_have_text("orders/ledger.rst:62")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    opened = page.locator(".line.is-opened")
    expect(opened).to_have_attribute("id", "L62")
    expect(opened).to_be_in_viewport()
    expect(page.locator("#L1")).not_to_be_in_viewport()
    assert page.url.endswith("#L62")


def test_escape_goes_back_to_the_hit_without_a_trace(page: Page, url: str) -> None:
    address = url + "?q=call+attempts&language=python"
    page.goto(address)
    place = page.evaluate("navigation.currentEntry.key")
    hit = page.locator("a.hit").nth(1)
    hit.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".chunk")).to_be_visible()
    page.locator(".code").focus()
    page.keyboard.press("Escape")
    page.wait_for_url(address)
    expect(hit).to_be_focused()
    assert page.evaluate("navigation.currentEntry.key") == place
    hit.click()
    page.locator("aside a").first.click()  # on to another chunk
    page.wait_for_url(lambda url: "line=" not in url)
    page.locator("#back").click()
    page.wait_for_url(address)
    expect(hit).to_be_focused()
    assert page.evaluate("navigation.currentEntry.key") == place


def test_a_chunk_that_was_opened_by_its_address_leads_to_the_answers_as_well(page: Page, url: str) -> None:
    page.goto(url + "?q=with_retry")
    chunk = page.locator("a.hit").first.get_attribute("href") or ""
    page.goto("about:blank")
    page.goto(url + chunk.lstrip("/").replace("q=with_retry", "q=backoff"))
    length = page.evaluate("history.length")
    page.keyboard.press("Escape")
    page.wait_for_url(url + "?q=backoff")
    assert page.evaluate("history.length") == length


def test_the_path_of_a_hit_is_copied(browser: Browser, url: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(url + "?q=with_retry")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Copy path orders/retry.py:1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("button.copy").first).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "orders/retry.py:1"
    page.goto(url + "?q=backoff&language=python")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    expect(page.locator("button.copy").first).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("a.hit").first.text_content()
    context.close()


def test_parts_of_names_are_marked_and_common_words_are_not(page: Page, url: str) -> None:
    page.goto(url + "?q=how+is+a+call+with+retries+made&language=python")
    marks = {text.casefold() for text in page.locator(".excerpt mark").all_text_contents()}
    assert {"call", "retry"} <= marks
    assert marks.isdisjoint({"with_retry", "with", "a", "is", "how"})
    page.locator("a.hit", has_text="retry.py").first.click()
    assert "retry" in page.locator(".code mark").all_text_contents()


def test_a_phone_has_no_key_hints_and_the_whole_placeholder(browser: Browser, url: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(url)
    expect(page.locator("kbd >> visible=true")).to_have_count(0)
    fits = """box => {
      const style = getComputedStyle(box);
      const canvas = document.createElement("canvas").getContext("2d");
      canvas.font = style.font;
      const room = box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return canvas.measureText(box.placeholder).width <= room;
    }"""
    assert page.locator("#q").evaluate(fits)
    assert page.locator(".welcome code").evaluate("code => code.getClientRects().length") == 1
    context.close()


def test_code_that_is_cut_fades(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(url + "?q=retry")
    cut = page.locator(".hits .clip", has_text="xxxxxxxx").first
    expect(cut).to_have_class("clip is-cut")
    cut.locator("pre").evaluate("pre => { pre.scrollLeft = pre.scrollWidth; }")
    expect(cut).to_have_class("clip")


def test_a_chunk_leads_along_the_calls(page: Page, url: str) -> None:
    page.goto(url + "?q=with_retry")
    page.locator("a.hit").first.click()
    expect(page.locator(".line .no").first).to_have_text("1")
    page.get_by_role("link", name="backoff").first.click()
    expect(page.locator(".chunk h1")).to_contain_text("backoff.py")
    page.get_by_role("link", name="Hits for").click()
    assert page.url == url + "?q=with_retry"


def test_the_terms_of_a_score_open(page: Page, url: str) -> None:
    page.goto(url + "?q=with_retry")
    terms = page.locator(".score dl").first
    expect(terms).to_be_hidden()
    page.locator(".score summary").first.click()
    expect(terms).to_contain_text("lexical rank")


def test_nothing_found_and_a_mistake_are_told(page: Page, url: str) -> None:
    page.goto(url + "?q=zzyzx+qwxyz&keyword_and=1")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    page.goto(url + "?q=x&limit=9999")
    expect(page.get_by_role("alert")).to_contain_text("limit = 9999 is out of range")
    expect(page.locator("#q")).to_have_value("x")


def test_without_scripts_everything_works(browser: Browser, url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(url)
    page.fill("#q", "with_retry")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("a.hit").first).to_have_text("orders/retry.py:1")
    page.locator("a.hit").first.click()
    expect(page.locator(".chunk h1")).to_contain_text("retry.py")
    context.close()


@pytest.mark.parametrize(
    ("state", "badge", "told"),
    [
        ("stale", "Stale", "These answers may be old"),
        ("building", "Building", "The index is being built"),
        ("error", "Error", "Something is wrong"),
    ],
)
def test_the_badge_is_honest(page: Page, tmp_path: Path, state: str, badge: str, told: str) -> None:
    library = library_of(tmp_path)
    library.states["sample"] = state
    with server_for(library) as url:
        page.goto(url + "?q=retry")
        expect(page.locator(".status summary")).to_contain_text(badge)
        expect(page.get_by_role("status")).to_contain_text(told)
        expect(page.locator("a.hit").first).to_be_visible()


def test_only_what_was_searched_is_told_to_be_old(page: Page, tmp_path: Path) -> None:
    library = library_of(tmp_path)
    library.publish(DOCS[:1], repo="other")
    library.states["other"] = "stale"
    with server_for(library) as url:
        page.goto(url + "?q=retry&repo=sample")
        expect(page.locator(".status summary")).to_contain_text("Stale")
        expect(page.locator("a.hit").first).to_be_visible()
        expect(page.get_by_role("status")).to_have_count(0)
        page.goto(url + "?q=retry")
        expect(page.get_by_role("status")).to_contain_text("other: older than its source")


def test_the_values_of_a_score_stay_on_their_lines(page: Page, url: str) -> None:
    page.set_viewport_size({"width": 1024, "height": 900})
    page.goto(url + "?q=with_retry")
    page.locator(".score summary").first.click()
    lines = """items => items.map((item) => {
      const range = document.createRange();
      range.selectNodeContents(item);
      return range.getClientRects().length;
    })"""
    assert set(page.locator(".score dd >> visible=true").evaluate_all(lines)) == {1}


def test_an_empty_store_says_what_to_do_and_answers_once_it_can(page: Page, tmp_path: Path) -> None:
    library = SmallLibrary(tmp_path)
    with server_for(library) as url:
        page.goto(url + "?q=retry")
        expect(page.locator(".status summary")).to_contain_text("Error")
        expect(page.get_by_role("alert")).to_contain_text("strata index PATH")
        library.publish(calls=CALLS)
        page.reload()
        expect(page.locator("a.hit").first).to_be_visible()
        wait_until(lambda: page.reload() is not None and page.locator(".status.is-ready").count() == 1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_is_wider_than_its_window_and_its_text_can_be_read(
    browser: Browser, url: str, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    for address in ("", "?q=retry&path=**&language=python", "?q=zzyzx&keyword_and=1", "?q=x&mode=none", "nothing"):
        page.goto(url + address)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert page.evaluate(LEAST_CONTRAST) >= 4.5, address
    page.goto(url + "?q=retry")
    page.locator("a.hit").first.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(LEAST_CONTRAST) >= 4.5
    context.close()


#: The least contrast of any text with what is behind it, by the formula of WCAG 2.
LEAST_CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  let least = 21;
  for (const element of document.querySelectorAll("body *")) {
    const own = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility()) continue;
    const [front, back] = [light(rgb(getComputedStyle(element).color)), light(behind(element))];
    least = Math.min(least, (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05));
  }
  return least;
}"""
