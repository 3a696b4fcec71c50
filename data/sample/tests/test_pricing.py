"""Pricing rules that customers notice when they break."""

import pytest

from orders.cart import Cart, Coupon, split_by_weight
from orders.pricing import Parcel, apply_discount, billable_weight


@pytest.fixture
def small_box():
    return Parcel(length=20, width=15, height=10, grams=900)


def test_bulky_box_is_charged_by_volume():
    pillow = Parcel(length=60, width=50, height=40, grams=1500)
    assert billable_weight(pillow) == 24000


def test_better_of_tier_and_coupon_wins():
    coupon = Coupon("SPRING", percent=5)
    assert apply_discount(10000, 12, coupon) == 700


def test_weaker_voucher_does_not_replace(small_box):
    cart = Cart("ana@example.org", parcels=[small_box])
    strong = Coupon("BIG", percent=30)
    cart.redeem(strong)
    cart.redeem(Coupon("SMALL", percent=3))
    assert cart.coupon is strong


def test_loads_stay_under_limit(small_box):
    loads = split_by_weight([small_box] * 5, limit_grams=2000)
    assert [len(load) for load in loads] == [2, 2, 1]
