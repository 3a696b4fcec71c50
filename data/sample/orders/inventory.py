"""Stock of packaging material, with two-step withdrawal.

A checkout first sets units aside and only takes them for good once the money
has arrived. Units set aside too long go back to the shelf.
"""

import threading
import time

from .errors import OutOfStock

HOLD_SECONDS = 900


class Hold:
    """Units put aside for one order until ``expires``."""

    def __init__(self, order_id, sku, units, expires):
        self.order_id = order_id
        self.sku = sku
        self.units = units
        self.expires = expires

    def expired(self, now):
        return now >= self.expires


class Inventory:
    def __init__(self, levels, clock=time.monotonic):
        self._levels = dict(levels)
        self._holds = {}
        self._clock = clock
        self._lock = threading.Lock()

    def available(self, sku):
        """Units on the shelf that no open hold has claimed."""
        held = sum(h.units for h in self._holds.values() if h.sku == sku)
        return self._levels.get(sku, 0) - held

    def reserve_stock(self, order_id, sku, units):
        """Set units aside temporarily; nothing leaves the shelf yet.

        Raises ``OutOfStock`` (PW-4102) when too few are free.
        """
        with self._lock:
            self._drop_expired()
            if self.available(sku) < units:
                raise OutOfStock(f"only {self.available(sku)} of {sku} left", sku=sku)
            self._holds[order_id] = Hold(order_id, sku, units, self._clock() + HOLD_SECONDS)

    def commit_stock(self, order_id):
        """Make a withdrawal permanent after the payment went through."""
        with self._lock:
            hold = self._holds.pop(order_id)
            self._levels[hold.sku] -= hold.units

    def release_stock(self, order_id):
        """Give the units of an abandoned order back. Safe to call twice."""
        with self._lock:
            self._holds.pop(order_id, None)

    def restock(self, sku, units):
        with self._lock:
            self._levels[sku] = self._levels.get(sku, 0) + units

    def _drop_expired(self):
        now = self._clock()
        stale = [key for key, hold in self._holds.items() if hold.expired(now)]
        for key in stale:
            del self._holds[key]


def packaging_for(parcel):
    """Choose the smallest carton that a box fits in."""
    longest = max(parcel.length, parcel.width, parcel.height)
    for sku, edge in (("CARTON-S", 25), ("CARTON-M", 45), ("CARTON-L", 80)):
        if longest <= edge:
            return sku
    return "PALLET"
