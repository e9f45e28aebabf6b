"""GpuSource: what several vendors tell, put together."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from hwtop.collectors.gpu.nvidia.vendor import GpuNvidiaSource
from hwtop.collectors.gpu.source import GpuSource
from hwtop.errors import CannotError
from hwtop.model.gpu.device import CallCost, Gpu, GpuReading, GpuStatus, Vendor
from hwtop.model.gpu.link import Topology
from tests.collectors.gpu.amd.test_gpu_amd import mi300x
from tests.host import Clock, write_tree

NO_NVIDIA = "no NVIDIA driver: libnvidia-ml.so.1 not found"


def row(index: int, vendor: Vendor, status: GpuStatus = "ok") -> Gpu:
    return Gpu(index=index, vendor=vendor, name=f"{vendor} {index}", uuid=f"{vendor}-{index}", status=status)


class Nvidia(GpuNvidiaSource):
    """An NVIDIA driver that lists `listed` GPUs; with a reason it has none."""

    def __init__(self, listed: int = 0, reason: str | None = None, only: Sequence[int] | None = None) -> None:
        self.listed, self.reason, self.only = listed, reason, only

    @property
    def count(self) -> int:
        return self.listed

    def probe(self) -> str | None:
        return self.reason

    def read(self) -> GpuReading:
        if self.reason is not None:
            raise CannotError(self.reason)
        wanted = range(self.listed) if self.only is None else self.only
        gpus = tuple(row(index, "nvidia", "ok" if index < self.listed else "error") for index in wanted)
        cost = CallCost(function="nvmlDeviceGetName", calls=1, mean_ms=0.1, max_ms=0.1)
        indexes = tuple(index for index in wanted if index < self.listed)
        topology = Topology(indexes=indexes, paths=tuple(tuple("SYS" for _ in indexes) for _ in indexes))
        return GpuReading(at_s=100.0, gpus=gpus, driver="580.1", topology=topology, costs=(cost,))


class Vendored:
    """Devices of one vendor, as many as `devices`; `reason` instead of them; hangs while `go_on` is not set."""

    def __init__(self, vendor: Vendor, devices: int = 0, reason: str | None = None) -> None:
        self.vendor: Vendor = vendor
        self.devices, self.reason = devices, reason
        self.error: str | None = None
        self.probes = 0
        self.go_on = threading.Event()
        self.go_on.set()

    def probe(self) -> str | None:
        self.probes += 1
        self.go_on.wait(20)
        return self.reason

    def read(self) -> GpuReading:
        self.go_on.wait(20)
        if self.error is not None:
            raise CannotError(self.error)
        return GpuReading(at_s=100.0, gpus=tuple(row(index, self.vendor) for index in range(self.devices)))


def absent() -> list[Vendored]:
    return [
        Vendored("amd", reason="no AMD GPU"),
        Vendored("intel", reason="no Intel GPU"),
        Vendored("tpu", reason="no TPU"),
    ]


def gpu_source(
    nvidia: Nvidia,
    *others: Vendored,
    only: tuple[int, ...] | None = None,
    root: Path | None = None,
    platform: str = "linux",
    clock: Clock | None = None,
    deadline_s: float = 5.0,
) -> GpuSource:
    nvidia.only = only
    sys_root = str((root or Path("/nowhere")) / "sys")
    return GpuSource(
        only, clock or Clock(), deadline_s, nvidia=nvidia, others=others, sys_root=sys_root, platform=platform
    )


def listed(reading: GpuReading) -> list[tuple[int, str]]:
    return [(gpu.index, gpu.name) for gpu in reading.gpus]


def test_without_any_the_reason_is_one_sentence() -> None:
    source = gpu_source(Nvidia(reason=NO_NVIDIA), *absent())
    assert source.probe() == f"{NO_NVIDIA}; no AMD, Intel or TPU device"
    with pytest.raises(CannotError, match="no AMD, Intel or TPU device"):
        source.read()


def test_a_broken_vendor_is_told_before_absent_ones() -> None:
    amd, intel, tpu = absent()
    amd.reason = "amdgpu: /sys/class/drm is not readable"
    source = gpu_source(Nvidia(reason=NO_NVIDIA), amd, intel, tpu)
    assert source.probe() == f"{NO_NVIDIA}; {amd.reason}; no Intel or TPU device"
    mismatch = "NVIDIA driver/library version mismatch: reboot"
    assert gpu_source(Nvidia(reason=mismatch), *absent()).probe() == mismatch


def test_other_systems() -> None:
    assert gpu_source(Nvidia(reason=NO_NVIDIA), platform="darwin").probe() == "no GPU is read on macOS"
    assert gpu_source(Nvidia(reason=NO_NVIDIA), *absent(), platform="freebsd14").probe() == NO_NVIDIA
    assert gpu_source(Nvidia(2), platform="freebsd14").probe() is None


def test_nvidia_alone_is_passed_on_whole() -> None:
    source = gpu_source(Nvidia(2), *absent())
    assert source.probe() is None
    reading = source.read()
    assert listed(reading) == [(0, "nvidia 0"), (1, "nvidia 1")]
    assert reading.driver == "580.1" and len(reading.costs) == 1
    assert reading.topology is not None and reading.topology.indexes == (0, 1)
    assert reading.missing == {"amd": "no AMD GPU", "intel": "no Intel GPU", "tpu": "no TPU"}


def test_other_vendors_follow_nvidia() -> None:
    reading = gpu_source(Nvidia(2), Vendored("amd", 2), Vendored("intel", 1)).read()
    assert listed(reading) == [(0, "nvidia 0"), (1, "nvidia 1"), (2, "amd 0"), (3, "amd 1"), (4, "intel 0")]


def test_another_vendor_alone_is_no_complaint_about_nvidia() -> None:
    source = gpu_source(Nvidia(reason=NO_NVIDIA), Vendored("amd", 2))
    assert source.probe() is None
    reading = source.read()
    assert listed(reading) == [(0, "amd 0"), (1, "amd 1")]
    assert {gpu.status for gpu in reading.gpus} == {"ok"} and reading.missing == {"nvidia": NO_NVIDIA}


def test_nvidia_gpus_whose_driver_fails_are_rows_beside_those_of_others(tmp_path: Path) -> None:
    device = "sys/bus/pci/devices/0000:{}/"
    tree = {"1b:00.0": ("0x10de", "0x030200"), "1b:00.1": ("0x10de", "0x040300"), "00:02.0": ("0x8086", "0x030000")}
    write_tree(
        tmp_path,
        {
            device.format(address) + name: text
            for address, (vendor, kind) in tree.items()
            for name, text in {"vendor": vendor, "class": kind, "device": "0x2330"}.items()
        },
    )
    mismatch = "NVIDIA driver/library version mismatch: reboot"
    reading = gpu_source(Nvidia(reason=mismatch), Vendored("intel", 1), root=tmp_path).read()
    assert [(gpu.index, gpu.vendor, gpu.status, gpu.reason, gpu.pci_bus_id) for gpu in reading.gpus] == [
        (0, "nvidia", "error", mismatch, "0000:1b:00.0"),
        (1, "intel", "ok", None, None),
    ]


@pytest.mark.parametrize(
    ("only", "names"),
    [
        ((1,), ["nvidia 1"]),
        ((1, 3), ["nvidia 1", "amd 1"]),
        ((3,), ["amd 1"]),
        ((0, 4), ["nvidia 0", "no GPU 4: this machine has GPU 0 to 3"]),
        ((9,), ["no GPU 9: this machine has GPU 0 to 3"]),
    ],
)
def test_numbers_that_were_chosen_count_over_all_vendors(only: tuple[int, ...], names: list[str]) -> None:
    reading = gpu_source(Nvidia(2), Vendored("amd", 2), only=only).read()
    assert [gpu.index for gpu in reading.gpus] == list(only)
    assert [gpu.reason or gpu.name for gpu in reading.gpus] == names
    shown = tuple(index for index in only if index < 2)
    assert (reading.topology.indexes if reading.topology else ()) == shown


def test_a_gpu_that_fell_off_keeps_its_number_and_so_do_those_after_it() -> None:
    nvidia = Nvidia(2)
    source = gpu_source(nvidia, Vendored("amd", 1), only=(1, 2))
    assert [gpu.name for gpu in source.read().gpus] == ["nvidia 1", "amd 0"]
    nvidia.listed = 1
    assert [gpu.name for gpu in source.read().gpus] == ["nvidia 1", "amd 0"]


def test_a_vendor_that_hangs_costs_its_own_rows() -> None:
    amd = Vendored("amd", 1)
    clock = Clock()
    source = gpu_source(Nvidia(1), amd, clock=clock, deadline_s=0.05)
    while len(source.read().gpus) < 2:
        pass
    amd.go_on.clear()
    clock.at_s += 3.0
    source.read()  # may still find the reading before
    clock.at_s += 4.0
    nvidia, late = source.read().gpus
    assert (nvidia.status, late.status, late.age_s) == ("ok", "stale", 7.0)
    assert (late.reason or "").startswith("AMD driver not answering for ")
    amd.go_on.set()
    while source.read().gpus[1].status != "ok":
        pass


def test_a_vendor_that_hangs_from_the_first_is_a_reason() -> None:
    amd = Vendored("amd", 1)
    amd.go_on.clear()
    source = gpu_source(Nvidia(reason=NO_NVIDIA), amd, Vendored("tpu", reason="no TPU"), deadline_s=0.05)
    assert source.probe() == f"{NO_NVIDIA}; AMD driver not answering for 0 s; no TPU device"
    amd.go_on.set()
    while source.probe() is not None:
        pass


def test_a_vendor_that_fails_keeps_its_rows_without_numbers() -> None:
    amd = Vendored("amd", 1)
    source = gpu_source(Nvidia(1), amd)
    source.read()
    amd.error = "amdgpu was unloaded"
    gpu = source.read().gpus[1]
    assert (gpu.name, gpu.status, gpu.reason, gpu.util_pct) == ("amd 0", "error", "amdgpu was unloaded", None)


@pytest.mark.parametrize(
    ("devices", "loaded"),
    [
        ((), set()),
        ((("0x10de", "0x2330", "0x030200"),), set()),
        ((("0x1002", "0x74a1", "0x120000"),), {"amd"}),
        ((("0x8086", "0x56c0", "0x038000"),), {"intel"}),
        ((("0x8086", "0x1592", "0x020000"),), set()),
        ((("0x1ae0", "0x0063", "0xff0000"),), {"tpu"}),
        ((("0x1002", "0x74a1", "0x120000"), ("0x8086", "0x56c0", "0x038000")), {"amd", "intel"}),
    ],
    ids=["none", "NVIDIA", "AMD", "Intel", "a network card of Intel's", "TPU", "AMD and Intel"],
)
def test_code_of_a_vendor_is_loaded_only_where_its_devices_are(
    devices: Sequence[tuple[str, str, str]], loaded: set[str], tmp_path: Path
) -> None:
    """Its modules and the packages that only it needs; a device is (vendor, device, class) as PCI tells them."""
    for place, (vendor, device, kind) in enumerate(devices):
        folder = tmp_path / f"sys/bus/pci/devices/0000:0{place}:00.0"
        folder.mkdir(parents=True)
        for name, text in {"vendor": vendor, "device": device, "subsystem_device": "0x0056", "class": kind}.items():
            (folder / name).write_text(text + "\n")
    script = (
        "import sys, types; from hwtop.collectors.gpu.source import GpuSource; "
        "none = types.SimpleNamespace(probe=lambda: 'no NVIDIA driver'); "
        "GpuSource(sys_root=sys.argv[1], deadline_s=20, platform='linux', nvidia=none).probe(); "
        "print(*sorted(sys.modules))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "sys")]
    modules = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    own = [name for name in modules if name.startswith("hwtop.collectors.")]
    assert {vendor for vendor in ("amd", "intel", "tpu") if any(vendor in name for name in own)} == loaded
    assert ("grpc" in modules) == ("tpu" in loaded)


def test_an_absent_vendor_is_looked_for_now_and_then_and_found_later() -> None:
    clock = Clock()
    tpu = Vendored("tpu", 1, reason="no TPU")
    source = gpu_source(Nvidia(1), tpu, clock=clock)
    for _ in range(5):
        assert len(source.read().gpus) == 1
    assert tpu.probes == 1
    tpu.reason = None
    clock.at_s += 30.1
    assert [gpu.name for gpu in source.read().gpus] == ["nvidia 0", "tpu 0"]


def test_recorded_amd_gpus_behind_nvidia(tmp_path: Path) -> None:
    mi300x(tmp_path)
    for card in sorted((tmp_path / "sys/class/drm").glob("card[0-9]")):
        device = (card / "device").resolve()
        (device / "class").write_text("0x120000\n")
        listed_at = tmp_path / "sys/bus/pci/devices" / device.name
        listed_at.parent.mkdir(parents=True, exist_ok=True)
        listed_at.symlink_to(device)
    nvidia = Nvidia(2, only=(2, 3))
    source = GpuSource((2, 3), time.monotonic, 20.0, nvidia=nvidia, sys_root=str(tmp_path / "sys"), platform="linux")
    reading = source.read()
    assert [(gpu.index, gpu.vendor, gpu.status, gpu.pci_bus_id) for gpu in reading.gpus] == [
        (2, "amd", "ok", "0000:05:00.0"),
        (3, "amd", "ok", "0000:26:00.0"),
    ]
    assert reading.topology is not None and reading.topology.indexes == (2, 3)
    assert set(reading.missing) == {"intel", "tpu"}
