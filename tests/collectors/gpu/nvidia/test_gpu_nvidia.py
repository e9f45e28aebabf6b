"""GpuNvidiaSource against the fake NVML, which a child process loads as it would load the real one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from threading import Event

import pytest

from hwtop.collectors.gpu.nvidia.vendor import _Row
from tests.fakenvml.fixture import GUARD_S, FakeNvml, are_ok

MIB = 1024**2
QUICK_S = 0.3
"""The deadline of a read where something hangs, as in real use."""
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


class SluggishNvml:
    """Each call takes 0.7 s of a clock; the tenth does not return until it is let go."""

    def __init__(self) -> None:
        self.at_s = 0.0
        self.calls = 0
        self.is_stuck = Event()
        self.let_go = Event()

    def __getattr__(self, function: str) -> Callable[..., int]:
        return self.call

    def call(self, *args: object) -> int:
        self.calls += 1
        if self.calls == 10:
            self.is_stuck.set()
            self.let_go.wait(GUARD_S)
        self.at_s += 0.7
        return 0


def test_a_slow_driver_is_not_said_to_hang_until_one_call_does() -> None:
    lib = SluggishNvml()
    row = _Row(lib, 0, lambda: lib.at_s, budget_s=0.15)
    row.start()
    assert lib.is_stuck.wait(GUARD_S)
    assert re.fullmatch(
        r"driver slow: this reading takes 6 s so far \(now NVML call nvml\w+\)", row.result(0.3).reason or ""
    )
    lib.at_s += 20.0
    assert (row.result(0.3).reason or "").startswith("driver not answering for 20 s (NVML call nvml")
    lib.let_go.set()


def waited_s(reason: str | None, function: str) -> float:
    """How long the driver has not answered, as `reason` says."""
    found = re.match(rf"driver not answering for ([\d.]+) s \(NVML call {function}\)", reason or "")
    assert found is not None, reason
    return float(found[1])


def test_only_the_gpus_asked_for(fake_nvml: FakeNvml) -> None:
    gpus = fake_nvml.probe(2, 9).read()
    assert [(gpu.index, gpu.status) for gpu in gpus] == [(2, "ok"), (9, "error")]
    assert "no GPU 9" in (gpus[1].reason or "")


def test_one_gpu_hangs(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    before = probe.read_until(are_ok)
    fake_nvml.sleep(3, "nvmlDeviceGetUtilizationRates", "hang")
    fake_nvml.set(4, util=11)
    gpus = probe.read_until(lambda gpus: [gpu.index for gpu in gpus if gpu.status == "stale"] == [3])
    assert waited_s(gpus[3].reason, "nvmlDeviceGetUtilizationRates") >= 0
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
    assert waited_s(later[3].reason, "nvmlDeviceGetUtilizationRates") >= 12
    assert later[3].age_s > 12.0
    assert later[3].util_pct == gpus[3].util_pct

    fake_nvml.undo()
    fake_nvml.set(3, util=42)
    recovered = probe.read_until(are_ok)
    assert recovered[3].util_pct == 42.0
    assert recovered[3].reason is None
    assert recovered[3].age_s == 0.0


def test_numbers_from_before_a_hang_are_not_shown_as_fresh_after_it(fake_nvml: FakeNvml) -> None:
    """The released call ends a reading whose first half is 60 s old."""
    fake_nvml.set(3, util=99)
    probe = fake_nvml.probe(3, deadline_s=QUICK_S)
    probe.read_until(are_ok)
    fake_nvml.sleep(3, "nvmlDeviceGetTemperature", "hang")
    probe.read_until(lambda gpus: gpus[0].status == "stale")
    probe.say("advance 60")
    fake_nvml.undo()
    fake_nvml.set(3, util=1)
    seen = []
    probe.read_until(lambda gpus: seen.append(gpus[0]) or gpus[0].status == "ok")  # type: ignore[func-returns-value]
    assert seen[-1].util_pct == 1.0
    assert all(gpu.util_pct == 99.0 for gpu in seen if gpu.status == "stale")


def test_every_call_hangs_while_running(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    before = probe.read_until(are_ok)
    fake_nvml.sleep("system", "*", "hang")
    gpus = probe.read_until(lambda gpus: all(gpu.status == "stale" for gpu in gpus))
    assert [gpu.name for gpu in gpus] == [gpu.name for gpu in before]
    assert all(gpu.mem_used_bytes for gpu in gpus)
    probe.say("advance 30")
    answer = probe.say("read")
    assert answer.reading is not None
    assert all(gpu.status == "stale" and gpu.age_s > 30.0 for gpu in answer.reading.gpus)
    assert answer.took_s < GUARD_S
    fake_nvml.undo()
    assert all(gpu.age_s == 0.0 for gpu in probe.read_until(are_ok))


def test_a_hanging_gpu_is_no_longer_waited_for(fake_nvml: FakeNvml) -> None:
    """Waiting for it each time would take five deadlines."""
    deadline_s = 2.0
    probe = fake_nvml.probe(deadline_s=deadline_s)
    probe.read()
    fake_nvml.sleep(3, "*", "hang")
    assert probe.read()[3].status == "stale"
    assert sum(probe.say("read").took_s for _ in range(5)) < 2 * deadline_s


def test_init_hangs_and_comes_back(fake_nvml: FakeNvml) -> None:
    fake_nvml.sleep("system", "nvmlInit*", "hang")
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    end_s = time.monotonic() + GUARD_S
    while "import pynvml" in (reason := probe.say("probe").reason or ""):  # the machine is busy
        assert time.monotonic() < end_s
    init = re.compile(r"NVIDIA driver not answering: nvmlInit has not returned for (\d+) s")
    assert init.fullmatch(reason)
    probe.say("advance 7")
    found = init.match(probe.say("read").reason or "")
    assert found is not None and int(found[1]) >= 7
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
    probe.read_until(are_ok)
    end_s = time.monotonic() + GUARD_S
    while fake_nvml.calls("nvmlDeviceGetUtilizationRates", 3) < 2:
        assert time.monotonic() < end_s
        time.sleep(0.02)
    fake_nvml.set(3, util=13)
    assert probe.read_until(lambda gpus: gpus[0].util_pct == 13.0)[1].status == "ok"


def test_slow_scenario_never_blanks_a_row(fake_nvml: FakeNvml) -> None:
    fake_nvml.load("slow")
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    probe.read_until(lambda gpus: all(gpu.util_pct is not None for gpu in gpus))
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
    gpus = probe.read_until(lambda gpus: gpus[7].status == "lost")
    assert len(gpus) == 8
    assert gpus[7].uuid == before[7].uuid
    assert "no longer lists it" in (gpus[7].reason or "")
    assert are_ok(gpus[:7])
    fake_nvml.undo()
    assert probe.read_until(are_ok)[7].uuid == before[7].uuid


def test_gpu_appears(fake_nvml: FakeNvml) -> None:
    fake_nvml.set("system", gpus=7)
    probe = fake_nvml.probe()
    assert len(probe.read()) == 7
    fake_nvml.undo()
    probe.say("advance 6")
    assert probe.read_until(lambda gpus: len(gpus) == 8)[7].pci_bus_id == "0000:df:00.0"


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


def test_program_leaves_at_once_while_calls_hang(fake_nvml: FakeNvml) -> None:
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    probe.read_until(are_ok)
    fake_nvml.sleep("system", "*", "hang")
    probe.read_until(lambda gpus: all(gpu.status == "stale" for gpu in gpus))
    probe.say("quit")
    assert probe.process.wait(GUARD_S) == 0


def test_program_leaves_at_once_while_init_hangs(fake_nvml: FakeNvml) -> None:
    fake_nvml.sleep("system", "nvmlInit*", "hang")
    probe = fake_nvml.probe(deadline_s=QUICK_S)
    assert probe.say("read").reason is not None
    probe.say("quit")
    assert probe.process.wait(GUARD_S) == 0


def test_importing_the_source_does_not_import_pynvml() -> None:
    code = "import sys, json, hwtop.collectors.gpu.nvidia.vendor; print(json.dumps('pynvml' in sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert json.loads(result.stdout) is False
