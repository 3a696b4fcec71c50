"""Limit how often one caller may use the order API."""

import functools
import time
from collections import deque

from .errors import TooManyRequests


class TokenBucketLimiter:
    """Allow short bursts while holding a steady average rate.

    Credit drips in at ``rate`` per second up to ``burst``; each call uses one.
    """

    def __init__(self, rate, burst, clock=time.monotonic):
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._updated = clock()

    def _refill(self):
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._updated) * self.rate)
        self._updated = now

    def try_acquire(self):
        self._refill()
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def wait_time(self):
        """Seconds until the next call would be let through."""
        self._refill()
        return max(0.0, (1 - self._tokens) / self.rate)


class SlidingWindowLimiter:
    """Count the calls of the last ``window`` seconds, remembering each time."""

    def __init__(self, limit, window, clock=time.monotonic):
        self.limit = limit
        self.window = window
        self._clock = clock
        self._calls = deque()

    def try_acquire(self):
        now = self._clock()
        while self._calls and now - self._calls[0] >= self.window:
            self._calls.popleft()
        if len(self._calls) >= self.limit:
            return False
        self._calls.append(now)
        return True

    def wait_time(self):
        if len(self._calls) < self.limit:
            return 0.0
        return max(0.0, self._calls[0] + self.window - self._clock())


def limited(limiter):
    """Decorator that turns a refused call into ``TooManyRequests``."""

    def decorate(func):
        @functools.wraps(func)
        def guarded(*args, **kwargs):
            if not limiter.try_acquire():
                raise TooManyRequests("slow down", retry_after=limiter.wait_time())
            return func(*args, **kwargs)

        return guarded

    return decorate
