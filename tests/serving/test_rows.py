from __future__ import annotations

from pathlib import Path

import numpy as np

from pipelines.bloom import rows_that_may_hold
from pipelines.store import ArtifactStore
from pipelines.tokens import term_hash
from tests.serving.builds import build, write_files

FILES = {
    "cart.py": "def total(items):\n    return [price(item) for item in items]\n\ndef price(item):\n    return item\n",
    "web/basket.ts": "export class Basket {\n  total(): number {\n    return 1;\n  }\n}\n",
    "README.md": "# Carts\n\nHow a basket is priced, and why so.\n\n## Rounding\n\nHalf to even, in every currency.\n",
}


def test_rows_join_chunks_symbols_and_metrics_in_one_order(tmp_path: Path) -> None:
    write_files(tmp_path / "code", FILES)
    store = ArtifactStore(tmp_path / "store")
    plan = build(tmp_path / "code", store)
    artifact = store.open(plan.targets["search_rows"].ref)
    rows = artifact.mapped_table("rows.arrow").to_pylist()
    texts = artifact.mapped_table("texts.arrow")["text"].to_pylist()
    nodes = store.open(plan.targets["graph_snapshot"].ref).table("nodes.parquet").to_pylist()
    assert [row["chunk_id"] for row in rows] == sorted(row["chunk_id"] for row in rows)
    assert len(texts) == len(rows) == store.open(plan.targets["binary_codes"].ref).counts["rows"]
    by_name = {(row["path"], row["qualified_name"]): row for row in rows}
    for (path, name), text in {
        ("cart.py", "price"): "def price(item)",
        ("web/basket.ts", "Basket.total"): "total(): number",
    }.items():
        row = by_name[path, name]
        assert text in texts[rows.index(row)]
        assert nodes[row["node"]]["qualified_name"] == name
        sketch = np.frombuffer(row["bloom"], np.uint8).reshape(1, -1)
        assert rows_that_may_hold(sketch, ["total"] if "total" in name else ["price"]).all()
    assert by_name["cart.py", "price"]["blast_rank"] > by_name["cart.py", "total"]["blast_rank"]
    section = next(row for row in rows if row["name"] == "Rounding")
    assert (section["node"], section["pagerank_rank"], section["bloom"]) == (-1, 0.0, bytes(32))


def test_names_are_found_folded_whole_and_qualified(tmp_path: Path) -> None:
    write_files(tmp_path / "code", FILES)
    store = ArtifactStore(tmp_path / "store")
    artifact = store.open(build(tmp_path / "code", store).targets["search_rows"].ref)
    names, name_rows = artifact.array("names.npy"), artifact.array("name_rows.npy")
    paths = artifact.mapped_table("rows.arrow")["path"].to_pylist()
    assert np.all(names[1:] >= names[:-1])

    def found(name: str) -> set[str]:
        start, end = (np.searchsorted(names, np.uint64(term_hash(name)), side) for side in ("left", "right"))
        return {paths[row] for row in name_rows[start:end]}

    assert found("total") == {"cart.py", "web/basket.ts"}
    assert found("basket.total") == {"web/basket.ts"}
    assert found("rounding") == {"README.md"}
    assert found("absent") == set()


def test_nothing_at_all_is_a_whole_generation_too(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    store = ArtifactStore(tmp_path / "store")
    artifact = store.open(build(tmp_path / "code", store).targets["search_rows"].ref)
    assert artifact.mapped_table("rows.arrow").num_rows == 0
    assert len(artifact.array("names.npy")) == 0
