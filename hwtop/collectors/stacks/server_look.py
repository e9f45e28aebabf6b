"""One sample of the Python stacks of one process through torch's debug server in it."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec.structs import replace

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.process.target_state import TargetState, read_state
from hwtop.collectors.stacks.debug_server import DEADLINE_S, DebugServer
from hwtop.collectors.stacks.faulthandler_text import parse_faulthandler
from hwtop.collectors.stacks.pyspy import DumpResult
from hwtop.collectors.stacks.pyspy_errors import Explained
from hwtop.job.stacks.short_names import ShortNames
from hwtop.model.stack import StackDump, ThreadStack

_FIND_S = 1.0
"""Reading /proc/PID takes a millisecond unless the process is in uninterruptible sleep."""
_COST_S = 0.01
"""What a look counts at least: the job pays for it too, so it is asked no more often than py-spy would look."""
_SILENCE_S = 300.0
"""A server that did not answer waits for the interpreter lock; each further request would keep another of its threads."""
_MAIN = "MainThread"
_ADVICE = (
    "for the next run, in the script: os.environ['TORCH_WORKER_SERVER_SOCKET'] = f'/tmp/debug-{os.getpid()}.sock', then "
    "with torch.distributed.elastic.control_plane.worker_main(): main()"
)
"""Not in the environment of the launcher: all ranks would listen at one path, and all but one fail."""


class _NoServerError(OSError):
    """The process runs none."""


class ServerLook:
    """Asks the debug server of a process for `dump_traceback`. Safe to use from several threads at once."""

    def __init__(
        self, *, proc: str = "/proc", deadline_s: float = DEADLINE_S, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._proc = proc
        self._deadline_s = deadline_s
        self._now = now
        self._names = ShortNames()
        self._servers: dict[tuple[int, int], DebugServer] = {}
        self._finding: dict[int, Abandonable[DebugServer | None]] = {}
        self._silent_until_s: dict[tuple[int, int], float] = {}

    def look(self, pid: int) -> DumpResult:
        """Dump the stacks of `pid`. Never raises for what the target does."""
        began_s = time.thread_time()
        state = read_state(pid, self._proc)
        if state is None:
            return self._failed(pid, Explained(f"no process {pid}", "", cause="no-target"), began_s)
        try:
            threads = self._threads(pid, state)
        except TimeoutError as error:
            self._silent_until_s[pid, state.start_ticks] = self._now() + _SILENCE_S
            return self._failed(pid, Explained(str(error), "hwtop asks again in five minutes"), began_s)
        except _NoServerError:
            return self._failed(pid, Explained("no debug server runs in it", _ADVICE), began_s)
        except OSError as error:
            self._servers.pop((pid, state.start_ticks), None)
            return self._failed(pid, Explained(str(error), ""), began_s)
        if not threads:
            return self._failed(pid, Explained(f"pid {pid} shows no Python frame", "hwtop tries again", False), began_s)
        dump = StackDump(pid=pid, at_s=self._now(), threads=threads, via="debug-server")
        return DumpResult(dump, self._cost_s(began_s))

    def _threads(self, pid: int, state: TargetState) -> tuple[ThreadStack, ...]:
        """faulthandler's text has neither the state of a thread nor its id; for the main thread the kernel has both.

        Raises:
            OSError: no server, or no answer.
        """
        if self._now() < self._silent_until_s.get((pid, state.start_ticks), 0.0):
            raise OSError("it did not answer before")
        server = self._server(pid, state)
        text = server.post("dump_traceback", deadline_s=self._deadline_s).decode(errors="replace")
        threads = parse_faulthandler(text, self._names)
        if not threads:
            return ()
        main = threads[0]
        return (replace(main, name=main.name or _MAIN, os_thread_id=pid, is_active=state.state == "R"), *threads[1:])

    def _server(self, pid: int, state: TargetState) -> DebugServer:
        known = self._servers.get((pid, state.start_ticks))
        if known is not None:
            return known
        call = self._finding.setdefault(
            pid, Abandonable(f"server-of-{pid}", lambda: DebugServer.find(pid, self._proc), self._now)
        )
        try:
            found = call.poll(_FIND_S)
        except TimeoutError as error:
            raise OSError(f"/proc/{pid} is {error}") from error
        self._finding.pop(pid, None)
        if found is None:
            raise _NoServerError
        if "dump_traceback" not in found.handlers(self._deadline_s):
            raise OSError("it has no dump_traceback")
        self._servers[pid, state.start_ticks] = found
        return found

    def _failed(self, pid: int, why: Explained, began_s: float) -> DumpResult:
        dump = StackDump(pid=pid, at_s=self._now(), error=why.error, advice=why.advice, via="debug-server")
        return DumpResult(dump, self._cost_s(began_s), why)

    @staticmethod
    def _cost_s(began_s: float) -> float:
        return max(time.thread_time() - began_s, _COST_S)
