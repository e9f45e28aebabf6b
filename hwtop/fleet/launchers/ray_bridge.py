"""The child that speaks to Ray: `python -m hwtop.fleet.launchers.ray_bridge ADDRESS SHELL_COMMAND`.

An actor on each node runs the shell command, passes on what it prints, and gives it what comes from standard input here. The actors
end with this process, and the agents with their actors.
"""

from __future__ import annotations

import os
import shlex
import socket
import sys
import threading
from importlib import import_module
from typing import Any

_READ_BYTES = 1 << 16
_MOST_NODES = 4096
"""Of one cluster; bounds what is started."""
_ANSWER_S, _JOIN_S = 5.0, 30.0
"""For the head to accept a connection, and to let this driver in. Ray itself tries for minutes. Engineering defaults."""


class _Runner:
    """The actor. Self-contained: Ray ships it by value."""

    def __init__(self, command: str) -> None:
        import subprocess

        self._process = subprocess.Popen(  # noqa: S602 (the command line of the agent, made by hwtop)
            command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def output(self) -> Any:
        """Pieces of what it prints, until it ends."""
        import os

        assert self._process.stdout is not None
        while data := os.read(self._process.stdout.fileno(), 1 << 16):
            yield data

    def send(self, data: bytes) -> None:
        """To its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()


def main(address: str, command: str) -> None:
    """Until standard input ends."""
    ray: Any = import_module("ray")
    strategies: Any = import_module("ray.util.scheduling_strategies")

    out = os.dup(1)
    os.dup2(2, 1)  # what Ray prints is no output
    _join(ray, address)
    actors: list[Any] = []
    taken: dict[str, int] = {}
    writing = threading.Lock()
    for node in [each for each in ray.nodes() if each["Alive"]][:_MOST_NODES]:
        name = str(node.get("NodeName") or node["NodeManagerAddress"])
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:  # several on one machine
            name += f"-{taken[name]}"
        affinity = strategies.NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
        runner = ray.remote(num_cpus=0, max_concurrency=2, max_restarts=0, scheduling_strategy=affinity)(_Runner)
        actor = runner.remote(command.replace("{node}", shlex.quote(name)))
        actors.append(actor)
        threading.Thread(target=_pass_on, args=(ray, actor, name, out, writing), daemon=True).start()
    while data := os.read(0, _READ_BYTES):
        for actor in actors:
            actor.send.remote(data)


def _join(ray: Any, address: str) -> None:
    """Become a driver of the cluster.

    Raises:
        ConnectionError: no cluster answers there.
    """
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()
        except (OSError, OverflowError) as error:
            raise ConnectionError(f"Failed to connect to GCS: {error}") from None
    no_answer = threading.Timer(_JOIN_S, _give_up, [f"Failed to connect to GCS: no answer in {_JOIN_S:.0f} s"])
    no_answer.daemon = True
    no_answer.start()
    ray.init(address=address, log_to_driver=False, logging_level="error")
    no_answer.cancel()


def _give_up(reason: str) -> None:
    """End from another thread than the one that hangs."""
    os.write(2, f"{reason}\n".encode())
    os._exit(1)


def _pass_on(ray: Any, actor: Any, name: str, out: int, writing: threading.Lock) -> None:
    try:
        for piece in actor.output.options(num_returns="streaming").remote():
            data = ray.get(piece)
            with writing:
                _write(out, data)
    except Exception as error:  # whatever Ray raises: this node is gone, the others are not
        sys.stderr.write(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:200]}\n")


def _write(out: int, data: bytes) -> None:
    while data:
        data = data[os.write(out, data) :]


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
