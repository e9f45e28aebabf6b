"""A real job of torch.distributed with several nodes, a torchrun and a rank on each, all of them on this machine."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.training import TrainingJob, job_file


@contextlib.contextmanager
def job_over(
    folder: Path, nodes: Sequence[str], script: str = "hang_missing", line: str = "^step 29 "
) -> Iterator[dict[str, TrainingJob]]:
    """Node -> its share of a job of tests/jobs, once each rank has written such a line. The last argument of each rank is the name
    of its node. At step 30 rank 1 of `hang_missing` does not come.
    """
    port = free_port()
    with contextlib.ExitStack() as stack:
        parts = {}
        for rank, node in enumerate(nodes):
            (folder / node).mkdir(parents=True)
            where = ["--nnodes", str(len(nodes)), "--node-rank", str(rank), "--nproc-per-node", "1"]
            meeting = ["--master-addr", "127.0.0.1", "--master-port", str(port)]
            torchrun = str(Path(sys.executable).parent / "torchrun")
            command = [torchrun, *where, *meeting, str(job_file(script)), node]
            part = TrainingJob(command, folder / node, {"GLOO_SOCKET_IFNAME": "lo"}, "launcher.log")
            parts[node] = stack.enter_context(part)
        for part in parts.values():
            part.wait_for_line(line)
        yield parts


def free_port() -> int:
    """Of this machine, now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
