"""Which files a module name means. In: an import as written, and where. Out: file numbers, none for what is outside.

Nothing is read: names are matched with the paths of the repository alone, so a module that is configured to live
elsewhere (a package.json alias, a go.mod replacement) is not found, and its calls count as external. Where several
paths fit, the one nearest to the importing file is meant.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Sequence

from pipelines.discover.binding.definitions import Definitions

_SCRIPT_ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")
_COMPONENT_ENDINGS = (".astro", ".svelte", ".vue")
_C_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++")
_GO_VERSION = re.compile(r"v\d+\Z")
#: Folders that hold a project's import root without being a package themselves.
_ROOT_FOLDERS = frozenset({"", "src", "lib", "python"})


class Modules:
    """Finds modules by the paths of a repository's files."""

    def __init__(self, definitions: Definitions) -> None:
        self._files = definitions.files
        self._by_path = definitions.file_of_path
        self._by_name: dict[str, list[int]] = {}  # file name -> files
        self._by_stem: dict[str, list[int]] = {}  # C sources by file name without ending
        self._folders: dict[str, list[int]] = {}
        self._folder_names: dict[str, list[str]] = {}  # last part of a folder -> folders
        self._crates: dict[str, list[str]] = {}  # Rust: name of a folder with src/, as code writes it -> folders
        self._named: dict[str, list[int]] | None = None  # Elixir: module -> files; made when first asked for
        self._known: dict[tuple[str, str, str], tuple[int, ...]] = {}
        for number, unit in enumerate(self._files):
            name = posixpath.basename(unit.path)
            self._by_name.setdefault(name, []).append(number)
            if unit.folder not in self._folders:
                self._folder_names.setdefault(posixpath.basename(unit.folder), []).append(unit.folder)
            self._folders.setdefault(unit.folder, []).append(number)
            stem, ending = posixpath.splitext(name)
            if unit.family == "c" and ending in _C_SOURCES:
                self._by_stem.setdefault(stem, []).append(number)
            if unit.family == "rust" and name in ("lib.rs", "main.rs"):
                root = posixpath.dirname(unit.folder)
                self._crates.setdefault(posixpath.basename(root).replace("-", "_"), []).append(unit.folder)
        self._finders: dict[str, Callable[[str, str], Iterable[int]]] = {
            "python": self._python,
            "javascript": self._javascript,
            "java": self._java,
            "go": self._go,
            "rust": self._rust,
            "c": self._c,
            "ruby": self._ruby,
            "lua": self._lua,
            "shell": self._shell,
            "haskell": self._haskell,
            "elixir": self._elixir,
            "zig": self._zig,
        }

    def find(self, module: str, file: int) -> tuple[int, ...]:
        """Return the files that `module` means in `file`, () for a module outside the repository."""
        unit = self._files[file]
        key = (unit.family, unit.folder, module)
        if key not in self._known:
            finder = self._finders.get(unit.family)
            self._known[key] = tuple(finder(module, unit.folder)) if finder else ()
        return self._known[key]

    def _python(self, module: str, folder: str) -> Iterable[int]:
        rest = module.lstrip(".")
        dots = len(module) - len(rest)
        parts = rest.split(".") if rest else []
        if dots:
            base = folder.split("/") if folder else []
            if dots - 1 > len(base):
                return ()
            return self._python_at("/".join([*base[: len(base) - dots + 1], *parts]))
        found = self._ending("/".join(parts) + ".py", folder) or self._ending("/".join(parts) + "/__init__.py", folder)
        if len(parts) > 1:
            inside = "__init__.py" in self._by_path  # the indexed folder is itself the package that is named first
            return found or (self._python_at("/".join(parts[1:])) if inside else ())
        # one word is a common name: its folder must be one that Python would look in
        return [number for number in found if _is_import_root(self._root(number, parts[0]), folder)]

    def _python_at(self, path: str) -> Iterable[int]:
        return self._existing([f"{path}.py", f"{path}/__init__.py"] if path else ["__init__.py"])

    def _root(self, number: int, package: str) -> str:
        folder = self._files[number].folder
        return posixpath.dirname(folder) if posixpath.basename(folder) == package else folder

    def _javascript(self, module: str, folder: str) -> Iterable[int]:
        if module.startswith("."):
            path = posixpath.normpath(posixpath.join(folder, module))
            return self._existing(_script_paths(path))
        if module.startswith(("@/", "~/")):  # the usual aliases of the source root
            for path in _script_paths(module[2:]):
                if found := self._ending(path, folder):
                    return found
        return ()

    def _java(self, module: str, folder: str) -> Iterable[int]:
        parts = module.split(".")
        for count in (len(parts), len(parts) - 1):  # a class; a class and its member
            if count > 0 and (found := self._ending("/".join(parts[:count]) + ".java", folder)):
                return found
        return self._folder_ending("/".join(parts), "java", folder) if len(parts) > 1 else ()

    def _go(self, module: str, folder: str) -> Iterable[int]:
        parts = [part for part in module.split("/") if not _GO_VERSION.match(part)]
        if "." not in module.partition("/")[0]:
            return ()  # without a host it is the standard library's: `errors` is not a folder of that name here
        for start in range(1, len(parts)):
            path = "/".join(parts[start:])
            if found := [number for number in self._folders.get(path, ()) if self._files[number].family == "go"]:
                return found
        return ()

    def _rust(self, module: str, folder: str) -> Iterable[int]:
        parts = module.split("::") if module else []
        if not parts:
            return ()
        if parts[0] == "crate":
            roots = [folder[: folder.rfind("/src") + 4] if "/src" in folder else folder.split("/")[0], folder]
        elif parts[0] in ("self", "super"):
            roots = [folder, posixpath.dirname(folder)]
        elif parts[0] in self._crates:
            roots = _by_distance(self._crates[parts[0]], folder)
        else:
            return self._rust_at(folder, parts)
        return next(filter(None, (self._rust_at(root, parts[1:]) for root in roots)), [])

    def _rust_at(self, root: str, parts: Sequence[str]) -> list[int]:
        while parts and parts[0] == "super":
            root, parts = posixpath.dirname(root), parts[1:]
        path = posixpath.join(root, *parts)
        if not parts:
            return self._existing([f"{root}/lib.rs", f"{root}/main.rs", f"{root}/mod.rs", "lib.rs", "main.rs"])
        return self._existing([f"{path}.rs", f"{path}/mod.rs"])

    def _c(self, module: str, folder: str) -> Iterable[int]:
        header = self._existing([posixpath.normpath(posixpath.join(folder, module))]) or self._ending(
            posixpath.normpath(module).lstrip("./"), folder
        )
        if not header:
            return ()
        stem = posixpath.splitext(posixpath.basename(module))[0]
        beside = self._nearest(self._by_stem.get(stem, ()), self._files[header[0]].folder)
        return dict.fromkeys([*header, *beside])

    def _ruby(self, module: str, folder: str) -> Iterable[int]:
        path = module if module.endswith(".rb") else f"{module}.rb"
        if module.startswith("."):
            return self._existing([posixpath.normpath(posixpath.join(folder, path))])
        return self._at_root(path, folder)

    def _lua(self, module: str, folder: str) -> Iterable[int]:
        path = module.replace(".", "/")
        return self._at_root(f"{path}.lua", folder) or self._at_root(f"{path}/init.lua", folder)

    def _shell(self, module: str, folder: str) -> Iterable[int]:
        paths = [module, f"{module}.bash", f"{module}.sh"]
        found = self._existing([posixpath.normpath(posixpath.join(folder, path)) for path in paths])
        clean = posixpath.normpath(module).lstrip("./")
        return found or (self._ending(clean, folder) if "/" in clean or clean.endswith((".sh", ".bash")) else ())

    def _haskell(self, module: str, folder: str) -> Iterable[int]:
        return self._ending(module.replace(".", "/") + ".hs", folder)

    def _elixir(self, module: str, folder: str) -> Iterable[int]:
        if self._named is None:
            self._named = {}
            for number, unit in enumerate(self._files):
                for qualified in unit.symbols if unit.family == "elixir" else ():
                    if qualified.rpartition(".")[2][:1].isupper():
                        self._named.setdefault(qualified, []).append(number)
        return self._nearest(self._named.get(module, ()), folder)

    def _zig(self, module: str, folder: str) -> Iterable[int]:
        return self._existing([posixpath.normpath(posixpath.join(folder, module))])

    def _at_root(self, path: str, folder: str) -> list[int]:
        """Return the file of a path that is looked up below the roots of a project; one name alone is a common one."""
        found = self._ending(path, folder)
        if "/" in path:
            return found
        return [number for number in found if _is_import_root(self._files[number].folder, folder)]

    def _existing(self, paths: Iterable[str]) -> list[int]:
        return [self._by_path[path] for path in paths if path in self._by_path][:1]

    def _ending(self, path: str, folder: str) -> list[int]:
        named = self._by_name.get(posixpath.basename(path), ())
        fitting = [n for n in named if self._files[n].path == path or self._files[n].path.endswith(f"/{path}")]
        return self._nearest(fitting, folder)

    def _nearest(self, numbers: Sequence[int], folder: str) -> list[int]:
        if len(numbers) < 2:
            return list(numbers)
        paths = _by_distance([self._files[number].path for number in numbers], folder)
        return [self._by_path[paths[0]]]

    def _folder_ending(self, path: str, family: str, folder: str) -> list[int]:
        named = self._folder_names.get(posixpath.basename(path), ())
        named = [known for known in named if known == path or known.endswith(f"/{path}")]
        nearest = _by_distance(named, folder)[:1]
        return [n for known in nearest for n in self._folders[known] if self._files[n].family == family]


def _script_paths(path: str) -> list[str]:
    stem, ending = posixpath.splitext(path)
    written = [path] if ending in (*_SCRIPT_ENDINGS, *_COMPONENT_ENDINGS) else []
    swapped = [stem + other for other in _SCRIPT_ENDINGS] if ending in (".js", ".jsx", ".mjs", ".cjs") else []
    plain = [path + other for other in _SCRIPT_ENDINGS]
    return [*written, *swapped, *plain, *(f"{path}/index{other}" for other in _SCRIPT_ENDINGS)]


def _is_import_root(root: str, folder: str) -> bool:
    return posixpath.basename(root) in _ROOT_FOLDERS or folder == root or folder.startswith(f"{root}/")


def _by_distance(paths: Iterable[str], folder: str) -> list[str]:
    """Return paths by the length of the way they share with `folder`, the longest first, then by their own length."""
    here = folder.split("/")

    def distance(path: str) -> tuple[int, int, str]:
        shared = 0
        for mine, other in zip(here, path.split("/"), strict=False):
            if mine != other:
                break
            shared += 1
        return -shared, len(path), path

    return sorted(paths, key=distance)
