"""Send a signal to exactly the processes that the user has confirmed."""

from __future__ import annotations

import os
import signal

from hwtop.collectors.process.held import HeldProcess
from hwtop.model.signal import SignalAnswer, SignalOrder, SignalTarget


def send(order: SignalOrder) -> tuple[SignalAnswer, ...]:
    """Send it to each target that is still the same process. Never blocks, never raises for a target.

    What becomes of the targets is in the next readings of the processes.
    """
    number = signal.Signals[order.signal]
    return tuple(_send(number, target) for target in order.targets)


def _send(number: signal.Signals, target: SignalTarget) -> SignalAnswer:
    pid = target.pid
    if pid <= 1 or pid == os.getpid():
        return SignalAnswer(pid=pid, error=f"PID {pid} is not one of the job's processes")
    try:
        with HeldProcess(pid) as process:
            if process.start_ticks != target.start_ticks:
                return SignalAnswer(pid=pid, error=f"PID {pid} belongs to another process now: nothing was sent")
            process.send(number)
    except PermissionError:
        command = f"sudo kill -{number.name.removeprefix('SIG')} {pid}"
        return SignalAnswer(
            pid=pid, error=f"not permitted to signal PID {pid}: it belongs to another user", advice=command
        )
    except ProcessLookupError:
        return SignalAnswer(pid=pid, error=f"PID {pid} has ended already")
    return SignalAnswer(pid=pid)
