from __future__ import annotations

import json
import ssl
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pipelines.embedding.api import ApiEncoder
from pipelines.embedding.api_client import Patience
from pipelines.endpoint import Endpoint
from pipelines.errors import ArtifactMissing, EncoderUnavailable, SettingsError
from pipelines.records import Metered
from pipelines.settings import EmbedderSettings
from tests.embedding.api_server import WIDTH, Reply, Service, document_of, failing, service, vector_of
from tests.embedding.builders import embed, make_store, vector_target

KEY = "sk-do-not-show-this-0123456789"
#: Waits that a test can afford.
QUICK = Patience(attempts=4, request_s=5.0, total_s=10.0, first_wait_s=0.01, longest_wait_s=0.05)


def encoder_of(place: Service | str, *, dimensions: int = 64, patience: Patience = QUICK, **more: Any) -> ApiEncoder:
    url = place if isinstance(place, str) else place.url
    settings = EmbedderSettings("api", model="tiny", dimensions=dimensions, url=url, **more)
    return ApiEncoder(settings, lambda endpoint: KEY, patience)


def expected(text: str, width: int = 64) -> npt.NDArray[np.float64]:
    vector = np.array(vector_of(text), np.float64)[:width]
    unit: npt.NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


def altered(change: Callable[[dict[str, Any]], object]) -> Reply:
    """Return a good answer with one thing wrong."""

    def content(texts: Sequence[str]) -> dict[str, Any]:
        document = document_of(texts)
        change(document)
        return document

    return Reply(content=content)


def test_vectors_are_unit_cut_to_the_width_and_in_order() -> None:
    with service() as there:
        encoder = encoder_of(there)
        vectors = encoder.encode(["open file", "", " \n", "parse tree"])
        np.testing.assert_allclose(vectors[0], expected("open file"), atol=1e-6)
        np.testing.assert_allclose(vectors[3], expected("parse tree"), atol=1e-6)
        assert not vectors[1:3].any()
        assert there.asked == [["open file", "parse tree"]]
        np.testing.assert_allclose(encoder.encode_query("Parse Tree!"), expected("parse tree"), atol=1e-6)
        assert there.paths == ["/v1/embeddings"] * 2
        assert there.keys == [f"Bearer {KEY}"] * 2
        assert there.bodies[0] == {"model": "tiny", "input": ["open file", "parse tree"], "encoding_format": "float"}


def test_a_text_has_one_vector_in_any_batch() -> None:
    texts = [f"text number {number} of many" for number in range(300)]
    with service() as there:
        encoder = encoder_of(there)
        whole = encoder.encode(texts)
        assert [len(asked) for asked in there.asked] == [128, 128, 44]
        alone = np.concatenate([encoder.encode([text]) for text in texts[:20]])
        np.testing.assert_array_equal(whole[:20], alone)


def test_a_request_has_a_bounded_size_and_a_long_text_is_cut_and_counted() -> None:
    texts = ["数据库 " * 5_000] * 70 + ["short"]
    with service() as there:
        encoder = encoder_of(there)
        assert encoder.encode(texts).any(axis=1).all()
        assert encoder.truncated == 70
        for asked in there.asked:
            assert sum(len(text.encode()) for text in asked) <= 250_000
        assert max(len(text.encode()) for asked in there.asked for text in asked) <= 8_000
        assert len(there.asked) == 3


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_fault_that_passes_is_tried_again(status: int) -> None:
    with service(failing(status), failing(status, Retry_After="0")) as there:
        np.testing.assert_allclose(encoder_of(there).encode(["a b"])[0], expected("a b"), atol=1e-6)
        assert len(there.asked) == 3


def test_half_an_answer_is_asked_for_again() -> None:
    cut = [Reply(cut=40), Reply(content=lambda texts: json.dumps(document_of(texts)).encode()[:-30])]
    with service(*cut) as there:
        assert encoder_of(there).encode(["a b"]).any()
        assert len(there.asked) == 3


def test_a_fault_that_stays_ends_after_the_last_attempt() -> None:
    with service(then=lambda _: failing(500)) as there:
        with pytest.raises(EncoderUnavailable, match=r"status 500, in 4 attempts"):
            encoder_of(there).encode(["a b"])
        assert len(there.asked) == 4


def test_retry_after_is_honoured_up_to_a_bound() -> None:
    patience = Patience(attempts=2, request_s=5.0, total_s=10.0, first_wait_s=0.0, longest_wait_s=0.2)
    with service(failing(429, Retry_After="3600")) as there:
        began = time.monotonic()
        encoder_of(there, patience=patience).encode(["a b"])
        assert 0.2 <= time.monotonic() - began < 5
    impatient = Patience(attempts=9, request_s=5.0, total_s=1.0, first_wait_s=0.0, longest_wait_s=60.0)
    with service(failing(429, Retry_After="30")) as there:
        with pytest.raises(EncoderUnavailable, match="status 429, in 1 attempts"):
            encoder_of(there, patience=impatient).encode(["a b"])
        assert len(there.asked) == 1


