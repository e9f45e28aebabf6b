"""How a process ended that another one has reaped: Linux 6.15 and later say it to whoever holds a descriptor of the process."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct

from hwtop.collectors.process.files import exit_code
from hwtop.collectors.process.held import descriptor_of

_INFO_BYTES = 64
"""The first version of struct pidfd_info (linux/pidfd.h)."""
_GET_INFO = 3 << 30 | _INFO_BYTES << 16 | 0xFF << 8 | 11
"""PIDFD_GET_INFO: _IOWR(0xFF, 11, struct pidfd_info)."""
_EXIT = 1 << 3
"""PIDFD_INFO_EXIT."""
_EXIT_AT = 60
"""Of the field exit_code."""
_MOST_HELD = 256
"""Descriptors, of the 1,024 files that a process may usually open. The launcher and the ranks come before their workers."""


class ExitStatuses:
    """Holds descriptors of the processes of a job."""

    def __init__(self) -> None:
        """Nothing is held yet."""
        self._descriptors: dict[int, int] = {}

    def hold(self, pid: int) -> None:
        """From now on it will be known how this process ends."""
        if len(self._descriptors) < _MOST_HELD and pid not in self._descriptors:
            with contextlib.suppress(OSError):
                if (descriptor := descriptor_of(pid)) is not None:
                    self._descriptors[pid] = descriptor

    def take(self, pid: int) -> int | None:
        """How it ended: negative = signal. None where the kernel does not say it. It is no longer held."""
        descriptor = self._descriptors.pop(pid, None)
        if descriptor is None:
            return None
        try:
            return _code(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Hold nothing any more."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])


def _code(descriptor: int) -> int | None:
    info = bytearray(_INFO_BYTES)
    struct.pack_into("Q", info, 0, _EXIT)
    try:
        fcntl.ioctl(descriptor, _GET_INFO, info)
    except OSError:
        return None
    (mask,), (status,) = struct.unpack_from("Q", info), struct.unpack_from("i", info, _EXIT_AT)
    return exit_code(status) if mask & _EXIT else None
