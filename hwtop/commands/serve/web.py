"""`hwtop web [PID]`: the screen in a browser."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from hwtop.commands.job import live
from hwtop.commands.shared import screen
from hwtop.commands.shared.options import reading, settings, settings_of
from hwtop.commands.shared.target import target, target_or_none
from hwtop.commands.shared.watching import Watching
from hwtop.errors import CannotError, UsageError

if TYPE_CHECKING:
    from hwtop.ui.options import ScreenOptions

_PORT = 8642
_NEXT_PORTS = 20
"""Number of ports tried, the first included, before any free one is taken."""
_LOOPBACK = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1"}


@click.command("web", context_settings={"help_option_names": ["-h", "--help"]})
@target
@reading
@settings
@screen.interval
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on: 127.0.0.1 or ::1.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help=f"Port to listen on.  [default: {_PORT}, or the next free one]"
)
@click.option("--open", "is_opened", is_flag=True, help="Also open the browser.")
@click.option("--writable", is_flag=True, help="Allow actions that change the job; each asks for confirmation.")
@screen.plain
@screen.theme("Theme; an unknown name lists all themes.")
@click.pass_context
def command(
    ctx: click.Context,
    logs: tuple[str, ...],
    gpus: tuple[int, ...] | None,
    interval: float,
    host: str,
    port: int | None,
    is_opened: bool,
    writable: bool,
    is_ascii: bool,
    theme: str,
) -> None:
    """Watch the job that PID belongs to in a browser on this machine; without PID, choose one there.

    The printed address contains a secret: whoever has it gets access. It is read-only unless --writable is given. From another
    machine, forward the port with ssh -L.
    """
    if host not in _LOOPBACK:
        raise UsageError(
            f"--host {host}: hwtop web listens on this machine only (127.0.0.1 or ::1); "
            f"from another machine: {forwarding('127.0.0.1', port or _PORT)}"
        )
    _check_extra()
    from hwtop.feed.call import Caller
    from hwtop.ui import themes
    from hwtop.ui.settings.adoption import configured

    themes.check(theme)
    config = settings_of(ctx)
    options = replace(configured(config), theme=theme, is_ascii=is_ascii, is_readonly=not writable)
    watching = Watching(target_or_none(ctx), interval, logs, gpus, config)
    options = replace(live.offered(options, watching.send), call=Caller(config.alerts, _complain))
    with listen(_LOOPBACK[host], port) as listening:
        serve(watching, options, listening, is_opened=is_opened)


def serve(watching: Watching, options: ScreenOptions, listening: socket.socket, *, is_opened: bool) -> None:
    """Until a signal ends it."""
    import asyncio

    from hwtop.web.access import Access
    from hwtop.web.hub import Hub
    from hwtop.web.server import Server

    access = Access()
    host, port = listening.getsockname()[:2]
    address = access.address(host, port)

    def ready() -> None:
        print(f"hwtop: {address}")
        print(f"       {'writable: it can send signals' if not options.is_readonly else 'read-only'}; Ctrl-C stops it")
        print(f"       from another machine: {forwarding(host, port)}", flush=True)
        if is_opened:
            opened.enter_context(browsed(address))

    # Each tab's app redirects the standard streams while it runs; they are restored at the end.
    with (
        contextlib.ExitStack() as opened,
        contextlib.redirect_stdout(sys.stdout),
        contextlib.redirect_stderr(sys.stderr),
    ):
        asyncio.run(Server(Hub(watching.start, options), access, options).run(listening, ready))


def forwarding(host: str, port: int) -> str:
    """How to reach it from another machine."""
    name = f"[{host}]" if ":" in host else host
    return f"ssh -L {port}:{name}:{port} {os.uname().nodename}, then open the address there"


def listen(host: str, port: int | None) -> socket.socket:
    """A listening socket, on `port` or else on a free one.

    Raises:
        CannotError: the port is in use, or not allowed.
    """
    ports = (port,) if port is not None else (*range(_PORT, _PORT + _NEXT_PORTS), 0)
    listening = next(filter(None, (_listen(host, each, is_only=port is not None) for each in ports)))
    assert listening is not None
    return listening


def _listen(host: str, port: int, *, is_only: bool) -> socket.socket | None:
    """Listen on this port; None if it is in use and others are left to try."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            words = os.strerror(error.errno) if error.errno else str(error)
            raise CannotError(f"cannot listen on {host} port {port}: {words}; choose another --port") from error
        if is_only:
            raise CannotError(f"port {port} is in use: leave out --port to get a free one") from error
        return None


@contextlib.contextmanager
def browsed(address: str) -> Iterator[None]:
    """Open the browser by a file that only the user can read: a command line, with the token in it, is visible to others."""
    import webbrowser

    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        _complain("--open: no desktop session here; open the address yourself")
        yield
        return
    with tempfile.TemporaryDirectory(prefix="hwtop-web-", ignore_cleanup_errors=True) as folder:
        way = Path(folder) / "hwtop.html"
        way.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">', "utf-8")
        if not webbrowser.open(way.as_uri()):
            _complain("--open: no browser found; open the address yourself")
        yield


def _check_extra() -> None:
    try:
        import aiohttp  # noqa: F401
    except ImportError as error:
        raise CannotError("`hwtop web` needs aiohttp: pip install 'hwtop[web]'") from error


def _complain(text: str) -> None:
    print(f"hwtop: {text}", file=sys.stderr, flush=True)
