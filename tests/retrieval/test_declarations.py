from __future__ import annotations

import pytest

from pipelines.retrieval.declarations import LIKELY, LOCAL, SURE, find_declaration


def strength(line: str, name: str, kind: str, language: str) -> int:
    found = find_declaration(f"first\n{line}\nlast", name, kind, language)
    assert found is None or found.line == line.count("\n", 0, line.find(name)) + 1
    return found.strength if found else 0


@pytest.mark.parametrize(
    ("line", "name", "kind", "language"),
    [
        ("MAX_RETRIES = 3", "MAX_RETRIES", "module", "python"),
        ("    timeout: float = 3", "timeout", "class", "python"),
        ("    RED = auto()", "RED", "class", "python"),
        ("const defaultPort = 80", "defaultPort", "module", "go"),
        ("var errShut = errors.New(x)", "errShut", "module", "go"),
        ("\tAppEngine bool", "AppEngine", "struct", "go"),
        ("  private final List<String> names;", "names", "class", "java"),
        ("  @Param Api api;", "api", "class", "java"),
        ("  TWEETS(new Type() {}),", "TWEETS", "enum", "java"),
        ("  IDENTITY() {", "IDENTITY", "enum", "java"),
        ("  LOUD;", "LOUD", "enum", "java"),
        ("  LAST // of all", "LAST", "enum", "cpp"),
        ("#define LIMIT 3", "LIMIT", "module", "c"),
        ("    unsigned long used;", "used", "struct", "c"),
        ("    int (*free)(void *p);", "free", "struct", "c"),
        ("    char buf[64];", "buf", "struct", "c"),
        ("    unsigned flag:1;", "flag", "struct", "c"),
        ("enum { RED, GREEN };", "GREEN", "enum", "c"),
        ("    BLUE = 4,", "BLUE", "enum", "cpp"),
        ("    pub retries: usize,", "retries", "struct", "rust"),
        ("    Closed,", "Closed", "enum", "rust"),
        ("    Moved { x: i32 },", "Moved", "enum", "rust"),
        ("  readonly url: string;", "url", "interface", "typescript"),
        ("  Ready = 'ready',", "Ready", "enum", "typescript"),
        ("export const LIMIT = 3;", "LIMIT", "module", "typescript"),
        ("    private readonly store: Store,", "store", "method", "typescript"),
        ("    case failed(Error)", "failed", "enum", "swift"),
        ("    let limit: Int", "limit", "struct", "swift"),
        ("    private(set) var limit: Int", "limit", "struct", "swift"),
        ("    pub(crate) limit: u32,", "limit", "struct", "rust"),
        ("    val name: String,", "name", "class", "kotlin"),
        ("    const LIMIT = 3;", "LIMIT", "class", "php"),
        ("    protected $handler;", "handler", "class", "php"),
        ("    public string Name { get; set; }", "Name", "class", "csharp"),
        ("  attr_reader :limit", "limit", "class", "ruby"),
        ("  LIMIT = 3", "LIMIT", "module", "ruby"),
        ("  @limit 3", "limit", "module", "elixir"),
        ("data Shape = Circle | Square", "Square", "type", "haskell"),
        ("  { radius :: Double", "radius", "type", "haskell"),
        ("  name = 3,", "name", "module", "lua"),
        ("export LIMIT=3", "LIMIT", "module", "shell"),
        ("    limit: u32 = 3,", "limit", "struct", "zig"),
    ],
)
def test_a_line_that_declares_is_sure(line: str, name: str, kind: str, language: str) -> None:
    assert strength(line, name, kind, language) == SURE


@pytest.mark.parametrize(
    ("line", "name", "kind", "language"),
    [
        ("  field :limit, :integer", "limit", "module", "elixir"),
        ('  "limit": 3,', "limit", "window", "json"),
        ("export const { GET, POST } = handlers", "POST", "module", "typescript"),
        ("static int verbose = 0;", "verbose", "module", "c"),
        ("  limit: 3,", "limit", "module", "javascript"),
    ],
)
def test_a_line_that_may_declare_is_likely(line: str, name: str, kind: str, language: str) -> None:
    assert strength(line, name, kind, language) >= LIKELY


@pytest.mark.parametrize(
    ("line", "name", "kind", "language"),
    [
        ("    limit = 3", "limit", "function", "python"),
        ("    self.limit = 3", "limit", "method", "python"),
        ("    const limit = 3;", "limit", "function", "typescript"),
        ("    this.limit = limit;", "limit", "method", "java"),
        ("\tvar limit Limit", "limit", "function", "go"),
        ("        bool val, bool limit) {", "limit", "function", "c"),
        ("  val limit = 3", "limit", "method", "kotlin"),
        ("        data = {}", "data", "function", "python"),
    ],
)
def test_what_a_function_keeps_for_itself_is_local(line: str, name: str, kind: str, language: str) -> None:
    assert strength(line, name, kind, language) == LOCAL


