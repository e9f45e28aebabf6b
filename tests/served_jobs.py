"""Real hung trainers that run torch's debug server."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

from hwtop.collectors.stacks.debug_server import DebugServer
from tests.stack_jobs import running, until

SCRIPT = Path(__file__).parent / "data" / "attach" / "served_trainer.py"
Served = dict[str, int]
"""Kind -> pid."""


@contextlib.contextmanager
def served(folder: Path, *kinds: str) -> Iterator[Served]:
    """One trainer of each kind, started together; all servers answer."""
    with contextlib.ExitStack() as stack:
        pids = {}
        for kind in kinds:
            env = {"TORCH_WORKER_SERVER_SOCKET": str(folder / f"{kind}.sock")}
            if kind == "tcp":
                env = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "RANK": "0", "WORLD_SIZE": "1"}
            pids[kind] = stack.enter_context(running(SCRIPT, kind, **env))
        for kind, pid in pids.items():
            path = folder / f"{kind}.sock"
            assert until(path.exists if kind == "closed" else lambda pid=pid: _answers(pid), bool)  # type: ignore[misc]
        yield pids


def _answers(pid: int) -> bool:
    try:
        server = DebugServer.find(pid)
        return server is not None and bool(server.handlers())
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
