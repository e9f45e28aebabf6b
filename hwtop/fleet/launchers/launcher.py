"""The contract of a launcher, and the command line of the agent that it starts."""

from __future__ import annotations

import shlex
import sys
from typing import Literal, Protocol

from msgspec import Struct

Says = tuple[tuple[str, str], ...]
Carries = Literal["bytes", "lines"]
"""bytes: standard output is that of one agent. lines: of many (`hwtop.fleet.lines`)."""

_NO_PROGRAM = ("not found", "No module named", "No such file or directory", "not recognized", "executable file")
"""What shells, Python and container runtimes say where there is no such program."""
_WITHOUT_HWTOP = "hwtop is not on this node: install it there (pip install hwtop, not as root), or say how to run it: --agent 'uvx hwtop'"


class Agent(Struct, frozen=True, kw_only=True):
    """The agent to start on each node: it watches a job, or makes checks."""

    program: str | None = None
    """A shell command that runs hwtop; None: this interpreter where the node has it, else the hwtop on its PATH."""
    name: str | None = None
    """Pattern of the job's command line; the agent puts the name of its node in the place of `{host}`."""
    pid: str | None = None
    """As --pid of other commands."""
    interval_s: float = 1.0
    most_s: float = 12 * 3600.0
    checks: tuple[str, ...] | None = None
    """Options of `hwtop preflight`, where the agent shall make its checks instead of watching a job."""

    def arguments(self, node: str | None, *, lines: bool = False) -> str:
        """Of `hwtop agent`, for a shell. `node`: None where it finds its own name."""
        if self.checks is not None:
            named = ["--node", node] if node is not None else []
            return shlex.join(["--preflight", *self.checks, *named, *(["--lines"] if lines else [])])
        words = ["--interval", f"{self.interval_s:g}s", "--for", f"{self.most_s:g}s"]
        words += ["--node", node] if node is not None else []
        words += ["--name", self.name] if self.name is not None else []
        words += ["--pid", self.pid] if self.pid is not None else []
        words += ["--lines"] if lines else []
        return shlex.join(words)

    def shell(self, node: str | None, *, lines: bool = False) -> str:
        """A command for any login shell."""
        return f"exec sh -c {shlex.quote(self._posix(self.arguments(node, lines=lines)))}"

    def _posix(self, arguments: str) -> str:
        if self.program is not None:
            return f"exec {self.program} agent {arguments}"
        here = shlex.quote(sys.executable)
        return (
            f"if [ -x {here} ] && {here} -c 'import hwtop.fleet' 2>/dev/null; then exec {here} -m hwtop agent {arguments}; fi; "
            f"exec hwtop agent {arguments}"
        )


class Start(Struct, frozen=True, kw_only=True):
    """One process that has to run here."""

    nodes: tuple[str, ...]
    """Whose agents it starts; empty where only their messages tell."""
    command: tuple[str, ...]
    env: dict[str, str] | None = None
    """None: that of this process."""
    carries: Carries = "bytes"


class Launcher(Protocol):
    """One way to start agents."""

    says: Says
    """What its programs print where they fail -> the reason in words that say what to do; "{node}" in it is the node."""

    def starts(self, agent: Agent) -> tuple[Start, ...]:
        """What to run.

        Raises:
            UsageError: there is no such job, host or pod.
            CannotError: what this needs is not here.
        """


def reason(says: Says, node: str, code: int | None, errors: str) -> str:
    """Why the agent of a node has not begun, or has broken off.

    Args:
        says: as of the launcher.
        code: exit code of its process here; None while it runs.
        errors: the last that was printed on standard error, or instead of the protocol.
    """
    for text, meaning in says:
        if text in errors:
            return meaning.replace("{node}", shlex.quote(node))
    if code in (126, 127) or any(text in errors for text in _NO_PROGRAM):
        return _WITHOUT_HWTOP
    last = next((line.strip() for line in reversed(errors.splitlines()) if line.strip()), "")
    ended = "its agent has ended" if code is None else f"its agent has ended (exit code {code})"
    return f"{ended}: {last}" if last else ended