@pytest.mark.parametrize(
    ("line", "name", "kind", "language"),
    [
        ("# LIMIT = 3", "LIMIT", "module", "python"),
        ("// const LIMIT = 3", "LIMIT", "module", "go"),
        (" * LIMIT: how many", "LIMIT", "class", "java"),
        ("return LIMIT", "LIMIT", "module", "python"),
        ("from shop import LIMIT", "LIMIT", "module", "python"),
        ("if limit == 3:", "limit", "module", "python"),
        ("foo(limit, 3)", "limit", "module", "python"),
        ("x = limit", "limit", "module", "python"),
        ("other.limit(3)", "limit", "module", "java"),
        ("  private final Limit other;", "Limit", "class", "java"),
        ("static Limit other = 3;", "Limit", "module", "c"),
        ('print("limit: 3")', "limit", "module", "python"),
        ("type Other struct { Limit }", "Limits", "struct", "go"),
        ("Shape::Circle => 3,", "Circle", "function", "rust"),
        ("total = LIMIT + 1", "LIMIT", "class", "python"),
        ("func fake(val string) Chain {", "Chain", "function", "go"),
        ("\treturn Chain{one, two}", "Chain", "function", "go"),
        ("\tchain := Chain{one, two}", "Chain", "function", "go"),
        ("\tdata, _ := limit.Read(test)", "limit", "function", "go"),
        ("  public Limit read() throws Failure {", "Failure", "class", "java"),
        ("  public Limit[] all() {", "Limit", "class", "java"),
        ("  public Map<String, Limit> all() {", "String", "class", "java"),
        ("        | LIMIT_OPEN", "LIMIT_OPEN", "function", "c"),
        ("    (char *)val->ptr, limit);", "limit", "function", "c"),
        ("  path: readonly Limit[],", "Limit", "function", "typescript"),
        ("  private readonly open: () => Limit,", "Limit", "method", "typescript"),
        ("    protected int Index => limit;", "limit", "class", "csharp"),
        ("    public func read<S: Limit>(from source: S) -> Limit {", "Limit", "method", "swift"),
    ],
)
def test_a_mention_declares_nothing(line: str, name: str, kind: str, language: str) -> None:
    assert strength(line, name, kind, language) == 0


@pytest.mark.parametrize(
    ("text", "name", "kind", "language", "expected"),
    [
        ("app = App(\n    limit=3,\n)", "limit", "module", "python", LOCAL),
        ("app = App('shop',\n          limit=3)", "limit", "module", "python", LOCAL),
        ("def shop(\n    first,\n\n    limit: int = 3,\n):", "limit", "class", "python", LOCAL),
        ("void shop(int first,\n          int limit);", "limit", "module", "c", LOCAL),
        ("app.conf.limit = 3", "limit", "module", "python", 0),
        ("if True:\n    limit = 3", "limit", "module", "python", SURE),
        ("shop(a=(1,\n     2))\nlimit = 3", "limit", "module", "python", SURE),
        ("class Shop(Base):\n    limit = 3", "limit", "class", "python", SURE),
        ("const (\n\tlimit = 3\n)", "limit", "module", "go", SURE),
        ("case class Shop(\n  limit: Int,\n)", "limit", "class", "scala", SURE),
        ("  constructor(\n    private limit: number,\n  ) {}", "limit", "class", "typescript", SURE),
        ("setup({\n  limit: 3,\n})", "limit", "module", "typescript", LIKELY),
    ],
)
def test_what_is_passed_or_taken_under_a_name_is_declared_elsewhere(
    text: str, name: str, kind: str, language: str, expected: int
) -> None:
    found = find_declaration(text, name, kind, language)
    assert (found.strength if found else 0) == expected


def test_the_surest_line_is_taken_and_a_name_within_a_name_is_none() -> None:
    text = "class A:\n    def f(self):\n        self.limit = 3\n    old_limit = 1\n    limit: int = 3\n"
    found = find_declaration(text, "limit", "class", "python")
    assert found is not None
    assert (found.line, found.strength) == (4, SURE)


def test_case_counts_unless_it_is_folded() -> None:
    assert find_declaration("LIMIT = 3", "limit", "module", "python") is None
    assert find_declaration("LIMIT = 3", "limit", "module", "python", fold=True) is not None


def test_long_lines_and_many_mentions_cost_little() -> None:
    assert find_declaration("x" * 10_000 + " limit = 3", "limit", "module", "javascript") is None
    assert find_declaration("f(limit)\n" * 100 + "limit = 3", "limit", "module", "python") is None
    assert find_declaration("(" * 200 + "limit" + ")" * 190, "limit", "class", "cpp") is None


@pytest.mark.parametrize(
    ("line", "declares"),
    [
        ("zed:" + " " * 385 + "u1_2", True),
        ("val /" * 78 + "zed", False),
        ("a:b" * 130 + " zed", False),
        ("x" * 397 + "zed", False),
    ],
)
def test_lines_that_were_made_to_be_slow_are_read_in_one_pass(line: str, declares: bool) -> None:
    found = find_declaration("\n".join([line] * 2_000), "zed", "module", "yaml")
    assert (found is not None) == declares
