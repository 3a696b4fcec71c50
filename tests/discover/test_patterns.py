from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.discover.listing.patterns import match_ignore_files, match_patterns
from pipelines.discover.listing.scopes import Scopes

DENY = (Path(__file__).parents[2] / "data" / "deny.txt").read_text("utf-8").splitlines()


def test_the_deciding_pattern_is_named_and_the_last_one_wins() -> None:
    paths = [b"a.py", b"sub/b.py", b"sub/keep.py", b"docs/c.md", b":(top)d.py"]
    found = match_patterns(["*.py", "!keep.py", "# a comment", "", "docs/"], paths)
    assert found == {b"a.py": "*.py", b"sub/b.py": "*.py", b"docs/c.md": "docs/", b":(top)d.py": "*.py"}


def test_anchors_case_and_emptiness() -> None:
    assert match_patterns(["/a", "x/y"], [b"a", b"s/a", b"x/y/z", b"s/x/y"]) == {b"a": "/a", b"x/y/z": "x/y"}
    assert match_patterns(["*.PY"], [b"a.py"]) == {}
    assert match_patterns(["*.PY"], [b"a.py"], ignore_case=True) == {b"a.py": "*.PY"}
    assert match_patterns([], [b"a"]) == match_patterns(["a"], []) == {}


def test_a_broken_pattern_disables_no_other() -> None:
    assert set(match_patterns(["/**/[a-", "foo{", "*.tmp"], [b"x.tmp", b"ok"])) == {b"x.tmp"}


def test_nearer_ignore_files_win() -> None:
    files = {b".strataignore": b"*.gen\n", b"sub/.strataignore": b"!a.gen\n"}
    paths = [b"a.gen", b"sub/a.gen", b"sub/b.gen"]
    assert match_ignore_files(files, paths) == {b"a.gen": ".strataignore: *.gen", b"sub/b.gen": ".strataignore: *.gen"}


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "sub/.ENV",
        ".env.local",
        "prod.env",
        ".envrc",
        "server.PEM",
        "tls/server.key",
        "id_rsa",
        "keys/id_ed25519",
        "store.p12",
        "store.pfx",
        "app.jks",
        "debug.keystore",
        ".npmrc",
        "home/.pypirc",
        ".netrc",
        "terraform.tfstate",
        "infra/terraform.tfstate.backup",
        "prod.tfvars",
        "secrets/db.yaml",
        "k8s/Secrets/a.yaml",
        "credentials",
        ".aws/credentials",
        "credentials.json",
        "gcp-credentials.json",
        "kubeconfig",
        ".kube/config",
        ".git-credentials",
        "secrets.yml",
        ".htpasswd",
        "deploy/.docker/config.json",
        "client_secret_1.json",
        "vault.kdbx",
        "secrets/prod.json",
        "secrets/deep/er/token.txt",
        "secrets/export.sh",
        "app/secrets/key",
        "secrets/server.key.py/a.pem",
        ".secrets/db.py",
        ".env.production.local",
        "config/.aws/config",
        "home/.m2/settings.xml",
        "home/.config/gcloud/access_tokens.db",
        "my-app-firebase-adminsdk-x1.json",
        "serviceAccountKey.json",
        "vpn/office.ovpn",
        ".bash_history",
        "infra/plan.tfplan",
        "deploy/id_rsa_deploy",
        ".vault-token",
        "charts/x/secrets.yaml",
        "home/.config/containers/auth.json",
    ],
)
def test_the_deny_list_holds_back(path: str) -> None:
    assert match_patterns(DENY, [path.encode()], ignore_case=True)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        "sub/.env.sample",
        "env.py",
        "environment.ts",
        "id_rsa.pub",
        "src/credentials/provider.go",
        "credentials.py",
        "secrets.py",
        "secret_manager.py",
        "key.py",
        "keys.md",
        "tokenizer.py",
        "kubeconfig/load.go",
        "config.json",
        "package.json",
        "settings.xml",
        "monkey.go",
        "secrets/db.py",
        "pkg/secrets/store/client.go",
        "src/Secrets/Handler.cs",
        "Documentation/security/secrets/coco.rst",
        "secrets/README.md",
        "charts/x/templates/secret.yaml",
        "charts/x/templates/secrets-more.yaml",
        "prod.tfvars.example",
        ".env.production.example",
        "infra/variables.tf",
        "docs/secrets.md",
        "id_rsa_parser.pub",
        ".docker/Dockerfile",
        "gradle.properties",
    ],
)
def test_the_deny_list_lets_pass(path: str) -> None:
    assert not match_patterns(DENY, [path.encode()], ignore_case=True)


def test_scopes() -> None:
    scopes = Scopes(["packages/*", "packages/*/plugins/*", "/services/api/", "apps/**/core"])
    for path, scope in {
        "packages/foo/src/a.py": "packages/foo",
        "packages/foo/plugins/p/b.py": "packages/foo/plugins/p",
        "packages/readme.md": "",
        "services/api/x.go": "services/api",
        "services/apis/x.go": "",
        "other/services/api/x.go": "",
        "apps/core/a": "apps/core",
        "apps/x/y/core/z/a": "apps/x/y/core",
        "top.py": "",
    }.items():
        assert scopes.of(path) == scope, path
    assert Scopes([]).of("a/b") == Scopes(["", "/"]).of("a/b") == ""
    assert scopes.of("packages/" + "d/" * 3000 + "a") == "packages/d"
