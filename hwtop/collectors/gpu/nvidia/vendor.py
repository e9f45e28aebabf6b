"""NVIDIA GPUs. A GPU or a driver that hangs costs its own row, never the others and never the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from hwtop.collectors.abandon import Abandonable, Run
from hwtop.collectors.gpu.nvidia.cost import CallLedger, call_costs, timed
from hwtop.collectors.gpu.nvidia.device import NvmlDevice
from hwtop.collectors.gpu.nvidia.events import XidWatch
from hwtop.collectors.gpu.nvidia.library import Nvml, NvmlOpening
from hwtop.collectors.gpu.nvidia.row import UNNAMED, VENDOR
from hwtop.collectors.gpu.nvidia.topology import TopologyReader
from hwtop.collectors.turns import Turns
from hwtop.errors import CannotError
from hwtop.model.gpu.device import CallCost, Gpu, GpuReading
from hwtop.model.gpu.health import XidEvent
from hwtop.model.plan import SamplingPlan

_RETRY_S = 10.0
"""Between two attempts to initialise a driver that refused."""
_COUNT_EVERY_S = 5.0
"""Between two counts of the GPUs."""
_PATIENCE_S = 1.0
"""A call that has been out for longer, one usual interval, is no longer waited for, only polled."""
_FRESH_S = 2.0
"""A reading that took longer mixes numbers of different times: it is shown as stale."""


class _Answer(NamedTuple):
    """One reading of one GPU, with the time it was begun and how long it took."""

    gpu: Gpu
    began_s: float
    took_s: float


class _Row:
    """One GPU with the newest that it said."""

    def __init__(self, lib: object, index: int, now: Callable[[], float], budget_s: float, sys: str = "/sys") -> None:
        self.device = NvmlDevice(lib, index, now, budget_s, sys)
        self._now = now
        self._slot = Abandonable(f"gpu{index}", self._read, now)
        self._answer = _Answer(Gpu(index=index, vendor=VENDOR, name=UNNAMED, uuid=None, status="stale"), now(), 0.0)
        self._is_in = False
        """The newest reading belongs to this tick."""

    def start(self, run: Run | None = None) -> None:
        """Begin this tick's reading, through `run`, unless the last one is still out or has just come in."""
        self._is_in = False
        if self._slot.is_out:
            self.collect(0.0)
            if not self._is_in or self._age_s() <= _FRESH_S:
                return
            self._is_in = False
        self._slot.start(run)

    def collect(self, wait_s: float) -> None:
        """Take the reading if it is there within `wait_s`."""
        if self._is_in:
            return
        if self._slot.out_for_s() > _PATIENCE_S:
            wait_s = 0.0
        try:
            self._answer = self._slot.poll(wait_s)
            self._is_in = True
        except TimeoutError:
            pass

    def result(self, deadline_s: float) -> Gpu:
        """The row for this tick. A GPU that is slow, not hung, begins its next reading at once, to be in by the next tick."""
        answer, age_s = self._answer, self._age_s()
        if not self._is_in:
            return _stale(answer.gpu, age_s, self._late())
        if answer.took_s > deadline_s:
            self._is_in = False
            self.collect(0.0)
        if age_s <= _FRESH_S:
            return answer.gpu
        return _stale(answer.gpu, age_s, f"driver slow: one reading took {answer.took_s:.0f} s")

    def _late(self) -> str:
        """Why there is no answer yet: a call that does not return, or many that take their time."""
        out_s = self._slot.out_for_s()
        call_s = max(0.0, self._now() - self.device.called_at_s)
        if out_s > _FRESH_S and call_s < out_s / 2:
            return f"driver slow: this reading takes {_seconds(out_s)} so far (now NVML call {self.device.call})"
        return f"driver not answering for {_seconds(min(call_s, out_s))} (NVML call {self.device.call})"

    def _read(self) -> _Answer:
        began_s = self._now()
        gpu = self.device.read()
        return _Answer(gpu, began_s, self._now() - began_s)

    def _age_s(self) -> float:
        return max(0.0, self._now() - self._answer.began_s)


def _with_xids(gpu: Gpu, xids: tuple[XidEvent, ...]) -> Gpu:
    return msgspec.structs.replace(gpu, xids=xids) if xids else gpu


def _stale(gpu: Gpu, age_s: float, reason: str) -> Gpu:
    return msgspec.structs.replace(gpu, status="stale", reason=reason, age_s=age_s)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 1.0 else f"{seconds:.0f} s"


