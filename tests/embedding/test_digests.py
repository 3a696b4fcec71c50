"""Whatever an encoder's vectors depend on is part of its digest, so vectors of two rules are never mixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.embedding import make_encoder
from pipelines.embedding.recipe import MAX_FIELD_CHARS, RECIPE_VERSION, compose_query, embed_key
from pipelines.errors import EncoderError
from pipelines.settings import EmbedderSettings
from tests.embedding.builders import DATA, compose, embed, make_store

FILES = {"src/a.py": "open the file", "src/b.py": "close the file", "src/c.py": "parse the tree"}
#: encoder -> module that knows its rules, and those of its rules that are no part of a file.
RULES = {
    "code": ("code", ["_REVISION", "_MAX_COUNT", "_LENGTH_STEP", "RECIPE"]),
    "vocab": ("vocab", ["_REVISION", "RECIPE"]),
    "hash": ("sign_hash", ["_REVISION", "RECIPE"]),
}
#: The key of all texts below; where it changes, RECIPE_VERSION must be raised, or old vectors are taken for new ones.
GOLDEN = {2: "47c5abec703616a6c809ef06bf480fb7"}


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for name, (_, rules) in RULES.items() for rule in rules])
def test_another_rule_embeds_everything_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, rule: str
) -> None:
    store, settings = make_store(tmp_path), EmbedderSettings(name)
    before, _ = embed(store, FILES, make_encoder(settings, DATA))
    monkeypatch.setattr(f"pipelines.embedding.{RULES[name][0]}.{rule}", 64)
    other = make_encoder(settings, DATA)
    report, artifact = embed(store, FILES, other)
    assert (before.computed, report.computed, report.reused) == (3, 3, 0)
    assert artifact.facts["encoder"]["digest"] == other.digest


@pytest.mark.parametrize(("name", "rule"), [("code.PIECES_VERSION", "code"), ("vocab.STEMS_VERSION", "vocab")])
def test_files_made_by_other_rules_are_refused(monkeypatch: pytest.MonkeyPatch, name: str, rule: str) -> None:
    before = make_encoder(EmbedderSettings(rule), DATA).digest
    monkeypatch.setattr(f"pipelines.embedding.{name}", 64)
    encoder = make_encoder(EmbedderSettings(rule), DATA)
    assert encoder.digest != before
    with pytest.raises(EncoderError, match="64"):
        encoder.encode(["open the file"])


def test_every_encoder_and_width_has_a_digest_of_its_own() -> None:
    settings = [EmbedderSettings(name, dimensions=width) for name in RULES for width in (64, 128, 256)]
    assert len({make_encoder(item, DATA).digest for item in settings}) == len(settings)


def test_the_recipe_is_that_of_its_version() -> None:
    texts = [
        compose(
            "parseHTTP2Response", "Client.parseHTTP2Response", "src/net/http.py", "def f(self)", "Read it.", "x += 1"
        ),
        compose("", "", "docs/Über_uns.md", "", "", "naïve 数据库 ﬁne x² кассовыйЧек"),
        compose("n", "n", "a", "", "", "word_" * 14 + " " + "b " * MAX_FIELD_CHARS),
        compose("", "", "a/b.txt", "", "", "{} --- 🙂"),
        compose_query("How is HTTP2 parsed?"),
    ]
    assert {RECIPE_VERSION: embed_key("\n\n".join(texts).encode()).hex()} == GOLDEN
