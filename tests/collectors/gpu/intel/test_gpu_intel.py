"""IntelGpus on trees of /sys in the layout of the kernel's drivers."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hwtop.collectors.gpu.drm.sysfs import Files
from hwtop.collectors.gpu.intel.device import IntelDevice
from hwtop.collectors.gpu.intel.vendor import IntelGpus
from hwtop.errors import CannotError
from hwtop.model.gpu.device import Gpu, GpuProcess
from tests.collectors.sysfs_tree import drm_process, plant
from tests.host import Clock, write_tree

GIB = 1 << 30
WAIT_S = 60.0
"""Deadline of a read where nothing hangs: it ends as soon as everything is in."""

HANG_S = 1.5
"""Deadline of a read where something hangs."""


def intel(root: Path, clock: Clock | None = None, deadline_s: float = WAIT_S) -> IntelGpus:
    (root / "proc").mkdir(exist_ok=True)
    return IntelGpus(str(root / "sys"), str(root / "proc"), clock or Clock(), deadline_s)


def maxes(root: Path) -> None:
    """Two GPUs, each on its socket."""
    plant(root, "gpu_intel/max_xe.tree", bridge="15", bus="18", card=1, socket=0)
    plant(root, "gpu_intel/max_xe.tree", bridge="97", bus="9a", card=2, socket=1)


def device(root: Path, card: int) -> Path:
    return (root / f"sys/class/drm/card{card}/device").resolve()


def one(source: IntelGpus) -> Gpu:
    (gpu,) = source.read().gpus
    return gpu


def xe_client(bus: str, client: int, vram_mib: int, total: int, **cycles: int) -> str:
    lines = ["drm-driver:\txe", f"drm-client-id:\t{client}", f"drm-pdev:\t0000:{bus}:00.0"]
    lines += ["drm-total-system:\t0", "drm-total-gtt:\t192 KiB", f"drm-total-vram0:\t{vram_mib + 8} MiB"]
    lines += ["drm-shared-vram0:\t16 MiB", "drm-active-vram0:\t0", f"drm-resident-vram0:\t{vram_mib} MiB"]
    for engine, busy in cycles.items():
        lines += [f"drm-cycles-{engine}:\t{busy}", f"drm-total-cycles-{engine}:\t{total}"]
    return "\n".join([*lines, "drm-engine-capacity-ccs:\t2", ""])


def i915_client(client: int, local: str, **engines_ns: int) -> str:
    lines = ["drm-driver:\ti915", f"drm-client-id:\t{client}", "drm-pdev:\t0000:03:00.0"]
    lines += [f"drm-total-local0:\t{local}", "drm-total-system0:\t64 MiB", f"drm-resident-local0:\t{local}"]
    lines += [f"drm-engine-{name}:\t{busy} ns" for name, busy in engines_ns.items()]
    return "\n".join([*lines, "drm-engine-capacity-video:\t2", ""])


@pytest.fixture
def pipe() -> Iterator[Any]:
    """Makes a file hang as the file of a sick device does: a FIFO without a writer. All are let go at the end."""
    made: list[Path] = []

    def hang(path: Path) -> None:
        path.unlink()
        os.mkfifo(path)
        made.append(path)

    yield hang
    for path in made:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError as error:  # nobody reads it
            assert error.errno == errno.ENXIO


def test_two_max_in_training(tmp_path: Path) -> None:
    maxes(tmp_path)
    clock = Clock()
    source = intel(tmp_path, clock)
    assert source.probe() is None
    drm_process(tmp_path, 900, fd5=xe_client("18", 3, 4096, 1_000_000, ccs=0, rcs=0, vcs=0))
    drm_process(tmp_path, 901, fd5=xe_client("18", 4, 1024, 1_000_000, ccs=500, rcs=0, vcs=0))
    first = source.read().gpus[0]
    assert (first.util_pct, first.power_w) == (None, None)
    assert "second read" in first.missing["util_pct"]
    assert "second read" in first.missing["power_w"]
    drm_process(tmp_path, 900, fd5=xe_client("18", 3, 4096, 3_000_000, ccs=3_000_000, rcs=0, vcs=0))
    drm_process(tmp_path, 901, fd5=xe_client("18", 4, 1024, 3_000_000, ccs=500, rcs=200_000, vcs=100_000))
    (device(tmp_path, 1) / "hwmon/hwmon1/energy1_input").write_text("91100000000\n")
    clock.at_s += 2.0
    reading = source.read()
    gpu, other = reading.gpus
    assert (gpu.name, gpu.pci_bus_id, gpu.status) == ("Intel Data Center GPU Max 1550", "0000:18:00.0", "ok")
    assert (gpu.util_pct, gpu.decoder_pct) == (75.0, 5.0), "3 of 2 times 2 million cycles of the two compute engines"
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes) == (5 * GIB, 128 * GIB)
    assert (gpu.power_w, gpu.power_limit_w, gpu.power_limit_default_w) == (550.0, 600.0, 600.0)
    assert (gpu.temp_c, gpu.mem_temp_c) == (67.0, 59.0)
    assert (gpu.sm_clock_mhz, gpu.sm_clock_max_mhz) == (1500.0, 1600.0)
    assert gpu.throttle == ("sw_power_cap", "hw_thermal")
    assert (gpu.pcie_gen, gpu.pcie_width, gpu.numa_node) == (5, 16, 0)
    assert gpu.counters is not None
    assert gpu.counters.energy_mj == 91_100_000
    assert gpu.processes == (
        GpuProcess(pid=900, mem_bytes=4 * GIB, kind="compute", sm_pct=75.0),
        GpuProcess(pid=901, mem_bytes=GIB, kind="compute", sm_pct=10.0),
    )
    assert (other.util_pct, other.mem_used_bytes, other.processes) == (0.0, 0, ())
    assert reading.topology is not None
    assert reading.topology.paths == (("SELF", "SYS"), ("SYS", "SELF"))


def test_arc_with_i915_and_the_graphics_of_the_cpu(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_intel/arc_i915.tree")
    clock = Clock()
    source = intel(tmp_path, clock)
    drm_process(tmp_path, 70, fd4=i915_client(9, "512 MiB", render=10**9, compute=0, video=0))
    one(source)
    drm_process(tmp_path, 70, fd4=i915_client(9, "512 MiB", render=14 * 10**8, compute=0, video=10**9))
    clock.at_s += 1.0
    gpu = one(source)
    assert gpu.name == "Intel Arc A770"
    assert (gpu.util_pct, gpu.decoder_pct) == (40.0, 50.0)
    assert gpu.mem_used_bytes == 512 << 20
    assert gpu.mem_total_bytes is None
    assert "i915" in gpu.missing["mem_total_bytes"]
    assert (gpu.temp_c, gpu.power_limit_w, gpu.power_limit_default_w) == (54.0, 190.0, 225.0)
    assert (gpu.sm_clock_mhz, gpu.sm_clock_max_mhz, gpu.throttle) == (2350.0, 2400.0, ())
    assert (gpu.pcie_gen, gpu.pcie_width, gpu.pcie_width_max) == (4, 8, 16), (
        "of the slot, not of the board's own switch"
    )
    assert gpu.processes == (GpuProcess(pid=70, mem_bytes=512 << 20, kind="graphics", sm_pct=40.0),)


def test_every_number_that_is_not_there_has_its_reason(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_intel/arc_i915.tree")
    gpu = one(intel(tmp_path))
    unknown = {name for name in gpu.__struct_fields__ if getattr(gpu, name) is None}
    assert unknown - set(gpu.missing) <= {"reason", "node", "local_index"}


def test_memory_of_other_drivers(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_intel/arc_i915.tree")
    write_tree(tmp_path / "sys/class/drm/card1", {"lmem_total_bytes": f"{16 * GIB}\n"})
    assert one(intel(tmp_path)).mem_total_bytes == 16 * GIB


def test_kernel_without_files_for_each_part(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_intel/arc_i915.tree")
    shutil.rmtree(tmp_path / "sys/class/drm/card1/gt")
    gpu = one(intel(tmp_path))
    assert gpu.sm_clock_mhz == 2400.0
    assert gpu.throttle is None


def test_counter_that_begins_anew_is_no_power(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_intel/arc_i915.tree")
    clock = Clock()
    source = intel(tmp_path, clock)
    one(source)
    (device(tmp_path, 1) / "hwmon/hwmon3/energy1_input").write_text("7\n")
    clock.at_s += 1.0
    gpu = one(source)
    assert gpu.power_w is None
    assert gpu.missing["power_w"]


def test_processes_of_others_are_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, "gpu_intel/arc_i915.tree")
    drm_process(tmp_path, 70, fd4=i915_client(9, "512 MiB", render=0))
    listdir = os.listdir

    def refuse(path: str) -> list[str]:
        if path.endswith("/70/fd"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listdir(path)

    monkeypatch.setattr("hwtop.collectors.gpu.drm.fdinfo.os.listdir", refuse)
    gpu = one(intel(tmp_path))
    assert gpu.processes is None
    assert "other users" in gpu.missing["processes"]


def test_gpu_that_goes_is_lost(tmp_path: Path) -> None:
    maxes(tmp_path)
    clock = Clock()
    source = intel(tmp_path, clock)
    source.read()
    shutil.rmtree(device(tmp_path, 1))
    clock.at_s += 10
    gpus = source.read().gpus
    assert [gpu.status for gpu in gpus] == ["lost", "ok"]
    assert gpus[0].util_pct is None


def test_gpu_that_hangs_costs_its_own_row(tmp_path: Path, pipe: Any) -> None:
    maxes(tmp_path)
    clock = Clock()
    source = intel(tmp_path, clock, HANG_S)
    source.read()
    pipe(device(tmp_path, 2) / "tile1/gt1/freq0/act_freq")
    clock.at_s += 4
    gpus = source.read().gpus
    assert [gpu.status for gpu in gpus] == ["ok", "stale"]
    assert gpus[1].age_s == 4.0
    assert "act_freq" in str(gpus[1].reason)


class Gone(Files):
    """Files of a device that its driver has given up."""

    def text(self, path: str) -> str:
        if any(part in path for part in ("freq0", "hwmon/hwmon1/energy", "hwmon/hwmon1/temp")):
            raise OSError(errno.ENODEV, "No such device", path)
        return super().text(path)


def test_device_that_its_driver_has_given_up(tmp_path: Path) -> None:
    maxes(tmp_path)
    source = intel(tmp_path)
    source.probe()
    first = next(iter(source._rows._devices.values()))
    assert isinstance(first, IntelDevice)
    first.files = Gone()
    gpus = source.read().gpus
    assert [gpu.status for gpu in gpus] == ["error", "ok"]
    assert "no such device" in str(gpus[0].reason)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00garbage\n", b"N/A\n", b"9" * 5000])
def test_garbage_is_never_a_number(tmp_path: Path, content: bytes) -> None:
    maxes(tmp_path)
    keep = ("vendor", "device", "runtime_status", "name")
    for path in [path for path in device(tmp_path, 1).rglob("*") if path.is_file() and path.name not in keep]:
        path.write_bytes(content)
    sick, healthy = intel(tmp_path).read().gpus
    assert (sick.temp_c, sick.sm_clock_mhz, sick.mem_total_bytes) == (None, None, None)
    assert healthy.temp_c == 67.0


def test_sleeping_gpu_is_not_woken(tmp_path: Path) -> None:
    maxes(tmp_path)
    (device(tmp_path, 1) / "power/runtime_status").write_text("suspended\n")
    gpu = intel(tmp_path).read().gpus[0]
    assert (gpu.status, gpu.temp_c) == ("ok", None)
    assert "suspend" in gpu.missing["temp_c"]


def test_machines_without_an_intel_gpu_to_train_on(tmp_path: Path) -> None:
    assert str(intel(tmp_path).probe()).startswith("no ")
    (tmp_path / "sys/class/drm").mkdir(parents=True)
    assert str(intel(tmp_path).probe()).startswith("no Intel GPU")
    plant(tmp_path, "gpu_intel/arc_i915.tree")
    (tmp_path / "sys/class/drm/card1/device").unlink()
    source = intel(tmp_path)
    assert "inside the CPU" in str(source.probe())
    with pytest.raises(CannotError, match="inside the CPU"):
        source.read()


def test_gaudi_is_named_not_read(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/drivers/habanalabs").mkdir(parents=True)
    (tmp_path / "sys/class/drm").mkdir(parents=True)
    for number in range(8):
        for name in (f"accel{number}", f"accel_controlD{number}"):
            folder = tmp_path / f"sys/class/accel/{name}/device"
            folder.mkdir(parents=True)
            (folder / "driver").symlink_to(tmp_path / "sys/bus/pci/drivers/habanalabs")
    assert "8 Gaudi" in str(intel(tmp_path).probe())
    maxes(tmp_path)
    assert "8 Gaudi" in intel(tmp_path).read().missing["gaudi"]
