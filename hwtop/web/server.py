"""Server: the page and its websocket, on this machine only."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from aiohttp import WSCloseCode, web
from aiohttp.http_exceptions import HttpProcessingError

from hwtop.ui.options import ScreenOptions
from hwtop.web import words
from hwtop.web.access import COOKIE, Access, Visit
from hwtop.web.connections import Connections
from hwtop.web.hub import Hub
from hwtop.web.tab import Tab

MOST_TABS = 8
"""Each draws every frame; more are refused."""
_HEARTBEAT_S = 20.0
"""A page that has not answered for so long is gone."""
_END_S = 0.5

_FILES = {
    "": ("hwtop.web", "page/index.html", "text/html"),
    "page.css": ("hwtop.web", "page/page.css", "text/css"),
    "page.js": ("hwtop.web", "page/page.js", "text/javascript"),
    "paint.js": ("hwtop.web", "page/paint.js", "text/javascript"),
    "font.ttf": ("hwtop.ui", "fonts/DejaVuSansMono.ttf", "font/ttf"),
    "bold.ttf": ("hwtop.ui", "fonts/DejaVuSansMono-Bold.ttf", "font/ttf"),
}
"""Name in the URL -> package, file, type. Nothing else is served."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "connect-src 'self' {socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "hwtop",
    "X-Content-Type-Options": "nosniff",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """Serves until a signal ends it."""

    def __init__(self, hub: Hub, access: Access, options: ScreenOptions) -> None:
        self._hub = hub
        self._access = access
        self._options = options
        self._tabs: set[Tab] = set()
        self._connections: Connections | None = None

    async def run(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        """Serve on `listening`; calls `ready` once pages are served. SIGINT, SIGTERM and SIGHUP end it."""
        loop, ending = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                loop.add_signal_handler(number, ending.set)
        loop.set_exception_handler(_on_error)
        runner = web.AppRunner(self._app(), access_log=None, logger=_LOG, shutdown_timeout=_END_S)
        await runner.setup()
        assert runner.server is not None
        self._connections = Connections(runner.server)
        listener = await loop.create_server(self._connections.open, sock=listening)
        self._hub.open()
        try:
            ready()
            await ending.wait()
        finally:
            self._hub.close()
            listener.close()
            if self._tabs:
                await asyncio.wait([asyncio.create_task(tab.end()) for tab in self._tabs], timeout=_END_S)
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=words.LONGEST_BYTES)
        app.on_response_prepare.append(_add_headers)
        app.router.add_get(f"{self._access.path}socket", self._open_tab)
        app.router.add_get(f"{self._access.path}{{name:[a-z.]*}}", self._send_file)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = self._access.refusal(
            Visit(
                host=request.headers.get("Host", ""),
                origin=request.headers.get("Origin"),
                token=request.query.get("token"),
                cookie=request.cookies.get(COOKIE),
                is_websocket=request.path == f"{self._access.path}socket",
            )
        )
        if refusal is not None:
            return web.Response(status=403, text=f"{refusal}\n")
        if self._connections is not None:
            self._connections.admit(request.protocol)
        try:
            return await handler(request)
        except web.HTTPException as error:
            return web.Response(status=error.status, text=f"{error.reason}\n")

    async def _send_file(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in _FILES:
            raise web.HTTPNotFound
        package, path, content_type = _FILES[name]
        body = resources.files(package).joinpath(path).read_bytes()
        charset = "utf-8" if content_type.startswith("text/") else None
        response = web.Response(body=body, content_type=content_type, charset=charset)
        response.enable_compression()
        if name == "":
            response.set_cookie(COOKIE, self._access.cookie, path=self._access.path, httponly=True, samesite="Strict")
        return response

    async def _open_tab(self, request: web.Request) -> web.WebSocketResponse:
        opened = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, max_msg_size=words.LONGEST_BYTES)
        await opened.prepare(request)
        if len(self._tabs) >= MOST_TABS:
            message = f"{MOST_TABS} tabs are open: close one".encode()
            await opened.close(code=WSCloseCode.TRY_AGAIN_LATER, message=message)
            return opened
        tab = Tab(opened, self._hub, self._options)
        self._tabs.add(tab)
        try:
            await tab.run()
        finally:
            self._tabs.discard(tab)
        return opened


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    # Not every browser takes 'self' for websockets, too. The Host of a refused request may be anything.
    own = f"ws://{request.host}" if response.status != 403 else ""
    for name, value in _HEADERS.items():
        response.headers[name] = value.replace("{socket}", own)


def _on_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle an error in a task that nothing awaits. aiohttp has one for each large message: a page that closes meanwhile is no
    error."""
    if not isinstance(context.get("exception"), ConnectionError):
        loop.default_exception_handler(context)


def _is_own(record: logging.LogRecord) -> bool:
    """Whether it is a failure of hwtop: clients that send no valid HTTP must not write to the user's terminal."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, (HttpProcessingError, ConnectionError))


_LOG = logging.getLogger(__name__)
_LOG.addFilter(_is_own)
