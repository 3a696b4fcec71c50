"""Ruby, with the blocks of RSpec, Minitest and Rake that define what has a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.discover.parsing.languages.language import Grammar, ImportedName, Language
from pipelines.records import SymbolKind, TypingRole

_LOADED = re.compile(r"(?P<how>\w+)[\s(]+(?::(?P<constant>\w+)\s*,\s*)?[\"'](?P<path>[^\"']+)[\"']")
_LOADERS = '(#any-of? @_loader "require" "require_relative" "load" "autoload")'
_BLOCK = "block: [(do_block body: (_) @body) (block body: (_) @body)]"
_ANY_BLOCK = "block: [(do_block) (block)]"
_STRUCT = '(#any-of? @_maker "Struct" "Data") (#any-of? @_new "new" "define")'
_CLASS = '(#any-of? @_maker "Class" "Module") (#eq? @_new "new")'
_TEST = '(#any-of? @_test "it" "specify" "scenario" "example" "test" "should" "fit" "xit")'
_GROUP = (
    '(#any-of? @_group "describe" "context" "feature" "shared_examples" "shared_examples_for" "shared_context"'
    ' "namespace" "fdescribe" "xdescribe")'
)
_ATTRIBUTES = '(#any-of? @_attribute "attr_reader" "attr_writer" "attr_accessor" "attr")'
_VISIBILITY = (
    '(#any-of? @_visibility "private" "protected" "public" "module_function" "private_class_method" "memoize")'
)
_CONSTANT = "[(constant) (scope_resolution)]"
_NEW = 'method: (identifier) @_new (#eq? @_new "new")'
#: Calls that say something about the definitions around them and lead nowhere.
_SAYS_SOMETHING = (
    '(#not-match? @name "^(attr|attr_reader|attr_writer|attr_accessor|private|protected|public|module_function'
    '|private_class_method|private_constant|alias_method|require|require_relative|autoload|lambda|proc)$")'
)


def _expand(text: str) -> Iterator[ImportedName]:
    """Split `require_relative "a/b"` and `autoload :Name, "a/b"`; a path that is relative says so by its first dot."""
    loaded = _LOADED.match(text)
    if loaded is None:
        return
    path = loaded["path"]
    if loaded["how"] == "require_relative" and not path.startswith((".", "/")):
        path = f"./{path}"
    yield path, loaded["constant"] or "*", None


RUBY = Language(
    name="ruby",
    grammar=Grammar("tree-sitter-ruby", "tree_sitter_ruby"),
    definitions=(
        (SymbolKind.FUNCTION, "(method name: (_) @name body: (_) @body) @node"),
        (SymbolKind.FUNCTION, "(method name: (_) @name !body) @node"),
        (SymbolKind.METHOD, "(singleton_method object: (self) name: (_) @name body: (_) @body) @node"),
        (SymbolKind.METHOD, "(singleton_method object: (self) name: (_) @name !body) @node"),
        (SymbolKind.METHOD, "(singleton_method object: (_) @scope name: (_) @name body: (_) @body) @node"),
        (SymbolKind.METHOD, "(singleton_method object: (_) @scope name: (_) @name !body) @node"),
        (SymbolKind.CLASS, "(class name: (_) @name body: (_) @body) @node"),
        (SymbolKind.CLASS, "(class name: (_) @name !body) @node"),
        # A module that holds code of its own; one that only groups other definitions is a namespace.
        (
            SymbolKind.TRAIT,
            "(module name: (_) @name body: (body_statement"
            " [(method) (singleton_method) (singleton_class) (call) (identifier) (alias)]) @body) @node",
        ),
        (SymbolKind.TRAIT, "(module name: (_) @name !body) @node"),
        (
            SymbolKind.STRUCT,
            "(assignment left: (_) @name right: (call receiver: (constant) @_maker method: (_) @_new"
            f" block: (_)? @body) {_STRUCT}) @node",
        ),
        (
            SymbolKind.CLASS,
            "(assignment left: (_) @name right: (call receiver: (constant) @_maker method: (_) @_new"
            f" block: (_)? @body) {_CLASS}) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(assignment left: [(identifier) (constant) (instance_variable)] @name"
            " right: (lambda body: (_) @body) @value) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(assignment left: [(identifier) (constant) (instance_variable)] @name right: (call !receiver"
            f' method: (identifier) @_lambda {_BLOCK}) @value (#any-of? @_lambda "lambda" "proc")) @node',
        ),
        (
            SymbolKind.METHOD,
            "(call !receiver method: (identifier) @_define"
            " arguments: (argument_list . [(simple_symbol) (string)] @name) block: (_) @body"
            ' (#any-of? @_define "define_method" "define_singleton_method")) @node',
        ),
        (
            SymbolKind.FUNCTION,
            "(call !receiver method: (identifier) @_test arguments: (argument_list . (string) @name)"
            f" {_ANY_BLOCK} @body {_TEST}) @node",
        ),
        (
            SymbolKind.FUNCTION,
            "(call !receiver method: (identifier) @_task arguments: (argument_list . [(simple_symbol) (string)] @name)"
            f' {_ANY_BLOCK} @body (#any-of? @_task "task" "file" "multitask")) @node',
        ),
        (
            SymbolKind.FUNCTION,
            "(call !receiver method: (identifier) @_task arguments: (argument_list ."
            f' (pair key: (_) @name)) {_ANY_BLOCK} @body (#any-of? @_task "task" "file" "multitask")) @node',
        ),
        (SymbolKind.CONSTANT, "(assignment left: (constant) @name) @node"),
    ),
    declarations=(
        (
            SymbolKind.METHOD,
            "(call !receiver method: (identifier) @_attribute"
            f" arguments: (argument_list (simple_symbol) @name @node) {_ATTRIBUTES}) @declaration",
        ),
        (
            SymbolKind.METHOD,
            "(call !receiver method: (identifier) @_alias arguments: (argument_list . (_) @name) (#eq? @_alias"
            ' "alias_method")) @node',
        ),
        (SymbolKind.METHOD, "(alias name: (_) @name) @node"),
    ),
    namespaces=(
        "(module name: (_) @name) @node",
        "(call method: (identifier) @_group arguments: (argument_list ."
        f" [(string) (constant) (scope_resolution) (simple_symbol)] @name) {_ANY_BLOCK} {_GROUP}) @node",
    ),
    wrappers=(f"(call !receiver method: (identifier) @_visibility arguments: (argument_list) {_VISIBILITY}) @node",),
    calls=(
        # A class that is asked for an object is called, not its method `new`.
        '(call receiver: (constant) @name method: (identifier) @_new (#eq? @_new "new"))',
        '(call receiver: (scope_resolution name: (_) @name) @callee method: (identifier) @_new (#eq? @_new "new"))',
        '(call receiver: (_) method: [(identifier) (constant)] @name (#not-eq? @name "new")) @callee',
        "(call receiver: [(identifier) (self) (call) (instance_variable) (element_reference)]"
        ' method: (identifier) @name (#eq? @name "new")) @callee',
        f"(call !receiver method: [(identifier) (constant) (super)] @name {_SAYS_SOMETHING})",
        "(super) @name",
        # Without arguments a call reads like a variable. It is one if its value is dropped, or by its last character.
        "(body_statement (identifier) @name . (_))",
        '(_ (identifier) @name (#match? @name "[?!]$"))',
    ),
    imports=(f"(call !receiver method: (identifier) @_loader {_LOADERS}) @tree",),
    typings=(
        (TypingRole.BASE, "(class superclass: (superclass [(constant) (scope_resolution)] @type))"),
        (
            TypingRole.BASE,
            "(call !receiver method: (identifier) @_mixed arguments: (argument_list"
            ' [(constant) (scope_resolution)] @type) (#any-of? @_mixed "include" "prepend" "extend"))',
        ),
        *(
            (TypingRole.DECLARED, f"({node} left: {left} right: (call receiver: {_CONSTANT} @type {_NEW}))")
            for node in ("assignment", "operator_assignment")
            for left in ("(identifier) @name", "(instance_variable) @field")
        ),
    ),
    test_marker=r"\b(?:it|specify|scenario|example|test|should|fit|xit|describe|context|feature)[ (]+$",
    test_name=r"Test\w*\.test_[^.]*$",
    expand=_expand,
    max_levels=1_000,
)
