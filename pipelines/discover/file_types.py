"""What a file is, told by its name alone: language, kind of content, or why it is left out.

In: a path. Out: a FileType, or an Unwanted. One table; a language with a grammar has another one in languages/. A file
without extension that the table does not know is a SCRIPT, of which the first line decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.records import Content, SkipReason


@dataclass(frozen=True, slots=True)
class FileType:
    """Language, in lower case, and content of a file. Parsed ones have a size limit of their own."""

    language: str
    content: Content
    parsed: bool = False  # by a grammar, or into sections
    max_bytes: int = 0  # a limit of its own, where the text is a small part of the file


@dataclass(frozen=True, slots=True)
class Unwanted:
    """Why a file of this name is not indexed."""

    reason: SkipReason
    detail: str


#: Extensions of the languages that are parsed. `.h` is C: most of its declarations read the same, and one file has one
#: language. CUDA is left to line windows, since the C++ grammar does not know its launches.
_PARSED = {
    "astro": "astro",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp txx ixx cppm",
    "csharp": "cs csx cake",
    "elixir": "ex exs",
    "go": "go",
    "haskell": "hs hs-boot hsc",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "kotlin": "kt kts",
    "lua": "lua rockspec nse wlua",
    "php": "php phtml php3 php4 php5 php7 php8 phpt phps ctp",
    "python": "py pyi pyw",
    "ruby": "rb rake gemspec podspec ru rbw thor jbuilder builder rabl",
    "rust": "rs",
    "scala": "scala sc sbt mill",
    "shell": "sh bash zsh ksh bats dash ash command ebuild eclass zsh-theme",
    "svelte": "svelte",
    "swift": "swift",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "vue": "vue",
    "zig": "zig",
}
#: Most of a notebook's bytes are outputs, of which nothing is kept; what is, has a limit of its own. The worst of this
#: size is read in about two seconds.
_MAX_NOTEBOOK_BYTES = 16_777_216
_NOTEBOOKS = {"jupyter": "ipynb"}
#: Documents that are cut at their headings.
_SECTIONED = {
    "asciidoc": "adoc asciidoc",
    "markdown": "md mdx markdown mdown mkd",
    "restructuredtext": "rst",
}
_DOCS = {
    "latex": "tex",
    "org": "org",
    "texinfo": "texi texinfo",
    "text": "txt text",
}
_TEXT = {
    "ada": "adb ads",
    "assembly": "s asm",
    "awk": "awk",
    "batch": "bat cmd",
    "bicep": "bicep",
    "cfg": "cfg cnf conf ini properties editorconfig",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "coffeescript": "coffee",
    "common-lisp": "lisp",
    "crystal": "cr",
    "css": "css",
    "cuda": "cu cuh",
    "cython": "pyx pxd pxi",
    "d": "d",
    "dart": "dart",
    "devicetree": "dts dtsi",
    "dockerfile": "dockerfile",
    "dotenv": "env",
    "elm": "elm",
    "emacs-lisp": "el",
    "erb": "erb",
    "erlang": "erl hrl",
    "fish": "fish",
    "fortran": "f f90 f95 f03 f08 for",
    "fsharp": "fs fsi fsx",
    "gdscript": "gd",
    "gleam": "gleam",
    "glsl": "glsl vert frag comp",
    "graphql": "graphql gql graphqls",
    "groovy": "groovy gradle",
    "haml": "haml",
    "handlebars": "hbs handlebars mustache",
    "hcl": "hcl tf tfvars",
    "hlsl": "hlsl",
    "html": "html htm xhtml",
    "jinja": "j2 jinja jinja2",
    "json": "json json5 jsonc",
    "jsonnet": "jsonnet libsonnet",
    "julia": "jl",
    "just": "just",
    "less": "less",
    "literate-haskell": "lhs",
    "m4": "m4 ac",
    "make": "mk mak",
    "meson": "meson",
    "metal": "metal",
    "nim": "nim nims",
    "nix": "nix",
    "objective-c": "m mm",
    "ocaml": "ml mli",
    "pascal": "pas dpr",
    "perl": "pl pm",
    "powershell": "ps1 psm1 psd1",
    "prisma": "prisma",
    "protobuf": "proto",
    "pug": "pug",
    "puppet": "pp",
    "purescript": "purs",
    "r": "r",
    "racket": "rkt",
    "raku": "raku rakumod",
    "reason": "re rei",
    "rego": "rego",
    "scheme": "scm ss",
    "scss": "scss sass",
    "smithy": "smithy",
    "solidity": "sol",
    "sql": "sql psql",
    "starlark": "bzl bazel star",
    "systemverilog": "sv svh",
    "tcl": "tcl",
    "thrift": "thrift",
    "toml": "toml",
    "twig": "twig",
    "vbnet": "vb",
    "verilog": "v vh",
    "vhdl": "vhd vhdl",
    "vim": "vim",
    "wgsl": "wgsl",
    "xml": "xml xsd xsl xslt csproj fsproj vbproj props targets plist",
    "yaml": "yaml yml",
    "zon": "zon",
}
#: Whole names in lower case.
_NAMES = {
    "cfg": ".editorconfig .flake8 .gitconfig .gitmodules .npmignore .dockerignore .gitattributes .gitignore .pylintrc",
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "dotenv": ".env.example .env.sample .env.template .env.dist .env.defaults",
    "go-module": "go.mod go.work",
    "groovy": "jenkinsfile",
    "json": ".babelrc .eslintrc .prettierrc .swcrc",
    "just": "justfile",
    "kconfig": "kconfig",
    "lua": ".luacheckrc .busted",
    "make": "makefile gnumakefile kbuild",
    "meson": "meson.build meson_options.txt",
    "procfile": "procfile",
    "requirements": "requirements.txt constraints.txt",
    "ruby": "appraisals berksfile brewfile capfile dangerfile fastfile gemfile guardfile podfile rakefile steepfile "
    "thorfile vagrantfile .irbrc .pryrc .simplecov",
    "shell": ".bash_aliases .bash_login .bash_logout .bash_profile .bashrc .envrc .kshrc .profile .zlogin .zprofile "
    ".zshenv .zshrc apkbuild pkgbuild",
    "starlark": "build workspace tiltfile",
    "vim": ".vimrc",
}
_DOCUMENTS = (
    "authors changelog changes code_of_conduct contributing contributors copying copyright credits history install "
    "license licence maintainers news notice readme security thanks todo unlicense"
)
#: Names that stand before a variant: Dockerfile.dev, Makefile.am, LICENSE-MIT.
_VARIED = "containerfile copying copyright dockerfile jenkinsfile kconfig licence license makefile"
#: Interpreters of `#!` lines, without their version.
_INTERPRETERS = {
    "awk": "awk gawk",
    "csharp": "dotnet-script",
    "elixir": "elixir",
    "erlang": "escript",
    "fish": "fish",
    "groovy": "groovy",
    "haskell": "runghc runhaskell stack",
    "javascript": "node nodejs",
    "julia": "julia",
    "kotlin": "kotlin",
    "lua": "lua luajit",
    "make": "make",
    "ocaml": "ocaml",
    "perl": "perl",
    "php": "php",
    "powershell": "pwsh",
    "python": "pypy python uv",
    "racket": "racket",
    "ruby": "jruby rake ruby",
    "scala": "amm scala scala-cli",
    "shell": "ash bash bats dash ksh mksh sh zsh",
    "swift": "swift",
    "tcl": "expect tclsh wish",
    "typescript": "bun deno ts-node tsx",
}

_LOCKS = (
    "cartfile.resolved deno.lock go.sum go.work.sum gradle.lockfile npm-shrinkwrap.json package-lock.json "
    "package.resolved packages.lock.json pnpm-lock.yaml pnpm-lock.yml project.assets.json"
)
_GENERATED_ENDS = {
    ".lock": "lock file",
    ".lockb": "lock file",
    ".map": "source map",
    ".min.css": "minified",
    ".min.html": "minified",
    ".min.js": "minified",
    ".min.mjs": "minified",
    "-min.js": "minified",
    ".bundle.js": "bundle",
    ".snap": "recorded test output",
}
#: Text for git, but data or pictures for a reader: their words only drown those of code.
_DATA_ENDS = {
    ".csv": "data",
    ".geojson": "data",
    ".har": "data",
    ".jsonl": "data",
    ".ndjson": "data",
    ".po": "translations",
    ".pot": "translations",
    ".svg": "picture",
    ".topojson": "data",
    ".tsv": "data",
    ".xlf": "translations",
}
#: `env` may stand before the interpreter, with options and assignments between the two.
_SHEBANG = re.compile(
    rb"#![ \t]{0,8}(?:\S{0,200}/)?"
    rb"(?:env[ \t]{1,8}(?:-\S{1,20}[ \t]{1,8}|\w{1,40}=\S{0,80}[ \t]{1,8}){0,8}(?:\S{0,200}/)?)?"
    rb"([A-Za-z][A-Za-z-]{0,30})"
)
#: So much of a content is looked at for its `#!` line.
SCRIPT_START_BYTES = 512
_VARIANT = re.compile(r"[.\-_]")


def _by_extension() -> dict[str, FileType]:
    """Map extensions; an exact-case key wins over the lower-case one."""
    table = {"C": FileType("cpp", Content.CODE, parsed=True), "H": FileType("cpp", Content.CODE, parsed=True)}
    for languages, content, parsed in (
        (_PARSED, Content.CODE, True),
        (_SECTIONED, Content.DOCS, True),
        (_DOCS, Content.DOCS, False),
        (_TEXT, Content.TEXT, False),
    ):
        for language, extensions in languages.items():
            table |= dict.fromkeys(extensions.split(), FileType(language, content, parsed))
    for language, extension in _NOTEBOOKS.items():
        table[extension] = FileType(language, Content.CODE, parsed=True, max_bytes=_MAX_NOTEBOOK_BYTES)
    return table


def _by_name() -> dict[str, FileType]:
    """Map whole names in lower case; they win over extensions."""
    table = dict.fromkeys(_DOCUMENTS.split(), FileType("text", Content.DOCS))
    for language, names in _NAMES.items():
        table |= dict.fromkeys(names.split(), _of_language(language))
    return table


def _of_language(language: str) -> FileType:
    return FileType(language, Content.CODE, parsed=True) if language in _PARSED else FileType(language, Content.TEXT)


_EXTENSION_TYPES = _by_extension()
_NAME_TYPES = _by_name()
#: Every language that a file may be listed with.
LANGUAGE_NAMES = frozenset(kind.language for table in (_EXTENSION_TYPES, _NAME_TYPES) for kind in table.values())
_WITH_VARIANTS = frozenset(_VARIED.split())
_LOCK_NAMES = frozenset(_LOCKS.split())
_UNWANTED_ENDS = {end: Unwanted(SkipReason.GENERATED, detail) for end, detail in _GENERATED_ENDS.items()} | {
    end: Unwanted(SkipReason.UNSUPPORTED, detail) for end, detail in _DATA_ENDS.items()
}
_UNWANTED = tuple(_UNWANTED_ENDS)
_INTERPRETER_LANGUAGES = {name: language for language, names in _INTERPRETERS.items() for name in names.split()}
#: A file whose name says nothing; see script_type.
SCRIPT = FileType("", Content.TEXT)


def file_type(path: str) -> FileType | Unwanted:
    """Return what a file is, by its name; SCRIPT where the first line decides."""
    name = path.rpartition("/")[2]
    lower = name.lower()
    known = _NAME_TYPES.get(lower)
    if known:
        return known
    if lower in _LOCK_NAMES:
        return Unwanted(SkipReason.GENERATED, "lock file")
    if lower.endswith(_UNWANTED):
        return next(unwanted for end, unwanted in _UNWANTED_ENDS.items() if lower.endswith(end))
    stem, dot, extension = name.rpartition(".")
    by_extension = _EXTENSION_TYPES.get(extension) or _EXTENSION_TYPES.get(extension.lower())
    if stem and by_extension:  # `.env` has no stem: it is a name
        return by_extension
    first = _VARIANT.split(lower, maxsplit=1)[0]
    if first in _WITH_VARIANTS:
        return _NAME_TYPES[first]
    return Unwanted(SkipReason.UNSUPPORTED, f"no language known for .{extension}") if dot else SCRIPT


def script_type(start: bytes) -> FileType | Unwanted:
    """Return what a file without extension is, by the `#!` line that its content may start with."""
    found = _SHEBANG.match(start[:SCRIPT_START_BYTES].partition(b"\n")[0])
    language = _INTERPRETER_LANGUAGES.get(found[1].decode("ascii").rstrip("-").lower(), "") if found else ""
    if not language:
        return Unwanted(SkipReason.UNSUPPORTED, "no extension, and no #! line that is known")
    return _of_language(language)
