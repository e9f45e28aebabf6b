"""GPM on the fake NVML: values, reasons, and what hangs."""

from __future__ import annotations

import pytest

from hwtop.model.gpu.device import Gpu, GpuActivity
from tests.fakenvml.fixture import FakeNvml, GpuProbe, are_ok

MIB = 1024**2


def read_measured(probe: GpuProbe) -> tuple[Gpu, ...]:
    """The first reading with values of GPM, which wants 100 ms between its samples."""
    return probe.read_until(lambda gpus: all(gpu.activity is not None for gpu in gpus))


def test_values(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("all", gpm_sm=81, gpm_occ=34, gpm_tensor=52, gpm_dram=61)
    fake_nvml.set("all", pcie_tx=2048, pcie_rx=4096, nvlink_tx=1000, nvlink_rx=500)
    probe = fake_nvml.probe(0, 5)
    first = probe.read()[0]
    assert first.activity is None
    assert first.missing["activity"] == "not read yet: averaged between two readings"
    expected = GpuActivity(
        sm_active_pct=81.0,
        sm_occupancy_pct=34.0,
        tensor_active_pct=52.0,
        dram_bw_pct=61.0,
        pcie_tx_bytes_per_s=2.0 * MIB,
        pcie_rx_bytes_per_s=4.0 * MIB,
        nvlink_tx_bytes_per_s=1000.0 * MIB,
        nvlink_rx_bytes_per_s=500.0 * MIB,
    )
    assert [gpu.activity for gpu in read_measured(probe)] == [expected, expected]
    fake_nvml.set(5, gpm_sm=7)

    def is_new(gpus: tuple[Gpu, ...]) -> bool:
        probe.say("advance 2")
        return [gpu.activity and gpu.activity.sm_active_pct for gpu in gpus] == [81.0, 7.0]

    probe.read_until(is_new)


def test_pcie_traffic_comes_from_gpm_where_it_is(fake_nvml: FakeNvml) -> None:
    """GPM counts all the time; the other way takes 20 ms a call and is left alone."""
    fake_nvml.set("all", pcie_tx=2048, pcie_rx=4096)
    probe = fake_nvml.probe(1)
    gpu = read_measured(probe)[0]
    assert (gpu.pcie_tx_bytes_per_s, gpu.pcie_rx_bytes_per_s) == (2.0 * MIB, 4.0 * MIB)
    for _ in range(5):
        probe.say("advance 5")
        probe.read()
    assert fake_nvml.calls("nvmlDeviceGetPcieThroughput", 1) == 0
    fake_nvml.set(1, gpm=0, pcie_tx=1)

    def is_asked(gpus: tuple[Gpu, ...]) -> bool:
        probe.say("advance 5")
        return gpus[0].pcie_tx_bytes_per_s == 1024.0

    assert probe.read_until(is_asked)[0].activity is None


def test_a_single_metric_that_is_not_there(fake_nvml: FakeNvml) -> None:
    fake_nvml.set(0, gpm_tensor="-", nvlinks=0)
    probe = fake_nvml.probe(0)
    gpu = read_measured(probe)[0]
    assert gpu.activity is not None
    assert gpu.activity.sm_active_pct is not None
    assert (gpu.activity.tensor_active_pct, gpu.activity.nvlink_tx_bytes_per_s) == (None, None)
    assert gpu.missing["activity.tensor_active_pct"] == "not supported by this GPU"


def test_before_hopper(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("a100-mig")
    probe = fake_nvml.probe(1)
    for _ in range(5):
        gpu = probe.read()[0]
        probe.say("advance 2")
        assert gpu.activity is None
        assert gpu.missing["activity"] == "needs Hopper or later (GPM)"
    assert fake_nvml.calls("nvmlGpmQueryDeviceSupport", 1) == 1


def test_old_driver(old_nvml: FakeNvml) -> None:
    gpu = old_nvml.probe(0).read()[0]
    assert gpu.missing["activity"] == "driver too old for nvmlGpmQueryDeviceSupport"


def test_a_gpu_that_is_split(fake_nvml: FakeNvml) -> None:
    fake_nvml.set(0, mig=1)
    assert fake_nvml.probe(0).read()[0].missing["activity"] == "MIG mode: GPM is not read for a GPU that is split"


@pytest.mark.parametrize("function", ["nvmlGpmQueryDeviceSupport", "nvmlGpmSampleGet", "nvmlGpmMetricsGet"])
def test_counters_kept_to_administrators(fake_nvml: FakeNvml, function: str) -> None:
    fake_nvml.fail("system", function, "NO_PERMISSION")
    probe = fake_nvml.probe(0)
    gpu = probe.read_until(lambda gpus: "not permitted" in gpus[0].missing["activity"])[0]
    assert (gpu.status, gpu.activity) == ("ok", None)
    assert "NVreg_RestrictProfilingToAdminUsers=0" in gpu.missing["activity"]
    asked = fake_nvml.calls(function, 0)
    for _ in range(10):
        probe.say("advance 2")
        probe.read()
    assert fake_nvml.calls(function, 0) == asked
    fake_nvml.undo()
    for _ in range(25):
        probe.say("advance 2")
        probe.read()
    read_measured(probe)


def test_an_error_that_passes(fake_nvml: FakeNvml) -> None:
    fake_nvml.fail(0, "nvmlGpmSampleGet", "UNKNOWN")
    probe = fake_nvml.probe(0)
    assert probe.read()[0].missing["activity"] == "nvmlGpmSampleGet: Unknown Error"
    fake_nvml.undo()
    read_measured(probe)


def test_gpm_hangs(fake_nvml: FakeNvml) -> None:
    """Its row is stale, the other rows and the way out are free."""
    probe = fake_nvml.probe(2, 3, deadline_s=0.3)
    probe.read_until(are_ok)
    fake_nvml.sleep(3, "nvmlGpmSampleGet", "hang")
    fake_nvml.set(2, util=11)
    probe.say("advance 2")
    gpus = probe.read_until(lambda gpus: gpus[1].status == "stale" and gpus[0].util_pct == 11.0)
    assert (gpus[1].reason or "").endswith("(NVML call nvmlGpmSampleGet)")
    probe.say("quit")
    assert probe.process.wait(60) == 0
