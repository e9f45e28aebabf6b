"""Google TPUs: chips as PCI lists them, numbers from the program that uses them, owners from /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hwtop.collectors.gpu.tpu.chip import TpuChip, tpu_chips, tpu_owners
from hwtop.collectors.gpu.tpu.metrics import (
    DUTY_CYCLE,
    HBM_BANDWIDTH,
    MEM_TOTAL,
    MEM_USED,
    LateError,
    NotServedError,
    TpuMetrics,
    UnknownMetricError,
    ports_of,
)
from hwtop.collectors.gpu.tpu.sdk import TensorCores
from hwtop.errors import CannotError
from hwtop.model.gpu.device import Gpu, GpuActivity, GpuProcess, GpuReading, Vendor

_OWNERS_EVERY_S = 5.0
"""Between two walks over all open files of all processes."""
_UNKNOWN_EVERY_S = 60.0
"""Between two questions for a metric that this libtpu does not know."""
_METRICS = (DUTY_CYCLE, MEM_USED, MEM_TOTAL, HBM_BANDWIDTH)
_TENSOR = "tensorcore_util"
"""Told by libtpu's Python package, not by its service."""
_BY_CORE = frozenset({MEM_USED, MEM_TOTAL, _TENSOR})
_NOT_REPORTED = "not reported by libtpu"
_TOLD = {"util_pct", "mem_used_bytes", "mem_total_bytes", "activity", "processes", "pci_bus_id"}
_NO_GAP = {"reason", "recovery_action", "unlisted_bytes"}
"""Fields where None is an answer."""
_BLANK = Gpu(index=0, vendor="tpu", name="TPU", uuid=None, status="ok")
_UNTOLD = {
    field: "not read of a TPU" if field in ("numa_node", "cpus") else "not reported by TPUs"
    for field in _BLANK.__struct_fields__
    if getattr(_BLANK, field) is None and field not in _TOLD | _NO_GAP
}


