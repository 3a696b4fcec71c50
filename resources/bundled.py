"""Where the data that ships with Strata lies: encoder, sample repository, fixtures, deny list."""

from __future__ import annotations

from pathlib import Path

_CODE_ROOT = Path(__file__).resolve().parents[1]

#: Repository key of the bundled sample.
SAMPLE_KEY = "sample"


def project_root() -> Path | None:
    """Return the root of the checkout that this code lies in, None where it runs from an installed wheel."""
    return _CODE_ROOT if is_project_root(_CODE_ROOT) else None


def is_project_root(folder: Path) -> bool:
    """Tell whether a folder is the root of a checkout of this project."""
    return (folder / "workspace.yaml").is_file() and (folder / "assets_defs").is_dir()


def data_folder() -> Path:
    """Return the folder of the bundled data: beside the packages in a checkout, inside this one in a wheel."""
    packed = Path(__file__).resolve().parent / "bundled_data"
    return packed if packed.is_dir() else _CODE_ROOT / "data"


def encoder_folder() -> Path:
    """Return the folder of the bundled encoders."""
    return data_folder() / "encoder"


def sample_root() -> Path:
    """Return the root of the bundled sample repository."""
    return data_folder() / "sample"


def sample_judgments() -> Path:
    """Return the judgment file of the bundled sample repository."""
    return data_folder() / "fixtures" / "sample.json"


def deny_patterns() -> tuple[str, ...]:
    """Return the patterns of paths that may hold secrets."""
    return tuple((data_folder() / "deny.txt").read_text("utf-8").splitlines())
