from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.retrieval.receivers import nearness_in
from tests.retrieval.builders import Doc, open_docs


@pytest.mark.parametrize(
    ("receiver", "nearest", "other"),
    [
        ("cart", "Cart", "Order"),
        ("basket", "ShopBasket", "BasketShop"),
        ("sb", "ShopBasket", "Sub"),
        ("c", "Cart", "CartOrder"),
        ("crt", "Cart", "Order"),
        ("bskt", "ShopBasket", "ShopOrder"),
        ("x", "Order", ""),
    ],
)
def test_a_variable_is_called_like_its_type(tmp_path: Path, receiver: str, nearest: str, other: str) -> None:
    docs = [
        Doc(f"{place}.py", "def total(): pass", "total", qualified=f"{container}.total".lstrip("."))
        for place, container in enumerate((nearest, other))
    ]
    with open_docs(tmp_path, docs) as generation:
        near = {
            generation.rows.string("qualified_name", row): value
            for row, value in enumerate(nearness_in(generation, range(2), receiver, "total"))
        }
    assert near[f"{nearest}.total"] > near[f"{other}.total".lstrip(".")]


def test_what_declares_a_name_is_its_container_and_a_file_may_be_one(tmp_path: Path) -> None:
    docs = [
        Doc("shop.h", "struct cart { int size; };", "cart", kind="struct", language="c"),
        Doc("size.h", "int size(void);", "size", language="c"),
    ]
    with open_docs(tmp_path, docs) as generation:
        rows = {generation.rows.string("name", row): row for row in range(2)}
        assert nearness_in(generation, [rows["cart"], rows["size"]], "cart", "size") == [4, 0]
        assert nearness_in(generation, [rows["cart"], rows["size"]], "size", "size") == [1, 3]
