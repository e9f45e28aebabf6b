"""The server by itself: messages in, messages out."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from typing import Annotated, Any, BinaryIO

import pytest
from msgspec import Meta

from hwtop.config import Config
from hwtop.errors import CannotError
from hwtop.mcp import tool as tool_module
from hwtop.mcp.calls import Call
from hwtop.mcp.server import Server
from hwtop.mcp.tool import Answer, Arguments, Tool
from hwtop.report.job.jobs import JobsReport

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
EMPTY = JobsReport(jobs=(), scanned=0, truncated=False)


class Asked(Arguments, frozen=True):
    """Arguments of the tools here."""

    name: Annotated[str, Meta(max_length=5)] = "a"

    @property
    def watches_s(self) -> float:
        """The deadline is so much later than that of one that watches nothing."""
        return -59.9 if self.name == "late" else 0.0


class Client:
    """Speaks to a server in this process through pipes."""

    def __init__(self, run: Callable[[Asked, Call, Config], Answer]) -> None:
        """`run` is what the tools do; `slow` takes turns, `free` does not."""
        kinds = (("slow", True), ("free", False))
        tools = [
            Tool(name=name, title=name, about="", arguments=Asked, schema="jobs", run=run, takes_turn=turn)
            for name, turn in kinds
        ]
        self._to, self._from = _pipe(), _pipe()
        server = Server(self._to[0], self._from[1], tools, Config())
        self._thread = threading.Thread(target=server.serve, daemon=True)
        self._thread.start()

    def write(self, line: bytes) -> None:
        self._to[1].write(line + b"\n")
        self._to[1].flush()

    def send(self, method: str, request: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if request is None else {"id": request})
        self.write(json.dumps(message).encode())

    def call(self, request: int, name: str = "free", **params: Any) -> None:
        self.send("tools/call", request, name=name, **params)

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._from[0].readline())
        assert found["jsonrpc"] == "2.0"
        return found

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.send(method, 1, **params)
        return self.read()

    def leave(self) -> bool:
        """Whether the server has ended."""
        self._to[1].close()
        self._thread.join(30)
        return not self._thread.is_alive()


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reader, writer = os.pipe()
    return os.fdopen(reader, "rb"), os.fdopen(writer, "wb")


def at_once(_: Asked, __: Call, ___: Config) -> Answer:
    return Answer(EMPTY, "nothing")


def text_of(response: dict[str, Any]) -> tuple[bool, str]:
    return response["result"]["isError"], response["result"]["content"][0]["text"]


@pytest.mark.parametrize(("asked", "given"), [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")])
def test_a_handshake_agrees_on_a_version(asked: str, given: str) -> None:
    found = Client(at_once).ask("initialize", protocolVersion=asked, capabilities={}, clientInfo={})["result"]
    assert (found["protocolVersion"], found["serverInfo"]["name"]) == (given, "hwtop")


def test_without_a_handshake_each_request_names_its_version() -> None:
    client = Client(at_once)
    found = client.ask("server/discover", _meta=MODERN)["result"]
    assert found["supportedVersions"][0] == "2026-07-28" and found["resultType"] == "complete"
    wrong = client.ask("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2999-01-01"})["error"]
    assert wrong["code"] == -32022 and "2026-07-28" in wrong["data"]["supported"]


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"{", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":' + b"[" * 200_000, -32700, None),
        (b"7", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":"a","method":"resources/list"}', -32601, "a"),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"kill"}}', -32602, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"' + b"x" * (3 << 20) + b'"}', -32700, None),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else str(value),
)
def test_what_is_no_request_is_refused_and_the_next_one_is_answered(
    line: bytes, code: int, request_id: int | str | None
) -> None:
    client = Client(at_once)
    client.write(line)
    found = client.read()
    assert (found["error"]["code"], found["id"]) == (code, request_id)
    assert client.ask("ping")["result"] == {}


@pytest.mark.parametrize("arguments", [{"pid": 1}, {"name": 5}, {"name": "too long"}, [], "a"])
def test_wrong_arguments_are_an_error_that_the_model_reads(arguments: object) -> None:
    client = Client(at_once)
    client.call(1, arguments=arguments)
    is_error, text = text_of(client.read())
    assert is_error and text.startswith("invalid arguments of free: ")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (CannotError("no \x1b[2J process"), "no ␛[2J process"),
        (ValueError("x"), "internal error: ValueError: x"),
    ],
)
def test_a_tool_that_fails_says_why_without_a_traceback(error: Exception, text: str) -> None:
    def fails(_: Asked, __: Call, ___: Config) -> Answer:
        raise error

    client = Client(fails)
    client.call(1)
    assert text_of(client.read()) == (True, text)


class Gate:
    """A tool that waits until it is let go on."""

    def __init__(self) -> None:
        """It is closed."""
        self.opened, self.began = threading.Event(), threading.Semaphore(0)

    def run(self, _: Asked, call: Call, __: Config) -> Answer:
        self.began.release()
        self.opened.wait(30)
        return Answer(EMPTY, "done")


def test_calls_that_sample_stacks_take_turns_and_others_do_not() -> None:
    gate = Gate()
    client = Client(gate.run)
    for request, name in ((1, "slow"), (2, "slow"), (3, "free")):
        client.call(request, name)
    assert gate.began.acquire(timeout=30) and gate.began.acquire(timeout=30)
    assert client.ask("ping")["result"] == {}, "the server answers meanwhile"
    assert not gate.began.acquire(blocking=False), "the second slow one waits for the first"
    gate.opened.set()
    assert {client.read()["id"] for _ in range(3)} == {1, 2, 3}


def test_a_call_that_was_cancelled_is_not_answered_and_the_next_one_has_its_turn() -> None:
    gate = Gate()
    client = Client(gate.run)
    client.call(1, "slow")
    client.call(2, "slow")
    client.send("notifications/cancelled", requestId=1)
    assert gate.began.acquire(timeout=30) and gate.began.acquire(timeout=30)
    gate.opened.set()
    assert client.read()["id"] == 2
    assert client.ask("ping")["id"] == 1


def test_a_call_that_does_not_return_is_answered_at_its_deadline_and_the_next_one_has_its_turn() -> None:
    gate = Gate()
    client = Client(gate.run)
    client.call(1, "slow", arguments={"name": "late"})
    is_error, text = text_of(client.read())
    assert is_error and text.startswith("no answer within ")
    gate.opened.set()
    client.call(2, "slow")
    assert text_of(client.read()) == (False, "done")


def test_too_many_calls_at_once_are_refused() -> None:
    gate = Gate()
    client = Client(gate.run)
    for request in range(9):
        client.call(request)
    assert text_of(client.read()) == (True, "8 calls are under way: wait for one of them to end")
    gate.opened.set()


def test_the_server_ends_with_its_client_while_a_call_is_under_way() -> None:
    gate = Gate()
    client = Client(gate.run)
    client.call(1)
    assert gate.began.acquire(timeout=30)
    assert client.leave()
    gate.opened.set()


def test_a_long_answer_is_cut_and_says_so() -> None:
    lines = tuple(f"{number} {'x' * 1000}" for number in range(500))

    def long(_: Asked, __: Call, ___: Config) -> Answer:
        return Answer(JobsReport(jobs=(), scanned=0, truncated=False, untrusted=lines), "many", "hwtop")

    client = Client(long)
    client.call(1)
    found = client.read()["result"]
    assert len(json.dumps(found)) < tool_module._MOST_BYTES + 1_000
    assert found["structuredContent"]["untrusted"][0].startswith("0 xxx")
    assert (
        found["content"][0]["text"] == "many\nCut: lists of the structured content, to 64 entries; `hwtop` prints all"
    )
