"""Price calculation. All amounts are integer cents to avoid float drift."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

VOLUMETRIC_DIVISOR = 5000
BASE_RATE_CENTS = {"economy": 390, "standard": 590, "express": 1290}
PER_KILO_CENTS = {"economy": 85, "standard": 110, "express": 240}
REMOTE_PREFIXES = ("IM", "ZE", "HS")


@dataclass(frozen=True)
class Parcel:
    """One box: edge lengths in centimetres, weight in grams."""

    length: int
    width: int
    height: int
    grams: int

    @property
    def volume(self):
        return self.length * self.width * self.height


@dataclass(frozen=True)
class Quote:
    net: int
    discount: int
    surcharge: int
    tax: int

    @property
    def gross(self):
        """What the customer finally pays."""
        return self.net - self.discount + self.surcharge + self.tax


def round_cents(amount):
    """Round to whole cents, ties going to the even neighbour."""
    return int(Decimal(amount).quantize(Decimal("1"), rounding=ROUND_HALF_EVEN))


def billable_weight(parcel):
    """Return the greater of real weight and dimensional weight, in grams.

    Carriers charge big but light boxes by the space they occupy on the van.
    """
    dimensional = parcel.volume * 1000 // VOLUMETRIC_DIVISOR
    return max(parcel.grams, dimensional)


def base_price(parcel, service):
    rate = BASE_RATE_CENTS[service]
    kilos = Decimal(billable_weight(parcel)) / 1000
    return round_cents(rate + kilos * PER_KILO_CENTS[service])


def apply_discount(net, parcel_count, coupon=None):
    """Compute the reduction for bulk senders and voucher holders.

    The volume tier and the coupon do not add up: the customer gets the
    better of the two, and never more than the net price.
    """
    tier = volume_tier(parcel_count)
    reduction = net * tier // 100
    if coupon is not None:
        reduction = max(reduction, coupon.value_for(net))
    return min(reduction, net)


def volume_tier(parcel_count):
    if parcel_count >= 50:
        return 15
    if parcel_count >= 10:
        return 7
    return 0


def fuel_surcharge(net, diesel_cents_per_litre):
    """Pass on fuel cost: half a percent for each 5 cents above 150."""
    steps = max(0, (diesel_cents_per_litre - 150) // 5)
    return round_cents(Decimal(net) * steps * 5 / 1000)


def remote_area_fee(postcode):
    """Flat extra for islands and other hard-to-reach destinations."""
    return 650 if postcode.upper().startswith(REMOTE_PREFIXES) else 0


def vat(amount, percent=20):
    return round_cents(Decimal(amount) * percent / 100)


def quote(parcels, service, postcode, coupon=None, diesel=150):
    """Price a whole shipment from its boxes, destination and voucher."""
    net = sum(base_price(parcel, service) for parcel in parcels)
    discount = apply_discount(net, len(parcels), coupon)
    surcharge = fuel_surcharge(net, diesel) + remote_area_fee(postcode)
    return Quote(net, discount, surcharge, vat(net - discount + surcharge))
