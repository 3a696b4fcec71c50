from __future__ import annotations

import pytest

from pipelines.roles import has_meaning, is_test_path


@pytest.mark.parametrize(
    "path",
    [
        "tests/unit/expire.tcl",
        "test_retry.py",
        "a/conftest.py",
        "x_test.go",
        "web/basket.spec.ts",
        "src/test/java/A.java",
        "run.bats",
        "parcel_spec.rb",
        "depot_spec.lua",
        "shop/parcel_test.exs",
        "src/ParcelSpec.hs",
        "Shop.Tests/Basket.cs",
        "src/commonTest/kotlin/Basket.kt",
        "ShopTests/Basket.swift",
        "src/BasketTest.php",
        "src/BasketSuite.scala",
    ],
)
def test_usual_names_of_tests_are_known(path: str) -> None:
    assert is_test_path(path)


@pytest.mark.parametrize(
    "path", ["testing.py", "latest.go", "contest/entry.py", "src/attest.ts", "docs/tests.md", "Latest/a.cs"]
)
def test_names_that_only_sound_alike_are_not(path: str) -> None:
    assert not is_test_path(path)


def test_data_and_settings_have_words_and_no_meaning() -> None:
    assert not has_meaning("window", "json")
    assert not has_meaning("window", "toml")
    assert has_meaning("window", "perl")
    assert has_meaning("section", "markdown")
    assert has_meaning("module", "python")