class GpuTpuSource:
    """All TPU chips. What may block has a deadline of its own; the rest is files of the kernel."""

    vendor: Vendor = "tpu"

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sys: str = "/sys",
        proc: str = "/proc",
        ports: tuple[int, ...] | None = None,
        cores: TensorCores | None = None,
    ) -> None:
        self._now = now
        self._sys = sys
        self._proc = proc
        self._ports = ports
        self._cores = cores or TensorCores(now)
        self._chips: tuple[TpuChip, ...] = ()
        self._metrics: TpuMetrics | None = None
        self._owners: dict[str, tuple[int, ...]] = {}
        self._sees_all = True
        self._owners_due_s = now()
        self._unknown_until_s: dict[str, float] = {}
        self._last: tuple[Gpu, ...] = ()
        self._reported_at_s = now()

    def probe(self) -> str | None:
        """Why there is no TPU to read, or None."""
        self._chips = tpu_chips(self._sys)
        return None if self._chips else "no TPU: no PCI device of Google's that is one"

    def read(self) -> GpuReading:
        """One row a chip. Without a program that uses them, chips have names and owners only.

        Raises:
            CannotError: the chips are gone.
        """
        if not self._chips:
            reason = self.probe()
            if reason is not None:
                raise CannotError(reason)
        self._look_for_owners()
        values, missing, late = self._ask_all()
        if late is not None:
            return GpuReading(at_s=self._now(), gpus=self._late(late))
        held = [chip for chip in self._chips if self._pids(chip)]
        users = (held, self._chips) if self._sees_all else (self._chips, held)
        reported = {
            metric: by_chip(found, self._chips, users, is_by_core=metric in _BY_CORE)
            for metric, found in values.items()
        }
        self._last = tuple(self._gpu(index, reported, missing) for index in range(len(self._chips)))
        self._reported_at_s = self._now()
        return GpuReading(at_s=self._reported_at_s, gpus=self._last)

    def _ask_all(self) -> tuple[dict[str, dict[int, float]], dict[str, str], str | None]:
        """Metric -> device -> value, metric -> why not, and why nothing came in time."""
        if self._metrics is None:
            self._metrics = TpuMetrics(self._ports or ports_of(os.environ, len(self._chips)))
        values: dict[str, dict[int, float]] = {}
        missing: dict[str, str] = {}
        for metric in _METRICS:
            if self._now() < self._unknown_until_s.get(metric, 0.0):
                missing[metric] = _NOT_REPORTED
                continue
            try:
                values[metric] = self._metrics.ask(metric)
            except LateError as error:
                return {}, {}, str(error)
            except UnknownMetricError:
                missing[metric] = _NOT_REPORTED
                self._unknown_until_s[metric] = self._now() + _UNKNOWN_EVERY_S
            except NotServedError as error:
                return {}, dict.fromkeys((*_METRICS, _TENSOR), self._not_served(str(error))), None
            except CannotError as error:
                return {}, dict.fromkeys((*_METRICS, _TENSOR), str(error)), None
        try:
            values[_TENSOR] = dict(enumerate(self._cores.read()))
        except CannotError as error:
            missing[_TENSOR] = str(error)
        return values, missing, None

    def _not_served(self, error: str) -> str:
        if any(self._pids(chip) for chip in self._chips):
            return f"{error}: the program that holds the TPU started without its metric service"
        return f"{error}: only a program that uses the TPU reports its metrics, and none was found"

    def _look_for_owners(self) -> None:
        if self._now() < self._owners_due_s:
            return
        self._owners_due_s = self._now() + _OWNERS_EVERY_S
        paths = [path for chip in self._chips for path in chip.paths]
        self._owners, self._sees_all = tpu_owners(paths, self._proc)

    def _pids(self, chip: TpuChip) -> tuple[int, ...]:
        return tuple(dict.fromkeys(pid for path in chip.paths for pid in self._owners.get(path, ())))

    def _late(self, reason: str) -> tuple[Gpu, ...]:
        rows = self._last or tuple(self._gpu(index, {}, {}) for index in range(len(self._chips)))
        age_s = max(0.0, self._now() - self._reported_at_s)
        return tuple(replace(gpu, status="stale", reason=reason, age_s=age_s) for gpu in rows)

    def _gpu(self, index: int, reported: dict[str, list[list[float]] | None], missing: dict[str, str]) -> Gpu:
        chip = self._chips[index]

        def of(metric: str) -> list[float]:
            chips = reported.get(metric)
            return chips[index] if chips is not None else []

        reasons = {
            metric: missing.get(metric, _unassigned(len(self._chips)))
            for metric in (*_METRICS, _TENSOR)
            if not of(metric)
        }
        bandwidth, tensor = of(HBM_BANDWIDTH), of(_TENSOR)
        has_activity = bool(bandwidth or tensor)
        pids = self._pids(chip)
        knows_owners = bool(pids) or (self._sees_all and bool(chip.paths))
        gaps = {
            "util_pct": reasons.get(DUTY_CYCLE),
            "mem_used_bytes": reasons.get(MEM_USED),
            "mem_total_bytes": reasons.get(MEM_TOTAL),
            "activity": None if has_activity else reasons.get(HBM_BANDWIDTH),
            "activity.dram_bw_pct": reasons.get(HBM_BANDWIDTH) if has_activity else None,
            "activity.tensor_active_pct": reasons.get(_TENSOR),
            "processes": None if knows_owners else "open files of other users' processes are readable by root only",
            **_UNTOLD,
        }
        return Gpu(
            index=index,
            vendor=self.vendor,
            name=chip.kind,
            uuid=None,
            pci_bus_id=chip.address,
            status="ok",
            util_pct=_mean(of(DUTY_CYCLE)),
            mem_used_bytes=_total(of(MEM_USED)),
            mem_total_bytes=_total(of(MEM_TOTAL)),
            activity=GpuActivity(dram_bw_pct=_mean(bandwidth), tensor_active_pct=_mean(tensor))
            if has_activity
            else None,
            processes=tuple(GpuProcess(pid=pid, mem_bytes=None) for pid in pids) if knows_owners else None,
            missing={field: reason for field, reason in gaps.items() if reason is not None},
        )


def by_chip(
    values: dict[int, float], chips: Sequence[TpuChip], users: Sequence[Sequence[TpuChip]], *, is_by_core: bool
) -> list[list[float]] | None:
    """The values of each chip (one a core where libtpu reports them by core), or None where it cannot be known which is whose.

    libtpu numbers devices over the whole slice, so only their order says which chip is meant: it fits where there are as
    many as the chips in use have. `users` are the answers to which these are, the likeliest first. Memory is reported by core,
    the duty cycle by chip or by core (tpu_info/metrics.py).
    """
    ordered = [values[device] for device in sorted(values)]
    for used in users:
        cores = sum(chip.cores for chip in used)
        if ordered and len(ordered) in ((cores,) if is_by_core else (len(used), cores)):
            left = iter(ordered)
            each = {chip.address: chip.cores if len(ordered) == cores else 1 for chip in used}
            shares = {address: [next(left) for _ in range(count)] for address, count in each.items()}
            return [shares.get(chip.address, []) for chip in chips]
    return None


def _unassigned(count: int) -> str:
    return f"libtpu reports some of the {count} chips, but not which"


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _total(values: list[float]) -> int | None:
    return int(sum(values)) if values else None
