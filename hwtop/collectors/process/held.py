"""A process that is held while it is checked and signalled, so that no later process with its PID can be hit."""

from __future__ import annotations

import os
import signal
import sys
from types import TracebackType
from typing import final

import psutil

from hwtop.collectors.host.system import CLOCK_TICKS_PER_S


@final
class HeldProcess:
    """psutil compares the creation time before it sends; in the microseconds between the two the PID may change hands.

    On Linux 5.3 or later a descriptor (pidfd_open(2)) closes that gap: it belongs to this process and to no other.
    """

    def __init__(self, pid: int) -> None:
        """Raises ProcessLookupError where there is no such process, PermissionError where it is hidden."""
        self._descriptor = descriptor_of(pid)
        try:
            self._process = psutil.Process(pid)
            self.start_ticks = round((self._process.create_time() - psutil.boot_time()) * CLOCK_TICKS_PER_S)
            """Clock ticks after boot, as in ProcessInfo."""
        except psutil.Error as error:
            self.close()
            raise _os_error(error) from error

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it.

        Raises:
            ProcessLookupError: it has ended.
            PermissionError: it belongs to another user.
        """
        if self._descriptor is not None and sys.platform == "linux":
            signal.pidfd_send_signal(self._descriptor, number)
            return
        try:
            self._process.send_signal(number)
        except psutil.Error as error:
            raise _os_error(error) from error

    def close(self) -> None:
        """Release it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> HeldProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def descriptor_of(pid: int) -> int | None:
    """None where the kernel or Python's C library has no descriptors of processes.

    Raises:
        ProcessLookupError: there is no such process.
    """
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        return None


def _os_error(error: psutil.Error) -> OSError:
    return PermissionError(str(error)) if isinstance(error, psutil.AccessDenied) else ProcessLookupError(str(error))
