"""The commands of `strata` and their options. In: arguments. Out: a command that is ready to run; nothing runs here.

Parsing stands apart from running, so that it is safe and quick: what a command needs is imported once it is known to be
wanted, because `strata --help` should load neither Arrow nor numpy. The defaults of settings and of a query stand
there; only what was given on the command line is handed on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from pipelines.records import ChunkKind, SearchMode, SkipReason
from pipelines.serving.cli.host import INDEXED, Host, IndexRequest
from pipelines.serving.cli.options import PATH, as_json, flag, many_of, one_of, option, rev
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
#: Places in quarantine that are listed of a repository.
_PLACES = 50
_SERVE_HOST, _SERVE_PORT = "127.0.0.1", 8080
_INDEX, _EMBEDDER, _DIFFUSION = IndexSettings(), EmbedderSettings(), DiffusionSettings()


def parse(argv: Sequence[str]) -> Command:
    """Return the command that the arguments ask for.

    :raises click.ClickException: if they do not parse. :raises click.exceptions.Exit: after --help or --version.
    """
    with strata.make_context("strata", list(argv)) as context:
        command: Command = strata.invoke(context)
        return command


def _print_version(_context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"strata {version('codestrata')}")
        raise click.exceptions.Exit


def _lacking(context: click.Context) -> Command | None:
    """Return what tells which commands there are, where none is given: a mistake, but no riddle."""
    return None if context.invoked_subcommand else partial(_tell_commands, context.get_help())


def _tell_commands(told: str, _host: Host, output: Output) -> int:
    output.err.write(told.rstrip() + "\n")
    return 2


class _InOrder(click.Group):
    """Lists its commands in the order in which they stand below."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_InOrder,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@click.pass_context
def strata(context: click.Context) -> Command | None:
    """Search the code and documentation of git repositories, by meaning and by exact word."""
    return _lacking(context)


