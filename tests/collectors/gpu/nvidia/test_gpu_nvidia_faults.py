"""Faults that come while NVIDIA GPUs are read, on the fake NVML: each function that hwtop uses fails and hangs once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hwtop.collectors.gpu.nvidia.device import NvmlDevice
from hwtop.model.gpu.device import Gpu
from tests.fakenvml.fixture import FakeNvml, GpuProbe, are_ok, unexplained

QUICK_S = 0.05
BOUND_S = 11.0
"""After it everything but what is asked once is asked again."""


def functions_due(fake: FakeNvml, probe: GpuProbe) -> list[str]:
    """Functions that are called for GPU 0 again and again, once it is known whether it has GPM."""
    probe.read_until(lambda gpus: not gpus[0].missing.get("activity", "").startswith("not read yet"))
    before = len(fake.trace())
    probe.say(f"advance {BOUND_S}")
    probe.read_until(are_ok)
    return sorted({function for function, gpu in fake.trace()[before:] if gpu == 0})


def read_anew(fake: FakeNvml, probe: GpuProbe, function: str, error: str) -> Gpu:
    """GPU 0 after it was lost and came back with a function that fails: then everything is asked, also what is asked once."""
    fake.fail(0, "*", "GPU_IS_LOST")
    assert probe.read()[0].status == "lost"
    fake.undo()
    fake.fail(0, function, error)
    first, second = probe.read()
    fake.undo()
    assert second.status == "ok", function
    assert not unexplained(second), function
    return first


@pytest.mark.parametrize("scenario", ["h100x8-train", "a100-mig"])
@pytest.mark.parametrize("error", ["UNKNOWN", "NOT_SUPPORTED", "NO_PERMISSION"])
def test_each_function_fails(fake_nvml: FakeNvml, scenario: str, error: str) -> None:
    """Its fields are None with a reason, all other rows and fields are as before, and all is well again afterwards."""
    fake_nvml.load(scenario)
    probe = fake_nvml.probe(0, 1)
    probe.read()
    functions = {function for function, gpu in fake_nvml.trace() if gpu == 0 and "HandleBy" not in function}
    assert len(functions) > 30
    for function in sorted(functions):
        first = read_anew(fake_nvml, probe, function, error)
        assert first.status == "ok", function
        assert not unexplained(first), function
    assert are_ok(probe.read())


def read_until_hung(probe: GpuProbe, function: str) -> tuple[Gpu, ...]:
    """With time passing: what is asked seldom comes in its turn."""

    def is_hung(gpus: tuple[Gpu, ...]) -> bool:
        probe.say("advance 5")
        return f"(NVML call {function.removesuffix('_v2')}" in (gpus[0].reason or "")

    return probe.read_until(is_hung)


@pytest.mark.parametrize("scenario", ["h100x8-train", "a100-mig"])
def test_each_function_hangs(fake_nvml: FakeNvml, scenario: str) -> None:
    """The row goes stale and names the call; the other GPU goes on; when the call returns, so does the row."""
    fake_nvml.load(scenario)
    probe = fake_nvml.probe(0, 1, deadline_s=QUICK_S)
    probe.read_until(are_ok)
    for function in functions_due(fake_nvml, probe):
        fake_nvml.sleep(0, function, "hang")
        gpus = read_until_hung(probe, function)
        assert gpus[0].status == "stale", function
        assert gpus[0].power_w is not None, function
        probe.read_until(lambda gpus: gpus[1].status == "ok")
        fake_nvml.undo()
        probe.read_until(are_ok)


def test_a_gpu_hangs_from_the_start(fake_nvml: FakeNvml) -> None:
    fake_nvml.sleep(3, "*", "hang")
    probe = fake_nvml.probe(2, 3, deadline_s=QUICK_S)
    gpus = probe.read_until(lambda gpus: gpus[0].status == "ok")
    assert (gpus[1].status, gpus[1].util_pct, gpus[1].name) == ("stale", None, "NVIDIA GPU")
    assert "nvmlDeviceGetHandleByIndex" in (gpus[1].reason or "")
    fake_nvml.undo()
    assert probe.read_until(are_ok)[1].name == "NVIDIA H100 80GB HBM3"


def test_a_slow_driver_fills_the_row_step_by_step(fake_nvml: FakeNvml) -> None:
    """10 ms a call: the levels come first, the rest as the budget allows, nothing is left out for good."""
    fake_nvml.sleep("system", "*", 10)
    probe = fake_nvml.probe(0, deadline_s=0.1)
    (gpu,) = probe.read_until(lambda gpus: gpus[0].util_pct is not None)
    assert gpu.power_w is not None
    assert any(reason.startswith("not read yet") for reason in gpu.missing.values())
    probe.read_until(
        lambda gpus: all(
            getattr(gpus[0], field) is not None
            for field in ("ecc", "power_limit_max_w", "processes", "cpus", "nvlinks")
        )
    )


def test_the_library_is_shut_down_under_hwtop(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(0, 1)
    before = probe.read()
    probe.say("shutdown")
    gpus = probe.read()
    assert [gpu.status for gpu in gpus] == ["error", "error"]
    assert "shut down under hwtop" in (gpus[0].reason or "")
    assert gpus[0].uuid == before[0].uuid
    assert [gpu.uuid for gpu in probe.read_until(are_ok)] == [gpu.uuid for gpu in before]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("LIB_RM_VERSION_MISMATCH", "version mismatch"),
        ("DRIVER_NOT_LOADED", "driver not loaded"),
        ("UNINITIALIZED", "shut down"),
    ],
)
def test_the_driver_is_replaced_under_hwtop(fake_nvml: FakeNvml, error: str, words: str) -> None:
    probe = fake_nvml.probe(0, 1)
    probe.read()
    fake_nvml.fail("system", "*", error)
    for gpu in probe.read():
        assert (gpu.status, gpu.util_pct, gpu.processes) == ("error", None, None)
        assert words in (gpu.reason or "")
        assert "tries again every 10 s" in (gpu.reason or "")
    fake_nvml.undo()
    probe.say("advance 11")
    probe.read_until(are_ok)


@pytest.mark.parametrize("error", ["NO_PERMISSION", "UNKNOWN", "NOT_SUPPORTED", "IRQ_ISSUE", "CORRUPTED_INFOROM"])
def test_a_gpu_of_which_nothing_is_told_is_not_ok(fake_nvml: FakeNvml, error: str) -> None:
    probe = fake_nvml.probe(0, 1)
    probe.read()
    fake_nvml.fail(0, "nvmlDeviceGet*", error)
    dark, light = probe.read()
    assert (dark.status, light.status) == ("error", "ok")
    assert "nvidia-smi -q -i 0" in (dark.reason or "")
    fake_nvml.undo()
    assert are_ok(probe.read())


def test_no_wrong_handle_ever_reaches_the_driver(fake_nvml: FakeNvml) -> None:
    """Some drivers crash on a NULL or stale handle: the process lives through GPUs that are lost, go and return."""
    fake_nvml.set("system", bad_handle="crash")
    fake_nvml.fail(1, "nvmlDeviceGetHandle*", "UNKNOWN")
    probe = fake_nvml.probe()
    assert probe.read()[1].status == "error"
    fake_nvml.fail(2, "*", "GPU_IS_LOST")
    assert probe.read()[2].status == "lost"
    fake_nvml.set("system", gpus=5)
    probe.say("advance 6")
    probe.read_until(lambda gpus: [gpu.status for gpu in gpus[5:]] == ["lost"] * 3)
    fake_nvml.undo()
    fake_nvml.set("system", bad_handle="crash")
    probe.say("advance 6")
    assert len(probe.read_until(are_ok)) == 8


def test_old_driver_with_each_fault(old_nvml: FakeNvml) -> None:
    probe = old_nvml.probe(0, 1)
    probe.read()
    for error, status in (("GPU_IS_LOST", "lost"), ("UNKNOWN", "error"), ("RESET_REQUIRED", "error")):
        old_nvml.fail(0, "*", error)
        assert [gpu.status for gpu in probe.read()] == [status, "ok"]
        old_nvml.undo()
        assert are_ok(probe.read())


def test_an_answer_that_is_not_understood_is_one_gap() -> None:
    """An older pynvml may lack a structure, a newer driver may answer in another form."""
    device = NvmlDevice(OddModule(), 0, now=lambda: 0.0)
    gpu = device.read()
    assert (gpu.status, gpu.temp_c) == ("ok", 40.0)
    assert gpu.mem_used_bytes is None
    assert gpu.missing["mem_used_bytes"].startswith("cannot be read: AttributeError")
    assert gpu.missing["fabric"]


class OddModule:
    """A pynvml that answers 40 to everything."""

    def __getattr__(self, name: str) -> Callable[..., int]:
        return lambda *_: 40
