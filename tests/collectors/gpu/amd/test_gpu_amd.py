"""AmdGpus on trees of /sys in the layout of the kernel's driver."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hwtop.collectors.gpu.amd.device import AmdDevice
from hwtop.collectors.gpu.amd.vendor import AmdGpus
from hwtop.collectors.gpu.drm.sysfs import Files
from hwtop.errors import CannotError
from hwtop.model.gpu.device import Gpu, GpuProcess
from tests.collectors.amd_tables import table
from tests.collectors.sysfs_tree import drm_process, plant
from tests.host import Clock, write_tree

GIB = 1 << 30
BUS = ("05", "26", "46", "65", "85", "a6", "c6", "e5")
"""Of the eight GPUs of the MI300X machine."""
WAIT_S = 60.0
"""Deadline of a read where nothing hangs: it ends as soon as everything is in."""

HANG_S = 1.5
"""Deadline of a read where something hangs."""


def no_library() -> Any:
    raise ModuleNotFoundError("No module named 'amdsmi'")


def amd(root: Path, clock: Clock | None = None, deadline_s: float = WAIT_S, load: Any = no_library) -> AmdGpus:
    (root / "proc").mkdir(exist_ok=True)
    return AmdGpus(str(root / "sys"), str(root / "proc"), clock or Clock(), deadline_s, load)


def mi300x(root: Path, count: int = 2) -> None:
    """GPUs that are all linked to each other, as on the board with eight."""
    for number in range(count):
        bus = BUS[number]
        words: dict[str, object] = {"bridge": f"{number:02x}", "bus": bus, "card": number + 1, "render": 128 + number}
        words |= {"node": number + 2, "gpu_id": 1000 + number, "location": int(bus, 16) << 8}
        plant(root, "gpu_amd/mi300x.tree", socket=int(number >= count // 2), **words)
        others = [other for other in range(count) if other != number]
        for place, node in enumerate([0, *(other + 2 for other in others)]):
            kind = 2 if node == 0 else 11
            write_tree(
                root / f"sys/class/kfd/kfd/topology/nodes/{number + 2}/io_links/{place}",
                {"properties": f"type {kind}\nnode_from {number + 2}\nnode_to {node}\nmax_bandwidth 64000\n"},
            )
        metrics(root, number, table((1, 6), energy_accumulator=2**16 * 5000, accumulation_counter=1000))
    write_tree(root / "sys/class/kfd/kfd", {"topology/nodes/0/gpu_id": "0\n", "proc/.keep": ""})


def device(root: Path, number: int) -> Path:
    return (root / f"sys/class/drm/card{number + 1}/device").resolve()


def metrics(root: Path, number: int, content: bytes) -> None:
    (device(root, number) / "gpu_metrics").write_bytes(content)


def one(root: Path, source: AmdGpus | None = None) -> Gpu:
    (gpu,) = (source or amd(root)).read().gpus
    return gpu


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
            assert error.errno in (errno.ENXIO, errno.ENOENT)


def test_mi300x_in_training(tmp_path: Path) -> None:
    mi300x(tmp_path, 8)
    write_tree(
        tmp_path / "sys/class/kfd/kfd/proc",
        {f"{4000 + i}/vram_{1000 + i}": f"{160 * GIB}\n" for i in range(8)} | {"4000/sdma_1000": "7\n"},
    )
    source = amd(tmp_path)
    assert source.probe() is None
    reading = source.read()
    assert [(gpu.index, gpu.pci_bus_id) for gpu in reading.gpus] == [(i, f"0000:{BUS[i]}:00.0") for i in range(8)]
    gpu = reading.gpus[0]
    assert (gpu.vendor, gpu.name, gpu.uuid) == ("amd", "AMD Instinct MI300X OAM", "8f1c2d3e4a5b057c")
    assert (gpu.status, gpu.reason, gpu.age_s) == ("ok", None, 0.0)
    assert (gpu.util_pct, gpu.mem_util_pct) == (97.0, 41.0)
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes) == (160 * GIB, 206141652992)
    assert (gpu.bar1_used_bytes, gpu.bar1_total_bytes) == (160 * GIB, 206141652992)
    assert (gpu.power_w, gpu.power_limit_w, gpu.power_limit_default_w) == (742.0, 750.0, 750.0)
    assert (gpu.temp_c, gpu.mem_temp_c, gpu.temp_slowdown_c, gpu.temp_shutdown_c) == (78.0, 66.0, 100.0, 105.0)
    assert (gpu.sm_clock_mhz, gpu.sm_clock_max_mhz) == (1850.0, 2100.0)
    assert (gpu.mem_clock_mhz, gpu.mem_clock_max_mhz) == (1300.0, 1300.0)
    assert (gpu.pcie_gen, gpu.pcie_gen_max, gpu.pcie_width, gpu.pcie_width_max) == (5, 5, 16, 16)
    assert (gpu.numa_node, gpu.cpus) == (0, "0-47,96-143")
    assert gpu.ecc is not None
    assert (gpu.ecc.is_enabled, gpu.ecc.volatile_corrected, gpu.ecc.volatile_uncorrected) == (True, 12, 0)
    assert gpu.retired is not None
    assert (gpu.retired.double_bit, gpu.retired.is_pending) == (0, False)
    assert gpu.counters is not None
    assert (gpu.counters.energy_mj, gpu.counters.pcie_replays) == (5000_000, 0)
    assert gpu.processes == (GpuProcess(pid=4000, mem_bytes=160 * GIB, kind="compute"),)
    assert "chassis" in gpu.missing["fan_pct"]


def test_every_number_that_is_not_there_has_its_reason(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_amd/radeon.tree")
    mi300x(tmp_path / "other", 1)
    for root in (tmp_path, tmp_path / "other"):
        gpu = one(root)
        unknown = {name for name in gpu.__struct_fields__ if getattr(gpu, name) is None}
        assert unknown - set(gpu.missing) <= {"reason", "uuid", "node", "local_index"}


def test_links_and_ways_between_gpus(tmp_path: Path) -> None:
    mi300x(tmp_path, 8)
    reading = amd(tmp_path).read()
    assert reading.topology is not None
    for row in range(8):
        expected = ["SELF" if column == row else "XGMI" for column in range(8)]
        assert list(reading.topology.paths[row]) == expected
    links = reading.gpus[0].nvlinks
    assert links is not None
    assert [link.peer for link in links] == [f"0000:{bus}:00.0" for bus in BUS[1:]]
    assert {link.speed_bytes_per_s for link in links} == {64e9}


def test_link_that_is_down(tmp_path: Path) -> None:
    mi300x(tmp_path, 8)
    up = [1, 1, 1, 1, 1, 1, 1]  # the eighth is not in use: all ones
    metrics(tmp_path, 0, table((1, 7), accumulation_counter=1, xgmi_link_status=up))
    metrics(tmp_path, 1, table((1, 8), accumulation_counter=1, xgmi_link_status=[1, 1, 0, 1, 1, 1, 1]))
    metrics(tmp_path, 2, table((1, 7), accumulation_counter=1, xgmi_link_status=[2] * 8))  # a virtual machine
    well, sick, hidden, *_ = (gpu.nvlinks or () for gpu in amd(tmp_path).read().gpus)
    assert [link.is_up for link in well] == [True] * 7
    assert [link.peer for link in well] == [f"0000:{bus}:00.0" for bus in BUS[1:]]
    assert [(link.link, link.is_up) for link in sick] == [(i, i != 2) for i in range(7)]
    assert {link.is_up for link in hidden} == {None}
    assert all("is_up" in link.missing for link in hidden)


def test_without_the_compute_driver_the_way_is_that_of_pci(tmp_path: Path) -> None:
    mi300x(tmp_path, 2)
    shutil.rmtree(tmp_path / "sys/class/kfd")
    reading = amd(tmp_path).read()
    assert reading.topology is not None
    assert reading.topology.paths == (("SELF", "SYS"), ("SYS", "SELF"))
    assert reading.gpus[0].nvlinks is None
    assert "amdkfd" in reading.gpus[0].missing["nvlinks"]


def test_two_dies_of_a_mi250(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_amd/mi250.tree")
    reading = amd(tmp_path).read()
    first, second = reading.gpus
    assert first.name == second.name == "AMD Instinct MI250"
    assert (first.power_w, first.power_limit_w) == (412.0, 500.0)
    assert (second.power_w, second.power_limit_w) == (None, None)
    assert "first die" in second.missing["power_w"]
    assert first.ecc is not None
    assert (first.ecc.volatile_corrected, first.ecc.volatile_uncorrected) == (41, 3)
    assert (first.ecc.dram_uncorrected, first.ecc.sram_uncorrected) == (1, 2)
    assert first.retired is not None
    assert (first.retired.double_bit, first.retired.is_pending) == (2, True)
    assert second.ecc is None
    assert reading.topology is not None
    assert reading.topology.paths == (("SELF", "PIX"), ("PIX", "SELF"))


def test_radeon_tells_the_link_of_its_slot(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_amd/radeon.tree")
    metrics(tmp_path, -1, table((1, 3), indep_throttle_status=1 << 0 | 1 << 36, energy_accumulator=12345))
    gpu = one(tmp_path)
    assert gpu.name == "AMD Radeon RX 7900"
    assert (gpu.pcie_gen, gpu.pcie_width, gpu.pcie_gen_max, gpu.pcie_width_max) == (3, 8, 4, 16)
    assert gpu.throttle == ("sw_power_cap", "hw_thermal")
    assert gpu.fan_pct == 40.0
    assert gpu.temp_c == 79.0
    assert gpu.mem_clock_mhz == 1249.0, "of the table of steps: hwmon does not tell it"
    assert gpu.counters is not None
    assert gpu.counters.energy_mj is None, "the unit of the counter is documented for Instinct only"
    assert gpu.numa_node is None
    assert gpu.ecc is None
    assert "RAS" in gpu.missing["ecc"]


def test_gpu_of_an_unknown_kind_is_called_by_its_number(tmp_path: Path) -> None:
    plant(tmp_path, "gpu_amd/radeon.tree")
    (device(tmp_path, -1) / "device").write_text("0x7fff\n")
    assert one(tmp_path).name == "AMD GPU 0x7fff"


def test_time_at_the_limits_is_counted(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    clock = Clock()
    source = amd(tmp_path, clock)
    first = one(tmp_path, source)
    assert first.throttle is None
    assert "second read" in first.missing["throttle"]
    counts = {"prochot_residency_acc": 0, "ppt_residency_acc": 2**32 - 100, "socket_thm_residency_acc": 0}
    counts |= {"vr_thm_residency_acc": 0, "hbm_thm_residency_acc": 10}
    metrics(tmp_path, 0, table((1, 6), accumulation_counter=2000, **counts))
    clock.at_s += 1.0
    one(tmp_path, source)
    counts |= {"ppt_residency_acc": 150, "hbm_thm_residency_acc": 110}  # 250 and 100 of 1000 looks, over the wrap
    metrics(tmp_path, 0, table((1, 6), accumulation_counter=3000, **counts))
    clock.at_s += 2.0
    gpu = one(tmp_path, source)
    assert gpu.throttle == ("sw_power_cap", "hw_thermal")
    assert gpu.counters is not None
    assert (gpu.counters.power_violation_ns, gpu.counters.thermal_violation_ns) == (500_000_000, 200_000_000)
    metrics(tmp_path, 0, table((1, 6), accumulation_counter=4000, **counts))
    clock.at_s += 1.0
    assert one(tmp_path, source).throttle == ()


def test_link_is_read_each_time_and_errors_now_and_then(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    clock = Clock()
    source = amd(tmp_path, clock)
    one(tmp_path, source)
    (device(tmp_path, 0) / "current_link_speed").write_text("2.5 GT/s PCIe\n")
    (device(tmp_path, 0) / "ras/umc_err_count").write_text("ue: 2\nce: 12\nde: 1\n")
    clock.at_s += 1
    gpu = one(tmp_path, source)
    assert gpu.ecc is not None
    assert (gpu.pcie_gen, gpu.ecc.volatile_uncorrected) == (1, 0)
    clock.at_s += 30
    gpu = one(tmp_path, source)
    assert gpu.ecc is not None
    assert (gpu.ecc.volatile_uncorrected, gpu.ecc.dram_uncorrected) == (2, 2)


def test_traffic_over_all_links_is_counted(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    counts: dict[str, int | list[int]] = {"xgmi_write_data_acc": [10] * 7, "xgmi_read_data_acc": [20] * 7}
    metrics(tmp_path, 0, table((1, 7), accumulation_counter=1, **counts))
    counters = one(tmp_path).counters
    assert counters is not None
    assert (counters.nvlink_tx_bytes, counters.nvlink_rx_bytes) == (70 << 10, 140 << 10)


def test_partitions_of_a_mi300x_are_one_gpu(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    (device(tmp_path, 0) / "current_compute_partition").write_text("CPX\n")
    for number in range(1, 8):
        platform = tmp_path / f"sys/devices/platform/amdgpu_xcp_{number}"
        platform.mkdir(parents=True)
        card = tmp_path / f"sys/class/drm/card{number + 8}"
        card.mkdir(parents=True)
        (card / "device").symlink_to(platform)
        location = number << 28 | int(BUS[0], 16) << 8
        node = f"gpu_id\n{2000 + number}", f"location_id {location}\ndomain 0\n"
        write_tree(
            tmp_path / f"sys/class/kfd/kfd/topology/nodes/{number + 10}",
            {"gpu_id": f"{2000 + number}\n", "properties": node[1]},
        )
    write_tree(
        tmp_path / "sys/class/kfd/kfd/proc",
        {"77/vram_1000": f"{GIB}\n", "77/vram_2003": f"{2 * GIB}\n", "78/vram_2007": f"{GIB}\n", "79/vram_9": "1\n"},
    )
    processes = one(tmp_path).processes
    assert processes is not None
    assert [(process.pid, process.mem_bytes) for process in processes] == [(77, 3 * GIB), (78, GIB)]


def amdgpu_client(bus: str, client: int, vram_kib: int, **engines_ns: int) -> str:
    lines = [
        "drm-driver:\tamdgpu",
        f"drm-client-id:\t{client}",
        f"drm-pdev:\t0000:{bus}:00.0",
        f"drm-memory-vram:\t{vram_kib} KiB",
        "drm-memory-gtt: \t2048 KiB",
        "drm-memory-cpu: \t0 KiB",
        *(f"drm-engine-{name}:\t{busy} ns" for name, busy in engines_ns.items()),
    ]
    return "\n".join(lines) + "\n"


def test_share_of_each_process_between_two_reads(tmp_path: Path) -> None:
    mi300x(tmp_path, 2)
    write_tree(tmp_path / "sys/class/kfd/kfd/proc", {"502/vram_1000": f"{4 * GIB}\n"})
    clock = Clock()
    source = amd(tmp_path, clock)
    drm_process(
        tmp_path,
        500,
        fd7=amdgpu_client("05", 1, 1024, gfx=10**9, compute=0),
        fd8=amdgpu_client("05", 1, 1024, gfx=10**9, compute=0),  # the same client by a second descriptor
        fd9=amdgpu_client("26", 1, 512),  # the same number on another GPU is another client
    )
    drm_process(tmp_path, 501, fd3=amdgpu_client("05", 2, 1024, compute=5))
    drm_process(tmp_path, 502, fd3=amdgpu_client("05", 3, 4 * GIB >> 10, compute=5))
    first = source.read().gpus
    assert first[0].processes is not None
    assert [process.sm_pct for process in first[0].processes] == [None, None, None]
    drm_process(tmp_path, 500, fd7=amdgpu_client("05", 1, 1024, gfx=15 * 10**8, compute=0))
    drm_process(tmp_path, 501, fd3=amdgpu_client("05", 2, 1024, compute=5 + 2 * 10**9))
    clock.at_s += 2.0
    gpus = source.read().gpus
    assert gpus[0].processes == (
        GpuProcess(pid=500, mem_bytes=1 << 20, kind="graphics", sm_pct=25.0),
        GpuProcess(pid=501, mem_bytes=1 << 20, kind="compute", sm_pct=100.0),
        GpuProcess(pid=502, mem_bytes=4 * GIB, kind="compute", sm_pct=None),  # ROCm's queues are not in DRM files
    )
    assert "ROCm" in gpus[0].missing["processes.sm_pct"]


def test_rocm_process_in_a_container_has_the_pid_that_it_has_there(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    of_host = {
        "88123/vram_1000": f"{GIB}\n",
        "88123/pasid": "32770\n",
        "9/vram_1000": f"{2 * GIB}\n",
        "9/pasid": "32771\n",
    }
    write_tree(tmp_path / "sys/class/kfd/kfd/proc", of_host)
    drm_process(tmp_path, 31, fd7="pasid:\t32770\n" + amdgpu_client("05", 1, GIB >> 10))
    assert one(tmp_path).processes == (
        GpuProcess(pid=9, mem_bytes=2 * GIB),  # of another container: the host's PID is all that is known
        GpuProcess(pid=31, mem_bytes=GIB),
    )


def test_missing_files_are_reasons_of_their_field(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    for name in ("mem_busy_percent", "gpu_metrics", "ras/gpu_vram_bad_pages", "hwmon/hwmon1/power1_cap_min"):
        (device(tmp_path, 0) / name).unlink()
    gpu = one(tmp_path)
    assert gpu.status == "ok"
    assert (gpu.util_pct, gpu.power_w) == (97.0, 742.0)
    for field, name in (
        ("mem_util_pct", "mem_busy_percent"),
        ("throttle", "gpu_metrics"),
        ("retired", "gpu_vram_bad_pages"),
        ("power_limit_min_w", "power1_cap_min"),
    ):
        assert getattr(gpu, field) is None
        assert name in gpu.missing[field]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00garbage\n", b"N/A\n", b"9" * 5000, b"-40\n"])
def test_garbage_is_never_a_number(tmp_path: Path, content: bytes) -> None:
    mi300x(tmp_path, 2)
    whole = tuple(path for path in device(tmp_path, 0).rglob("*") if path.is_file() and path.name not in IDENTITY)
    for path in whole:
        path.write_bytes(content)
    sick, healthy = amd(tmp_path).read().gpus
    assert (sick.util_pct, sick.throttle, sick.ecc) == (None, None, None)
    assert (healthy.status, healthy.util_pct) == ("ok", 97.0)


IDENTITY = ("vendor", "device", "runtime_status", "name")


@pytest.mark.parametrize("revision", [(1, 9), (4, 0)])
def test_table_of_an_unknown_revision_is_left_alone(tmp_path: Path, revision: tuple[int, int]) -> None:
    mi300x(tmp_path, 1)
    metrics(tmp_path, 0, bytes([64, 0, *revision]) + bytes(60))
    assert f"v{revision[0]}.{revision[1]}" in one(tmp_path).missing["throttle"]


def test_gpu_that_goes_is_lost_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    mi300x(tmp_path, 3)
    clock = Clock()
    source = amd(tmp_path, clock)
    source.read()
    shutil.rmtree(device(tmp_path, 1))
    clock.at_s += 10
    gpus = source.read().gpus
    assert [gpu.status for gpu in gpus] == ["ok", "lost", "ok"]
    assert gpus[1].pci_bus_id == "0000:26:00.0"
    assert gpus[1].util_pct is None
    assert "dmesg" in str(gpus[1].reason)
    assert gpus[2].pci_bus_id == "0000:46:00.0"


def test_gpu_that_comes_later_is_found(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    clock = Clock()
    source = amd(tmp_path, clock)
    assert len(source.read().gpus) == 1
    shutil.rmtree(tmp_path / "sys")
    mi300x(tmp_path, 2)
    clock.at_s += 10
    assert [gpu.status for gpu in source.read().gpus] == ["ok", "ok"]


def test_gpu_that_hangs_costs_its_own_row(tmp_path: Path, pipe: Any) -> None:
    mi300x(tmp_path, 3)
    clock = Clock()
    source = amd(tmp_path, clock, HANG_S)
    source.read()
    sick = device(tmp_path, 1) / "hwmon/hwmon2/power1_input"
    pipe(sick)
    (device(tmp_path, 2) / "gpu_busy_percent").write_text("55\n")
    clock.at_s += 3
    gpus = source.read().gpus
    assert [gpu.status for gpu in gpus] == ["ok", "stale", "ok"]
    assert gpus[1].age_s == 3.0
    assert gpus[1].util_pct == 97.0, "its last numbers stay, marked as old"
    assert "power1_input" in str(gpus[1].reason)
    assert gpus[2].util_pct == 55.0
    sick.with_name("power1_average").write_text("700000000\n")
    with sick.open("w") as answer:
        answer.write("735000000\n")
    end_s = time.monotonic() + WAIT_S
    while (gpu := source.read().gpus[1]).status != "ok":
        assert time.monotonic() < end_s, gpu.reason
    assert gpu.power_w in (735.0, 700.0), "it is read again once it answers"


def test_process_whose_file_hangs_costs_the_processes_only(tmp_path: Path, pipe: Any) -> None:
    mi300x(tmp_path, 1)
    drm_process(tmp_path, 500, fd7=amdgpu_client("05", 1, 1024))
    source = amd(tmp_path)
    source.read()
    pipe(tmp_path / "proc/500/fdinfo/7")
    source._deadline_s = HANG_S
    gpu = source.read().gpus[0]
    assert (gpu.status, gpu.util_pct) == ("ok", 97.0)
    assert "fdinfo/7" in gpu.missing["processes"]


class Refusing(Files):
    """sysfs of a GPU that its driver resets: everything of the chip is refused."""

    def text(self, path: str) -> str:
        if any(part in path for part in ("_percent", "hwmon/hwmon1/", "pp_dpm", "ras/")):
            raise PermissionError(errno.EPERM, "Operation not permitted", path)
        return super().text(path)


def test_gpu_in_reset_says_so(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    source = amd(tmp_path)
    source.probe()
    (device,) = source._rows._devices.values()
    assert isinstance(device, AmdDevice)
    device.files = Refusing()
    gpu = source.read().gpus[0]
    assert gpu.status == "error"
    assert "reset" in str(gpu.reason)
    assert gpu.mem_used_bytes is None


def test_sleeping_gpu_is_not_woken(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    (device(tmp_path, 0) / "power/runtime_status").write_text("suspended\n")
    gpu = one(tmp_path)
    assert (gpu.status, gpu.util_pct) == ("ok", None)
    assert "suspend" in gpu.missing["util_pct"]


def test_machines_without_amd(tmp_path: Path) -> None:
    source = amd(tmp_path)
    assert "no " in str(source.probe())
    (tmp_path / "sys/class/drm").mkdir(parents=True)
    assert "no AMD GPU" in str(source.probe())
    with pytest.raises(CannotError, match="no AMD GPU"):
        source.read()


def test_gpu_without_its_driver(tmp_path: Path) -> None:
    pci = tmp_path / "sys/bus/pci/devices/0000:05:00.0"
    write_tree(pci, {"vendor": "0x1002\n", "device": "0x74a1\n", "class": "0x120000\n"})
    assert "modprobe amdgpu" in str(amd(tmp_path).probe())


def test_driver_that_is_loaded_later(tmp_path: Path) -> None:
    clock = Clock()
    source = amd(tmp_path, clock)
    assert source.probe() is not None
    mi300x(tmp_path, 1)
    clock.at_s += 10
    assert source.probe() is None


def test_library_tells_what_the_files_do_not(tmp_path: Path) -> None:
    mi300x(tmp_path, 1)
    metrics(tmp_path, 0, bytes([16, 0, 1, 9]) + bytes(12))
    shutil.rmtree(device(tmp_path, 0) / "ras")
    calls: list[str] = []
    library = SimpleNamespace(
        amdsmi_init=lambda: calls.append("init"),
        amdsmi_get_processor_handles=lambda: ["first"],
        amdsmi_get_gpu_device_bdf=lambda handle: "0000:05:00.0",
        amdsmi_get_violation_status=lambda handle: {"active_ppt_pwr": True, "active_socket_thrm": "N/A"},
        amdsmi_get_gpu_total_ecc_count=lambda handle: {"correctable_count": 4, "uncorrectable_count": 1},
    )
    source = amd(tmp_path, load=lambda: library)
    end_s = time.monotonic() + WAIT_S
    while (gpu := source.read().gpus[0]).throttle is None:  # its thread is waited for by nobody
        assert time.monotonic() < end_s
    assert gpu.throttle == ("sw_power_cap",)
    assert gpu.ecc is not None
    assert (gpu.ecc.volatile_corrected, gpu.ecc.volatile_uncorrected) == (4, 1)
    assert not {"throttle", "ecc"} & set(gpu.missing)
    assert calls == ["init"]
