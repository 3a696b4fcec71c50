"""All keys here are random and put together at run time, so that no scanner takes this file for a leak."""

from __future__ import annotations

import random
import string
from dataclasses import fields

import pytest

from pipelines.discover.secrets import SecretSpan, find_secrets
from pipelines.discover.secrets.values import entropy, looks_random

RANDOM = random.Random(20)
MIXED = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"


def draw(count: int, alphabet: str = MIXED) -> str:
    return "".join(RANDOM.choice(alphabet) for _ in range(count))


TOKENS = {
    "aws-access-key": "AK" + "IA" + draw(16, UPPER),
    "github-token": "gh" + "p_" + draw(36),
    "gitlab-token": "gl" + "pat-" + draw(20),
    "slack-token": "xo" + "xb-" + draw(11, string.digits) + "-" + draw(24),
    "slack-webhook": "hooks.slack" + ".com/services/T" + draw(8, UPPER) + "/B" + draw(8, UPPER) + "/" + draw(24),
    "stripe-key": "sk" + "_live_" + draw(24),
    "google-key": "AI" + "za" + draw(35),
    "npm-token": "np" + "m_" + draw(36),
    "pypi-token": "py" + "pi-AgEIcHlwaS5vcmc" + draw(60),
    "anthropic-key": "sk" + "-ant-api03-" + draw(90),
    "openai-key": "sk" + "-proj-" + draw(48),
    "hugging-face-token": "h" + "f_" + draw(34),
    "sendgrid-key": "S" + "G." + draw(22) + "." + draw(43),
    "jwt": "ey" + "J" + draw(20) + ".ey" + "J" + draw(40) + "." + draw(43),
}


def found(text: str) -> list[tuple[str, str]]:
    data = text.encode()
    return [(span.detector, data[span.start_byte : span.end_byte].decode()) for span in find_secrets(text)]


@pytest.mark.parametrize(("detector", "token"), TOKENS.items())
@pytest.mark.parametrize("around", ["{}", 'value = "{}"', "# see {}, please", "é{}\n", "<b>{}</b>"])
def test_tokens_are_found_in_any_surroundings(detector: str, token: str, around: str) -> None:
    assert found(around.format(token)) == [(detector, token)]


@pytest.mark.parametrize("around", ["folder-{} a", "name_{}\n", "v1.{}"])
@pytest.mark.parametrize("detector", sorted(TOKENS.keys() - {"jwt"}))
def test_a_token_may_be_part_of_a_name(detector: str, around: str) -> None:
    assert found(around.format(TOKENS[detector])) == [(detector, TOKENS[detector])]


def test_a_token_needs_no_entropy() -> None:
    token = "np" + "m_" + "abcd" * 9
    assert found(token) == [("npm-token", token)]


def test_a_token_may_end_with_any_of_its_letters() -> None:
    token = "gl" + "pat-" + draw(17) + "_aa"
    assert found(token) == [("gitlab-token", token)]


@pytest.mark.parametrize(
    "text",
    [
        'password = "{}"',
        "db_password: {}",
        'DB_PASSWORD="{}"',
        '#define WIFI_PASSWORD "{}"',
        "<password>{}</password>",
        '{{"password": "{}"}}',
        "String dbPassword = '{}';",
        'password: str = "{}"',
        "password := `{}`",
        "PWD={}\n",
        'config["password"] = "{}"',
        "login(user, password='{}')",
    ],
)
def test_passwords(text: str) -> None:
    password = "Tr0ub" + "4dor&3"
    assert found(text.format(password)) == [("password", password)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("api_key", draw(32, HEX)),
        ("secret", draw(40, HEX)),
        ("apiKey", draw(24)),
        ("auth_token", draw(32)),
        ("CLIENT_SECRET", draw(40, MIXED + "-_~")),
        ("access-key", draw(20)),
        ("SECRET_KEY", draw(50, MIXED + "+/")),
    ],
)
@pytest.mark.parametrize("text", ['{} = "{}"', "{}: {}", '"{}": "{}",', "export {}={}", "const {}: string = '{}'"])
def test_assignments(name: str, value: str, text: str) -> None:
    assert found(text.format(name, value)) == [("assigned-secret", value)]


def test_hexadecimal_keys_are_measured_against_what_hexadecimal_can_reach() -> None:
    keys = [draw(32, HEX).encode() for _ in range(200)]
    assert max(map(entropy, keys)) <= 4.0
    assert all(map(looks_random, keys))


