"""Which files a module name means. In: an import as written, and where. Out: file numbers, none for what is outside.

Nothing is read: names are matched with the paths of the repository alone, so a module that is configured to live
elsewhere (a package.json alias, a go.mod replacement) is not found, and its calls count as external. Where several
paths fit, the one nearest to the importing file is meant.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from pipelines.discover.graph.binding.definitions import Definitions, SourceUnit

_SCRIPT_ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")
_COMPONENT_ENDINGS = (".astro", ".svelte", ".vue")
_C_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++")
#: Headers of C and POSIX: one of this name inside a repository is meant by its neighbours alone.
_STANDARD_HEADER = re.compile(
    r"(?:(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|stdalign|stdarg"
    r"|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|tgmath|threads|time|uchar|wchar|wctype"
    r"|dirent|dlfcn|fcntl|getopt|grp|iconv|libgen|malloc|memory|netdb|poll|pthread|pwd|regex|sched|semaphore|spawn"
    r"|syslog|termios|unistd|utime|windows)\.h|(?:sys|arpa|netinet)/\w+\.h|\w+)\Z"
)
_GO_VERSION = re.compile(r"v\d+\Z")
#: Prefixes with less than this share of the imports that the most common one has are those of other repositories,
#: which happen to have a folder of the same name.
_FEW_VOTES = 10
#: Folders that hold a project's import root without being a package themselves.
_ROOT_FOLDERS = frozenset({"", "src", "lib", "python"})

#: Where the sources of a package of a JavaScript workspace may be, below its folder.
_PACKAGE_SOURCES = ("src", "", "lib", "source")


class Beside(Enum):
    """Whether a module is looked for beside the importing file."""

    NEVER = auto()
    DOTTED = auto()  # if its name begins with a dot
    FIRST = auto()
    ONLY = auto()


@dataclass(frozen=True, slots=True)
class PathRule:
    """How the name of a module becomes the path of a file."""

    joint: str  # what stands between the parts of the name
    endings: tuple[str, ...]  # what the path has after them
    beside: Beside = Beside.NEVER
    dropped: int = 0  # parts at the front that the path may lack: a namespace that a folder is mapped to
    folders: bool = False  # a module may be all files of a folder


#: Languages whose modules are found by nothing but their names. C# and Swift are missing: there a file shows nothing
#: of what it is imported under, and its types are found by their names alone.
_PATHS = {
    "kotlin": PathRule(".", (".kt", ".kts"), folders=True),
    "scala": PathRule(".", (".scala",), folders=True),
    "php": PathRule("\\", (".php", ""), Beside.FIRST, dropped=2),
    "ruby": PathRule("/", ("", ".rb"), Beside.DOTTED),
    "lua": PathRule(".", (".lua", "/init.lua"), dropped=1),
    "shell": PathRule("/", ("", ".bash", ".sh"), Beside.FIRST),
    "haskell": PathRule(".", (".hs",)),
    "zig": PathRule("/", ("",), Beside.ONLY),
}


class Modules:
    """Finds modules by the paths of a repository's files."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        files = definitions.files
        self._files: list[SourceUnit] = files.units
        self._by_path = files.number
        self._by_name: dict[str, list[int]] = {}  # file name -> files
        self._by_stem: dict[str, list[int]] = {}  # C sources by file name without ending
        self._folders: dict[str, list[int]] = {}
        self._folder_names: dict[str, list[str]] = {}  # last part of a folder -> folders
        self._crates: dict[str, list[str]] = {}  # Rust: name of a folder with src/, as code writes it -> folders
        self._go_roots: set[str] = set()
        self._packages: dict[str, list[str]] = {}  # JavaScript: name of a folder with package.json -> folders
        self._known: dict[tuple[str, str, str], tuple[int, ...]] = {}
        self._endings: dict[str, list[int]] = {}  # end of a path -> files
        for number, unit in enumerate(self._files):
            name = posixpath.basename(unit.path)
            self._by_name.setdefault(name, []).append(number)
            if unit.folder not in self._folders:
                self._folder_names.setdefault(posixpath.basename(unit.folder), []).append(unit.folder)
            self._folders.setdefault(unit.folder, []).append(number)
            stem, ending = posixpath.splitext(name)
            if unit.family == "c" and ending in _C_SOURCES:
                self._by_stem.setdefault(stem, []).append(number)
            if name == "package.json":
                self._packages.setdefault(posixpath.basename(unit.folder), []).append(unit.folder)
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
            "elixir": self._elixir,
            **{family: partial(self._by_rule, family, rule) for family, rule in _PATHS.items()},
        }

    def knows(self, family: str) -> bool:
        """Tell whether the modules of a language can be found by their names."""
        return family in self._finders

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
        path = "/".join(parts)
        found = [
            number
            for number in self._ending(f"{path}.py", folder) or self._ending(f"{path}/__init__.py", folder)
            if self._is_outside_packages(number, path)
        ]
        if len(parts) > 1:
            inside = "__init__.py" in self._by_path  # the indexed folder is itself the package that is named first
            return found or (self._python_at("/".join(parts[1:])) if inside else ())
        # one word is a common name: its folder must be one that Python would look in
        return [number for number in found if _is_import_root(self._root(number, parts[0]), folder)]

    def _is_outside_packages(self, number: int, path: str) -> bool:
        """Tell whether what a path ends with is no package: inside of one, a name alone is another module's."""
        root = self._files[number].path.removesuffix(".py").removesuffix("/__init__").removesuffix(path)
        return not root or f"{root}__init__.py" not in self._by_path

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
        return self._workspace_package(module, folder)

    def _workspace_package(self, module: str, folder: str) -> Iterable[int]:
        """Return what a package of this repository shows: its folder mostly has its name, and a package.json."""
        parts = module.split("/")
        name, inner = (parts[1], parts[2:]) if module.startswith("@") and len(parts) > 1 else (parts[0], parts[1:])
        for root in _by_distance(self._packages.get(name, ()), folder):
            for source in _PACKAGE_SOURCES:
                path = posixpath.join(root, source, *inner)
                if found := self._existing(_script_paths(path)):
                    return found
        return ()

    def _java(self, module: str, folder: str) -> Iterable[int]:
        parts = module.split(".")
        for count in (len(parts), len(parts) - 1):  # a class; a class and its member
            if count > 0 and (found := self._ending("/".join(parts[:count]) + ".java", folder)):
                return found
        return self._folder_ending("/".join(parts), "java", folder) if len(parts) > 1 else ()

    def learn(self, family: str, modules: Iterable[str]) -> None:
        """Read off the imports of a language what its modules begin with here: the paths of Go modules.

        A prefix is one of this repository's if what follows it is a folder of Go, for enough of the imports.
        """
        if family != "go":
            return
        votes: Counter[str] = Counter()
        for module in modules:
            parts = _go_parts(module)
            fitting = (start for start in range(1, len(parts)) if self._go_folder("/".join(parts[start:])))
            votes.update("/".join(parts[:start]) for start in fitting)
        most = max(votes.values(), default=0)
        self._go_roots = {prefix for prefix, count in votes.items() if count * _FEW_VOTES >= most}

    def _go(self, module: str, folder: str) -> Iterable[int]:
        written, parts = module.split("/"), _go_parts(module)
        for names in (written, parts) if parts else ():  # a last part like v1 may be a version, or a folder
            for start in range(1, len(names) + 1):
                root = "/".join(name for name in names[:start] if not _GO_VERSION.match(name))
                if root in self._go_roots and (found := self._go_folder("/".join(names[start:]))):
                    return found
        return ()

    def _go_folder(self, path: str) -> list[int]:
        return [number for number in self._folders.get(path, ()) if self._files[number].family == "go"]

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

    def _by_rule(self, family: str, rule: PathRule, module: str, folder: str) -> Iterable[int]:
        dotted = module.startswith(".") and rule.joint == "/"
        if rule.beside is not Beside.NEVER and (dotted or rule.beside is not Beside.DOTTED):
            path = posixpath.normpath(posixpath.join(folder, module.replace("\\", "/")))
            found = self._existing(path + ending for ending in rule.endings)
            if found or dotted or rule.beside is Beside.ONLY:
                return found
        parts = [part for part in module.split(rule.joint) if part]
        for dropped in range(min(rule.dropped, len(parts) - 1) + 1):
            for ending in rule.endings:
                if found := self._at_root("/".join(parts[dropped:]) + ending, folder):
                    return found
        return self._folder_ending("/".join(parts), family, folder) if rule.folders and len(parts) > 1 else ()

    def _elixir(self, module: str, folder: str) -> Iterable[int]:
        """Return the files that define a module: it is known by its own name, whatever its file is called."""
        definitions = self._definitions
        family = definitions.files.families.index("elixir")
        named = definitions.free_named(family, module.rpartition(".")[2])
        files = [int(definitions.file[node]) for node in named if definitions.qualified_name(node) == module]
        return self._nearest(files, folder)

    def _at_root(self, path: str, folder: str) -> list[int]:
        """Return the file of a path below the roots of a project; one name alone is a common one."""
        found = self._ending(path, folder)
        if "/" in path:
            return found
        return [number for number in found if _is_import_root(self._files[number].folder, folder)]

    def _c(self, module: str, folder: str) -> Iterable[int]:
        header = self._existing([posixpath.normpath(posixpath.join(folder, module))])
        if not header and not _STANDARD_HEADER.match(module):
            header = self._equally_near(posixpath.normpath(module).lstrip("./"), folder)
        if len(header) != 1:  # none, or one for each architecture
            return header
        stem = posixpath.splitext(posixpath.basename(module))[0]
        beside = self._nearest(self._by_stem.get(stem, ()), self._files[header[0]].folder)
        return dict.fromkeys([*header, *beside])

    def _existing(self, paths: Iterable[str]) -> list[int]:
        return [self._by_path[path] for path in paths if path in self._by_path][:1]

    def _ending(self, path: str, folder: str) -> list[int]:
        fitting = self._endings.get(path)
        if fitting is None:
            named = self._by_name.get(posixpath.basename(path), ())
            fitting = [n for n in named if self._files[n].path == path or self._files[n].path.endswith(f"/{path}")]
            self._endings[path] = fitting
        return self._nearest(fitting, folder)

    def _equally_near(self, path: str, folder: str) -> list[int]:
        """Return the files whose paths end with this and to which the way through the folders is shortest."""
        self._ending(path, folder)
        fitting = self._endings[path]
        if len(fitting) < 2:
            return fitting
        ways = [way(folder, self._files[number].folder) for number in fitting]
        least = min(ways)
        return [number for number, way in zip(fitting, ways, strict=True) if way == least]

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


def _go_parts(module: str) -> list[str]:
    """Return the parts of the path of a Go package, none for one without a host: that is the standard library's."""
    if "." not in module.partition("/")[0]:
        return []
    return [part for part in module.split("/") if not _GO_VERSION.match(part)]


def way(start: str, end: str) -> int:
    """Return how many folders lie between two, up and down."""
    mine, other = (folder.split("/") if folder else [] for folder in (start, end))
    return len(mine) + len(other) - 2 * len(posixpath.commonprefix([mine, other]))


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
