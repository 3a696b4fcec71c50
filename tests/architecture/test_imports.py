"""The import table of docs/architecture.md: data flows one way, and a build stage never knows another."""

from __future__ import annotations

from functools import cache

import grimp

SPINE = "spine"
STAGES = ("discover", "chunking", "embedding", "diffusion", "quantization", "retrieval", "evaluation", "serving")
#: room -> rooms that it may import, besides itself.
ALLOWED = {
    SPINE: set(),
    "discover": {SPINE},
    "chunking": {SPINE},
    "embedding": {SPINE},
    "diffusion": {SPINE},
    "quantization": {SPINE},
    "training": {SPINE, "discover", "embedding"},
    "retrieval": {SPINE, "embedding", "quantization"},
    "evaluation": {SPINE, "retrieval"},
    "serving": {SPINE, "retrieval"},
    "resources": {SPINE, *STAGES},
    "assets_defs": {SPINE, *STAGES, "training", "resources"},
}


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("pipelines", "resources", "assets_defs", include_external_packages=True, cache_dir=None)


def room(module: str) -> str:
    parts = module.split(".")
    if parts[0] != "pipelines":
        return parts[0]
    return parts[1] if len(parts) > 1 and f"pipelines.{parts[1]}" in packages() else SPINE


@cache
def packages() -> frozenset[str]:
    modules = graph().modules
    return frozenset(name for name in modules if name.count(".") == 1 and graph().find_children(name))


def internal() -> list[str]:
    return sorted(name for name in graph().modules if name.split(".")[0] in ("pipelines", "resources", "assets_defs"))


def test_every_room_stands_in_the_table() -> None:
    assert {room(name) for name in internal()} <= ALLOWED.keys()


def test_rooms_import_only_what_the_table_allows() -> None:
    crossings = {
        f"{importer} imports {imported}"
        for importer in internal()
        for imported in graph().find_modules_directly_imported_by(importer)
        if imported in set(internal())
        and room(imported) != room(importer)
        and room(imported) not in ALLOWED[room(importer)]
    }
    assert crossings == set()


def test_pipelines_never_import_dagster_not_even_by_a_detour() -> None:
    importers = {name for name in internal() if name.split(".")[0] == "pipelines"}
    chains = [chain for name in importers if (chain := graph().find_shortest_chain(name, "dagster"))]
    assert chains == []


def test_stages_are_entered_through_their_front_door() -> None:
    """Another room imports a stage from its package, not from a module inside it; serving shows its rooms."""
    sideways = {
        f"{importer} imports {imported}"
        for importer in internal()
        for imported in graph().find_modules_directly_imported_by(importer)
        if imported.startswith("pipelines.")
        and imported.count(".") > 1
        and room(imported) not in (room(importer), SPINE, "serving")
    }
    assert sideways == set()
