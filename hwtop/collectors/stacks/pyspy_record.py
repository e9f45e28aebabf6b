"""Many samples of one process from one py-spy: `py-spy record --nonblocking` for a few seconds.

Starting py-spy takes some 8 ms of CPU, a sample 0.3 ms: a window of 20 samples costs less than two dumps. What it does not
report is the OS state of the threads and who holds the interpreter lock. py-spy spaces its samples at random (exponentially)
about the rate, so they do not fall in step with the training.

The format asked for is speedscope: JSON (no frame name can break it), one list of stacks a thread, in order of time. Times
are not reported, so samples are taken as evenly spread from start to end. Format: speedscope.rs of py-spy 0.4.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from hwtop.collectors.child import OUTPUT, Children, Ended
from hwtop.collectors.stacks.pyspy import find_pyspy, is_whole
from hwtop.collectors.stacks.pyspy_errors import Explained, circumstance, explain, no_binary
from hwtop.job.stacks.frames import training_thread
from hwtop.job.stacks.short_names import ShortNames
from hwtop.job.whole_number import whole_number
from hwtop.model.stack import StackDump, StackFrame, StackProfile, StackSample, ThreadStack

WINDOW_S = 4
"""Whole seconds (py-spy takes no others). After a kill -9 of hwtop a py-spy goes on for as long at most, or twice that on
a busy machine."""
SAMPLES = 20
"""In one window."""
_SLACK_S = 5.0
_THREAD = re.compile(r'Thread (\S+) "(.*)"', re.DOTALL)
"""Name of a profile; the thread is named by its OS id where that is known, else by its pthread address."""


class _Frame(Struct):
    name: str
    file: str | None = None
    line: int | None = None


class _Shared(Struct):
    frames: list[_Frame]


class _Profile(Struct):
    name: str
    samples: list[list[int]]


class _File(Struct):
    profiles: list[_Profile]
    shared: _Shared


class Take(Struct, frozen=True):
    """One finished window and what it took."""

    profile: StackProfile
    cpu_s: float
    """CPU time of the child."""


class PySpyRecord:
    """Takes windows of samples. Safe to use from several threads at once."""

    def __init__(
        self,
        command: Sequence[str] | None = None,
        *,
        names: ShortNames | None = None,
        proc: str = "/proc",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`command` replaces the binary; it is called with "record ... -p PID" appended. `names` is what is known of the
        job's files so far.
        """
        found = find_pyspy() if command is None else None
        self._command = list(command) if command is not None else [found] if found else []
        self.names = names or ShortNames()
        self._proc = proc
        self._now = now
        self._children = Children(end_at_exit=True)

    def take(self, pid: int, seconds: int = WINDOW_S, rate_per_s: int = SAMPLES // WINDOW_S) -> Take:
        """Samples of the training thread of `pid` for about so long. Never raises for what the target or py-spy does.

        A target that ends meanwhile gives the samples until then. Torn stacks are left out.
        """
        began_s = self._now()
        if not self._command:
            return self._failed(pid, began_s, no_binary(), 0.0)
        try:
            ended = self._children.run(self._arguments(pid, seconds, rate_per_s), 2 * seconds + _SLACK_S)
        except OSError as error:
            reason = Explained(f"py-spy cannot be started: {error}", "pip install -U py-spy")
            return self._failed(pid, began_s, reason, 0.0)
        failure = self._failure(pid, ended)
        if failure is not None:
            return self._failed(pid, began_s, failure, ended.cpu_s)
        try:
            samples = parse(ended.out, pid, began_s, self._now(), self.names)
        except (msgspec.MsgspecError, UnicodeDecodeError, IndexError) as error:
            reason = Explained(f"py-spy's samples of pid {pid} cannot be read: {error}", "pip install -U py-spy")
            return self._failed(pid, began_s, reason, ended.cpu_s)
        return Take(StackProfile(pid=pid, from_s=began_s, to_s=self._now(), samples=samples), ended.cpu_s)

    def close(self) -> None:
        """End the windows that are open. Does not wait."""
        self._children.close()

    def _arguments(self, pid: int, seconds: int, rate_per_s: int) -> list[str]:
        options = f"-d {seconds} -r {rate_per_s} -f speedscope --nonblocking -i --full-filenames --hideprogress"
        return [*self._command, "record", *options.split(), "-o", OUTPUT, "-p", str(pid)]

    def _failure(self, pid: int, ended: Ended) -> Explained | None:
        if ended.status is None:
            return Explained(f"py-spy did not end in time for pid {pid}", "hwtop tries again", is_lasting=False)
        if ended.status != 0:
            return explain(ended.err, circumstance(pid, self._command[0], self._proc))
        return None

    def _failed(self, pid: int, began_s: float, why: Explained, cpu_s: float) -> Take:
        profile = StackProfile(pid=pid, from_s=began_s, to_s=self._now(), error=why.error, advice=why.advice)
        return Take(profile, cpu_s)


def parse(text: bytes, pid: int, from_s: float, to_s: float, names: ShortNames) -> tuple[StackSample, ...]:
    """The samples of the training thread in py-spy's speedscope file; none of a file without samples.

    Raises:
        msgspec.MsgspecError: it is not that JSON.
        IndexError: a sample names a frame that the file does not hold.
    """
    if not text.strip():
        return ()  # the process ended before the first sample
    file = msgspec.json.decode(text, type=_File)
    frames = [_frame(frame, names) for frame in file.shared.frames]
    threads = [_Thread(profile, frames) for profile in file.profiles if any(profile.samples)]
    if not threads:
        return ()
    stacks = _training(threads, pid).stacks
    apart_s = (to_s - from_s) / len(stacks)
    return tuple(
        StackSample(at_s=from_s + (index + 0.5) * apart_s, frames=stack)
        for index, stack in enumerate(stacks)
        if is_whole((_as_thread(None, None, stack),))
    )


class _Thread:
    """The stacks of one thread; equal ones are one object."""

    def __init__(self, profile: _Profile, frames: Sequence[StackFrame]) -> None:
        named = _THREAD.match(profile.name)
        self.os_id = whole_number(named[1]) if named else None
        self.name = named[2] if named else None
        known: dict[tuple[int, ...], tuple[StackFrame, ...]] = {}
        self.stacks: list[tuple[StackFrame, ...]] = []
        """Leaf first."""
        for sample in profile.samples:
            indices = tuple(sample)
            if indices not in known:
                known[indices] = tuple(frames[index] for index in reversed(indices))
            self.stacks.append(known[indices])


def _training(threads: Sequence[_Thread], pid: int) -> _Thread:
    """The main thread, as in a dump; the one that trains where that only serves calls."""
    by_id = next((thread for thread in threads if thread.os_id == pid), threads[-1])
    main = next((thread for thread in threads if thread.name == "MainThread"), by_id)
    ordered = [main, *(thread for thread in threads if thread is not main)]
    seen = [_as_thread(thread.name, thread.os_id, thread.stacks[0]) for thread in ordered]
    trains = training_thread(StackDump(pid=pid, at_s=0.0, threads=tuple(seen)))
    return next(thread for thread, each in zip(ordered, seen, strict=True) if each is trains)


def _as_thread(name: str | None, os_id: int | None, frames: tuple[StackFrame, ...]) -> ThreadStack:
    return ThreadStack(name=name, os_thread_id=os_id, is_active=True, owns_gil=False, frames=frames)


def _frame(frame: _Frame, names: ShortNames) -> StackFrame:
    filename = frame.file or ""
    return StackFrame(name=frame.name, filename=filename, short_filename=names.of(filename), line=frame.line or 0)
