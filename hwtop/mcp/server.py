"""Reads requests and answers them, until the client closes its end."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from hwtop.config import Config
from hwtop.errors import UsageError
from hwtop.mcp import protocol
from hwtop.mcp.calls import Calls, CancelledError
from hwtop.mcp.protocol import METHOD_NOT_FOUND, PARSE_ERROR, Message, ProtocolError
from hwtop.mcp.tool import Tool

_LONGEST_LINE = 1 << 20
"""Bytes of a request that are read; arguments of tools are short."""


class Server:
    """One client."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, tools: Sequence[Tool], config: Config) -> None:
        """`source` and `sink` are the client's; nothing else may write to the latter."""
        self._source, self._sink, self._config = source, sink, config
        self._tools = {tool.name: tool for tool in tools}
        self._calls = Calls()
        self._writing = threading.Lock()
        self._is_gone = False

    def serve(self) -> None:
        """Returns when the client has closed its end."""
        while not self._is_gone and (line := self._source.readline(_LONGEST_LINE)):
            if line.strip():
                self._take(line)
        self._calls.close()

    def _take(self, line: bytes) -> None:
        try:
            if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                self._skip_line()
                raise ProtocolError(PARSE_ERROR, f"a message is longer than {_LONGEST_LINE:,} bytes")
            message = protocol.parsed(line)
        except ProtocolError as error:
            self._send(protocol.refusal(protocol.id_in(line), error))
            return
        if message.method is None:
            return
        if message.id is None:
            self._notified(message)
            return
        try:
            self._answer(message)
        except ProtocolError as error:
            self._send(protocol.refusal(message.id, error))

    def _skip_line(self) -> None:
        while (rest := self._source.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass

    def _notified(self, message: Message) -> None:
        request = message.params.get("requestId")
        if message.method == "notifications/cancelled" and isinstance(request, (int, str)):
            self._calls.cancel(request)

    def _answer(self, message: Message) -> None:
        if message.method == "initialize":
            self._respond(message, protocol.handshake(message))
        elif message.method == "server/discover":
            self._respond(message, protocol.discovery())
        elif message.method == "ping":
            self._respond(message, {})
        elif message.method == "tools/list":
            self._respond(message, protocol.lasting({"tools": [tool.described() for tool in self._tools.values()]}))
        elif message.method == "tools/call":
            self._call(message)
        else:
            raise ProtocolError(METHOD_NOT_FOUND, f"no method {message.method!r}")

    def _call(self, message: Message) -> None:
        name, token = message.params.get("name"), message.meta.get("progressToken")
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise ProtocolError(protocol.INVALID_PARAMS, f"no tool {name!r}: use one of {', '.join(self._tools)}")
        try:
            call = tool.call(message.params.get("arguments"), self._config)
        except UsageError as error:
            self._respond(message, protocol.failure(str(error)))
            return

        def report(done_s: float, most_s: float, text: str) -> None:
            if self._is_gone:
                raise CancelledError
            if isinstance(token, (int, str)):
                self._send(protocol.progress(token, done_s, most_s, text))

        def respond(result: Mapping[str, Any]) -> None:
            self._respond(message, result)

        assert message.id is not None
        call.report, call.respond = report, respond
        self._calls.begin(message.id, call)

    def _respond(self, message: Message, result: Mapping[str, Any]) -> None:
        self._send(protocol.response(message, result))

    def _send(self, message: Mapping[str, Any]) -> None:
        line = protocol.encoded(message)
        with self._writing:
            try:
                self._sink.write(line)
                self._sink.flush()
            except (OSError, ValueError):  # closed
                self._is_gone = True