def test_an_aws_secret_key_and_its_documented_example() -> None:
    key = draw(40, MIXED + "/+")
    assert found(f"aws_secret_access_key = {key}\n") == [("aws-secret-key", key)]
    assert found("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY\n") == []
    assert found("AKIAIOSFODNN7" + "EXAMPLE") == []


def test_connection_strings() -> None:
    assert found("url = postgres://app:s3cr3t" + "P4ss@db.internal/prod") == [("connection-string", "s3cr3t" + "P4ss")]
    assert found("redis://:correct" + "horse@cache:6379") == [("connection-string", "correct" + "horse")]
    for harmless in (
        "http://user:pass@host/",
        "postgres://postgres:postgres@localhost/db",
        "amqp://guest:guest@h",
        "scott:tiger",
        "mysql://app:${DB_PASSWORD}@db",
        "https://x:{token}@github.com",
        "http://host:8080/a@b",
        "pg://u:<password>@h",
        "postgres://u:%(password)s@h",
        "s3://bucket/a:b@c",
    ):
        assert found(harmless) == [], harmless


def key_block(kind: str = "RSA ", newline: str = "\n") -> str:
    body = newline.join(draw(64, MIXED + "+/") for _ in range(5))
    return f"-----BEGIN {kind}PRIVATE" + f" KEY-----{newline}{body}{newline}-----END {kind}PRIVATE" + " KEY-----"


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", '\\n" +\n    "'])
def test_a_private_key_is_found_whole(kind: str, newline: str) -> None:
    block = key_block(kind, newline)
    text = f'one\nkey = "{block}"\nlast\n'
    (span,) = find_secrets(text)
    assert text.encode()[span.start_byte : span.end_byte].decode() == block
    assert (span.detector, span.start_line, span.end_line) == ("private-key", 2, 2 + block.count("\n"))


def test_a_private_key_without_end_and_two_in_one_file() -> None:
    cut = key_block().partition("-----END")[0]
    (span,) = find_secrets(f"{cut}\n\n# the end of the file (really)\n")
    assert span.end_byte >= len(cut.rstrip())
    assert [kind for kind, _ in found(f"{key_block()}\n{key_block('EC ')}\n")] == ["private-key", "private-key"]


def test_the_mere_head_of_a_key_is_none() -> None:
    head = "-----BEGIN PRIVATE" + " KEY-----"
    assert found(f'if "{head}" in line:\n    return parse(line)\n') == []
    assert found("-----BEGIN CERTIFICATE-----\n" + draw(64) + "\n-----END CERTIFICATE-----") == []


@pytest.mark.parametrize(
    "text",
    [
        f'"integrity": "sha512-{draw(86)}=="',
        f'<script integrity="sha256-{draw(43)}=">',
        f"commit {draw(40, HEX)}",
        f"github.com/x/y v1.2.3 h1:{draw(43)}=",
        f"https://example.org/{draw(60)}/{draw(60)}",
        f'checksum = "{draw(64, HEX)}"',
        f"background: url(data:image/png;base64,{draw(400)})",
        f'"packageManager": "pnpm@9.0.0+sha512.{draw(128, HEX)}"',
        'password = "changeme123!"',
        'password="xxxxxxxxxxxx1"',
        'api_key = "<your-api-key-1>"',
        "token = ${TOKEN_1234567}",
        'password = os.environ["DB_PASSWORD_1"]',
        "secret = process.env.SECRET_KEY_2",
        "token = next_token(lexer2)",
        'token = "access_token_v2"',
        "token: string",
        'secret_name = "projects/foo/secrets/bar2"',
        'tokenizer = "cl100k_base"',
        'token_url = "https://login.example.org/oauth2/v2"',
        'api_key = "your-api-key-here-123"',
        "password = user.password2",
        'secret_key = "{{ secret_key_1 }}"',
        'key = "0123456789abcdef0123456789abcdef"',
        'sort_key = "a1b2c3d4e5f6a7b8c9d0"',
        'api_key = "0123456789abcdef0123456789abcdef"',
        "token == TokenType.IDENT32",
        'password = "password1"',
        'label = "Enter your password: 8 characters!"',
        "secretKeyRef: name-of-secret-1",
        "if password != confirmation2:",
        'pwd = "/home/user1/project2"',
        "PASSWORD_MIN_LENGTH = 12345678",
        'secret = "test-secret-1"',
        'api_key = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"',
        "token = self.tokens2[3]",
        "std::string token = Token::kIdent32;",
        "gh" + "p_" + "x" * 36,
        "sk-learn-is-a-library-with-a-long-name",
        "AKIA" + "A" * 40,
    ],
)
def test_what_only_looks_like_a_secret(text: str) -> None:
    assert found(text) == []


