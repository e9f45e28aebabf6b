"""Connections: everybody on this machine can open one, so one that does not show the token soon must not take the place of the user's."""

from __future__ import annotations

import asyncio

from aiohttp import web

MOST_CONNECTIONS = 64
"""Of any origin: the sampler needs file descriptors too."""
ADMISSION_S = 10.0
"""For the first request that is allowed."""


class Connections:
    """Those of one server."""

    def __init__(self, server: web.Server) -> None:
        self._server = server
        self._admitted: set[object] = set()

    def open(self) -> asyncio.BaseProtocol:
        """The handler of a new connection. Where there are too many, the oldest that was not admitted is closed."""
        connections = self._server.connections
        self._admitted.intersection_update(connections)
        if len(connections) >= MOST_CONNECTIONS:
            stranger = next((each for each in connections if each not in self._admitted), None)
            if stranger is None:
                return _Full()
            _close(stranger)
        handler = self._server()
        asyncio.get_running_loop().call_later(ADMISSION_S, self._end_if_stranger, handler)
        return handler

    def admit(self, handler: object) -> None:
        """It has sent a request that is allowed."""
        self._admitted.add(handler)

    def _end_if_stranger(self, handler: asyncio.Protocol) -> None:
        if handler not in self._admitted:
            _close(handler)


def _close(handler: asyncio.Protocol) -> None:
    transport: asyncio.Transport | None = getattr(handler, "transport", None)
    if transport is not None:
        transport.abort()


class _Full(asyncio.Protocol):
    """Closes it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()
