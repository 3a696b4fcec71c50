"""The basket of parcels a customer assembles before paying."""

from dataclasses import dataclass, field

from .pricing import quote

MAX_PARCELS = 200


@dataclass(frozen=True)
class Coupon:
    """A voucher: either a percentage or a fixed number of cents."""

    word: str
    percent: int = 0
    cents: int = 0

    def value_for(self, net):
        return max(self.cents, net * self.percent // 100)


@dataclass
class Cart:
    owner: str
    service: str = "standard"
    parcels: list = field(default_factory=list)
    coupon: Coupon = None

    def add(self, parcel):
        """Append a box, refusing to grow past the size limit."""
        if len(self.parcels) >= MAX_PARCELS:
            raise ValueError(f"a cart holds at most {MAX_PARCELS} parcels")
        self.parcels.append(parcel)

    def redeem(self, coupon):
        """Attach a voucher; a weaker one never replaces a stronger one."""
        net = self.estimate("").net
        if self.coupon is None or coupon.value_for(net) > self.coupon.value_for(net):
            self.coupon = coupon

    def estimate(self, postcode):
        return quote(self.parcels, self.service, postcode, self.coupon)

    def is_empty(self):
        return not self.parcels

    def merge(self, other):
        """Fold the basket of an anonymous visit into this one after sign-in."""
        for parcel in other.parcels:
            self.add(parcel)
        if other.coupon is not None:
            self.redeem(other.coupon)
        other.parcels.clear()


def split_by_weight(parcels, limit_grams):
    """Group boxes into van loads that stay under a mass limit.

    Greedy first-fit on the heaviest boxes first. It is not optimal but is
    within a fifth of the optimum on our data.
    """
    loads = []

    def place(parcel):
        for load in loads:
            if sum(item.grams for item in load) + parcel.grams <= limit_grams:
                load.append(parcel)
                return
        loads.append([parcel])

    for parcel in sorted(parcels, key=lambda item: item.grams, reverse=True):
        place(parcel)
    return loads
