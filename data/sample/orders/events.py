"""In-process publish/subscribe plus an outbox for other services."""

import json
import logging
from collections import defaultdict

log = logging.getLogger(__name__)


class EventBus:
    """Hands each event to the functions registered for its name."""

    def __init__(self):
        self._handlers = defaultdict(list)

    def on(self, name):
        """Decorator that subscribes a function to an event."""

        def register(handler):
            self._handlers[name].append(handler)
            return handler

        return register

    def publish(self, name, **payload):
        """Tell all subscribers; one that fails does not stop the others."""
        for handler in self._handlers[name]:
            try:
                handler(payload)
            except Exception:
                log.exception("handler for %s failed", name)


class Outbox:
    """Queue of messages not yet confirmed by the message broker."""

    def __init__(self):
        self._pending = []

    def enqueue(self, name, payload):
        self._pending.append(json.dumps({"event": name, "payload": payload}, sort_keys=True))

    def drain(self, send):
        """Deliver in order and keep whatever ``send`` could not take."""
        delivered = 0
        while self._pending:
            if not send(self._pending[0]):
                break
            self._pending.pop(0)
            delivered += 1
        return delivered


bus = EventBus()
outbox = Outbox()


@bus.on("order.confirmed")
def forward_confirmation(payload):
    outbox.enqueue("order.confirmed", payload)


@bus.on("order.cancelled")
def forward_cancellation(payload):
    outbox.enqueue("order.cancelled", payload)
