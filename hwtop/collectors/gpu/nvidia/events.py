"""Xid events as the NVIDIA driver reports them to everybody: no access to the kernel's log is needed.

One daemon thread waits for all GPUs, in slices, so that it notices GPUs that come and the end of hwtop; it may hang in the
driver and be abandoned. Source: event set functions of nvml.h; an event of unknown code is 999 there.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.cost import CallLedger, timed
from hwtop.model.gpu.health import XidEvent

_XID = 0x8  # nvmlEventTypeXidCriticalError
_TIMEOUT = 10  # NVML_ERROR_TIMEOUT
_KEPT = 16
_SLICE_S = 2.0
_LEAST_S = 0.02
"""Between two events: a fault can be reported thousands of times, and the newest 16 are as good as all."""
_REGISTER_S = 1.0
"""How long the registration of one GPU may hold up those of the others."""
_RETRY_S = 30.0
"""Between two attempts to register a GPU that refuses, and at most between two attempts after a failure."""


class XidWatch:
    """The newest 16 Xid events of each GPU since hwtop began to watch."""

    def __init__(self, lib: Any, now: Callable[[], float]) -> None:
        self.ledger = CallLedger()
        """Without the waiting, which costs the driver nothing."""
        self.reason: str | None = None
        """Why no events can be had of any GPU; None while they can."""
        self._lib = lib
        self._now = now
        self._wanted: tuple[int, ...] = ()
        self._seen: dict[int, tuple[XidEvent, ...]] = {}
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, indexes: Iterable[int]) -> None:
        """Take events of these GPUs, numbered as NVML does; more may be named later."""
        self._wanted = tuple(indexes)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="hwtop-xid", daemon=True)
            self._thread.start()

    def seen(self, index: int) -> tuple[XidEvent, ...]:
        """Events of a GPU, oldest first. They outlive the GPU."""
        return self._seen.get(index, ())

    def close(self) -> None:
        """Ask the thread to end; does not wait for it."""
        self._closing.set()

    def _run(self) -> None:
        pause_s = 1.0
        while not self._closing.is_set() and self.reason is None:
            try:
                events = _EventSet(self._lib, self.ledger)
                with contextlib.closing(events):
                    while not self._closing.is_set() and self.reason is None:
                        self._take(events)
                        pause_s = 1.0
            except Exception as error:  # pynvml raises two unrelated classes, see codes.code_of
                if codes.code_of(error) in (codes.NOT_SUPPORTED, codes.FUNCTION_NOT_FOUND):
                    self.reason = f"the driver reports no Xid events ({error})"
            self._closing.wait(pause_s)
            pause_s = min(_RETRY_S, 2 * pause_s)

    def _take(self, events: _EventSet) -> None:
        """One slice of waiting, or one event."""
        events.register(self._wanted)
        if events.unsupported.issuperset(self._wanted):
            self.reason = "these GPUs report no Xid events"
            return
        started_s = time.monotonic()
        event = events.wait(_SLICE_S)
        if event is None:  # some drivers do not wait at all
            self._closing.wait(_SLICE_S - (time.monotonic() - started_s))
            return
        if event.gpu is not None:
            seen = (*self.seen(event.gpu), XidEvent(code=event.code, at_s=self._now()))
            self._seen[event.gpu] = seen[-_KEPT:]
        self._closing.wait(_LEAST_S)


class _Event(NamedTuple):
    gpu: int | None
    """None: of a GPU that is not known here."""
    code: int


class _EventSet:
    """A set of NVML's with the GPUs that are registered in it."""

    def __init__(self, lib: Any, ledger: CallLedger) -> None:
        self.unsupported: set[int] = set()
        """GPUs that never report."""
        self._lib = lib
        self._ledger = ledger
        self._set = timed(ledger, lib, "nvmlEventSetCreate")
        self._slots: dict[int, Abandonable[int | None]] = {}
        self._retry_at_s: dict[int, float] = {}
        self._indexes: dict[int, int] = {}
        """Address behind a handle -> index: NVML hands out the same handle with each event, also when the GPU is lost."""

    def register(self, indexes: Iterable[int]) -> None:
        """Join those that are not in the set yet, each for as long as it does not hang."""
        for index in indexes:
            if time.monotonic() >= self._retry_at_s.get(index, -math.inf):
                self._register(index)

    def wait(self, timeout_s: float) -> _Event | None:
        """The next Xid, None when the time is over.

        Raises:
            Exception: what pynvml raises; the set is of no more use.
        """
        if not self._indexes:
            return None
        try:
            data = self._lib.nvmlEventSetWait_v2(self._set, int(timeout_s * 1000))
        except Exception as error:
            if codes.code_of(error) == _TIMEOUT:
                return None
            raise
        return _Event(self._index(data.device), int(data.eventData))

    def close(self) -> None:
        """Give the set back, unless a thread that hangs may still use it."""
        if not self._slots:
            with contextlib.suppress(Exception):
                timed(self._ledger, self._lib, "nvmlEventSetFree", self._set)

    def _index(self, handle: Any) -> int | None:
        known = self._indexes.get(_address(handle))
        if known is None and _address(handle):
            with contextlib.suppress(Exception):
                return int(timed(self._ledger, self._lib, "nvmlDeviceGetIndex", handle))
        return known

    def _register(self, index: int) -> None:
        slot = self._slots.get(index)
        wait_s = 0.0
        if slot is None:
            slot = Abandonable(f"xid-gpu{index}", lambda: self._ask(index), time.monotonic)
            self._slots[index], wait_s = slot, _REGISTER_S
        try:
            address = slot.poll(wait_s)
        except TimeoutError:
            return
        except Exception:  # lost, or an error that may pass
            address = None
            self._retry_at_s[index] = time.monotonic() + _RETRY_S
        else:
            self._retry_at_s[index] = math.inf
            if address is None:
                self.unsupported.add(index)
        del self._slots[index]
        if address is not None:
            self._indexes[address] = index

    def _ask(self, index: int) -> int | None:
        """Address behind the handle of a GPU that is registered now; None: it never reports."""
        handle = timed(self._ledger, self._lib, "nvmlDeviceGetHandleByIndex", index)
        try:
            if not timed(self._ledger, self._lib, "nvmlDeviceGetSupportedEventTypes", handle) & _XID:
                return None
            timed(self._ledger, self._lib, "nvmlDeviceRegisterEvents", handle, _XID, self._set)
        except Exception as error:
            if codes.code_of(error) in (codes.NOT_SUPPORTED, codes.FUNCTION_NOT_FOUND):
                return None
            raise
        return _address(handle)


def _address(handle: Any) -> int:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0
