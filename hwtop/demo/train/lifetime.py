"""No process of a demo job outlives the one that started it, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent(parent_pid: int) -> None:
    """Ask the kernel to kill this process when its parent ends; also works while this process is stopped or blocked.

    The parent must have forked from a thread that lives as long as itself: the kernel watches the thread, see
    PR_SET_PDEATHSIG in prctl(2). Where there is no prctl nothing is done; the launcher then ends its group itself.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:  # it ended before the call
        os.kill(os.getpid(), signal.SIGKILL)
