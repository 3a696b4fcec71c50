"""The commands of `strata` and their options. In: arguments. Out: a command that is ready to run; nothing runs here.

Parsing stands apart from running, so that it is safe and quick: what a command needs is imported once it is known to be
wanted, because `strata --help` should load neither Arrow nor numpy. The defaults of settings and of a query stand
there; only what was given on the command line is handed on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer

from pipelines.records import ChunkKind, SearchMode, SkipReason
from pipelines.serving.cli.host import INDEXED, Host, IndexRequest
from pipelines.serving.cli.options import AsJson, Rev, many_of, one_of, option
from pipelines.serving.cli.output import Output
from pipelines.settings import CONTENT_CHOICES, EMBEDDERS, DiffusionSettings, EmbedderSettings, IndexSettings

#: Runs a parsed command and returns its exit code.
Command = Callable[[Host, Output], int]

FUSIONS = ("rrf", "late")
#: What can become of a listed file.
OUTCOMES = (INDEXED, *SkipReason)
#: Variants of the searcher, in retrieval.variants, which loads Arrow and numpy; a test compares the two.
WAYS = ("hybrid", "lexical", "semantic", "symbol", "late", "no priors", "float", "bits", "BM25", "vectors")
EXPANSIONS = ("neighbors", "blast")
SCORINGS = ("int8", "asymmetric")
#: Port that `dagster dev` has by itself.
_DEV_PORT = 3000
_SERVE_HOST, _SERVE_PORT = "127.0.0.1", 8080
_INDEX, _EMBEDDER, _DIFFUSION = IndexSettings(), EmbedderSettings(), DiffusionSettings()

# Plain help: rich would double the time of `strata --help`, and its frames do not fit into docs/cli.md.
app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["--help", "-h"]})
repos = typer.Typer(add_completion=False, rich_markup_mode=None)
app.add_typer(repos, name="repos")


def parse(argv: Sequence[str]) -> Command:
    """Return the command that the arguments ask for.

    :raises typer.TyperException: if they do not parse. :raises typer.Exit: after --help or --version.
    """
    group = typer_command()
    with group.make_context("strata", list(argv)) as context:
        command: Command = group.invoke(context)
        return command


@cache
def typer_command() -> Any:
    """Return the parser that typer builds from the functions below."""
    return typer.main.get_command(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"strata {version('codestrata')}")
        raise typer.Exit


def _lacking(context: typer.Context) -> Command | None:
    """Return what tells which commands there are, where none is given: a mistake, but no riddle."""
    return None if context.invoked_subcommand else partial(_tell_commands, context.get_help())


def _tell_commands(told: str, _host: Host, output: Output) -> int:
    output.err.write(told.rstrip() + "\n")
    return 2


@app.callback(invoke_without_command=True)
def _strata(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> Command | None:
    """Search the code and documentation of git repositories, by meaning and by exact word."""
    return _lacking(context)


@repos.callback(invoke_without_command=True)
def _repos(context: typer.Context) -> Command | None:
    """Add, remove and list the repositories of the store at hand."""
    return _lacking(context)


@app.command("index")
def _index(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH", help="The repository or folder.  [default: that of --repo, else .]", show_default=False
        ),
    ] = None,
    repo: Annotated[str, option("Its key.", metavar="KEY", default="the one it has, or its folder's name")] = "",
    embedder: Annotated[str | None, one_of(EMBEDDERS, "What makes the vectors.", default=_EMBEDDER.name)] = None,
    model: Annotated[
        str | None, option("ONNX model, for --embedder onnx; name of a model, for api.", metavar="PATH|NAME")
    ] = None,
    tokenizer: Annotated[
        str | None, option("The ONNX model's tokenizer.", metavar="PATH", default="beside the model")
    ] = None,
    url: Annotated[str | None, option("Embeddings service, for --embedder api.", metavar="URL")] = None,
    yes: Annotated[bool, option("Agree to what --embedder api will cost.", "--yes")] = False,
    dimensions: Annotated[
        int | None, option("Width of the vectors.", metavar="N", default=_EMBEDDER.dimensions)
    ] = None,
    bits: Annotated[
        int | None, option("Sign bits of a vector's code, 64 to 1024.", metavar="N", default="one per dimension")
    ] = None,
    diffuse: Annotated[
        bool | None, option("Mix vectors over the call graph.", "--diffuse/--no-diffuse", default="no")
    ] = None,
    diffuse_alpha: Annotated[
        float | None, option("Share of the neighbours in each iteration.", metavar="X", default=_DIFFUSION.alpha)
    ] = None,
    diffuse_iterations: Annotated[
        int | None, option("How often it is mixed.", metavar="N", default=_DIFFUSION.iterations)
    ] = None,
    diffuse_bidirectional: Annotated[
        bool | None, option("Mix in callers as well as callees.", "--diffuse-bidirectional")
    ] = None,
    content: Annotated[str | None, one_of(CONTENT_CHOICES, "Which kinds of file.", default=_INDEX.content)] = None,
    rev: Rev = "",
    full: Annotated[bool, option("Compute everything again.", "--full")] = False,
    dry_run: Annotated[
        bool, option("Tell what would be indexed and why the rest is left out; write nothing.", "--dry-run")
    ] = False,
    verbose: Annotated[bool, option("With --dry-run: list every file.", "--verbose")] = False,
    reason: Annotated[
        list[str] | None,
        many_of(OUTCOMES, "With --dry-run: list the files left out for R, or 'indexed' ones; may repeat.", metavar="R"),
    ] = None,
    as_json: AsJson = False,
) -> Command:
    """Bring the index of a repository up to date and publish it.

    Only what changed since the last run is computed. A default in brackets holds unless strata.toml says otherwise.
    """
    from pipelines.serving.cli.indexing import run_index, run_preview

    overrides: dict[str, dict[str, Any]] = {
        "embedder": {
            "name": embedder,
            "model": model if embedder == "api" else _absolute(model),
            "tokenizer": _absolute(tokenizer),
            "url": url,
            "dimensions": dimensions,
        },
        "quantization": {"bits": bits},
        "diffusion": {
            "enabled": diffuse,
            "alpha": diffuse_alpha,
            "iterations": diffuse_iterations,
            "bidirectional": diffuse_bidirectional,
        },
        "index": {"content": content},
    }
    given = {section: kept for section, values in overrides.items() if (kept := _given(values))}
    agreed = sys.maxsize if yes else 0
    request = IndexRequest(path, repo=repo, rev=rev, full=full, agreed_tokens=agreed, overrides=given)
    if dry_run:
        return partial(run_preview, request, reason or (), verbose)
    if verbose or reason:
        raise typer.BadParameter("--verbose and --reason are for --dry-run")
    return partial(run_index, request)


@app.command("query")
def _query(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Words, a name, or a question in plain language.")],
    repo: Annotated[
        list[str] | None, option("Search this repository; may repeat.", metavar="KEY|PATH", default="all at hand")
    ] = None,
    limit: Annotated[int | None, option("How many hits.", metavar="N", default=10)] = None,
    mode: Annotated[str | None, one_of(tuple(SearchMode), "Which branches answer.", default=SearchMode.HYBRID)] = None,
    fusion: Annotated[str | None, one_of(FUSIONS, "How the branches are merged.", default=FUSIONS[0])] = None,
    no_fusion: Annotated[bool | None, option("The plain order of one branch.", "--no-fusion")] = None,
    keyword_and: Annotated[
        bool | None,
        option('Every word must occur, "a phrase" as it stands, -word must not.', "--keyword-and"),
    ] = None,
    candidate_pool: Annotated[int | None, option("Rows that are rescored.", metavar="N", default=256)] = None,
    scoring: Annotated[
        str | None,
        one_of(SCORINGS, "What orders those near in meaning: their int8 vectors, or their bits.", default=SCORINGS[0]),
    ] = None,
    path: Annotated[list[str] | None, option("Only files that match; may repeat.", metavar="GLOB")] = None,
    language: Annotated[list[str] | None, option("Only this language; may repeat.", metavar="L")] = None,
    scope: Annotated[list[str] | None, option("Only this scope of a monorepo; may repeat.", metavar="S")] = None,
    kind: Annotated[
        list[str] | None,
        many_of(tuple(ChunkKind), "Only such chunks: function, class, section, ..; may repeat.", metavar="K"),
    ] = None,
    expand: Annotated[
        str | None, one_of(EXPANSIONS, "Add what the hits call and are called by, or all their callers.")
    ] = None,
    expand_depth: Annotated[int | None, option("How many calls away.", metavar="N", default=1)] = None,
    explain: Annotated[bool | None, option("Show every term of each score.", "--explain")] = None,
    as_json: AsJson = False,
) -> Command:
    """Search the published index.

    Punctuation is literal. Text that starts with '-' goes after '--':

    strata query -- --error-on-warnings
    """
    from pipelines.serving.cli.querying import run_query

    given = _given(
        {
            "limit": limit,
            "mode": mode,
            "fusion": fusion,
            "no_fusion": no_fusion,
            "keyword_and": keyword_and,
            "candidate_pool": candidate_pool,
            "scoring": scoring,
            "paths": tuple(path or ()) or None,
            "languages": tuple(language or ()) or None,
            "scopes": tuple(scope or ()) or None,
            "kinds": tuple(kind or ()) or None,
            "expand": expand,
            "expand_depth": expand_depth,
            "explain": explain,
        }
    )
    return partial(run_query, text, repo or [], given)


@app.command("status")
def _status(as_json: AsJson = False) -> Command:
    """Tell what is published, and whether it is fresh."""
    from pipelines.serving.cli.upkeep import show_status

    return show_status


@app.command("check")
def _check(as_json: AsJson = False) -> Command:
    """Run every check on what is published, checksums included."""
    from pipelines.serving.cli.upkeep import run_checks

    return run_checks


@app.command("eval", short_help="Measure how well what is published answers questions.")
def _eval(
    benchmark: Annotated[
        Path | None,
        option("Ask the questions of a public benchmark: a folder with repos.json and annotations/.", metavar="FOLDER"),
    ] = None,
    checkouts: Annotated[
        Path | None,
        option("With --benchmark: a checkout NAME for each repository; indexed first.", metavar="FOLDER", default="it"),
    ] = None,
    ways: Annotated[
        bool,
        option("With diffusion on and off; with --benchmark each branch alone and other ways, side by side.", "--ways"),
    ] = False,
    result: Annotated[
        Path | None, option("Write the figures there as well, as JSON.", "--output", metavar="FILE")
    ] = None,
    as_json: AsJson = False,
) -> Command:
    """Measure how well what is published answers, anew; or how well a public benchmark is answered."""
    from pipelines.serving.cli.upkeep import run_benchmark, run_evaluation

    if benchmark is None:
        if checkouts:
            raise typer.BadParameter("--checkouts is for --benchmark")
        return partial(run_evaluation, ways, result)
    return partial(run_benchmark, benchmark, checkouts or benchmark, WAYS if ways else WAYS[:1], result)


@app.command("gc")
def _gc(
    dry_run: Annotated[bool, option("Only tell what would be removed.", "--dry-run")] = False, as_json: AsJson = False
) -> Command:
    """Remove what the retention rule no longer keeps."""
    from pipelines.serving.cli.upkeep import collect_garbage

    return partial(collect_garbage, dry_run)


@app.command("serve")
def _serve(
    host: Annotated[
        str, option("Address to listen on; any but loopback needs a token.", metavar="HOST", default=_SERVE_HOST)
    ] = _SERVE_HOST,
    port: Annotated[
        int,
        typer.Option(metavar="PORT", min=0, max=65535, help="0 takes a free one.  [default: 8080]", show_default=False),
    ] = _SERVE_PORT,
    token_file: Annotated[
        Path | None, option("File with the access token.", metavar="FILE", default="that of STRATA_TOKEN")
    ] = None,
    name: Annotated[
        list[str] | None, option("Another name that clients reach it by; may repeat.", metavar="HOST")
    ] = None,
    show: Annotated[bool, option("Open the search page in a browser.", "--open")] = False,
) -> Command:
    """Serve the search page and the HTTP interface of the store at hand."""
    from pipelines.serving.cli.serving import serve

    return partial(serve, (host, port), token_file, name or (), show)


@app.command("mcp", short_help="Answer an agent over standard input and output (MCP).")
def _mcp() -> Command:
    """Answer an agent over standard input and output (Model Context Protocol)."""
    from pipelines.serving.cli.serving import serve_agents

    return serve_agents


@app.command("dev")
def _dev(
    port: Annotated[int, option("Port of the Dagster UI.", metavar="PORT", default=_DEV_PORT)] = _DEV_PORT,
) -> Command:
    """Run the Dagster UI and daemon on the store at hand."""
    from pipelines.serving.cli.upkeep import develop

    return partial(develop, port)


@repos.command("add")
def _add(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Lower-case letters, digits, '.', '_', '-'.")],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The repository or folder.")],
    rev: Rev = "",
    as_json: AsJson = False,
) -> Command:
    """Register a repository; it is indexed by the next run."""
    from pipelines.serving.cli.upkeep import add_repository

    return partial(add_repository, key, path, rev)


@repos.command("remove")
def _remove(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Key of the repository.")], as_json: AsJson = False
) -> Command:
    """Forget a repository and everything that is stored of it."""
    from pipelines.serving.cli.upkeep import remove_repository

    return partial(remove_repository, key)


@repos.command("list")
def _list(as_json: AsJson = False) -> Command:
    """List the repositories of the store at hand."""
    from pipelines.serving.cli.upkeep import list_repositories

    return list_repositories


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _absolute(path: str | None) -> str | None:
    """Fix a path of the command line to where it was typed: one in strata.toml is relative to that file instead."""
    return str(Path(path).absolute()) if path else path
