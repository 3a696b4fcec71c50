from __future__ import annotations

from typing import Any

import pytest

from pipelines.described import Each, natural, require_described
from pipelines.errors import ArtifactCorrupt

DESCRIPTION = {
    "name": str,
    "dirty": bool,
    "files": Each({"bytes": natural}),
    "shape": [natural],
    "refs": [(str, str)],
}
WHOLE: dict[str, Any] = {
    "name": "x",
    "dirty": False,
    "files": {"a.npy": {"bytes": 8, "kind": "array"}},
    "shape": [1, 2],
    "refs": [["a", "b"]],
    "more": None,
}


def test_a_document_as_described_passes() -> None:
    require_described(WHOLE, DESCRIPTION, "it")
    require_described(WHOLE | {"files": {}, "shape": [], "refs": []}, DESCRIPTION, "it")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 5}, "it is damaged at name"),
        ({"name": None}, "it is damaged at name"),
        ({"dirty": 0}, "it is damaged at dirty"),
        ({"files": []}, "it is damaged at files"),
        ({"files": {"a.npy": None}}, r"it is damaged at files\.a\.npy"),
        ({"files": {"a.npy": {}}}, r"it has no files\.a\.npy\.bytes"),
        ({"files": {"a.npy": {"bytes": True}}}, r"it is damaged at files\.a\.npy\.bytes"),
        ({"shape": {}}, "it is damaged at shape"),
        ({"shape": [1, -1]}, r"it is damaged at shape\.1"),
        ({"shape": [1.0]}, r"it is damaged at shape\.0"),
        ({"refs": [["a", "b"], ["a"]]}, r"it is damaged at refs\.1"),
        ({"refs": [["a", 2]]}, r"it is damaged at refs\.0\.1"),
    ],
)
def test_a_fault_is_named_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ArtifactCorrupt, match=f"{message} .*mend it"):
        require_described(WHOLE | change, DESCRIPTION, "it", "mend it")


def test_what_is_no_object_or_lacks_a_key_is_named() -> None:
    with pytest.raises(ArtifactCorrupt, match="it is damaged"):
        require_described([], DESCRIPTION, "it")
    with pytest.raises(ArtifactCorrupt, match="it has no shape"):
        require_described({key: value for key, value in WHOLE.items() if key != "shape"}, DESCRIPTION, "it")