@strata.command("index")
@click.argument("path", type=PATH, required=False, help="The repository or folder.  [default: that of --repo, else .]")
@option("--repo", "Its key.", metavar="KEY", default="the one it has, or its folder's name")
@one_of("--embedder", EMBEDDERS, "What makes the vectors.", default=_EMBEDDER.name)
@option("--model", "ONNX model, for --embedder onnx; name of a model, for api.", metavar="PATH|NAME")
@option("--tokenizer", "The ONNX model's tokenizer.", metavar="PATH", default="beside the model")
@option("--url", "Embeddings service, for --embedder api.", metavar="URL")
@flag("--yes", "Agree to what --embedder api will cost.")
@option("--dimensions", "Width of the vectors.", metavar="N", type=int, default=_EMBEDDER.dimensions)
@option("--bits", "Sign bits of a vector's code, 64 to 1024.", metavar="N", type=int, default="one per dimension")
@option("--diffuse/--no-diffuse", "Mix vectors over the call graph.", is_flag=True, default="no")
@option(
    "--diffuse-alpha", "Share of the neighbours in each iteration.", metavar="X", type=float, default=_DIFFUSION.alpha
)
@option("--diffuse-iterations", "How often it is mixed.", metavar="N", type=int, default=_DIFFUSION.iterations)
@option("--diffuse-bidirectional", "Mix in callers as well as callees.", is_flag=True)
@one_of("--content", CONTENT_CHOICES, "Which kinds of file.", default=_INDEX.content)
@rev
@flag("--full", "Compute everything again.")
@flag("--dry-run", "Tell what would be indexed and why the rest is left out; write nothing.")
@flag("--verbose", "With --dry-run: list every file.")
@many_of(
    "--reason", OUTCOMES, "With --dry-run: list the files left out for R, or 'indexed' ones; may repeat.", metavar="R"
)
@as_json
def _index(
    path: Path | None,
    repo: str | None,
    embedder: str | None,
    model: str | None,
    tokenizer: str | None,
    url: str | None,
    yes: bool,
    dimensions: int | None,
    bits: int | None,
    diffuse: bool | None,
    diffuse_alpha: float | None,
    diffuse_iterations: int | None,
    diffuse_bidirectional: bool | None,
    content: str | None,
    rev: str | None,
    full: bool,
    dry_run: bool,
    verbose: bool,
    reason: tuple[str, ...],
    as_json: bool,
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
    request = IndexRequest(path, repo=repo or "", rev=rev or "", full=full, agreed_tokens=agreed, overrides=given)
    if dry_run:
        return partial(run_preview, request, reason, verbose)
    if verbose or reason:
        raise click.UsageError("--verbose and --reason are for --dry-run")
    return partial(run_index, request)


@strata.command("query")
@click.argument("text", help="Words, a name, or a question in plain language.")
@option("--repo", "Search this repository; may repeat.", metavar="KEY|PATH", multiple=True, default="all at hand")
@option("--limit", "How many hits.", metavar="N", type=int, default=10)
@one_of("--mode", tuple(SearchMode), "Which branches answer.", default=SearchMode.HYBRID)
@one_of("--fusion", FUSIONS, "How the branches are merged.", default=FUSIONS[0])
@flag("--no-fusion", "The plain order of one branch.")
@flag("--keyword-and", 'Every word must occur, "a phrase" as it stands, -word must not.')
@option("--candidate-pool", "Rows that are rescored.", metavar="N", type=int, default=256)
@one_of(
    "--scoring", SCORINGS, "What orders those near in meaning: their int8 vectors, or their bits.", default=SCORINGS[0]
)
@option("--path", "Only files that match; may repeat.", "paths", metavar="GLOB", multiple=True)
@option("--language", "Only this language; may repeat.", "languages", metavar="L", multiple=True)
@option("--scope", "Only this scope of a monorepo; may repeat.", "scopes", metavar="S", multiple=True)
@many_of(
    "--kind", tuple(ChunkKind), "Only such chunks: function, class, section, ..; may repeat.", "kinds", metavar="K"
)
@one_of("--expand", EXPANSIONS, "Add what the hits call and are called by, or all their callers.")
@option("--expand-depth", "How many calls away.", metavar="N", type=int, default=1)
@flag("--explain", "Show every term of each score.")
@as_json
def _query(text: str, repo: tuple[str, ...], as_json: bool, **fields: Any) -> Command:
    """Search the published index.

    Punctuation is literal. Text that starts with '-' goes after '--':

    strata query -- --error-on-warnings
    """
    from pipelines.serving.cli.querying import run_query

    return partial(run_query, text, repo, _given(fields))


@strata.command("status")
@option("--repo", "Only this repository; may repeat.", metavar="KEY|PATH", multiple=True, default="all at hand")
@flag("--quarantine", "List the places that are left out because they hold a secret.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help="With --quarantine: how many places of each repository.  [default: 50]",
    metavar="N",
)
@as_json
def _status(repo: Sequence[str], quarantine: bool, limit: int | None, as_json: bool) -> Command:
    """Tell what is published, and whether it is fresh."""
    from pipelines.serving.cli.upkeep import show_quarantine, show_status

    if quarantine:
        return partial(show_quarantine, repo, _PLACES if limit is None else limit)
    if limit is not None:
        raise click.BadParameter("--limit is for --quarantine")
    return partial(show_status, repo)


@strata.command("check")
@as_json
def _check(as_json: bool) -> Command:
    """Run every check on what is published, checksums included."""
    from pipelines.serving.cli.upkeep import run_checks

    return run_checks


@strata.command("eval", short_help="Measure how well what is published answers questions.")
@option(
    "--benchmark",
    "Ask the questions of a public benchmark: a folder with repos.json and annotations/.",
    metavar="FOLDER",
    type=PATH,
)
@option(
    "--checkouts",
    "With --benchmark: a checkout NAME for each repository; indexed first.",
    metavar="FOLDER",
    type=PATH,
    default="it",
)
@flag("--ways", "With diffusion on and off; with --benchmark each branch alone and other ways, side by side.")
@option("--output", "Write the figures there as well, as JSON.", "result", metavar="FILE", type=PATH)
@as_json
def _eval(benchmark: Path | None, checkouts: Path | None, ways: bool, result: Path | None, as_json: bool) -> Command:
    """Measure how well what is published answers, anew; or how well a public benchmark is answered."""
    from pipelines.serving.cli.upkeep import run_benchmark, run_evaluation

    if benchmark is None:
        if checkouts:
            raise click.UsageError("--checkouts is for --benchmark")
        return partial(run_evaluation, ways, result)
    return partial(run_benchmark, benchmark, checkouts or benchmark, WAYS if ways else WAYS[:1], result)


@strata.command("gc")
@flag("--dry-run", "Only tell what would be removed.")
@as_json
def _gc(dry_run: bool, as_json: bool) -> Command:
    """Remove what the retention rule no longer keeps."""
    from pipelines.serving.cli.upkeep import collect_garbage

    return partial(collect_garbage, dry_run)


@strata.command("serve")
@option("--host", "Address to listen on; any but loopback needs a token.", metavar="HOST", default=_SERVE_HOST)
@option("--port", "0 takes a free one.", metavar="PORT", type=click.IntRange(0, 65_535), default=_SERVE_PORT)
@option("--token-file", "File with the access token.", metavar="FILE", type=PATH, default="that of STRATA_TOKEN")
@option("--name", "Another name that clients reach it by; may repeat.", "names", metavar="HOST", multiple=True)
@flag("--open", "Open the search page in a browser.", "show")
def _serve(host: str | None, port: int | None, token_file: Path | None, names: tuple[str, ...], show: bool) -> Command:
    """Serve the search page and the HTTP interface of the store at hand."""
    from pipelines.serving.cli.serving import serve

    address = host or _SERVE_HOST, _SERVE_PORT if port is None else port
    return partial(serve, address, token_file, names, show)


@strata.command("mcp", short_help="Answer an agent over standard input and output (MCP).")
def _mcp() -> Command:
    """Answer an agent over standard input and output (Model Context Protocol)."""
    from pipelines.serving.cli.serving import serve_agents

    return serve_agents


@strata.command("dev")
@option("--port", "Port of the Dagster UI.", metavar="PORT", type=int, default=_DEV_PORT)
def _dev(port: int | None) -> Command:
    """Run the Dagster UI and daemon on the store at hand."""
    from pipelines.serving.cli.upkeep import develop

    return partial(develop, port or _DEV_PORT)


@strata.group("repos", cls=_InOrder, invoke_without_command=True, subcommand_metavar="COMMAND [ARGS]...")
@click.pass_context
def _repos(context: click.Context) -> Command | None:
    """Add, remove and list the repositories of the store at hand."""
    return _lacking(context)


@_repos.command("add")
@click.argument("key", help="Lower-case letters, digits, '.', '_', '-'.")
@click.argument("path", type=PATH, help="The repository or folder.")
@rev
@as_json
def _add(key: str, path: Path, rev: str | None, as_json: bool) -> Command:
    """Register a repository; it is indexed by the next run."""
    from pipelines.serving.cli.upkeep import add_repository

    return partial(add_repository, key, path, rev or "")


@_repos.command("remove")
@click.argument("key", help="Key of the repository.")
@as_json
def _remove(key: str, as_json: bool) -> Command:
    """Forget a repository and everything that is stored of it."""
    from pipelines.serving.cli.upkeep import remove_repository

    return partial(remove_repository, key)


@_repos.command("list")
@as_json
def _list(as_json: bool) -> Command:
    """List the repositories of the store at hand."""
    from pipelines.serving.cli.upkeep import list_repositories

    return list_repositories


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Return what was given: a flag or value that is not there is None, one that may repeat is empty."""
    return {key: value for key, value in values.items() if value is not None and value != ()}


def _absolute(path: str | None) -> str | None:
    """Fix a path of the command line to where it was typed: one in strata.toml is relative to that file instead."""
    return str(Path(path).absolute()) if path else path
