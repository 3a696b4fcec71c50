from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import pipelines.discover
import pipelines.embedding
import pipelines.retrieval


@pytest.mark.parametrize("package", [pipelines.discover, pipelines.embedding, pipelines.retrieval])
def test_every_name_that_a_package_shows_is_there(package: object) -> None:
    assert isinstance(package.__all__, list)  # type: ignore[attr-defined]
    for name in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name).__name__ == name


def test_a_name_that_is_not_shown_is_told_like_any_other() -> None:
    with pytest.raises(AttributeError, match=r"'pipelines\.embedding' has no attribute 'nothing'"):
        getattr(importlib.import_module("pipelines.embedding"), "nothing")  # noqa: B009


def test_to_make_an_encoder_loads_no_columns() -> None:
    seen = "import sys; from pipelines.embedding import make_encoder; print('pyarrow.compute' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"
