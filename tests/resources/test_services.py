from __future__ import annotations

import pytest

from pipelines.endpoint import Endpoint
from pipelines.errors import SettingsError
from resources.services import HOST_VARIABLE, KEY_VARIABLE, api_key

THERE = Endpoint.parse("https://api.example.org/v1")
PORT = Endpoint.parse("https://api.example.org:8443/v1")
HERE = Endpoint.parse("http://127.0.0.1:8080/v1")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOST_VARIABLE, raising=False)
    monkeypatch.setenv(KEY_VARIABLE, "sk-1")


def test_a_host_that_the_environment_does_not_name_gets_neither_texts_nor_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for named in ("", "other.example.org", "example.org", "api.example.org:9"):
        monkeypatch.setenv(HOST_VARIABLE, named)
        with pytest.raises(SettingsError, match=r"api\.example\.org.*STRATA_API_HOST"):
            api_key(THERE)


def test_the_named_host_gets_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for named in ("api.example.org", "API.example.org", "api.example.org:443"):
        monkeypatch.setenv(HOST_VARIABLE, named)
        assert api_key(THERE) == "sk-1"
    monkeypatch.setenv(HOST_VARIABLE, "api.example.org:8443")
    assert api_key(PORT) == "sk-1"
    monkeypatch.delenv(KEY_VARIABLE)
    assert api_key(PORT) == ""


def test_this_machine_needs_no_name_and_gets_no_key_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert api_key(HERE) == ""
    monkeypatch.setenv(HOST_VARIABLE, "api.example.org")
    assert api_key(HERE) == ""
    monkeypatch.setenv(HOST_VARIABLE, "127.0.0.1:8080")
    assert api_key(HERE) == "sk-1"


def test_what_cannot_be_a_key_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOST_VARIABLE, "api.example.org")
    for value in ("sk-1\nX: y", "sk 1", "schlüssel"):
        monkeypatch.setenv(KEY_VARIABLE, value)
        with pytest.raises(SettingsError, match="STRATA_API_KEY") as caught:
            api_key(THERE)
        assert value not in str(caught.value)
