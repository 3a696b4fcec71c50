"""What the process's surroundings say: read once, when a command or a run begins, and handed on as one value.

STRATA_HOME     folder of the store that every command uses
STRATA_CONFIG   the strata.toml that governs, wherever it lies
DAGSTER_HOME    folder of the Dagster instance of a deployment that was named by one of the two above
STRATA_TRAINING folder to train an encoder in; Dagster has the assets of training only where it is set
STRATA_TOKEN    what `strata serve` asks of its clients
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pipelines.errors import InputError

HOME_VARIABLE = "STRATA_HOME"
CONFIG_VARIABLE = "STRATA_CONFIG"
DAGSTER_VARIABLE = "DAGSTER_HOME"
TRAINING_VARIABLE = "STRATA_TRAINING"
TOKEN_VARIABLE = "STRATA_TOKEN"
#: Bytes of a token file that are read: more is another file.
_MAX_TOKEN_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Environment:
    """The variables that Strata knows, as absolute paths, and the working directory."""

    folder: Path
    home: Path | None = None
    config: Path | None = None
    dagster_home: Path | None = None
    token: str = field(default="", repr=False)
    training: Path | None = None

    @classmethod
    def read(cls) -> Self:
        """Read the environment of this process; an empty variable counts as not set."""
        return cls.of(os.environ, Path.cwd())

    @classmethod
    def of(cls, variables: Mapping[str, str], folder: Path) -> Self:
        """Return what the given variables say in a working directory."""

        def path(name: str) -> Path | None:
            value = variables.get(name, "")
            return Path(os.path.abspath(folder / Path(value).expanduser())) if value else None

        return cls(
            folder,
            path(HOME_VARIABLE),
            path(CONFIG_VARIABLE),
            path(DAGSTER_VARIABLE),
            variables.get(TOKEN_VARIABLE, "").strip(),
            path(TRAINING_VARIABLE),
        )

    def access_token(self, file: Path | None) -> str:
        """Return the token in a file, without a file that of the environment; "" for none.

        :raises InputError: if the file cannot be read, or holds no token.
        """
        if file is None:
            return self.token
        try:
            with (self.folder / file).open("rb") as opened:
                token = opened.read(_MAX_TOKEN_BYTES).decode("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the token file {file}: {error}", hint="name a text file") from error
        if not token:
            raise InputError(f"the token file {file} is empty", hint="`openssl rand -hex 32` makes a token")
        return token

    @property
    def named(self) -> bool:
        """Tell whether the user named a deployment, instead of standing in one."""
        return self.home is not None or self.config is not None


def variables_for_child(given: Mapping[str, str | None]) -> dict[str, str]:
    """Return this process's variables for a child, with some of them set, or removed where the value is None."""
    variables = {name: value for name, value in os.environ.items() if name not in given}
    return variables | {name: value for name, value in given.items() if value is not None}
