"""Deep looks: what the user asked for and confirmed because it touches the job. Never done on hwtop's own account.

"native" (py-spy) and "pystack" stop all threads of the process while they read them; the process is checked afterwards and, where
the tool left it stopped, let go on. "faulthandler" sends a signal that the process itself answers.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import get_args

from hwtop.collectors.child import Children
from hwtop.collectors.process.files import read_threads
from hwtop.collectors.process.repair import repaired
from hwtop.collectors.process.sudo import Sudo, not_roots
from hwtop.collectors.process.target_state import read_state
from hwtop.collectors.stacks.faulthandler_signal import ask_faulthandler
from hwtop.collectors.stacks.pyspy import find_pyspy
from hwtop.collectors.stacks.pyspy_errors import Explained, circumstance, explain, no_binary
from hwtop.job.secrets import masked_text
from hwtop.job.stacks.deep_looks import PYSTACK_ADVICE, cannot_pause
from hwtop.model.plan import Request, SamplingPlan
from hwtop.model.stack import DeepDump, DeepKind, DeepReading

DEADLINE_S = 30.0
"""Of a tool that stops the process: 1 s as a rule; engineering default, far below the 10 minutes after which NCCL gives up."""
_HEAD_LINES = 5
_REFUSED = ("permission denied", "operation not permitted")


def find_pystack() -> str | None:
    """The program next to this Python, else in PATH."""
    own = os.path.join(os.path.dirname(sys.executable), "pystack")
    return own if os.access(own, os.X_OK) else shutil.which("pystack")


class DeepSource:
    """Fills `Snapshot.deep`. Requests are served one after another by a thread of its own."""

    name = "deep"
    every_s = 0.0

    def __init__(
        self,
        *,
        pyspy: Sequence[str] | None = None,
        pystack: Sequence[str] | None = None,
        sudo: Sudo | None = None,
        proc: str = "/proc",
        deadline_s: float = DEADLINE_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`pyspy` and `pystack` replace the programs; they are called with their options appended."""
        self._programs: dict[DeepKind, list[str]] = {
            "native": _program(pyspy, find_pyspy()),
            "pystack": _program(pystack, find_pystack()),
        }
        self._sudo = sudo or Sudo()
        self._proc = proc
        self._deadline_s = deadline_s
        self._now = now
        self._children = Children()
        self._changed = threading.Condition()
        self._asked: deque[Request] = deque()
        self._done: deque[DeepDump] = deque()
        self._served = 0
        self._thread: threading.Thread | None = None
        self._is_closing = False

    def probe(self) -> str | None:
        """Always: an answer says for itself why it failed."""
        return None

    def set_plan(self, plan: SamplingPlan) -> None:
        """Take on a request that was not served yet."""
        request = plan.request
        if request is None or request.number <= self._served:
            return
        self._served = request.number
        if request.kind not in get_args(DeepKind):  # served by other sources
            return
        with self._changed:
            self._asked.append(request)
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="hwtop-deep-looks", daemon=True)
            self._thread.start()

    def read(self) -> DeepReading:
        """The answers since the last read, each once."""
        with self._changed:
            dumps = tuple(self._done)
            self._done.clear()
        return DeepReading(at_s=self._now(), dumps=dumps)

    def close(self) -> None:
        """Serve no more, and end a tool that is at work. Does not wait."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._children.close()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked or self._is_closing)
                if self._is_closing:
                    return
                request = self._asked.popleft()
            dump = self.look(request)
            with self._changed:
                self._done.append(dump)

    def look(self, request: Request) -> DeepDump:
        """Serve one request. Never raises for what the target or the tool does."""
        pid = request.pid
        kind: DeepKind
        match request.kind:
            case "faulthandler":
                kind, (text, failure) = "faulthandler", ask_faulthandler(pid, self._proc)
            case "pystack":
                kind, (text, failure) = "pystack", self._paused(pid, "pystack", ["remote", "--native-all", str(pid)])
            case _:
                kind, (text, failure) = "native", self._paused(pid, "native", ["dump", "--native", "-p", str(pid)])
        return DeepDump(
            request=request.number,
            pid=pid,
            at_s=self._now(),
            kind=kind,
            text=_without_secrets(text),
            error=failure.error if failure else None,
            advice=failure.advice or None if failure else None,
        )

    def _paused(self, pid: int, kind: DeepKind, arguments: list[str]) -> tuple[str, Explained | None]:
        """(what the tool printed, why it failed or what is wrong with the process now)."""
        program = self._programs[kind]
        if not program:
            missing = Explained("pystack is not installed", PYSTACK_ADVICE)
            return "", missing if kind == "pystack" else no_binary()
        before = read_state(pid, self._proc)
        try:
            threads = [thread.state for thread in read_threads(f"{self._proc}/{pid}")]
        except OSError:
            threads = []
        reason = f"no process {pid}" if before is None else cannot_pause(pid, before.state, threads)
        if before is None or reason is not None:
            return "", Explained(f"pid {pid} is not read: {reason}", "")
        text, failure = self._run([*program, *arguments], pid)
        if failure is not None and failure.cause == "denied" and self._sudo.would_help and self._sudo.refusal() is None:
            text, failure = self._as_root(program, arguments, pid)
        if before.is_held:
            return text, failure
        note, harm = repaired(pid, before, self._proc)
        return (f"{note}\n\n{text}" if note else text), harm or failure

    def _as_root(self, program: list[str], arguments: list[str], pid: int) -> tuple[str, Explained | None]:
        roots = self._sudo.program(program[0])
        if roots is None:
            return "", not_roots(program[0])
        return self._run([*self._sudo.prefix(self._deadline_s), roots, *program[1:], *arguments], pid)

    def _run(self, command: list[str], pid: int) -> tuple[str, Explained | None]:
        name = os.path.basename(command[0])
        try:
            ended = self._children.run(command, self._deadline_s)
        except OSError as error:
            return "", Explained(f"{name} cannot be started: {error}", f"pip install -U {name}")
        text = ended.out.decode(errors="replace")
        if ended.status is None:
            return text, Explained(f"{name} did not end within {self._deadline_s:g} s and was killed", "")
        if ended.status == 0:
            return text, None
        if any(word in ended.err.lower() for word in _REFUSED):
            return text, explain("Permission denied (os error 13)", circumstance(pid, command[0], self._proc))
        lines = [line.strip() for line in ended.err.splitlines() if line.strip()]
        return text, Explained(f"{name}: {lines[-1] if lines else f'exit status {ended.status}'}", "")


def _without_secrets(text: str) -> str:
    """The tools name the process by its command line, in one of their first lines."""
    *head, rest = text.split("\n", _HEAD_LINES)
    return "\n".join((*(masked_text(line) for line in head), rest if len(head) == _HEAD_LINES else masked_text(rest)))


def _program(given: Sequence[str] | None, found: str | None) -> list[str]:
    if given is not None:
        return list(given)
    return [found] if found else []
