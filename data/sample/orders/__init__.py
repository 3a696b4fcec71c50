"""Order handling for the parcelworks platform.

The package is split by responsibility: money lives in ``pricing``, what a
customer is about to send lives in ``cart``, and ``checkout`` ties it all
together into a confirmed order.
"""

from .checkout import CheckoutService
from .errors import OrderError

__all__ = ["CheckoutService", "OrderError"]
