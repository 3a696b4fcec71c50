"""`strata serve` and `strata mcp`. In: an address, or none. Out: a server, until it is interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from pipelines.errors import InputError
from pipelines.serving.cli.host import Host
from pipelines.serving.cli.output import Output
from pipelines.serving.http.access import make_access
from pipelines.serving.http.server import listen, server_of, url_of
from pipelines.serving.service import Service


def serve(
    address: tuple[str, int], token_file: Path | None, names: Sequence[str], show: bool, host: Host, output: Output
) -> int:
    """Serve the store at hand until interrupted. 2: the address is taken, or not allowed without a token.

    :param address: host and port; port 0 takes a free one. :param token_file: holds the access token.
    :param names: further names that clients reach the server by. :param show: open a browser.
    """
    name, port = address
    access = make_access(name, host.access_token(token_file), names)
    service = Service(host.library())
    with listen(name, port) as taken:
        url = url_of(taken, name)

        def ready() -> None:
            output.note(
                "serving at ", (url, "bold"), "; Ctrl-C ends it" if not access.token else "; it asks for the token"
            )
            if show:
                _open_browser(url)

        with contextlib.suppress(KeyboardInterrupt):  # nothing is cut short: this is how a server is meant to end
            server_of(service, access, ready).run(sockets=[taken])
    return 0


def serve_agents(host: Host, output: Output) -> int:
    """Answer an agent over standard input and output until the input ends. 2: the package for it is not installed."""
    try:
        from pipelines.serving.mcp import serve_stdio
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed", hint="pip install 'codestrata[mcp]'") from error
    service = Service(host.library())
    output.note("answering an agent over standard input; Ctrl-C ends it")
    with contextlib.suppress(KeyboardInterrupt):
        serve_stdio(service)
    return 0


def _open_browser(url: str) -> None:
    import threading
    import webbrowser

    # a browser in the terminal would hold up the server until it is closed
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
