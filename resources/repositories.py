"""The repositories of a deployment: those of its strata.toml, those registered with its store, the bundled sample.

In: a deployment and its registry. Out: where each repository is, how it was asked for, and the settings it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipelines.errors import InputError
from pipelines.identity import default_repo_key, require_repo_key, slug
from pipelines.settings import Settings, override
from resources.bundled import SAMPLE_KEY, sample_judgments, sample_root
from resources.deployment import CONFIG_NAME, Deployment, read_settings
from resources.registry import Registered, Request


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository. `pinned` is the revision that it is registered with; the last request may name another."""

    key: str
    root: Path
    pinned: str = ""
    request: Request = field(default_factory=Request)

    @property
    def rev(self) -> str:
        """The revision that is wanted, "" for the working tree."""
        return self.request.rev or self.pinned


def repositories_of(deployment: Deployment, registered: Registered) -> dict[str, Repository]:
    """Return the repositories by key; where strata.toml and the registry name one key, strata.toml counts."""
    found: dict[str, tuple[Path, str]] = {}
    if deployment.bundled_sample:
        found[SAMPLE_KEY] = (sample_root(), "")
    found |= {key: (entry.root, entry.rev) for key, entry in registered.entries.items()}
    if deployment.config is not None:
        folder = deployment.config.parent
        for item in deployment.settings.repositories:
            found[item.key] = ((folder / Path(item.path).expanduser()).resolve(), item.rev or item.branch)
    return {
        key: Repository(key, root, pinned, registered.requests.get(key, Request()))
        for key, (root, pinned) in sorted(found.items())
    }


def key_for(path: Path, known: Mapping[str, Repository], wanted: str = "") -> str:
    """Return the key of the repository at a path: the one it has, the wanted one, or one from its folder's name.

    :raises InputError: if the path or the wanted key belongs to another repository.
    """
    root = path.resolve()
    if wanted:
        other = known.get(require_repo_key(wanted))
        if other is not None and other.root.resolve() != root:
            raise InputError(f"repository key {wanted} is taken by {other.root}", hint="choose another --repo KEY")
        return wanted
    owner = next((item.key for item in known.values() if item.root.resolve() == root), None)
    if owner is not None:
        return owner
    key = default_repo_key(root.name)
    # two folders of one name in one store: the second one's key is told apart by its whole path
    return key if key not in known else slug(f"{key}:{root}")


def settings_of(deployment: Deployment, repository: Repository) -> Settings:
    """Return the settings of a repository: the deployment's or its own file's, then the flags of its last request.

    The bucket count is always the deployment's, since all repositories share one set of Dagster partitions.
    """
    settings = deployment.settings
    own = repository.root / CONFIG_NAME
    if deployment.config is None and own.is_file():
        settings = read_settings(own, trusted=False)
    for section, values in repository.request.overrides.items():
        settings = override(settings, section, **values)
    return override(settings, "index", buckets=deployment.settings.index.buckets)


def judgments_of(deployment: Deployment, repository: Repository, settings: Settings) -> Path | None:
    """Return the judgment file of a repository, None without one."""
    if settings.evaluation.judgments:
        folder = deployment.config.parent if deployment.config else repository.root
        return (folder / settings.evaluation.judgments).resolve()
    bundled = deployment.bundled_sample and repository.root == sample_root()
    return sample_judgments() if bundled else None


def with_request(repository: Repository, rev: str, overrides: Mapping[str, Mapping[str, Any]]) -> Repository:
    """Return the repository as a new request wants it; flags that were not given fall back to the settings."""
    given = {
        section: {key: value for key, value in values.items() if value is not None}
        for section, values in overrides.items()
    }
    return replace(repository, request=Request(rev, {section: values for section, values in given.items() if values}))
