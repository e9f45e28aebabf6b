"""All accelerators of this machine as one source, whoever made them. One vendor that hangs costs its own rows only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from hwtop.collectors.abandon import Abandonable
from hwtop.collectors.gpu.holder import GpuHolders
from hwtop.collectors.gpu.nvidia.vendor import GpuNvidiaSource
from hwtop.collectors.gpu.pci import NVIDIA, graphics_devices
from hwtop.collectors.gpu.vendors import VendorSource, other_vendors
from hwtop.errors import CannotError
from hwtop.model.gpu.device import Gpu, GpuReading, Vendor
from hwtop.model.gpu.link import Topology
from hwtop.model.plan import SamplingPlan

_RETRY_S = 30.0
"""Between two searches for a vendor that is absent."""
_NAMES: dict[Vendor, str] = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel", "tpu": "TPU"}


class _Other:
    """A vendor other than NVIDIA: searched now and then while absent, read each tick once found."""

    def __init__(self, source: VendorSource, now: Callable[[], float]) -> None:
        self.source = source
        self.reason: str | None = None
        """Why there are no numbers of this tick."""
        self._now = now
        self._slot = Abandonable(f"gpu-{source.vendor}", self._ask, now)
        self._is_here = False
        self._is_in = False
        """The newest answer belongs to this tick."""
        self._look_at_s = now()
        self._reading: GpuReading | None = None

    def start(self) -> None:
        """Begin this tick's reading, unless the last one has not returned or it is too early to search again."""
        self._is_in = not self._is_here and self._now() < self._look_at_s
        self.collect(0.0)

    def collect(self, wait_s: float) -> None:
        """Take the answer if it is there within `wait_s`."""
        if self._is_in:
            return
        try:
            answer = self._slot.poll(wait_s)
        except TimeoutError:
            name = _NAMES[self.source.vendor]
            self.reason = f"{name} driver not answering for {self._slot.out_for_s():.0f} s"
            return
        except Exception as error:  # a vendor that fails is a reason, not the end of the others
            answer = str(error) or type(error).__name__
        self._is_in = True
        if isinstance(answer, str):
            self.reason, self._look_at_s = answer, self._now() + _RETRY_S
        else:
            self.reason, self._reading = None, answer

    def reading(self) -> GpuReading | None:
        """Of this tick; else the last one, its rows marked with the reason. None where there never was one."""
        last = self._reading
        if last is None or self.reason is None:
            return last
        age_s = max(0.0, self._now() - last.at_s)
        if not self._is_in:
            late = (replace(gpu, status="stale", reason=self.reason, age_s=gpu.age_s + age_s) for gpu in last.gpus)
            return replace(last, gpus=tuple(late))
        return replace(last, gpus=tuple(_without_numbers(gpu, self.reason) for gpu in last.gpus))

    def _ask(self) -> GpuReading | str:
        if not self._is_here:
            reason = self.source.probe()
            if reason is not None:
                return reason
            self._is_here = True
        return self.source.read()


