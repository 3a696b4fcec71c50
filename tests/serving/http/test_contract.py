"""The interface against its own description: whatever fits the description, and much that does not, gets no 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.serving.http.servers import server_for
from tests.serving.library_of import library_of

#: A language that is not in the index fits the description, and is refused all the same, with the languages there are.
EXCLUDED: list[Any] = [positive_data_acceptance]
EXAMPLES = 100
FITTING, WRONG = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
CASES = [
    ("/api/health", "GET", FITTING),
    ("/api/semantic/status", "GET", FITTING),
    ("/api/semantic/query", "POST", FITTING),
    ("/api/semantic/query", "POST", WRONG),
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BaseSchema]:
    with server_for(library_of(tmp_path_factory.mktemp("contract"))) as url:
        yield schemathesis.openapi.from_url(url + "api/openapi.json")


@pytest.mark.parametrize(("path", "method", "mode"), CASES)
def test_every_answer_is_as_described(described: BaseSchema, path: str, method: str, mode: GenerationMode) -> None:
    operation = described[path][method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None, database=None)
    def holds(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(excluded_checks=EXCLUDED)

    holds()


def test_every_operation_is_tried(described: BaseSchema) -> None:
    """All but the description itself, which has been read by then."""
    operations = {path for path, _, _ in CASES}
    assert set(described) - {"/api/openapi.json"} == operations
