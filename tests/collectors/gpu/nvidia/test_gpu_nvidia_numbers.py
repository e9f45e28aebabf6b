"""The numbers of NVIDIA GPUs, on the fake NVML: levels, limits, settings and counters, and why some are missing."""

from __future__ import annotations

from collections import Counter

import pytest

from hwtop.collectors.gpu.nvidia.levels import throttle_reasons
from hwtop.model.gpu.device import GpuCounters, GpuProcess, ThrottleReason
from tests.fakenvml.fixture import PIDS, FakeNvml, are_ok, unexplained

MIB = 1024**2


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
    fake_nvml.set(3, util=7, mem_util=3, mem_used=1000, power=70.5, temp=41, gr=345)
    gpu = probe.read()[3]
    assert (gpu.util_pct, gpu.mem_util_pct, gpu.mem_used_bytes) == (7.0, 3.0, 1000 * MIB)
    assert gpu.power_w == pytest.approx(70.5)
    assert (gpu.temp_c, gpu.sm_clock_mhz) == (41.0, 345.0)


def test_what_is_dear_is_read_seldom(fake_nvml: FakeNvml) -> None:
    """Processes every 2 s, PCIe throughput (20 ms a call) every 5 s, and not of all GPUs at once; without GPM, that is."""
    fake_nvml.set("all", pcie_tx=1000, pcie_rx=2000, gpm=0)
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


def test_driver_without_the_deprecated_functions(new_nvml: FakeNvml) -> None:
    """Nothing is lost."""
    new_nvml.set(0, temp_shutdown="-", temp_slowdown="-", tlimit_shutdown=-8, tlimit_slowdown=-2)
    (gpu,) = new_nvml.probe(0).read()
    assert not [reason for reason in gpu.missing.values() if reason.startswith("driver too old")]
    assert None not in (gpu.temp_c, gpu.temp_shutdown_c, gpu.throttle, gpu.counters, gpu.ecc)


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


def test_limits_settings_and_what_is_beside(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("h100x8-throttle")
    fake_nvml.set(2, bar1_used=40, enc=12, dec=34, pstate=2, persistence=0, compute_mode=3, power_min=350)
    gpus = fake_nvml.probe(2, 5).read()
    capped, hot = gpus
    assert (capped.power_limit_w, capped.power_limit_default_w) == (500.0, 700.0)
    assert (capped.power_limit_min_w, capped.power_limit_max_w) == (350.0, 700.0)
    assert (capped.temp_slowdown_c, capped.temp_shutdown_c, capped.mem_clock_max_mhz) == (89.0, 92.0, 2619.0)
    assert (capped.mem_reserved_bytes, capped.bar1_used_bytes, capped.bar1_total_bytes) == (
        595 * MIB,
        40 * MIB,
        131072 * MIB,
    )
    assert (capped.encoder_pct, capped.decoder_pct, capped.pstate) == (12.0, 34.0, 2)
    assert (capped.persistence_mode, capped.compute_mode) == (False, "exclusive process")
    assert (hot.persistence_mode, hot.compute_mode, hot.mig_mode, hot.mig) == (True, "default", False, ())
    assert 96 <= (hot.mem_temp_c or 0) <= 98
    assert not unexplained(capped)


def test_thresholds_that_are_told_as_distances(fake_nvml: FakeNvml) -> None:
    """As drivers do for Ada and later: limit 87, shutdown 8 above it, slowdown 2 above it."""
    fake_nvml.set("all", temp_shutdown="-", temp_slowdown="-", tlimit_shutdown=-8, tlimit_slowdown=-2, temp_gpu_max=87)
    fake_nvml.set(1, tlimit_shutdown="-")
    whole, half = fake_nvml.probe(0, 1).read()
    assert (whole.temp_slowdown_c, whole.temp_shutdown_c) == (89.0, 95.0)
    assert (half.temp_slowdown_c, half.temp_shutdown_c) == (89.0, None)
    assert half.missing["temp_shutdown_c"] == "not supported by this GPU"


def test_counters_grow(fake_nvml: FakeNvml) -> None:
    fake_nvml.set(0, viol_power=0.6, viol_thermal=0.25, power=500, pcie_replay=4711)
    probe = fake_nvml.probe(0)
    first = probe.read()[0].counters
    assert isinstance(first, GpuCounters)
    (gpu,) = probe.read_until(lambda gpus: (gpus[0].counters or first).energy_mj != first.energy_mj)
    now = gpu.counters
    assert now is not None
    assert now.pcie_replays == 4711
    assert (now.board_violation_ns, now.reliability_violation_ns) == (0, 0)
    for name in ("power_violation_ns", "thermal_violation_ns"):
        assert getattr(now, name) > getattr(first, name)


def test_all_field_values_of_a_tick_are_one_call(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(0)
    probe.read()
    before = fake_nvml.trace()
    probe.read()
    assert fake_nvml.trace()[len(before) :].count(("nvmlDeviceGetFieldValues", 0)) == 1


def test_a_field_value_that_fails_is_one_gap(fake_nvml: FakeNvml) -> None:
    """999: an error that passes; 2: what a driver says of a number that is newer than itself."""
    fake_nvml.set(0, mem_temp="!999", viol_power="!999", recovery_action="!2")
    probe = fake_nvml.probe(0)
    (gpu,) = probe.read()
    assert (gpu.status, gpu.mem_temp_c) == ("ok", None)
    assert "999" in gpu.missing["mem_temp_c"]
    assert gpu.missing["recovery_action"] == "not supported by this GPU"
    assert gpu.counters is not None
    assert gpu.counters.energy_mj is not None
    fake_nvml.undo()
    (gpu,) = probe.read()
    assert gpu.mem_temp_c is not None
    assert "mem_temp_c" not in gpu.missing


@pytest.mark.parametrize("scenario", ["h100x8-train", "gtx1080", "gb10-unified", "a100-mig", "errors"])
def test_every_gap_has_its_reason(fake_nvml: FakeNvml, scenario: str) -> None:
    fake_nvml.load(scenario)
    for gpu in fake_nvml.probe().read():
        assert gpu.status == "ok"
        assert not unexplained(gpu)


def test_calls_a_second_are_bounded(fake_nvml: FakeNvml) -> None:
    """Ten ticks of 1 s of 8 GPUs, after the first one has asked all that is asked once."""
    probe = fake_nvml.probe()
    probe.read_until(are_ok)
    before = len(fake_nvml.trace())
    for _ in range(10):
        probe.say("advance 1")
        probe.read()
    calls = fake_nvml.trace()[before:]
    handles = Counter(call for call in fake_nvml.trace() if "Handle" in call[0])
    assert handles and max(handles.values()) <= 3, "once each by what reads numbers, events and the topology"
    assert len(calls) / 10 < 200
    levels = calls.count(("nvmlDeviceGetUtilizationRates", 3))
    assert levels == 10
    for function, most in {
        "nvmlDeviceGetComputeRunningProcesses_v3": 2 * levels / 2,
        "nvmlDeviceGetPcieThroughput": 2 * levels / 5,
        "nvmlDeviceGetMemoryErrorCounter": 2 * 2 * levels / 10,
        "nvmlDeviceGetName": 0,
        "nvmlDeviceGetMaxClockInfo": 0,
    }.items():
        assert calls.count((function, 3)) <= most, function
