"""Exceptions raised by the order package, each with a stable support code."""


class OrderError(Exception):
    """Base class. ``code`` is shown to customers and quoted to support."""

    code = "PW-4000"

    def __init__(self, message, **details):
        super().__init__(message)
        self.details = details

    def as_payload(self):
        """Shape the failure as the JSON body that the gateway forwards."""
        return {"code": self.code, "message": str(self), "details": self.details}


class OutOfStock(OrderError):
    """Not enough packaging units are left to serve the request."""

    code = "PW-4102"


class InvalidAddress(OrderError):
    code = "PW-4203"


class PaymentDeclined(OrderError):
    code = "PW-4310"


class TooManyRequests(OrderError):
    """The caller used up its allowance; ``retry_after`` is in seconds."""

    code = "PW-4290"

    def __init__(self, message, retry_after):
        super().__init__(message, retry_after=retry_after)
        self.retry_after = retry_after


class StaleVersion(OrderError):
    """Somebody else saved the order between our read and our write."""

    code = "PW-4091"
