from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.process.listening_socket import (
    TcpSocket,
    UnixSocket,
    socket_inodes,
    tcp_listeners,
    unix_listeners,
)
from hwtop.collectors.stacks.debug_server import DebugServer, _tcp_socket, _unix_path
from tests.served_jobs import Served, served


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("sockets"), "unix", "tcp") as found:
        yield found


@pytest.mark.real
@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_a_real_server_is_found_and_answers(jobs: Served, kind: str) -> None:
    server = DebugServer.find(jobs[kind])
    assert server is not None
    names = server.handlers()
    assert {"ping", "dump_traceback", "fr_trace_json"} <= set(names)
    assert b"in train_step\n" in server.post("dump_traceback")
    assert "version" in json.loads(server.post("fr_trace_json", {"onlyactive": "false"}))


@pytest.mark.real
def test_a_handler_that_is_not_there_is_an_error_in_words(jobs: Served) -> None:
    server = DebugServer.find(jobs["unix"])
    assert server is not None
    with pytest.raises(OSError, match=r"/handler/nope with 404"):
        server.post("nope")


def test_a_process_without_a_server_has_none() -> None:
    assert DebugServer.find(os.getpid()) is None
    assert DebugServer.find(2**22 + 1) is None


@pytest.mark.real
def test_a_server_that_has_gone_is_an_error(jobs: Served, tmp_path: Path) -> None:
    with served(tmp_path, "unix") as found:
        server = DebugServer.find(found["unix"])
        assert server is not None
    with pytest.raises(OSError):
        server.handlers()


def answering(reply: bytes, wait: threading.Event | None = None) -> DebugServer:
    """A server that says `reply` to whatever it is asked; nothing more before `wait` is set."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        theirs.recv(4096)
        theirs.sendall(reply)
        if wait is not None:
            wait.wait(60)
        theirs.close()

    threading.Thread(target=serve, daemon=True).start()
    return DebugServer(42, lambda: ours)


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"\x00\x01\x02\x03",
        b"",
    ],
)
def test_what_is_no_worker_server_is_told_apart(reply: bytes) -> None:
    with pytest.raises(OSError, match="pid 42"):
        answering(reply).handlers()


@pytest.mark.parametrize("reply", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun"])
def test_a_silent_server_is_left_at_the_deadline(reply: bytes) -> None:
    over = threading.Event()
    with pytest.raises(TimeoutError, match=r"pid 42 did not answer within 0.2 s"):
        answering(reply, over).post("dump_traceback", deadline_s=0.2)
    over.set()


def test_listening_sockets_are_those_of_the_kernel() -> None:
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        unix.bind(f"\0hwtop-test-{os.getpid()}")
        unix.listen()
        own = socket_inodes(os.getpid())
        pid = os.getpid()
        assert [each.port for each in tcp_listeners(pid) if each.inode == own[tcp.fileno()]] == [tcp.getsockname()[1]]
        assert [each.path for each in unix_listeners(pid) if each.inode == own[unix.fileno()]] == [f"@hwtop-test-{pid}"]


STORE = TcpSocket("::", 29500, 1)
GLOO = TcpSocket("127.0.0.1", 40001, 2)
SERVER = TcpSocket("::", 40002, 3)
TENSORBOARD = TcpSocket("0.0.0.0", 6006, 4)
ENV = {"MASTER_PORT": "29500"}


@pytest.mark.parametrize(
    ("found", "accepting"),
    [
        ([STORE, GLOO, SERVER], frozenset()),
        ([STORE, GLOO, SERVER, TENSORBOARD], frozenset({3})),
        ([SERVER], frozenset()),
    ],
)
def test_the_servers_port_is_told_apart(found: list[TcpSocket], accepting: frozenset[int]) -> None:
    assert _tcp_socket(found, accepting, ENV) == SERVER


@pytest.mark.parametrize("found", [[STORE, GLOO], [], [STORE, SERVER, TENSORBOARD]])
def test_where_it_cannot_be_told_nothing_is_asked(found: list[TcpSocket]) -> None:
    with pytest.raises(OSError, match="so none is asked"):
        _tcp_socket(found, frozenset(), ENV)


@pytest.mark.parametrize(
    ("paths", "reported", "has_threads", "wanted"),
    [
        (["/tmp/a.sock", "/tmp/b.sock"], "/tmp/b.sock", False, "/tmp/b.sock"),
        (["/tmp/a.sock"], None, True, "/tmp/a.sock"),
        (["/tmp/a.sock"], None, False, None),
        (["/tmp/a.sock", "/tmp/pymp-x/listener-y"], None, True, "/tmp/a.sock"),
        (["@abstract"], None, True, None),
        (["/tmp/a.sock", "/tmp/b.sock"], None, True, None),
    ],
)
def test_the_servers_path_is_told_apart(
    paths: list[str], reported: str | None, has_threads: bool, wanted: str | None
) -> None:
    environ = {} if reported is None else {"TORCH_WORKER_SERVER_SOCKET": reported}
    assert _unix_path([UnixSocket(path, 1) for path in paths], environ, has_threads) == wanted
