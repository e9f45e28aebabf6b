"""The framework of the training, tried in its own interpreter: a child that prints a line for each step, each with a deadline."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

_SCRIPT = Path(__file__).parent / "child" / "torch_probe.py"
STEP_S = 90.0
"""For each step: importing torch from a cold file server takes a minute. Engineering default."""


QUIET_STEPS = ("import", "toolchain")
ALL_STEPS = ("import", "reduce", "devices", "toolchain", "matmul", "copy", "agree", "workers")
"""In the order in which they are run: the ranks of the first collective start before there is a CUDA context."""


class Step(Struct, frozen=True):
    """What one step gave."""

    step: str
    values: dict[str, Any] = {}
    error: str | None = None


class FrameworkProbe:
    """One run of the child. Steps are asked for in any order, and wait until the child has come so far."""

    def __init__(self, python: str, workers: int, deadline_s: float = STEP_S, *, is_idle: bool = True) -> None:
        """`is_idle`: nobody else computes here. Otherwise only the steps that use neither GPUs nor cores are run."""
        self._command = (python, str(_SCRIPT), str(workers), *(ALL_STEPS if is_idle else QUIET_STEPS))
        self._deadline_s = deadline_s
        self._child: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the probe)
        self._rest = b""
        self._steps: dict[str, Step] = {}
        self._end: str | None = None
        """Why no further step will come."""

    def step(self, name: str) -> Step:
        """The answer to a step. Where the child hangs or ends before it, that is the error."""
        if self._child is None and self._end is None:
            self._start()
        until_s = time.monotonic() + self._deadline_s
        while name not in self._steps:
            if self._end is not None:
                return Step(name, error=self._end)
            self._read(name, until_s)
        return self._steps[name]

    def close(self) -> None:
        """Kill the child with all that it started."""
        child, self._child = self._child, None
        if child is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if child.stdout is not None:
                child.stdout.close()
        atexit.unregister(self.close)

    def _start(self) -> None:
        atexit.register(self.close)
        try:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        except OSError as error:
            self._end = f"{self._command[0]}: {(error.strerror or str(error)).lower()}"

    def _read(self, name: str, until_s: float) -> None:
        assert self._child is not None and self._child.stdout is not None
        ready, _, _ = select.select([self._child.stdout], [], [], max(0.0, until_s - time.monotonic()))
        if not ready:
            self._end = f"step {name!r} has not returned within {self._deadline_s:g} s"
            self.close()
            return
        piece = os.read(self._child.stdout.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            with contextlib.suppress(msgspec.DecodeError):  # a library that prints is no answer
                found = msgspec.json.decode(line, type=Step)
                self._steps[found.step] = found
        if not piece:
            self._end = self._last_words(self._child.wait())

    def _last_words(self, status: int) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"{self._command[0]} ended with exit code {status}" + (f": {lines[-1][:300]}" if lines else "")
