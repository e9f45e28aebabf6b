"""Send a signal to exactly the processes that a person has confirmed."""

from __future__ import annotations

import os
import signal
import sys

from hwtop.collectors.process_files import read_stat
from hwtop.model.signal import SignalAnswer, SignalOrder, SignalTarget


def send(order: SignalOrder, proc: str = "/proc") -> tuple[SignalAnswer, ...]:
    """Send it to each target that is still the same process. Never blocks, never raises for a target.

    The process is held by a descriptor (pidfd_open(2), Linux 5.3) before its start time is compared, so its PID cannot change
    hands in between; an older kernel leaves a gap of some microseconds.
    """
    number = signal.Signals[order.signal]
    return tuple(_send(number, target, proc) for target in order.targets)


def _send(number: signal.Signals, target: SignalTarget, proc: str) -> SignalAnswer:
    pid = target.pid
    if pid <= 1 or pid == os.getpid():
        return SignalAnswer(pid=pid, error=f"PID {pid} is not one of the job's processes")
    descriptor: int | None = None
    try:
        descriptor = _hold(pid)
        if read_stat(f"{proc}/{pid}").start_ticks != target.start_ticks:
            return SignalAnswer(pid=pid, error=f"PID {pid} belongs to another process by now: nothing was sent")
        if descriptor is None:
            os.kill(pid, number)
        else:
            signal.pidfd_send_signal(descriptor, number)
    except PermissionError:
        command = f"sudo kill -{number.name.removeprefix('SIG')} {pid}"
        return SignalAnswer(pid=pid, error=f"no right to signal PID {pid}: another user's process", advice=command)
    except OSError:  # ESRCH, or its files in /proc are gone
        return SignalAnswer(pid=pid, error=f"PID {pid} has ended already")
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return SignalAnswer(pid=pid)


def _hold(pid: int) -> int | None:
    """A descriptor of the process; None where the kernel or Python's C library knows none.

    Raises:
        ProcessLookupError: it has ended.
    """
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        return None