class GpuNvidiaSource:
    """All NVIDIA GPUs of this machine, or those in `only`.

    The GPUs are read in turn; one that hangs keeps its thread. `read` waits for all of them until one common deadline, `deadline_s`
    after its start, which is less than the sampler waits for a source. With `costs` a reading holds what each NVML function
    has cost so far.
    """

    name = "gpu"
    every_s = 0.0

    def __init__(
        self,
        only: tuple[int, ...] | None = None,
        now: Callable[[], float] = time.monotonic,
        deadline_s: float = 0.3,
        *,
        costs: bool = False,
        sys_root: str = "/sys",
    ) -> None:
        self._only = only
        self._now = now
        self._deadline_s = deadline_s
        self._with_costs = costs
        self._sys = sys_root
        self._opening = NvmlOpening()
        self._opener = Abandonable("nvml-init", self._opening.open, now)
        self._reason: str | None = None
        self._retry_at_s = now()
        self._nvml: Nvml | None = None
        self._rows: list[_Row] = []
        self._turns = Turns()
        self._xids: XidWatch | None = None
        self._ways: TopologyReader | None = None
        self._counter: Abandonable[int] | None = None
        self._counter_ledger = CallLedger()
        self._count = 0
        self._count_at_s = 0.0

    @property
    def count(self) -> int:
        """How many GPUs the driver lists, watched or not; 0 before it has answered."""
        return self._count

    def probe(self) -> str | None:
        """Why no GPU can be read, or None. Tries again every 10 s, so that a driver that comes up later is found."""
        if self._nvml is not None:
            return None
        if self._reason is not None and self._now() < self._retry_at_s:
            return self._reason
        try:
            wait_s = self._deadline_s if self._opener.out_for_s() <= _PATIENCE_S else 0.0
            self._adopt(self._opener.poll(wait_s))
        except TimeoutError:
            out_s = self._opener.out_for_s()
            return f"NVIDIA driver not answering: {self._opening.call} has not returned for {out_s:.0f} s"
        except CannotError as error:
            self._reason = str(error)
            self._retry_at_s = self._now() + _RETRY_S
            return self._reason
        return None

    def read(self) -> GpuReading:
        """All rows, each as fresh as its GPU allows.

        Raises:
            CannotError: NVML is not to be had; the message says why.
        """
        started_s = self._now()
        reason = self.probe()
        if reason is not None or self._nvml is None:
            raise CannotError(reason or "NVIDIA driver not ready")
        self._recount()
        self._revive()
        for row in self._rows:
            row.start(self._turns.add)
        self._turns.run(self._deadline_s)
        for row in self._rows:
            row.collect(max(0.0, started_s + self._deadline_s - self._now()))
        gpus = tuple(row.result(self._deadline_s) for row in self._rows)
        return self._together(gpus, self._nvml.driver)

    def set_plan(self, plan: SamplingPlan) -> None:
        """GPUs are read whatever the job is."""

    def close(self) -> None:
        """nvmlShutdown is left out: it may hang as any call may, and the driver forgets a process that ends."""
        if self._xids is not None:
            self._xids.close()

    def _adopt(self, nvml: Nvml) -> None:
        self._nvml, self._reason = nvml, None
        self._count, self._count_at_s = nvml.count, self._now()
        self._counter = Abandonable("gpu-count", lambda: self._ask_count(nvml.lib), self._now)
        self._rows = [self._row(nvml.lib, index) for index in (range(nvml.count) if self._only is None else self._only)]
        self._xids, self._ways = XidWatch(nvml.lib, self._now), TopologyReader(nvml.lib, self._now)
        self._watch_xids()

    def _together(self, gpus: tuple[Gpu, ...], driver: str | None) -> GpuReading:
        """The rows, with what is known of them outside their own threads."""
        assert self._xids is not None
        assert self._ways is not None
        rows = tuple(_with_xids(gpu, self._xids.seen(gpu.index)) for gpu in gpus)
        topology = self._ways.topology(rows)
        reasons = {"xids": self._xids.reason, "topology": self._ways.reason}
        return GpuReading(
            at_s=self._now(),
            gpus=rows,
            driver=driver,
            topology=topology,
            costs=self._costs(),
            missing={field: reason for field, reason in reasons.items() if reason is not None},
        )

    def _watch_xids(self) -> None:
        if self._xids is not None:
            self._xids.watch(row.device.index for row in self._rows)

    def _row(self, lib: object, index: int) -> _Row:
        return _Row(lib, index, self._now, budget_s=self._deadline_s / 2, sys=self._sys)

    def _ask_count(self, lib: object) -> int:
        return int(timed(self._counter_ledger, lib, "nvmlDeviceGetCount"))

    def _recount(self) -> None:
        """Notice GPUs that come or go. A row never goes: its device says that it is lost."""
        if self._nvml is None or self._counter is None or self._now() - self._count_at_s < _COUNT_EVERY_S:
            return
        try:
            count = self._counter.poll(0.0)
        except Exception:  # not yet, or the driver refuses: then the rows say so
            return
        self._count_at_s = self._now()
        if count == self._count:
            return
        self._count = count
        for row in self._rows:
            row.device.check_presence()
        if self._only is None:
            self._rows += [self._row(self._nvml.lib, index) for index in range(len(self._rows), count)]
            self._watch_xids()

    def _revive(self) -> None:
        """Make the library ready again when it says that it was shut down."""
        if self._now() < self._retry_at_s or not any(row.device.is_uninitialized for row in self._rows):
            return
        try:
            self._opener.poll(0.0)
        except TimeoutError:
            return
        except CannotError:  # the rows say what is wrong
            pass
        self._retry_at_s = self._now() + _RETRY_S

    def _costs(self) -> tuple[CallCost, ...]:
        if not self._with_costs:
            return ()
        beside = [part.ledger for part in (self._xids, self._ways) if part is not None]
        rows = [row.device.ledger for row in self._rows]
        return call_costs((self._opening.ledger, self._counter_ledger, *beside, *rows))
