"""What every module must keep to: names, sizes, docstrings, and an environment that only resources/ reads."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path for package in ("pipelines", "resources", "assets_defs") for path in (ROOT / package).rglob("*.py")
)
BANNED = {"utils", "util", "helpers", "helper", "common", "shared", "misc"}
#: Lines at which a module is no longer one room.
MAX_LINES = 600
#: Names that a stage may show to the others.
MAX_EXPORTS = 9


def names(module: Path) -> str:
    return str(module.relative_to(ROOT))


@pytest.mark.parametrize("module", MODULES, ids=names)
def test_module_is_one_room_with_a_name_and_a_sign(module: Path) -> None:
    assert module.stem not in BANNED
    source = module.read_text()
    assert source.count("\n") <= MAX_LINES
    assert ast.get_docstring(ast.parse(source)), "a module says what it does"


@pytest.mark.parametrize("module", MODULES, ids=names)
def test_only_resources_reads_the_environment(module: Path) -> None:
    if module.is_relative_to(ROOT / "resources"):
        return
    reads = [
        node
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb")
    ]
    assert reads == []


@pytest.mark.parametrize("module", MODULES, ids=names)
def test_no_error_is_swallowed_and_nothing_is_pickled(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, f"bare except in line {node.lineno}"
            broad = isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
            assert not broad or any(isinstance(inner, ast.Raise) for inner in ast.walk(node)), f"line {node.lineno}"
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            assert not {"pickle", "marshal", "shelve"} & set(imported)


@pytest.mark.parametrize("package", sorted((ROOT / "pipelines").glob("*/__init__.py")), ids=names)
def test_a_stage_shows_few_names_in_order(package: Path) -> None:
    tree = ast.parse(package.read_text())
    exported = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    ]
    listed = exported[0] if exported else []
    assert len(listed) <= MAX_EXPORTS
    assert list(listed) == sorted(listed)
