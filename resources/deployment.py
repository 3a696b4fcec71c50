"""Which store and which settings a command works with: one order of precedence for the command line and for Dagster.

1. STRATA_HOME names the store; a strata.toml in it governs. STRATA_CONFIG names the strata.toml.
2. Else a strata.toml in the given path, by default the working directory, or in a folder above, up to the top of the
   git repository. To build, one at the working directory goes first where the path is a repository of its deployment.
   Its store is `[artifacts] uri`, or `.strata` beside it.
3. Else the `.strata` folder of an indexed repository, looked for in the same folders.
4. Else, inside a checkout of Strata itself, `data/store`, with the bundled sample as its one repository.

A configuration that was found, not named, may have come with a clone: it cannot place the store, take a model or read
judgments outside its own folder, have texts sent to a service, nor agree to what one costs. One that the user named
may. Which repositories it lists is only read from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.containment import inside
from pipelines.errors import InputError, NothingIndexed, SettingsError
from pipelines.settings import Settings, parse_settings
from resources.bundled import is_project_root, project_root
from resources.environment import CONFIG_VARIABLE, HOME_VARIABLE, Environment
from resources.registry import Registry

CONFIG_NAME = "strata.toml"
STORE_NAME = ".strata"
#: What Strata itself puts into a store, and what a user may put beside it; any other content is not a store's.
_STORE_CONTENT = frozenset(
    {"artifacts", "dagster", "locks", "repos", "repositories.json", "repositories.lock", "store.json", "tmp"}
    | {".gitignore", CONFIG_NAME}
)
#: Fields of [embedder] by which a file would agree to the cost of a service, or belittle it, in the user's place.
_USERS_TO_SAY = ("agreed_tokens", "price")


@dataclass(frozen=True, slots=True)
class Deployment:
    """A store and the settings that govern it. `config` is None where each repository's own strata.toml counts."""

    store_root: Path
    settings: Settings
    config: Path | None = None
    bundled_sample: bool = False  # the sample is the one repository that is there without being registered
    dagster_home: Path | None = None  # None: the store has its own instance

    @property
    def instance_folder(self) -> Path:
        """Folder of the Dagster instance."""
        return self.dagster_home or self.store_root / "dagster"


def deployment_to_build(environment: Environment, path: Path) -> Deployment:
    """Return the deployment in which `path` is indexed; its store need not exist yet.

    A strata.toml at the working directory governs a path elsewhere only if the path is one of its repositories, listed
    or added with `strata repos add`; then it wins over one that the path has itself.
    """
    named = _named(environment)
    if named is not None:
        return named
    here, there = _find_config(environment.folder), _find_config(path)
    if here is not None and here != there:
        deployment = _configured(here, read_settings(here, trusted=False))
        if path.resolve() in _roots(deployment, here.parent):
            return deployment
    if there is not None:
        return _configured(there, read_settings(there, trusted=False))
    return _checked(Deployment(_default_store(path.resolve()), Settings()))


def deployment_to_query(environment: Environment, path: Path | None = None) -> Deployment:
    """Return the deployment that answers for `path`, by default for the working directory.

    :raises NothingIndexed: where nothing is found.
    """
    named = _named(environment) if path is None else None
    if named is not None:
        return named
    start = (path or environment.folder).resolve()
    config = _find_config(start)
    if config is not None:
        return _configured(config, read_settings(config, trusted=False))
    for folder in _upwards(start):
        if (folder / STORE_NAME / "store.json").is_file():
            return Deployment(inside(folder, STORE_NAME), Settings())
        if is_project_root(folder):
            return _of_project(folder)
    raise NothingIndexed(f"no index found for {start}", hint="run `strata index` there first")


def deployment_of_code(environment: Environment) -> Deployment:
    """Return the deployment that Dagster loads: the named one, the checkout's own, or the working directory's."""
    named = _named(environment)
    if named is not None:
        return named
    root = project_root()
    if root is None:
        return deployment_to_query(environment)
    config = root / CONFIG_NAME
    return _configured(config, read_settings(config, trusted=True)) if config.is_file() else _of_project(root)


