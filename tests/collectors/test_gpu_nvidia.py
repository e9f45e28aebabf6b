"""GpuNvidiaSource against the fake NVML, which a child process loads as it would load the real one."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from hwtop.collectors.nvml_levels import throttle_reasons
from hwtop.model.gpu import Gpu, GpuProcess, ThrottleReason
from tests.fakenvml.fixture import PIDS, FakeNvml, GpuProbe

MIB = 1024**2
QUICK_S = 0.3
"""The deadline of a read where something hangs, as in real use."""
GUARD_S = 20.0
"""Upper bound for what must not hang, generous because the machine may be busy."""
LEVELS = (
    "util_pct",
    "mem_util_pct",
    "mem_used_bytes",
    "power_w",
    "temp_c",
    "sm_clock_mhz",
    "mem_clock_mhz",
    "throttle",
)


def read_until(probe: GpuProbe, is_so: Callable[[tuple[Gpu, ...]], bool]) -> tuple[Gpu, ...]:
    """The first reading that is so."""
    end_s = time.monotonic() + GUARD_S
    while True:
        gpus = probe.read()
        if is_so(gpus):
            return gpus
        assert time.monotonic() < end_s, gpus
        time.sleep(0.02)


def are_ok(gpus: tuple[Gpu, ...]) -> bool:
    return all(gpu.status == "ok" for gpu in gpus)


def test_eight_gpus_in_training(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe()
    assert probe.say("probe").reason is None
    answer = probe.say("read")
    assert answer.reading is not None
    assert answer.reading.driver == "580.95.05"
    gpus = answer.reading.gpus
    assert [gpu.index for gpu in gpus] == list(range(8))
    assert [gpu.pci_bus_id for gpu in gpus[:2]] == ["0000:1b:00.0", "0000:43:00.0"]
    assert len({gpu.uuid for gpu in gpus}) == 8
    for gpu in gpus:
        assert (gpu.vendor, gpu.name, gpu.status, gpu.reason, gpu.age_s) == (
            "nvidia",
            "NVIDIA H100 80GB HBM3",
            "ok",
            None,
            0.0,
        )
        assert gpu.mem_total_bytes == 81559 * MIB
        assert gpu.power_limit_w == 700.0
        assert (gpu.sm_clock_max_mhz, gpu.mem_clock_mhz) == (1980.0, 2619.0)
        assert (gpu.pcie_gen, gpu.pcie_gen_max, gpu.pcie_width, gpu.pcie_width_max) == (5, 5, 16, 16)
        assert gpu.throttle == ()
        assert gpu.processes == (GpuProcess(pid=PIDS[f"rank{gpu.index}"], mem_bytes=70912 * MIB, sm_pct=95.0),)


def test_levels_are_read_anew_each_time(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe()
    probe.read()
    fake_nvml.set(3, util=7, mem_util=3, mem_used=1000, power=70.5, temp=41, gr=345, mem=1593)
    gpu = probe.read()[3]
    assert (gpu.util_pct, gpu.mem_util_pct, gpu.mem_used_bytes) == (7.0, 3.0, 1000 * MIB)
    assert gpu.power_w == pytest.approx(70.5)
    assert (gpu.temp_c, gpu.sm_clock_mhz, gpu.mem_clock_mhz) == (41.0, 345.0, 1593.0)


def test_what_is_dear_is_read_seldom(fake_nvml: FakeNvml) -> None:
    """Processes every 2 s, PCIe throughput (20 ms a call) every 5 s, and not of all GPUs at once."""
    fake_nvml.set("all", pcie_tx=1000, pcie_rx=2000)
    probe = fake_nvml.probe()
    first = probe.read()
    assert (first[0].pcie_tx_bytes_per_s, first[0].pcie_rx_bytes_per_s) == (1000 * 1024, 2000 * 1024)
    assert first[1].pcie_tx_bytes_per_s is None
    assert "not read yet" in first[1].missing["pcie_tx_bytes_per_s"]
    fake_nvml.set("all", pcie_tx=5, proc="1 1")
    soon = probe.read()[0]
    assert (soon.pcie_tx_bytes_per_s, soon.processes) == (1000 * 1024, first[0].processes)
    probe.say("advance 2")
    assert len(probe.read()[0].processes or ()) == 2
    probe.say("advance 3")
    later = probe.read()
    assert [gpu.pcie_tx_bytes_per_s for gpu in later] == [5 * 1024] * 8
    assert "pcie_tx_bytes_per_s" not in later[1].missing


def test_only_the_gpus_asked_for(fake_nvml: FakeNvml) -> None:
    gpus = fake_nvml.probe(2, 9).read()
    assert [(gpu.index, gpu.status) for gpu in gpus] == [(2, "ok"), (9, "error")]
    assert "no GPU 9" in (gpus[1].reason or "")


def test_one_gpu_hangs(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    before = read_until(probe, are_ok)
    fake_nvml.sleep(3, "nvmlDeviceGetUtilizationRates", "hang")
    fake_nvml.set(4, util=11)
    gpus = read_until(probe, lambda gpus: [gpu.status for gpu in gpus].count("stale") == 1)
    assert gpus[3].status == "stale"
    assert gpus[3].reason == "driver not answering for 0 s (NVML call nvmlDeviceGetUtilizationRates)"
    assert (gpus[3].name, gpus[3].mem_total_bytes, gpus[3].processes) == (
        before[3].name,
        before[3].mem_total_bytes,
        before[3].processes,
    )
    assert gpus[3].util_pct is not None
    assert gpus[4].util_pct == 11.0

    probe.say("advance 12")
    answer = probe.say("read")
    assert answer.reading is not None
    later = answer.reading.gpus
    assert later[3].reason is not None
    assert later[3].reason.startswith("driver not answering for 12 s (NVML call nvmlDeviceGetUtilizationRates")
    assert later[3].age_s > 12.0
    assert later[3].util_pct == gpus[3].util_pct

    fake_nvml.undo()
    fake_nvml.set(3, util=42)
    recovered = read_until(probe, are_ok)
    assert recovered[3].util_pct == 42.0
    assert recovered[3].reason is None
    assert recovered[3].age_s == 0.0


def test_numbers_from_before_a_hang_are_not_shown_as_fresh_after_it(fake_nvml: FakeNvml) -> None:
    """The released call ends a reading whose first half is 60 s old."""
    fake_nvml.set(3, util=99)
    probe = fake_nvml.probe(3, deadline_s=QUICK_S)
    read_until(probe, are_ok)
    fake_nvml.sleep(3, "nvmlDeviceGetTemperature", "hang")
    read_until(probe, lambda gpus: gpus[0].status == "stale")
    probe.say("advance 60")
    fake_nvml.undo()
    fake_nvml.set(3, util=1)
    seen = []
    read_until(probe, lambda gpus: seen.append(gpus[0]) or gpus[0].status == "ok")  # type: ignore[func-returns-value]
    assert seen[-1].util_pct == 1.0
    assert all(gpu.util_pct == 99.0 for gpu in seen if gpu.status == "stale")


def test_every_call_hangs_while_running(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    before = read_until(probe, are_ok)
    fake_nvml.sleep("system", "*", "hang")
    gpus = read_until(probe, lambda gpus: all(gpu.status == "stale" for gpu in gpus))
    assert [gpu.name for gpu in gpus] == [gpu.name for gpu in before]
    assert all(gpu.mem_used_bytes for gpu in gpus)
    probe.say("advance 30")
    answer = probe.say("read")
    assert answer.reading is not None
    assert all(gpu.status == "stale" and gpu.age_s > 30.0 for gpu in answer.reading.gpus)
    assert answer.took_s < GUARD_S
    fake_nvml.undo()
    assert all(gpu.age_s == 0.0 for gpu in read_until(probe, are_ok))


def test_a_hanging_gpu_is_no_longer_waited_for(fake_nvml: FakeNvml) -> None:
    """Waiting for it each time would take five deadlines."""
    deadline_s = 2.0
    probe = fake_nvml.probe(deadline_s=deadline_s)
    probe.read()
    fake_nvml.sleep(3, "*", "hang")
    assert probe.read()[3].status == "stale"
    assert sum(probe.say("read").took_s for _ in range(5)) < deadline_s


def test_init_hangs_and_comes_back(fake_nvml: FakeNvml) -> None:
    fake_nvml.sleep("system", "nvmlInit*", "hang")
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    assert probe.say("probe").reason == "NVIDIA driver not answering: nvmlInit has not returned for 0 s"
    probe.say("advance 7")
    reason = probe.say("read").reason
    assert reason is not None
    assert reason.startswith("NVIDIA driver not answering: nvmlInit has not returned for 7 s")
    fake_nvml.undo()
    end_s = time.monotonic() + GUARD_S
    while probe.say("probe").reason is not None:
        assert time.monotonic() < end_s
        time.sleep(0.02)
    assert len(probe.read()) == 8


def test_slow_gpu_begins_its_next_reading_at_once(fake_nvml: FakeNvml) -> None:
    """A reading that takes longer than the deadline is in by the next tick if nobody waits for that tick to begin it."""
    fake_nvml.sleep(3, "nvmlDeviceGetUtilizationRates", 500)
    probe = fake_nvml.probe(3, 4, deadline_s=QUICK_S)
    read_until(probe, are_ok)
    end_s = time.monotonic() + GUARD_S
    while fake_nvml.calls("nvmlDeviceGetUtilizationRates", 3) < 2:
        assert time.monotonic() < end_s
        time.sleep(0.02)
    fake_nvml.set(3, util=13)
    assert read_until(probe, lambda gpus: gpus[0].util_pct == 13.0)[1].status == "ok"


def test_slow_scenario_never_blanks_a_row(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("slow")
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    read_until(probe, lambda gpus: all(gpu.util_pct is not None for gpu in gpus))
    for _ in range(4):
        gpus = probe.read()
        assert {gpu.status for gpu in gpus} <= {"ok", "stale"}
        assert all(gpu.util_pct is not None for gpu in gpus)


def test_lost_gpu_is_one_row(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("gpu-lost")
    gpus = fake_nvml.probe().read()
    assert [gpu.status for gpu in gpus] == ["ok"] * 3 + ["lost"] + ["ok"] * 4
    assert [gpu.pci_bus_id for gpu in gpus[4:6]] == ["0000:9d:00.0", "0000:c3:00.0"]
    assert gpus[3].index == 3
    assert "Xid 79" in (gpus[3].reason or "")
    assert gpus[3].util_pct is None


def test_gpu_is_lost_while_running_and_returns(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe()
    before = probe.read()[3]
    fake_nvml.fail(3, "*", "GPU_IS_LOST")
    lost = probe.read()[3]
    assert lost.status == "lost"
    assert (lost.name, lost.uuid, lost.pci_bus_id) == (before.name, before.uuid, before.pci_bus_id)
    assert all(getattr(lost, field) is None for field in (*LEVELS, "mem_total_bytes", "power_limit_w", "processes"))
    fake_nvml.undo()
    back = probe.read()[3]
    assert (back.status, back.reason, back.uuid) == ("ok", None, before.uuid)
    assert back.processes == before.processes
    assert fake_nvml.calls("nvmlDeviceGetHandleByUUID", 3) > 0, "an old handle may be dangling"


@pytest.mark.parametrize(
    ("error", "advice"),
    [("UNKNOWN", "dmesg"), ("RESET_REQUIRED", "nvidia-smi --gpu-reset -i 3"), ("UNINITIALIZED", "restart")],
)
def test_a_gpu_that_answers_nothing_is_an_error_with_advice(fake_nvml: FakeNvml, error: str, advice: str) -> None:
    probe = fake_nvml.probe()
    probe.read()
    fake_nvml.fail(3, "*", error)
    gpus = probe.read()
    assert [gpu.status for gpu in gpus] == ["ok"] * 3 + ["error"] + ["ok"] * 4
    assert advice in (gpus[3].reason or "")
    assert all(getattr(gpus[3], field) is None for field in LEVELS)


def test_flaky_driver(fake_nvml: FakeNvml) -> None:
    """One call in five fails on GPU 3; GPU 5 refuses its processes, which is not the same as having none."""
    fake_nvml.load("flaky")
    probe = fake_nvml.probe()
    rows = [probe.read() for _ in range(40)]
    flaky = [gpus[3] for gpus in rows]
    assert any(gpu.status == "ok" and gpu.missing for gpu in flaky)
    for gpu in flaky:
        unknown = {field for field in LEVELS if getattr(gpu, field) is None}
        assert gpu.status == "error" or unknown <= set(gpu.missing)
        assert gpu.util_pct is None or 91 <= gpu.util_pct <= 100
    assert flaky[-1].name == "NVIDIA H100 80GB HBM3"
    refused = rows[-1][5]
    assert refused.status == "ok"
    assert refused.processes is None
    assert refused.missing["processes"] == "permission denied"


def test_number_of_gpus_drops(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe()
    before = probe.read()
    fake_nvml.set("system", gpus=7)
    probe.say("advance 6")
    gpus = read_until(probe, lambda gpus: gpus[7].status == "lost")
    assert len(gpus) == 8
    assert gpus[7].uuid == before[7].uuid
    assert "no longer lists it" in (gpus[7].reason or "")
    assert are_ok(gpus[:7])
    fake_nvml.undo()
    assert read_until(probe, are_ok)[7].uuid == before[7].uuid


def test_gpu_appears(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("system", gpus=7)
    probe = fake_nvml.probe()
    assert len(probe.read()) == 7
    fake_nvml.undo()
    probe.say("advance 6")
    assert read_until(probe, lambda gpus: len(gpus) == 8)[7].pci_bus_id == "0000:df:00.0"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("LIB_RM_VERSION_MISMATCH", ("version mismatch", "reboot", "reload the nvidia module")),
        ("DRIVER_NOT_LOADED", ("not loaded", "modprobe nvidia")),
        ("NO_PERMISSION", ("no permission", "/dev/nvidiactl")),
        ("UNKNOWN", ("failed to initialise", "dmesg")),
        ("INSUFFICIENT_RESOURCES", ("nvmlInit failed: Insufficient",)),
    ],
)
def test_driver_refuses(fake_nvml: FakeNvml, error: str, words: tuple[str, ...]) -> None:
    fake_nvml.fail("system", "nvmlInit*", error)
    probe = fake_nvml.probe()
    reason = probe.say("probe").reason or ""
    for word in words:
        assert word in reason
    assert probe.say("read").reason == reason


@pytest.mark.parametrize("scenario", ["no-gpu", "driver-mismatch"])
def test_driver_that_gets_ready_later_is_found(fake_nvml: FakeNvml, scenario: str) -> None:
    fake_nvml.load(scenario)
    probe = fake_nvml.probe()
    assert probe.say("probe").reason is not None
    fake_nvml.load("gtx1080")
    assert probe.say("probe").reason is not None, "asked again only after 10 s"
    probe.say("advance 11")
    assert probe.say("probe").reason is None
    assert probe.read()[0].name == "NVIDIA GeForce GTX 1080"


def test_no_gpu(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("no-gpu")
    assert (fake_nvml.probe().say("probe").reason or "").startswith("no GPUs")


def test_no_library(fake_nvml: FakeNvml) -> None:
    fake_nvml.env["LD_LIBRARY_PATH"] = "/nonexistent"
    probe = fake_nvml.probe()
    assert probe.say("probe").reason == "no NVIDIA driver: libnvidia-ml.so.1 not found"
    assert probe.say("read").reason == "no NVIDIA driver: libnvidia-ml.so.1 not found"


def test_old_driver(old_nvml: FakeNvml) -> None:
    """Without _v2 memory, clock event reasons and process lists: what is there is shown, what is not says why."""
    old_nvml.load("h100x8-throttle")
    gpus = old_nvml.probe().read()
    assert are_ok(gpus)
    assert gpus[5].throttle == ("hw_slowdown", "sw_thermal", "hw_thermal")
    assert gpus[5].mem_total_bytes == 81559 * MIB
    assert gpus[5].processes is None
    assert gpus[5].missing["processes"].startswith("driver too old")
    assert "throttle" not in gpus[5].missing
    assert "mem_used_bytes" not in gpus[5].missing


def test_desktop_card(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("gtx1080")
    (gpu,) = fake_nvml.probe().read()
    assert (gpu.name, gpu.status) == ("NVIDIA GeForce GTX 1080", "ok")
    assert gpu.missing["mig_mode"] == "not supported by this GPU"
    assert gpu.power_limit_w == 180.0
    assert gpu.processes == (
        GpuProcess(pid=PIDS["rank0"], mem_bytes=2610 * MIB, sm_pct=70.0),
        GpuProcess(pid=PIDS["xorg"], mem_bytes=412 * MIB, kind="graphics", sm_pct=3.0),
    )


def test_mig_parent(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("a100-mig")
    split, whole = fake_nvml.probe().read()
    assert (split.status, split.util_pct, split.mem_util_pct) == ("ok", None, None)
    assert split.missing["util_pct"] == "MIG mode: utilization is per instance"
    assert split.mem_used_bytes == 22400 * MIB
    assert whole.util_pct is not None


def test_unified_memory(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("gb10-unified")
    (gpu,) = fake_nvml.probe().read()
    assert gpu.status == "ok"
    assert gpu.pci_bus_id == "000f:01:00.0"
    assert (gpu.mem_used_bytes, gpu.mem_total_bytes, gpu.power_limit_w) == (None, None, None)
    assert "unified memory" in gpu.missing["mem_total_bytes"]
    assert gpu.missing["power_limit_w"] == "not supported by this GPU"
    assert gpu.power_w is not None


def test_throttled_gpus(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("h100x8-throttle")
    gpus = fake_nvml.probe().read()
    assert gpus[5].throttle == ("hw_slowdown", "sw_thermal", "hw_thermal")
    assert gpus[2].throttle == ("sw_power_cap",)
    assert gpus[2].power_limit_w == 500.0
    assert gpus[0].throttle == ()


def test_idle_gpus_and_a_dead_process(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("h100x8-idle")
    gpus = fake_nvml.probe().read()
    assert (gpus[4].throttle, gpus[4].processes) == (("idle",), ())
    assert gpus[7].processes == (GpuProcess(pid=4194000, mem_bytes=70912 * MIB, sm_pct=0.0),)


def test_process_memory_that_is_not_known_is_not_zero(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("gtx1080")
    fake_nvml.set(0, proc="77 -")
    (gpu,) = fake_nvml.probe().read()
    assert GpuProcess(pid=77, mem_bytes=None, sm_pct=0.0) in (gpu.processes or ())


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        (0x0, ()),
        (0x1, ("idle",)),
        (0x2, ("app_clocks",)),
        (0x4, ("sw_power_cap",)),
        (0x8, ("hw_slowdown",)),
        (0x10, ("sync_boost",)),
        (0x20, ("sw_thermal",)),
        (0x40, ("hw_thermal",)),
        (0x80, ("hw_power_brake",)),
        (0x100, ("display_clocks",)),
        (0x44, ("sw_power_cap", "hw_thermal")),
        (0x8000, ()),
    ],
)
def test_throttle_bits(bits: int, names: tuple[ThrottleReason, ...]) -> None:
    assert throttle_reasons(bits) == names


def test_program_leaves_at_once_while_calls_hang(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    read_until(probe, are_ok)
    fake_nvml.sleep("system", "*", "hang")
    read_until(probe, lambda gpus: all(gpu.status == "stale" for gpu in gpus))
    probe.say("quit")
    assert probe.process.wait(GUARD_S) == 0


def test_program_leaves_at_once_while_init_hangs(fake_nvml: FakeNvml) -> None:
    fake_nvml.sleep("system", "nvmlInit*", "hang")
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    assert probe.say("read").reason is not None
    probe.say("quit")
    assert probe.process.wait(GUARD_S) == 0


def test_importing_the_source_does_not_import_pynvml() -> None:
    code = "import sys, json, hwtop.collectors.gpu_nvidia; print(json.dumps('pynvml' in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert json.loads(result.stdout) is False