def test_a_key_beside_an_integrity_hash_is_still_found() -> None:
    key = "AK" + "IA" + draw(16, UPPER)
    text = f'{{"integrity": "sha512-{draw(86)}==",\n "resolved": "https://r.example.org/?k={key}"}}'
    assert found(text) == [("aws-access-key", key)]


def test_a_comment_beside_a_secret_does_not_excuse_it_but_an_allow_comment_does() -> None:
    token = "gh" + "o_" + draw(36)
    assert found(f"TOKEN={token}  # example, test, dummy") == [("github-token", token)]
    for mark in ("strata: allow-secret", "pragma: allowlist secret"):
        assert found(f"a = 1\nTOKEN={token}  # {mark}\nb = 2") == []
        assert len(found(f"# {mark}\nTOKEN={token}\n")) == 1


@pytest.mark.parametrize("mark", ["strata: allow-secret-below", "pragma: allowlist nextline secret"])
def test_an_allow_comment_for_the_line_below_reaches_that_line_alone(mark: str) -> None:
    token = "gh" + "o_" + draw(36)
    assert found(f"# {mark}\nTOKEN={token}\n") == []
    assert len(found(f"# {mark}\n\nTOKEN={token}\n")) == 1
    assert len(found(f"TOKEN={token}  # {mark}\n")) == 1
    assert len(found(f"# {mark}\nTOKEN={token}\nTOKEN={token}\n")) == 1
    assert found(f"// {mark}\n{key_block()}\n") == []


def test_offsets_are_those_of_the_utf8_form_and_lines_count_lf_only() -> None:
    token = "gh" + "u_" + draw(36)
    text = f"# 中文 é 🙂\r\n\r\x0c\u2028x\n\tt = '{token}'\n{token}"
    spans = find_secrets(text)
    assert [text.encode()[span.start_byte : span.end_byte] for span in spans] == [token.encode()] * 2
    assert [(span.start_line, span.end_line) for span in spans] == [(3, 3), (4, 4)]


def test_overlapping_finds_are_one_span_under_the_surest_name() -> None:
    token = "gh" + "s_" + draw(36)
    (span,) = find_secrets(f'auth_token = "{token}"')
    assert span.detector == "github-token"
    block = key_block()
    (span,) = find_secrets(f"{block[:60]}\n{token}\n{block[60:]}")
    assert span.detector == "private-key"


def test_a_span_holds_no_text() -> None:
    assert {field.name for field in fields(SecretSpan)} == {
        "start_byte",
        "end_byte",
        "start_line",
        "end_line",
        "detector",
    }
    token = "gl" + "pat-" + draw(20)
    assert token not in repr(find_secrets(token))


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "eyJ",
        "eyJ" + "a" * 11 + ".",
        "sk-ant-",
        "password=",
        'password="',
        "token:",
        "://a:",
        "://a:b@",
        "bearer " + "a" * 30,
        "-----BEGIN RSA PRIVATE" + " KEY-----",
        "-----BEGIN ",
        "api_key : a",
        '#define password "',
        "é",
        "key-" + "a" * 20,
        "AKIA",
        "--token ",
        "login a password ",
        "login ",
        "password 'a",
        "-u a:",
        '"auth": "',
        "ENV TOKEN ",
        "kind: Secret\ndata:\n  a: b\n---\n",
        "kind: Secret\n",
        "LS0tLS1CRUdJTi",
        "Private-Lines: 2\nabc\n",
        "MIIabcIBAAKB",
        "basic YTpiYzEyMzQ1Njc=",
        "password = (\n",
        'password": ""',
        "password\n  value: ",
        'secret" {',
        "PRIVATE KEY",
        "a.b.",
        "MTIz" * 6,
    ],
)
def test_long_lines_of_hostile_text_end(piece: str) -> None:
    text = piece * (500_000 // len(piece))
    assert len(find_secrets(text)) <= len(text) // 10


def test_empty_and_surrogate_text() -> None:
    assert find_secrets("") == []
    assert find_secrets("\udc80 token") == []
