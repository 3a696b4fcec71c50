from __future__ import annotations

import pytest

from pipelines.errors import InputError, SettingsError
from pipelines.serving.http.access import Access, is_loopback, make_access

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"])
def test_a_loopback_address_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    assert make_access(host, "").admits("", "")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "fe80::1"])
def test_any_other_address_is_refused_without_one(host: str) -> None:
    with pytest.raises(SettingsError) as caught:
        make_access(host, "")
    assert "STRATA_TOKEN" in caught.value.hint
    assert make_access(host, TOKEN).token == TOKEN


@pytest.mark.parametrize("token", ["short", "é" * 20, "0123456789abcdef\n0"])
def test_a_token_that_could_be_guessed_or_not_be_sent_is_refused(token: str) -> None:
    with pytest.raises(SettingsError):
        make_access("127.0.0.1", token)


def test_a_host_that_is_no_address_is_told() -> None:
    with pytest.raises(InputError):
        make_access("no such host.invalid", "")


@pytest.mark.parametrize(
    "header",
    ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:8080", "localhost.", " localhost "],
)
def test_the_names_of_this_machine_are_known(header: str) -> None:
    assert make_access("127.0.0.1", "").knows_host(header)


@pytest.mark.parametrize(
    "header",
    [
        *(
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8080",
            "localhost:8080:1",
            "localhost:x",
        ),
        *("[::1", "[::1]x", "192.168.1.5", "0.0.0.0", "user@localhost", "localhost/evil"),
    ],
)
def test_no_other_name_is(header: str) -> None:
    assert not make_access("127.0.0.1", "").knows_host(header)


def test_the_given_host_and_further_names_are_known() -> None:
    access = make_access("192.168.1.5", TOKEN, ["search.example.org"])
    assert all(access.knows_host(name) for name in ("192.168.1.5:8080", "Search.Example.org", "localhost"))
    assert not access.knows_host("192.168.1.6")


def test_on_all_addresses_a_number_is_known_and_a_foreign_name_is_not() -> None:
    access = make_access("0.0.0.0", TOKEN)
    assert access.knows_host("192.168.1.6:8080")
    assert access.knows_host("[fe80::1]")
    assert not access.knows_host("evil.example")


@pytest.mark.parametrize(
    ("authorization", "admitted"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer  {TOKEN} ", True),
        (f"Bearer {TOKEN}x", False),
        (f"Basic {TOKEN}", False),
        (TOKEN, False),
        ("Bearer", False),
        ("Bearer \udcff", False),
        ("", False),
    ],
)
def test_only_the_token_admits(authorization: str, admitted: bool) -> None:
    assert Access(frozenset(), TOKEN).admits(authorization, "") is admitted


def test_a_session_ends_with_its_token_and_does_not_hold_it() -> None:
    first, second = Access(frozenset(), TOKEN), Access(frozenset(), TOKEN[::-1])
    assert first.admits("", first.session)
    assert not second.admits("", first.session)
    assert TOKEN not in first.session
