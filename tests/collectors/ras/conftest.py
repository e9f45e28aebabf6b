"""Processes that answer as NCCL's RAS port does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import ras_server

StartServer = Callable[..., int]


@pytest.fixture
def port() -> Iterator[int]:
    """A free port, held without listening."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]


@pytest.fixture
def serve(port: int) -> Iterator[StartServer]:
    """Start a server of a kind; its PID."""
    with ExitStack() as stack:

        def start(kind: str, address: str = "127.0.0.1") -> int:
            process = subprocess.Popen(
                [sys.executable, "-S", str(Path(ras_server.__file__)), address, str(port), kind],
                env={**os.environ, "NCCL_RAS_ADDR": f"{address}:{port}"},
                stdout=subprocess.PIPE,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == b"listens\n"
            return process.pid

        yield start
