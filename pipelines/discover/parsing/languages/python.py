"""Python."""

from __future__ import annotations

from pipelines.discover.parsing.languages.language import Grammar, Language
from pipelines.records import SymbolKind, TypingRole

_CALL = (
    "[(call function: [(identifier) (attribute)] @called) (await (call function: [(identifier) (attribute)] @called))]"
)
#: Where a name is one of the module or of a class, not of a function.
_OUTSIDE = (
    "(module (expression_statement {}))",
    "(class_definition body: (block (expression_statement {})))",
)
_MADE = "(assignment left: (identifier) @name right: (call function: (_) @_maker)) @node"


def _outside(kind: SymbolKind, assignment: str, predicate: str) -> tuple[tuple[SymbolKind, str], ...]:
    return tuple((kind, f"({place.format(assignment)} {predicate})") for place in _OUTSIDE)


PYTHON = Language(
    name="python",
    grammar=Grammar("tree-sitter-python", "tree_sitter_python"),
    definitions=(
        (SymbolKind.FUNCTION, "(function_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(class_definition name: (_) @name body: (_) @body) @node"),
        (SymbolKind.FUNCTION, "(assignment left: (identifier) @name right: (lambda body: (_) @body) @value) @node"),
        (SymbolKind.TYPE, "(type_alias_statement left: (type . (identifier) @name)) @node"),
        (SymbolKind.TYPE, "(type_alias_statement left: (type . (generic_type . (identifier) @name))) @node"),
        *_outside(
            SymbolKind.TYPE, _MADE, '(#match? @_maker "^(\\\\w+\\\\.)*(TypeVar|TypeVarTuple|ParamSpec|NewType)$")'
        ),
        *_outside(
            SymbolKind.CLASS,
            _MADE,
            '(#match? @_maker "^(\\\\w+\\\\.)*(namedtuple|NamedTuple|TypedDict|make_dataclass|(Int|Str)?Enum)$")',
        ),
        *_outside(
            SymbolKind.TYPE,
            "(assignment left: (identifier) @name type: (type) @_type right: (_)) @node",
            '(#match? @_type "(^|\\\\.)TypeAlias$")',
        ),
        *_outside(
            SymbolKind.CONSTANT,
            "(assignment left: (identifier) @name right: (_)) @node",
            '(#match? @name "^_*[A-Z][A-Z0-9_]+$")',
        ),
    ),
    decorated=("(decorated_definition) @node",),
    calls=(
        "(call function: (identifier) @name)",
        "(call function: (attribute attribute: (identifier) @name) @callee)",
    ),
    imports=(
        "(import_statement name: (dotted_name) @module)",
        "(import_statement name: (aliased_import name: (_) @module alias: (_) @alias))",
        "(import_from_statement module_name: (_) @module name: (dotted_name) @name)",
        "(import_from_statement module_name: (_) @module name: (aliased_import name: (_) @name alias: (_) @alias))",
        "(import_from_statement module_name: (_) @module (wildcard_import) @name)",
        '(future_import_statement "__future__" @module name: (dotted_name) @name)',
        '(future_import_statement "__future__" @module name: (aliased_import name: (_) @name alias: (_) @alias))',
    ),
    typings=(
        (
            TypingRole.BASE,
            "(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @type))",
        ),
        (TypingRole.DECLARED, "(typed_parameter . (identifier) @name type: (_) @type)"),
        (TypingRole.DECLARED, "(typed_default_parameter name: (_) @name type: (_) @type)"),
        (TypingRole.DECLARED, "(assignment left: [(identifier) (attribute)] @name type: (_) @type)"),
        (TypingRole.VALUE, f"(assignment left: [(identifier) (attribute)] @name right: {_CALL})"),
        (TypingRole.VALUE, "(assignment left: (attribute) @name right: [(identifier) (attribute)] @value)"),
        (
            TypingRole.VALUE,
            "(class_definition body: (block (expression_statement (assignment left: (identifier) @name"
            " right: [(identifier) (attribute)] @value))))",
        ),
        (TypingRole.VALUE, f"(as_pattern {_CALL} alias: (as_pattern_target (identifier) @name))"),
        (TypingRole.RETURNS, "(function_definition return_type: (_) @type)"),
    ),
    docstrings=True,
    test_name=r"(?:^|\.)test_[^.]*$",
)
