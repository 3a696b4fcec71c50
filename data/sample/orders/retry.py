"""Repeat calls that fail for passing reasons."""

import functools
import os
import random
import time

DEFAULT_RETRIES = 4


def max_retries():
    """Read the attempt limit from PARCELWORKS_MAX_RETRIES."""
    raw = os.environ.get("PARCELWORKS_MAX_RETRIES", "")
    return int(raw) if raw.isdigit() else DEFAULT_RETRIES


def exponential_delay(attempt, base=0.2, cap=20.0):
    """Double the pause after each failure and spread callers out randomly.

    The random part ("full jitter") keeps a crowd of clients from coming back
    at the very same moment after an outage.
    """
    ceiling = min(cap, base * 2 ** attempt)
    return random.uniform(0, ceiling)


def fixed_delay(attempt, seconds=1.0):
    """Wait equally long each time, no matter how often we failed."""
    return seconds


def retry(*exceptions, delay=exponential_delay, sleep=time.sleep):
    """Decorator: call the function again when one of ``exceptions`` occurs."""

    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            limit = max_retries()
            for attempt in range(limit + 1):
                try:
                    return func(*args, **kwargs)
                except exceptions:
                    if attempt == limit:
                        raise
                    sleep(delay(attempt))

        return wrapper

    return decorate


class CircuitBreaker:
    """Stop calling a service that keeps failing, and probe it now and then."""

    def __init__(self, threshold=5, cooldown=30.0, clock=time.monotonic):
        self.threshold = threshold
        self.cooldown = cooldown
        self._clock = clock
        self._failures = 0
        self._opened_at = None

    @property
    def is_open(self):
        if self._opened_at is None:
            return False
        return self._clock() - self._opened_at < self.cooldown

    def call(self, func, *args):
        if self.is_open:
            raise ConnectionError("circuit is open")
        try:
            result = func(*args)
        except Exception:
            self._record_failure()
            raise
        self._reset()
        return result

    def _record_failure(self):
        self._failures += 1
        if self._failures >= self.threshold:
            self._opened_at = self._clock()

    def _reset(self):
        self._failures = 0
        self._opened_at = None
