from __future__ import annotations

import pytest

from pipelines.errors import SettingsError
from pipelines.settings import Settings, override, parse_settings


def test_an_empty_file_gives_the_defaults() -> None:
    assert parse_settings("", "strata.toml") == Settings()


def test_sections_and_repositories_are_read() -> None:
    settings = parse_settings(
        """
        [index]
        exclude = ["vendor/"]
        buckets = 64
        [diffusion]
        alpha = 0.5
        [[repositories]]
        key = "web"
        path = "../web"
        """,
        "strata.toml",
    )
    assert settings.index.exclude == ("vendor/",)
    assert settings.index.buckets == 64
    assert settings.diffusion.alpha == 0.5
    assert settings.repositories[0].key == "web"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[index]\ninclud = []", r"strata\.toml: unknown key index\.includ .*allowed: buckets, content, exclude"),
        ("[indexes]", r"unknown key indexes .*allowed: artifacts, chunking"),
        ("[index]\nbuckets = 12", r"index\.buckets = 12 is not allowed .*power of two"),
        ("[index]\nbuckets = 128", r"index\.buckets = 128"),
        ("[index]\nbuckets = true", r"index\.buckets = True must be an integer"),
        ("[index]\nexclude = 'x'", r"index\.exclude = 'x' must be a list"),
        ("index = 1", "index must be a table"),
        ("[embedder]\nname = 'onnx'", r"embedder\.model is missing.*--model PATH.*holds model\.onnx.*get MiniLM"),
        ("[embedder]\nname = 'api'", r"embedder\.url is missing.*--url"),
        ("[embedder]\nname = 'magic'", r"embedder\.name = 'magic' is not allowed \(allowed: code, vocab, .*api\)"),
        ("[diffusion]\nalpha = 1", r"diffusion\.alpha = 1\.0"),
        ("[quantization]\nbits = 100", r"quantization\.bits = 100 .*multiple of 8 from 64 to 1024"),
        ("[quantization]\nbits = 32", r"quantization\.bits = 32"),
        ("[quantization]\nseed = -1", r"quantization\.seed = -1"),
        ("[artifacts]\nuri = 's3://bucket'", r"artifacts\.uri = 's3://bucket'"),
        ("[[repositories]]\npath = 'x'", "key is missing"),
        ("[[repositories]]\nkey = 'a'\npath = 'x'\n[[repositories]]\nkey = 'a'\npath = 'y'", "each key once"),
        ("[index", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_key_value_and_choice(content: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        parse_settings(content, "strata.toml")


def test_flags_override_single_keys_and_are_checked_too() -> None:
    settings = override(Settings(), "embedder", name="hash", dimensions=None)
    assert (settings.embedder.name, settings.embedder.dimensions) == ("hash", 256)
    with pytest.raises(SettingsError, match=r"embedder\.dimensions = 250"):
        override(settings, "embedder", dimensions=250)
