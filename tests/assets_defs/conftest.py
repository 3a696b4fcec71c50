from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.assets_defs.builders import DAGSTER_S_OWN, index_path, make_repository


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings(*DAGSTER_S_OWN))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that was indexed once; tests take copies of it."""
    root = make_repository(tmp_path_factory.mktemp("built") / "parcels")
    assert index_path(root).published
    return root


@pytest.fixture
def indexed(built: Path, tmp_path: Path) -> Path:
    """A copy of an indexed repository. Its store moved with it."""
    return Path(shutil.copytree(built, tmp_path / "parcels"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository that was never indexed."""
    return make_repository(tmp_path / "parcels")
