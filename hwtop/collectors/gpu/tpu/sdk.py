"""TensorCore utilization: what only libtpu's own Python package reports, asked in a child process.

Loading libtpu takes seconds and has been seen to crash (google's tpu-info tries it in a child first); it must not happen here.
The child loads it once, answers a line with a line, and ends when its input does, however hwtop ends. Interface:
cloud.google.com/tpu/docs/tpu-monitoring-library.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable

from hwtop.collectors.abandon import Abandonable
from hwtop.errors import CannotError

_CHILD = """
import json, sys
from libtpu import sdk
monitoring = getattr(sdk, "tpumonitoring", None) or sdk.monitoring
for _ in sys.stdin:
    try:
        answer = [float(value) for value in monitoring.get_metric("tensorcore_util").data()]
    except Exception as error:
        answer = str(error) or type(error).__name__
    print(json.dumps(answer), flush=True)
"""
_EVERY_S = 5.0
_HUNG_S = 60.0
"""Loading the library takes seconds, on a busy machine more. Engineering default."""
_RETRY_S = 300.0
"""Between two children where the first crashed or hung."""


class TensorCores:
    """Utilization of each TensorCore of the host, at most every 5 s. Never blocks."""

    def __init__(self, now: Callable[[], float], python: str = sys.executable) -> None:
        self._now = now
        self._python = python
        self._slot = Abandonable("libtpu-sdk", self._ask, now)
        self._child: subprocess.Popen[str] | None = None
        self._due_s = now()
        self._answer: tuple[float, ...] | str = "not read yet"

    def read(self) -> tuple[float, ...]:
        """The newest answer, in percent.

        Raises:
            CannotError: libtpu is not installed here, or does not report it.
        """
        if self._now() >= self._due_s:
            self._poll()
        if isinstance(self._answer, str):
            raise CannotError(self._answer)
        return self._answer

    def close(self) -> None:
        """End the child. Does not wait."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _poll(self) -> None:
        try:
            self._answer = self._slot.poll(0.0)
            self._due_s = self._now() + (_EVERY_S if self._child is not None else _RETRY_S)
        except TimeoutError:
            if self._slot.out_for_s() > _HUNG_S:
                self._answer = "libtpu does not answer"
                self.close()  # its end ends the wait for its answer

    def _ask(self) -> tuple[float, ...] | str:
        if self._child is None:
            if importlib.util.find_spec("libtpu") is None:
                return "TensorCore utilization needs the package libtpu where hwtop is installed: pip install libtpu"
            self._child = subprocess.Popen(
                [self._python, "-c", _CHILD],
                cwd="/",  # with -c Python imports from the current directory first, which may be anybody's
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        line = ""
        with contextlib.suppress(OSError, ValueError):
            child.stdin.write("\n")
            child.stdin.flush()
            line = child.stdout.readline()
        if not line:
            self.close()
            return f"libtpu's Python package ended with status {child.wait()}: python -c 'from libtpu import sdk' shows why"
        answer: list[float] | str = json.loads(line)
        return f"libtpu: {answer}" if isinstance(answer, str) else tuple(answer)
