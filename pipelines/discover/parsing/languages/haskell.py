"""Haskell. The type signature and the equations of a name are one definition."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.records import SymbolKind

_IMPORT = re.compile(
    r"import\s+(?:safe\s+)?(?P<before>qualified\s+)?(?:\"[^\"]*\"\s+)?(?P<module>[\w.']+)(?P<after>\s+qualified\b)?"
    r"(?:\s+as\s+(?P<alias>[\w.']+))?\s*(?P<hiding>hiding\b)?\s*(?P<names>\(.*)?",
    re.DOTALL,
)
_COMMENT = re.compile(r"\{-.*?(?:-\}|\Z)|--[^\n]*", re.DOTALL)
#: A name of an import list: the constructors in its brackets come with it.
_NAME = re.compile(r"(?:type\s+|pattern\s+)?([\w.']+|\([^()\w]+\))\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?")
_OPERATOR = "operator: [(operator) @name (infix_id (variable) @name) (constructor_operator) @name]"
_TEST = '(#any-of? @_test "it" "specify" "prop" "xit" "fit" "testCase" "testProperty" "test")'
_GROUP = '(#any-of? @_group "describe" "context" "testGroup" "xdescribe" "fdescribe")'
#: Operators that apply what stands left of them.
_APPLY = '(#any-of? @_apply "$" "$!" "." "<$>" "<$!>" "=<<" "<=<" ">=>" "<$" "<*>")'
#: Operators that hand a value to what stands right of them.
_PIPE = '(#any-of? @_pipe "." ">>=" "=<<" "&" "<&>" ">=>" "<=<" ">>" "$" "<*>" "*>" "<*")'
#: An operator that Prelude does not have.
_OWN_OPERATOR = (
    '(#not-match? @name "^([-+*/^$.<>&!|]|[=/<>]=|&&|[|][|]|[+][+]|!!|[$]!|[*][*]'
    '|<>|>>=?|=<<|<[$*]>|<[$*]|[$*]>|[|]>)$")'
)


def _expand(text: str) -> Iterator[ImportedName]:
    """Yield what an import makes visible: the module under a name, its names, or all of them (`*`)."""
    imported = _IMPORT.match(_COMMENT.sub(" ", text))
    if imported is None:
        return
    module, alias = imported["module"], imported["alias"]
    qualified = imported["before"] or imported["after"]
    if qualified or alias:
        yield module, None, alias
    if qualified:
        return
    if imported["names"] is None or imported["hiding"]:
        yield module, "*", None
        return
    for name in _NAME.finditer(imported["names"][1:]):
        yield module, name[1].strip("()"), None


HASKELL = Language(
    name="haskell",
    grammar=Grammar("tree-sitter-haskell", "tree_sitter_haskell"),
    definitions=(
        (SymbolKind.FUNCTION, "(function name: (variable) @name match: (_) @body) @node"),
        (SymbolKind.FUNCTION, "(function name: (prefix_id (_) @name) match: (_) @body) @node"),
        (SymbolKind.FUNCTION, f"(function (infix {_OPERATOR}) match: (_) @body) @node"),
        *(
            (SymbolKind.FUNCTION, f"({block} (bind name: {name} match: (_) @body) @node)")
            for block in ("declarations", "class_declarations", "instance_declarations")
            for name in ("(variable) @name", "(prefix_id (_) @name)")
        ),
        # A name without parameters inside a function is a value, if it is no lambda.
        (
            SymbolKind.FUNCTION,
            "(local_binds (bind name: (variable) @name"
            " match: (match expression: [(lambda) (lambda_case)]) @body) @node)",
        ),
        (SymbolKind.INTERFACE, "(class name: (_) @name declarations: (_) @body) @node"),
        (SymbolKind.INTERFACE, "(class name: (_) @name !declarations) @node"),
        (
            SymbolKind.STRUCT,
            "(data_type name: (_) @name constructors: (data_constructors . (data_constructor) .) @body) @node",
        ),
        (SymbolKind.ENUM, "(data_type name: (_) @name constructors: (_) @body) @node"),
        (SymbolKind.TYPE, "(data_type name: (_) @name !constructors) @node"),
        (SymbolKind.STRUCT, "(newtype name: (_) @name constructor: (_) @body) @node"),
        (SymbolKind.TYPE, "(type_synonym name: (_) @name) @node"),
        (SymbolKind.TYPE, "(type_family name: (_) @name) @node"),
        (SymbolKind.TYPE, "(data_family name: (_) @name) @node"),
        *(
            (SymbolKind.FUNCTION, f"(pattern_synonym (equation synonym: {head} pattern: (_) @body)) @node")
            for head in (
                "(constructor) @name",
                "(apply function: (constructor) @name)",
                "(apply function: (apply function: (constructor) @name))",
                "(apply function: (apply function: (apply function: (constructor) @name)))",
            )
        ),
        (SymbolKind.FUNCTION, "(foreign_import signature: (signature name: (variable) @name)) @node"),
        (
            SymbolKind.FUNCTION,
            "(exp (infix left_operand: (apply function: (variable) @_test argument: (literal (string) @name))"
            f" right_operand: (_) @body {_TEST}) @node)",
        ),
        (
            SymbolKind.FUNCTION,
            "(apply function: (apply function: (variable) @_test argument: (literal (string) @name))"
            f" argument: (_) @body {_TEST}) @node",
        ),
    ),
    declarations=(
        *(
            (SymbolKind.FUNCTION, f"({block} (signature {name}) @node)")
            for block in ("declarations", "class_declarations", "instance_declarations")
            for name in (
                "name: (variable) @name",
                "name: (prefix_id (_) @name)",
                "names: (binding_list (variable) @name)",
            )
        ),
        (
            SymbolKind.FUNCTION,
            "(local_binds (signature name: (variable) @name type: [(function) (forall) (context)]) @node)",
        ),
    ),
    types=(
        "(instance name: (_) @name patterns: (type_patterns . (name) @scope)) @node",
        "(instance name: (_) @name patterns: (type_patterns . (parens (apply constructor: (name) @scope)))) @node",
        "(instance name: (_) @name patterns:"
        " (type_patterns . (parens (apply constructor: (apply constructor: (name) @scope))))) @node",
        "(instance name: (_) @name) @node",
    ),
    namespaces=(
        "(exp (infix left_operand: (apply function: (variable) @_group argument: (literal (string) @name))"
        f" {_GROUP}) @node)",
    ),
    calls=(
        "(apply function: (variable) @name)",
        "(apply function: (qualified id: (variable) @name) @callee)",
        f"(infix operator: (operator) @name {_OWN_OPERATOR})",
        "(infix operator: (infix_id (variable) @name))",
        "(infix operator: (infix_id (qualified id: (_) @name) @callee))",
        f"(infix left_operand: (variable) @name operator: (operator) @_apply {_APPLY})",
        f"(infix left_operand: (qualified id: (variable) @name) @callee operator: (operator) @_apply {_APPLY})",
        f"(infix operator: (operator) @_pipe right_operand: (variable) @name {_PIPE})",
        f"(infix operator: (operator) @_pipe right_operand: (qualified id: (variable) @name) @callee {_PIPE})",
        "(do (exp . (variable) @name .))",
        "(do (exp . (qualified id: (variable) @name) @callee .))",
        "(do (bind expression: (variable) @name))",
        "(do (bind expression: (qualified id: (variable) @name) @callee))",
        "(match expression: (variable) @name)",
        "(match expression: (qualified id: (variable) @name) @callee)",
    ),
    imports=("(import) @tree",),
    comments=("(comment) @node", "(haddock) @node"),
    attributes=("(pragma) @node",),
    merges=True,
    test_marker=r"\b(?:it|specify|prop|xit|fit|testCase|testProperty|test|describe|context|testGroup)\s+$",
    expand=_expand,
)
