"""Turns a cart into a confirmed, paid order."""

import uuid

from .addresses import normalise_address
from .errors import OrderError, PaymentDeclined
from .events import bus
from .identity import normalise_user_id
from .inventory import packaging_for
from .ratelimit import TokenBucketLimiter, limited
from .retry import CircuitBreaker

_submit_limiter = TokenBucketLimiter(rate=5, burst=20)


class CheckoutService:
    """Coordinates stock, payment and storage for a purchase."""

    def __init__(self, inventory, repository, charge):
        self._inventory = inventory
        self._repository = repository
        self._charge = charge
        self._breaker = CircuitBreaker()
        self._seen = {}

    @limited(_submit_limiter)
    def place_order(self, cart, address_fields, idempotency_key):
        """Run the whole purchase: hold material, take money, save, announce.

        A repeated ``idempotency_key`` returns the earlier order instead of
        charging a second time.
        """
        if idempotency_key in self._seen:
            return self._repository.find(self._seen[idempotency_key])
        if cart.is_empty():
            raise OrderError("nothing to ship")
        address = normalise_address(**address_fields)
        order_id = uuid.uuid4().hex
        self._hold_packaging(order_id, cart)
        price = cart.estimate(address.postcode)
        self._take_payment(order_id, cart, price.gross)
        order = self._store(order_id, cart, address, price)
        self._seen[idempotency_key] = order_id
        bus.publish("order.confirmed", order_id=order_id, gross=price.gross)
        return order

    def _hold_packaging(self, order_id, cart):
        sku = packaging_for(max(cart.parcels, key=lambda parcel: parcel.volume))
        self._inventory.reserve_stock(order_id, sku, len(cart.parcels))

    def _take_payment(self, order_id, cart, cents):
        """Charge the card; on refusal put the held material back."""
        try:
            accepted = self._breaker.call(self._charge, cart.owner, cents)
        except Exception:
            self._inventory.release_stock(order_id)
            raise
        if not accepted:
            self._inventory.release_stock(order_id)
            raise PaymentDeclined("the card was declined", cents=cents)
        self._inventory.commit_stock(order_id)

    def _store(self, order_id, cart, address, price):
        self._repository.insert(
            {
                "id": order_id,
                "owner": normalise_user_id(cart.owner),
                "status": "confirmed",
                "body": {"address": address.label_lines(), "gross": price.gross},
            }
        )
        return self._repository.find(order_id)

    def cancel(self, order_id):
        """Call off an order that has not been collected yet."""
        order = self._repository.find(order_id)
        if order is None or order["status"] != "confirmed":
            raise OrderError("order can no longer be cancelled", order_id=order_id)
        order["status"] = "cancelled"
        self._repository.update(order)
        bus.publish("order.cancelled", order_id=order_id)