def read_settings(path: Path, *, trusted: bool) -> Settings:
    """Read a strata.toml and make its paths absolute, except that of the judgments, which is part of a fingerprint.

    :param trusted: whether paths may lead out of the file's folder.
    :raises SettingsError: if the file is not valid, or takes without being trusted what only the user may give.
    """
    try:
        content = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read {path}: {error}") from error
    settings = parse_settings(content, str(path))
    if settings.embedder.name == "api" and not trusted:
        raise SettingsError(
            f"{path}: embedder.name = 'api' sends the texts of the repository to another machine",
            hint=f"set {CONFIG_VARIABLE}={path} if you trust this file, or give --embedder api with --url and --model",
        )
    for key in _USERS_TO_SAY if not trusted else ():
        value = getattr(settings.embedder, key)
        if value:
            raise SettingsError(
                f"{path}: embedder.{key} = {value!r} is for the user alone to say: it bears on what a run may cost",
                hint=f"remove it, or set {CONFIG_VARIABLE}={path} if you trust this file",
            )
    given = {
        "artifacts.uri": settings.artifacts.uri.removeprefix("file://"),
        "embedder.model": settings.embedder.model if settings.embedder.name == "onnx" else "",
        "embedder.tokenizer": settings.embedder.tokenizer,
        "evaluation.judgments": settings.evaluation.judgments,
    }
    absolute = {key: _resolve(path.parent, value) if value else "" for key, value in given.items()}
    for key, value in absolute.items():
        if value and not trusted and not Path(value).is_relative_to(path.parent.resolve()):
            raise SettingsError(
                f"{path}: {key} = {given[key]!r} leads out of {path.parent}",
                hint=f"set {CONFIG_VARIABLE}={path} if you trust this file",
            )
    return replace(
        settings,
        artifacts=replace(settings.artifacts, uri=absolute["artifacts.uri"]),
        embedder=replace(
            settings.embedder,
            model=absolute["embedder.model"] or settings.embedder.model,
            tokenizer=absolute["embedder.tokenizer"],
        ),
    )


def _roots(deployment: Deployment, folder: Path) -> set[Path]:
    """Return the roots of a deployment's repositories, listed in its file in `folder` or registered in its store."""
    listed = {_resolved(folder, item.path) for item in deployment.settings.repositories}
    return listed | {entry.root.resolve() for entry in Registry(deployment.store_root).read().entries.values()}


def _resolve(folder: Path, value: str) -> str:
    return str(_resolved(folder, value))


def _resolved(folder: Path, value: str) -> Path:
    return (folder / Path(value).expanduser()).resolve()


def _named(environment: Environment) -> Deployment | None:
    """Return what STRATA_HOME and STRATA_CONFIG name."""
    config = environment.config
    if config is not None and not config.is_file():
        raise InputError(f"{CONFIG_VARIABLE} names {config}, which is not a file")
    if config is None and environment.home is not None and (environment.home / CONFIG_NAME).is_file():
        config = environment.home / CONFIG_NAME
    settings = read_settings(config, trusted=True) if config else Settings()
    if environment.home is None:
        return replace(_configured(config, settings), dagster_home=environment.dagster_home) if config else None
    if environment.home.exists() and not environment.home.is_dir():
        raise InputError(f"{HOME_VARIABLE} names {environment.home}, which is not a folder")
    root = project_root()
    sample = config is None and root is not None and environment.home == root / "data" / "store"
    return _checked(Deployment(environment.home, settings, config, sample, environment.dagster_home))


def _configured(config: Path, settings: Settings) -> Deployment:
    uri = settings.artifacts.uri
    return _checked(Deployment(Path(uri) if uri else _default_store(config.parent.resolve()), settings, config))


def _of_project(root: Path) -> Deployment:
    return _checked(Deployment(_default_store(root), Settings(), bundled_sample=True))


def _default_store(folder: Path) -> Path:
    """Return the store of a folder; StorageError for a link, which may have come with a clone and lead anywhere."""
    return inside(folder, "data", "store") if is_project_root(folder) else inside(folder, STORE_NAME)


def _checked(deployment: Deployment) -> Deployment:
    """Refuse to make a store of a folder that holds something else."""
    root = deployment.store_root
    if root.is_dir() and not (root / "store.json").is_file():
        strangers = sorted(set(os.listdir(root)) - _STORE_CONTENT)
        if strangers:
            raise InputError(
                f"{root} is not a Strata store and holds other files, such as {strangers[0]}",
                hint="name an empty or new folder",
            )
    return deployment


def _find_config(start: Path) -> Path | None:
    found = (folder / CONFIG_NAME for folder in _upwards(start.resolve()))
    return next((path for path in found if path.is_file()), None)


def _upwards(start: Path) -> Iterator[Path]:
    """Yield a folder and those above it, up to the top of its git repository; outside git, while the owner is equal."""
    owner = start.stat().st_uid if start.exists() else None
    for folder in (start, *start.parents):
        if not folder.is_dir():
            continue
        if folder.stat().st_uid != owner:
            return
        yield folder
        if (folder / ".git").exists():
            return