class GpuSource:
    """All accelerators, or those in `only`: NVIDIA's keep their numbers, the other vendors' follow.

    `read` takes `deadline_s` at most, which is less than the sampler waits for a source.
    """

    name = "gpu"
    every_s = 0.0

    def __init__(
        self,
        only: tuple[int, ...] | None = None,
        now: Callable[[], float] = time.monotonic,
        deadline_s: float = 0.35,
        *,
        nvidia: GpuNvidiaSource | None = None,
        others: Sequence[VendorSource] | None = None,
        sys_root: str = "/sys",
        proc_root: str = "/proc",
        platform: str = sys.platform,
    ) -> None:
        self._only = only
        self._now = now
        self._deadline_s = deadline_s
        self._platform = platform
        self._sys = sys_root
        self._holders = GpuHolders(proc_root)
        is_linux = platform == "linux"
        self._nvidia = nvidia or GpuNvidiaSource(only=only, now=now, sys_root=sys_root)
        self._nvidia_count = 0
        """The most that the driver ever listed: one that has fallen off keeps its number."""
        self._others = [_Other(source, now) for source in (others or other_vendors(now, sys_root) if is_linux else ())]

    def probe(self) -> str | None:
        """Why no accelerator can be read, or None as soon as one can."""
        if self._platform == "darwin":
            return "no GPU is read on macOS"
        end_s = self._now() + self._deadline_s
        self._start()
        reason = self._nvidia.probe()
        self._collect(end_s)
        return None if reason is None or self._is_any_other() else self._nothing(reason)

    def read(self) -> GpuReading:
        """All rows.

        Raises:
            CannotError: there is none, or none answers; the message says why.
        """
        end_s = self._now() + self._deadline_s
        self._start()
        reading, missing = self._read_nvidia()
        self._collect(end_s)
        if reading is None and not self._is_any_other():
            raise CannotError(self._nothing(missing["nvidia"]))
        parts = [reading or self._unread(missing["nvidia"])]
        self._nvidia_count = max(self._nvidia_count, self._nvidia.count)
        count = len(parts[0].gpus) if reading is None else self._nvidia_count
        for other in self._others:
            if other.reason is not None:
                missing[other.source.vendor] = other.reason
            part = other.reading()
            if part is not None:
                parts.append(_renumbered(part, count))
                count += len(part.gpus)
        chosen = self._chosen(_merged(parts, missing, self._now()), count)
        return replace(chosen, gpus=self._holders.reported(chosen.gpus))

    def set_plan(self, plan: SamplingPlan) -> None:
        """GPUs are read whatever the job is."""

    def close(self) -> None:
        """Nothing to wait for: every call runs in a daemon thread."""
        self._nvidia.close()

    def _start(self) -> None:
        for other in self._others:
            other.start()

    def _collect(self, end_s: float) -> None:
        for other in self._others:
            other.collect(max(0.0, end_s - self._now()))

    def _is_any_other(self) -> bool:
        return any((reading := other.reading()) is not None and reading.gpus for other in self._others)

    def _read_nvidia(self) -> tuple[GpuReading | None, dict[str, str]]:
        try:
            return self._nvidia.read(), {}
        except Exception as error:  # a vendor that fails is a reason, not the end of the others
            return None, {"nvidia": str(error) or type(error).__name__}

    def _unread(self, reason: str) -> GpuReading:
        """NVIDIA GPUs that the machine has, of which the driver reports nothing, but which are not absent."""
        found = graphics_devices(NVIDIA, self._sys)
        gpus = tuple(
            Gpu(
                index=index,
                vendor="nvidia",
                name="NVIDIA GPU",
                uuid=None,
                pci_bus_id=device.address,
                status="error",
                reason=reason,
            )
            for index, device in enumerate(found)
        )
        return GpuReading(at_s=self._now(), gpus=gpus)

    def _nothing(self, reason: str) -> str:
        """One sentence on why there is not one row. What is broken comes before what is absent."""
        if not reason.startswith("no "):
            return reason
        broken = [other.reason for other in self._others if other.reason and not other.reason.startswith("no ")]
        absent = [
            _NAMES[other.source.vendor] for other in self._others if other.reason and other.reason.startswith("no ")
        ]
        last = f"no {_or(absent)} device" if absent else None
        return "; ".join([reason, *broken, *([last] if last else [])])

    def _chosen(self, reading: GpuReading, count: int) -> GpuReading:
        """The rows that were asked for, a number that no device has among them as a row that says so."""
        if self._only is None:
            return reading
        rows = {gpu.index: gpu for gpu in reading.gpus if gpu.index < count}
        vendor = reading.gpus[-1].vendor
        there = f"this machine has GPU 0 to {count - 1}" if count > 1 else "this machine has GPU 0 only"
        return replace(
            reading,
            gpus=tuple(rows.get(index) or _no_such(index, vendor, there) for index in self._only),
            topology=_part(reading.topology, self._only),
        )


def _merged(parts: Sequence[GpuReading], missing: dict[str, str], at_s: float) -> GpuReading:
    return GpuReading(
        at_s=at_s,
        gpus=tuple(gpu for part in parts for gpu in part.gpus),
        driver=next((part.driver for part in parts if part.driver is not None), None),
        topology=next((part.topology for part in parts if part.topology is not None and part.topology.indexes), None),
        costs=tuple(cost for part in parts for cost in part.costs),
        missing={key: reason for part in parts for key, reason in part.missing.items()} | missing,
    )


def _renumbered(reading: GpuReading, base: int) -> GpuReading:
    """Its devices counted from `base` on."""
    new = {gpu.index: base + place for place, gpu in enumerate(reading.gpus)}
    topology = reading.topology
    if topology is not None:
        topology = replace(topology, indexes=tuple(new.get(index, index) for index in topology.indexes))
    gpus = tuple(replace(gpu, index=new[gpu.index]) for gpu in reading.gpus)
    return replace(reading, gpus=gpus, topology=topology)


def _part(topology: Topology | None, only: Iterable[int]) -> Topology | None:
    """The rows and columns of these devices."""
    if topology is None:
        return None
    wanted = set(only)
    places = [place for place, index in enumerate(topology.indexes) if index in wanted]
    return Topology(
        indexes=tuple(topology.indexes[place] for place in places),
        paths=tuple(tuple(topology.paths[row][column] for column in places) for row in places),
        links=tuple(tuple(topology.links[row][column] for column in places) for row in places)
        if topology.links
        else (),
    )


def _without_numbers(gpu: Gpu, reason: str) -> Gpu:
    return Gpu(
        index=gpu.index,
        vendor=gpu.vendor,
        name=gpu.name,
        uuid=gpu.uuid,
        pci_bus_id=gpu.pci_bus_id,
        status="error",
        reason=reason,
    )


def _no_such(index: int, vendor: Vendor, there: str) -> Gpu:
    return Gpu(index=index, vendor=vendor, name="GPU", uuid=None, status="error", reason=f"no GPU {index}: {there}")


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
