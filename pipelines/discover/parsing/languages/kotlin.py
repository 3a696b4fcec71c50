"""Kotlin."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.discover.parsing.source import blanked
from pipelines.records import SymbolKind, TypingRole

_IMPORT = re.compile(r"import\s+([\w.`*]+)(?:\s+as\s+([\w`]+))?")
#: A receiver stands before the name, so that `String.shout` is a method of String.
_RECEIVER = '[(user_type) @scope (nullable_type (user_type) @scope)] . "."'
#: What makes a property one of code.
_CODE = (
    "(getter (function_body)) @body",
    "(setter (function_body)) @body",
    "(property_delegate (call_expression (annotated_lambda) @body))",
)
#: `f<T>(x)` with one argument: the grammar reads two comparisons.
_GENERIC_CALL = '(binary_expression left: (binary_expression left: {} "<") ">" right: {})'
_ARGUMENTS = "[(parenthesized_expression) (lambda_literal)]"

#: Words that are modifiers of a declaration in one place and names in another.
_MODIFIER = (
    rb"(?:abstract|annotation|companion|const|crossinline|enum|external|final|infix|inline|inner|internal|lateinit"
    rb"|noinline|open|operator|override|private|protected|public|sealed|suspend|tailrec|vararg)"
)
_DECLARED = rb"(?:class|constructor|data|fun|interface|object|typealias|val|value|var|" + _MODIFIER + rb")\b"
_VISIBLE = rb"(?:(?:actual|internal|private|protected|public)[ \t]+){1,3}constructor\b"


def _blank(match: re.Match[bytes]) -> bytes:
    return blanked(match[0])


def _name(match: re.Match[bytes]) -> bytes:
    return b"x" * len(match[0])


def _public(match: re.Match[bytes]) -> bytes:
    """Put a modifier that is always read as one in place of another, nothing where one stands before it."""
    first = not match.string[max(0, match.start() - 2) : match.start()].rstrip(b" ").isalpha()
    return (b"public" if first else b"").ljust(len(match[0]))


def _comma(match: re.Match[bytes]) -> bytes:
    return match[1] + b", "


#: Modifiers that the grammar takes for names without a sign of doubt.
_HARD = tuple(
    re.compile(pattern)
    for pattern in (
        rb"annotation(?=[ \t]+class\b)",
        rb"actual(?=[ \t]+" + _DECLARED + rb")",
        rb"expect(?=[ \t]+" + _DECLARED + rb")",
    )
)
#: What the grammar misreads, each with something as long that it does not: it takes modifiers for names and names for
#: modifiers, and knows neither guards of `when` nor all that may stand between the parts of a declaration.
_REPAIRS: tuple[tuple[re.Pattern[bytes], Callable[[re.Match[bytes]], bytes]], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (rb"(?<![\w.])suspend(?=[ \t]+fun\b)", _public),
        (rb"(?<![\w.])suspend(?=[ \t]*\{)", _blank),
        (rb"(?<![\w@])" + _MODIFIER + rb"(?=\(|[ \t]*[=.,;:)\]]|\?\.)", _name),
        (rb"(?<![\w.])(?:by|where)(?=\??\.|[ \t]*=[^=]|\()", _name),
        (rb"(?<=[\w)\]}\"] )[gs]et(?= [\w(\"])", _name),
        (rb"(?<![\w.])(?:get(?=\([^)\s])|set(?=\([^)\n]{1,100},))", _name),
        (rb"(?<![\w.])context\(\w{1,80}\)(?=[ \t]+[A-Z(])", _blank),
        (rb"^([ \t]*+!?(?:is|in)[ \t][^\n{}]{1,200}?[ \t])if(?=[ \t]+\([ \t]*+\r?$|[^\n]{1,400}->)", _comma),
        (rb"(?<!\$)\$\$++(?=\")", _blank),
        (rb"(?<=\w)\?(?=::)", _blank),
        (rb"(?<=\w) & Any\b", _blank),
        (rb"^[ \t]*+context\([^()\n]{1,300}\)(?=\s{1,200}" + _DECLARED + rb")", _blank),
        (rb"^[ \t]*+@\w+(?:\([^()\n]{0,200}\))?(?=\s{1,200}[gs]et\()", _blank),
        (rb"^[ \t]*+//[^\n]*+(?=\n[ \t]*+" + _VISIBLE + rb")", _blank),
        (rb"(?<=\w|>)\s{1,200}@\w+(?=\s{1,200}" + _VISIBLE + rb")", _blank),
    )
)


def _visible(data: bytes) -> bytes:
    for pattern in _HARD:
        data = pattern.sub(_public, data)
    return data


#: The grammar wants something between a declaration and the brace that closes its class on the same line.
_CLOSING = re.compile(rb"(?<=[^\s{;]) (?=\})")


def _repair(data: bytes) -> bytes:
    for pattern, replacement in _REPAIRS:
        data = pattern.sub(replacement, data)
    return data


def _repair_lines(data: bytes) -> bytes:
    return _CLOSING.sub(b";", _repair(data))


#: Below two annotations, `class A { }` is read as a call of an infix function named class.
_MISREAD_CLASSES = tuple(
    (kind, f'(infix_expression {shape} (#eq? @_word "{word}")) @node')
    for word, kind in (
        ("class", SymbolKind.CLASS),
        ("object", SymbolKind.CLASS),
        ("interface", SymbolKind.INTERFACE),
    )
    for shape in (
        ". (identifier) @_word . (identifier) @name . (lambda_literal) @body .",
        ". (_) . (identifier) @_word . (identifier) @name .",
        ". (_) . (identifier) @_word . (call_expression . (identifier) @name) .",
    )
)


def _expand(text: str) -> Iterator[ImportedName]:
    """Split `a.b.C as D` into the name C of a.b."""
    matched = _IMPORT.match(text)
    if matched is not None:
        module, _, name = matched[1].replace("`", "").rpartition(".")
        alias = matched[2].strip("`") if matched[2] else None
        yield (module, name, alias) if module else (name, None, alias)


KOTLIN = Language(
    name="kotlin",
    grammar=Grammar("tree-sitter-kotlin", "tree_sitter_kotlin"),
    definitions=(
        (SymbolKind.INTERFACE, '(class_declaration "interface" name: (_) @name (class_body) @body) @node'),
        (SymbolKind.INTERFACE, '(class_declaration "interface" name: (_) @name) @node'),
        (SymbolKind.ENUM, "(class_declaration name: (_) @name (enum_class_body) @body) @node"),
        (SymbolKind.CLASS, "(class_declaration name: (_) @name (class_body) @body) @node"),
        (SymbolKind.CLASS, "(class_declaration name: (_) @name) @node"),
        (SymbolKind.CLASS, "(object_declaration name: (_) @name (class_body) @body) @node"),
        (SymbolKind.CLASS, "(object_declaration name: (_) @name) @node"),
        *_MISREAD_CLASSES,
        (SymbolKind.CLASS, "(companion_object name: (_) @name (class_body) @body) @node"),
        (SymbolKind.CLASS, "(companion_object name: (_) @name) @node"),
        (SymbolKind.TYPE, "(type_alias type: (_) @name) @node"),
        (SymbolKind.FUNCTION, f"(function_declaration {_RECEIVER} . name: (_) @name (function_body) @body) @node"),
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name (function_body) @body) @node"),
        # Without a body they are abstract, and one that has another signature may have one.
        (SymbolKind.FUNCTION, f"(function_declaration {_RECEIVER} . name: (_) @name) @node"),
        (SymbolKind.FUNCTION, "(function_declaration name: (_) @name) @node"),
        (SymbolKind.METHOD, '(secondary_constructor "constructor" @name (block) @body) @node'),
        (SymbolKind.METHOD, '(secondary_constructor "constructor" @name) @node'),
        (SymbolKind.METHOD, '(anonymous_initializer "init" @name (block) @body) @node'),
        *(
            (
                SymbolKind.FUNCTION,
                f"(property_declaration {receiver} (variable_declaration . (identifier) @name) {code}) @node",
            )
            for receiver in (f"{_RECEIVER} .", "")
            for code in _CODE
        ),
        (
            SymbolKind.FUNCTION,
            "(property_declaration (variable_declaration . (identifier) @name) (lambda_literal) @body @value) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(property_declaration (variable_declaration . (identifier) @name)"
            " (anonymous_function (function_body) @body) @value) @node",
        ),
        (
            SymbolKind.CONSTANT,
            '(property_declaration (modifiers (property_modifier "const"))'
            " (variable_declaration . (identifier) @name)) @node",
        ),
        *(
            (
                SymbolKind.CONSTANT,
                f'({parent} (property_declaration "val" (variable_declaration . (identifier) @name)) @node'
                ' (#match? @name "^[A-Z][A-Z0-9_]*$"))',
            )
            for parent in ("source_file", "class_body", "enum_class_body")
        ),
    ),
    attributes=("(annotated_expression (annotation) @node)",),
    types=(
        "(object_literal (class_body)) @node",
        "(enum_entry . (identifier) @name (class_body)) @node",
        "(enum_entry (modifiers) . (identifier) @name (class_body)) @node",
    ),
    namespaces=("(source_file (package_header (qualified_identifier) @name) @node) @rest",),
    calls=(
        "(call_expression . (identifier) @name)",
        "(call_expression . (navigation_expression (identifier) @name .) @callee)",
        _GENERIC_CALL.format("(identifier) @name", _ARGUMENTS),
        _GENERIC_CALL.format("(navigation_expression (identifier) @name .) @callee", _ARGUMENTS),
        "(infix_expression . (_) @callee . (identifier) @name . (_))",
        "(delegation_specifier (constructor_invocation (user_type) @name))",
        '(constructor_delegation_call ["this" "super"] @name)',
    ),
    imports=("(import) @tree",),
    typings=(
        (TypingRole.BASE, "(delegation_specifier (user_type) @type)"),
        (TypingRole.BASE, "(delegation_specifier (constructor_invocation (user_type) @type))"),
        (TypingRole.BASE, "(delegation_specifier (explicit_delegation . (user_type) @type))"),
        (TypingRole.DECLARED, "(parameter (identifier) @name [(user_type) (nullable_type)] @type)"),
        (TypingRole.DECLARED, "(class_parameter (identifier) @name [(user_type) (nullable_type)] @type)"),
        (TypingRole.DECLARED, "(variable_declaration (identifier) @name [(user_type) (nullable_type)] @type)"),
        (
            TypingRole.VALUE,
            "(property_declaration (variable_declaration . (identifier) @name . )"
            " (call_expression . (identifier) @called))",
        ),
        (
            TypingRole.RETURNS,
            "(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @type)",
        ),
    ),
    comments=("(line_comment) @node", "(block_comment) @node"),
    test_marker=r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest)\b",
    visible=_visible,
    repairs=(_repair, _repair_lines),
    expand=_expand,
)
