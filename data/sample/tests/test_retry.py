"""Retry behaviour, with sleeping replaced by a recording stub."""

import pytest

from orders.retry import CircuitBreaker, fixed_delay, retry


def make_flaky(failures):
    """A function that raises a few times and then succeeds."""
    state = {"left": failures}

    def flaky():
        if state["left"]:
            state["left"] -= 1
            raise TimeoutError
        return "ok"

    return flaky


def test_succeeds_after_two_failures(monkeypatch):
    monkeypatch.setenv("PARCELWORKS_MAX_RETRIES", "3")
    pauses = []
    call = retry(TimeoutError, delay=fixed_delay, sleep=pauses.append)(make_flaky(2))
    assert call() == "ok"
    assert pauses == [1.0, 1.0]


def test_gives_up_at_the_limit(monkeypatch):
    monkeypatch.setenv("PARCELWORKS_MAX_RETRIES", "1")
    call = retry(TimeoutError, sleep=lambda seconds: None)(make_flaky(5))
    with pytest.raises(TimeoutError):
        call()


def test_breaker_opens_after_threshold():
    breaker = CircuitBreaker(threshold=2, clock=lambda: 0.0)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            breaker.call(make_flaky(1))
    assert breaker.is_open