def test_a_service_that_drips_is_left_in_time() -> None:
    patience = Patience(attempts=2, request_s=0.2, total_s=5.0, first_wait_s=0.0)
    with service(Reply(pause_s=0.05)) as there:
        assert encoder_of(there, patience=patience).encode(["a b"]).any()  # the second attempt is answered at once
    with service(then=lambda _: Reply(pause_s=0.05)) as there:
        with pytest.raises(EncoderUnavailable, match=r"no whole answer in 0\.2 s, in 2 attempts"):
            encoder_of(there, patience=patience).encode(["a b"])
        assert len(there.asked) == 2


def test_no_service_at_all_is_said() -> None:
    with service() as there:
        url = there.url
    with pytest.raises(EncoderUnavailable, match=r"127\.0\.0\.1.*ConnectionRefusedError, in 4 attempts"):
        encoder_of(url).encode(["a b"])


@pytest.mark.parametrize(("status", "code"), [(400, "context_length"), (401, "invalid_api_key"), (307, ""), (404, "")])
def test_a_refusal_is_not_repeated_and_nothing_that_it_says_is_shown(status: int, code: str) -> None:
    with service(failing(status, code, Location="http://127.0.0.1:1/")) as there:
        with pytest.raises(EncoderUnavailable, match=rf"status {status}") as caught:
            encoder_of(there).encode(["a b"])
        assert len(there.asked) == 1
        assert code in caught.value.message
        assert "secret words" not in str(caught.value)


@pytest.mark.parametrize("code", ["\x1b[31mred", "a" * 41, "sk-Secret1", "two words", "bad\n", 7, ["code"], {"a": "b"}])
def test_a_code_that_is_no_short_plain_word_is_not_shown(code: object) -> None:
    refusal = Reply(400, lambda _: {"error": {"code": code}})
    with service(refusal) as there, pytest.raises(EncoderUnavailable) as caught:
        encoder_of(there).encode(["a b"])
    assert caught.value.message.endswith("it refuses with status 400")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda document: document["data"].pop(), "1 vectors for 2 texts"),
        (lambda document: document["data"].append(document["data"][0]), "3 vectors for 2 texts"),
        (lambda document: document["data"][1].update(index=0), "which texts"),
        (lambda document: document["data"][1].update(index=True), "which texts"),
        (lambda document: document["data"][1].pop("index"), "which texts"),
        (lambda document: document["data"][1].update(embedding=[float("nan")] * WIDTH), "no finite number"),
        (lambda document: document["data"][1].update(embedding=[10**400] * WIDTH), "no finite number"),
        (lambda document: document["data"][1].update(embedding=[1e200] * WIDTH), "no finite number of 32 bits"),
        (lambda document: document["data"][1].update(embedding=[-1e39] * WIDTH), "no finite number of 32 bits"),
        (lambda document: document["data"][1].update(embedding=[0.5] * (WIDTH - 1)), "of one width"),
        (lambda document: document["data"][1].update(embedding=["0.5"] * WIDTH), "of one width"),
        (lambda document: document["data"][1].update(embedding="AAAA"), "of one width"),
        (lambda document: document.update(data={}), "no embeddings"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_refused(
    change: Callable[[dict[str, Any]], object], says: str
) -> None:
    with service(altered(change)) as there, pytest.raises(EncoderUnavailable, match=says):
        encoder_of(there).encode(["a b", "c d"])


def test_vectors_in_another_order_go_to_their_texts() -> None:
    with service(altered(lambda document: document["data"].reverse())) as there:
        vectors = encoder_of(there).encode(["a b", "c d"])
        np.testing.assert_allclose(vectors, [expected("a b"), expected("c d")], atol=1e-6)


def test_a_model_that_is_too_narrow_or_changes_its_width_is_refused() -> None:
    with service() as there, pytest.raises(EncoderUnavailable, match=r"96 numbers, not at least 256"):
        encoder_of(there, dimensions=256).encode(["a b"])
    wide = Reply(content=lambda texts: document_of(texts, 128))
    with service(Reply(), wide) as there:
        encoder = encoder_of(there)
        encoder.encode(["a b"])
        with pytest.raises(EncoderUnavailable, match="128 numbers, not 96"):
            encoder.encode(["c d"])


def test_an_answer_that_never_ends_is_refused() -> None:
    huge = Reply(content=lambda _: b" " * 1_200_000)
    with service(huge) as there, pytest.raises(EncoderUnavailable, match="more than 1100000 bytes"):
        encoder_of(there).encode(["a b"])


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    with service() as there:
        port = int(there.url.rsplit(":", 1)[1].split("/")[0])
        with pytest.raises(EncoderUnavailable):  # the service speaks no TLS at all
            encoder_of(f"https://127.0.0.1:{port}").encode(["a b"])
        assert there.asked == []
    assert ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED


def test_the_key_stands_in_no_message_no_digest_and_no_representation() -> None:
    with service(failing(401, KEY)) as there:
        encoder = encoder_of(there)
        with pytest.raises(EncoderUnavailable) as caught:
            encoder.encode(["a b"])
        shown = "".join(traceback.format_exception(caught.value))
        kept = repr(encoder) + repr(vars(encoder)) + encoder.digest
        assert KEY not in shown + kept


def test_the_digest_covers_address_model_and_width() -> None:
    def digest(url: str, **more: Any) -> str:
        return encoder_of(url, **more).digest

    first = digest("https://a.example/v1")
    assert first == digest("https://a.example/v1/embeddings/", price=2.0, agreed_tokens=7)
    others = [
        digest("https://b.example/v1"),
        digest("https://a.example/v2"),
        digest("https://a.example/v1", dimensions=72),
    ]
    assert len({first, *others}) == 4


def test_a_run_is_estimated_without_asking_the_service(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with service() as there:
        encoder = encoder_of(there, price=0.5)
        assert isinstance(encoder, Metered)
        files = {"a.py": "open the file", "b/a.py": "open the file", "c.py": "parse tree", "d.py": "{}"}
        targets = [vector_target(store, files, encoder), vector_target(store, files, encoder, bucket="b01")]
        found = encoder.estimate(store, targets)
        assert there.asked == []
        report, _ = embed(store, files, encoder)
        sent = [text for asked in there.asked for text in asked]
        assert found.texts == len(sent) == report.extra["embedded_texts"]
        assert found.tokens == sum(-(-len(text.encode()) // 4) for text in sent)
        assert found.dollars == pytest.approx(0.5e-6 * found.tokens)
        assert encoder.estimate(store, targets).texts == 0


def test_a_service_that_fails_in_the_middle_leaves_no_artifact(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    files = {f"m{number}.py": f"function number {number}" for number in range(200)}
    with service(Reply(), then=lambda _: failing(500, Retry_After="0")) as there:
        encoder = encoder_of(there)
        target = vector_target(store, files, encoder)
        with pytest.raises(EncoderUnavailable, match=r"m\d+\.py:1-1 to m\d+\.py:1-1.*status 500"):
            embed(store, files, encoder)
        assert len(there.asked) == 1 + QUICK.attempts  # not text by text, to find one that is at fault
    with pytest.raises(ArtifactMissing):
        store.open(target.ref)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.org/v1",
        "http://api.example.org/v1",
        "ftp://127.0.0.1/v1",
        "https://user:secret@api.example.org/v1",
        "https://api.example.org/v1?key=secret",
        "https://api.example.org/v1#secret",
        "https://api.example.org:99999/",
        "https:///v1",
        "https://api.example.org/v1\r\nX: secret",
    ],
)
def test_an_address_is_checked_and_a_wrong_one_is_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError, match=r"embedder\.url") as caught:
        EmbedderSettings("api", model="tiny", url=url)
    assert "secret" not in str(caught.value)


def test_an_address_of_this_machine_may_go_without_tls() -> None:
    for url in ("http://localhost:8080/v1", "http://127.0.0.1/v1", "http://[::1]:9/v1", "https://api.example.org/v1"):
        endpoint = Endpoint.parse(url)
        assert endpoint.local == (endpoint.host != "api.example.org")
        assert str(endpoint) == url.split("://")[1] + "/embeddings"


def test_only_api_has_an_address_and_its_model_is_a_name() -> None:
    with pytest.raises(SettingsError, match=r"embedder\.url is not used"):
        EmbedderSettings("code", url="https://api.example.org")
    for model, says in (("", "is missing"), ("/models/tiny.onnx", "is a path")):
        with pytest.raises(SettingsError, match=rf"embedder\.model .*{says}"):
            EmbedderSettings("api", model=model, url="https://api.example.org")
    with pytest.raises(SettingsError, match=r"embedder\.url is missing.*--url"):
        EmbedderSettings("api", model="tiny")
    with pytest.raises(SettingsError, match=r"embedder\.price"):
        EmbedderSettings("api", model="x", url="https://api.example.org", price=-1.0)
