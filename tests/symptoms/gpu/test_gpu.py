"""gpu-lost, gpu-driver-hang and driver-mismatch."""

from __future__ import annotations

import pytest

from hwtop.model.gpu.device import Gpu, GpuStatus, Vendor
from hwtop.model.gpu.health import XidEvent
from hwtop.model.snapshot import SourceStatus
from hwtop.symptoms.gpu.driver import check_driver_hang, check_lost, check_mismatch
from hwtop.symptoms.history import History
from tests.symptoms.derived_states import constant, derived, event, gpu, job, rank, seen_with_log


def gpus(status: GpuStatus, age_s: float = 0.0) -> tuple[Gpu, ...]:
    bad = Gpu(index=1, vendor="nvidia", name="H100", uuid=None, status=status, age_s=age_s, reason="the reason")
    return (Gpu(index=0, vendor="nvidia", name="H100", uuid=None, status="ok"), bad)


WATCHED = job(rank(0, gpus=(0,)), rank(1, gpus=(1,)))


def test_a_lost_gpu_and_its_rank_are_named() -> None:
    seen = check_lost(constant(WATCHED, gpus=gpus("lost")))
    assert seen is not None
    assert (seen.title, seen.ranks) == ("GPU 1: fallen off the bus", (1,))
    assert "the reason" in seen.evidence[0]


def test_the_log_is_a_witness_too() -> None:
    assert check_lost(constant(WATCHED)) is None
    watched = job(rank(0), events=(event("gpu-lost"),))
    assert check_lost(constant(watched)) is not None


@pytest.mark.parametrize(("age_s", "expected"), [(4.9, False), (5.0, True)])
def test_a_driver_that_does_not_answer(age_s: float, expected: bool) -> None:
    seen = check_driver_hang(constant(WATCHED, gpus=gpus("stale", age_s)))
    assert (seen is not None) is expected
    if seen is not None:
        assert seen.severity == "warning", "one of two"
        assert seen.ranks == (1,)


def test_a_driver_that_only_answers_slowly_is_not_said_to_hang() -> None:
    slow = tuple(gpu(i, status="stale", age_s=9.0, reason="driver slow: one reading took 9 s") for i in range(2))
    seen = check_driver_hang(constant(WATCHED, gpus=slow))
    assert seen is not None
    assert (seen.severity, seen.title) == ("warning", "The NVIDIA driver answers slowly for GPUs 0-1")
    assert not any("reset" in step or "reboot" in step for step in seen.next_steps)
    hung = gpu(1, status="stale", age_s=6.0, reason="driver not answering for 6 s (NVML call nvmlDeviceGetName)")
    both = check_driver_hang(constant(WATCHED, gpus=(slow[0], hung)))
    assert both is not None
    assert both.title == "The NVIDIA driver does not answer for GPU 1"


def test_a_lost_gpu_tells_the_xid_before_it() -> None:
    lost = gpu(1, status="lost", reason="gone", xids=(XidEvent(code=79, at_s=25.0),))
    seen = check_lost(constant(WATCHED, gpus=(gpu(0), lost)))
    assert seen is not None
    assert "GPU 1: Xid 79 (GPU has fallen off the bus), 5 s ago" in seen.evidence


@pytest.mark.parametrize(
    ("vendor", "name"),
    [("nvidia", "NVIDIA driver"), ("amd", "AMD driver"), ("intel", "Intel driver"), ("tpu", "TPU runtime")],
)
def test_every_driver_has_its_name(vendor: Vendor, name: str) -> None:
    hung = gpu(0, vendor=vendor, status="stale", age_s=9.0, reason="driver not answering for 9 s")
    seen = check_driver_hang(constant(WATCHED, gpus=(hung,)))
    assert seen is not None
    assert (seen.title, seen.severity) == (f"The {name} does not answer for GPU 0", "critical")
    lost = check_lost(constant(WATCHED, gpus=(gpu(0, vendor=vendor, status="lost", reason="r"),)))
    assert lost is not None
    assert ("bus" in lost.title) is (vendor == "nvidia")


@pytest.mark.parametrize(("gpus_of_rank_1", "severity"), [((0,), "warning"), ((), "critical"), ((1,), "critical")])
def test_a_lost_gpu_of_another_job_is_less_grave(gpus_of_rank_1: tuple[int, ...], severity: str) -> None:
    watched = job(rank(0, gpus=(0,)), rank(1, gpus=gpus_of_rank_1))
    seen = check_lost(constant(watched, gpus=gpus("lost")))
    assert seen is not None
    assert seen.severity == severity
    assert ("no rank of this job uses GPU 1" in seen.evidence) is (severity == "warning")


RESET = "GPU needs a reset: end its processes, then nvidia-smi --gpu-reset -i 1"


def test_a_gpu_that_waits_for_a_reset_is_found_at_once() -> None:
    ill = gpu(1, status="error", reason=RESET)
    seen = check_lost(constant(WATCHED, seconds=1, gpus=(gpu(0), ill)))
    assert seen is not None
    assert (seen.severity, seen.ranks) == ("critical", (1,))
    assert seen.title == "GPU 1: needs a reset, nothing can run there"
    assert RESET in seen.evidence[0]


@pytest.mark.parametrize(
    ("before", "failing_s", "reason", "expected"),
    [
        ("ok", 16, "NVML answers nothing about this GPU", True),
        ("ok", 12, "NVML was shut down under hwtop (driver reloaded?)", False),
        ("error", 60, "no GPU 1: this machine has GPU 0 only", False),
        ("ok", 30, "NVIDIA driver/library version mismatch: the driver was upgraded", False),
    ],
    ids=["ill", "made ready again", "never there", "the driver's trouble"],
)
def test_a_gpu_that_answered_and_refuses_everything(
    before: GpuStatus, failing_s: int, reason: str, expected: bool
) -> None:
    def gpus_at(at_s: int) -> tuple[Gpu, ...]:
        status = before if at_s < 60 - failing_s else "error"
        return (gpu(0), gpu(1, status=status, reason=None if status == "ok" else reason))

    seen = check_lost(History([derived(float(at_s), WATCHED, gpus=gpus_at(at_s)) for at_s in range(61)]))
    assert (seen is not None) is expected
    if seen is not None:
        assert (seen.severity, seen.title, seen.ranks) == ("warning", "GPU 1: returns an error for every value", (1,))


def source(reason: str | None) -> tuple[SourceStatus, ...]:
    return (SourceStatus(name="gpu", status="unavailable" if reason else "ok", reason=reason),)


HUNG_INIT = "NVIDIA driver not answering: nvmlInit has not returned for 12 s"


@pytest.mark.parametrize(
    ("reason", "seconds", "expected"),
    [
        (HUNG_INIT, 12, False),  # as long as it takes to initialise eight GPUs
        (HUNG_INIT, 15, True),
        ("gpu not answering for 16.0 s", 16, True),
        ("no NVIDIA driver: libnvidia-ml.so.1 not found", 20, False),
        (None, 20, False),
    ],
)
def test_a_driver_that_never_answered(reason: str | None, seconds: int, expected: bool) -> None:
    seen = check_driver_hang(constant(WATCHED, seconds=seconds, sources=source(reason)))
    assert (seen is not None) is expected
    if seen is not None:
        assert seen.severity == "critical"
        assert reason in seen.evidence


def test_a_driver_that_never_answered_beside_another_vendors() -> None:
    mute = gpu(0, status="error", reason=HUNG_INIT)
    seen = check_driver_hang(constant(WATCHED, seconds=15, gpus=(mute, gpu(1, vendor="amd"))))
    assert seen is not None
    assert seen.title == "The NVIDIA driver does not answer"
    assert any("nvidia-smi" in step for step in seen.next_steps)


def test_the_kernels_log_knows_of_a_hanging_driver() -> None:
    seen = seen_with_log("gpu-driver-hang", constant(job(rank(0), events=(event("gpu-driver-hang"),)), gpus=(gpu(0),)))
    assert seen is not None
    assert seen.title == "A GPU driver does not answer"


MISMATCH = "NVIDIA driver/library version mismatch: the driver was upgraded while its kernel module was loaded; reboot"


def test_driver_and_library_that_differ() -> None:
    assert check_mismatch(constant(WATCHED, sources=source(None))) is None
    seen = check_mismatch(constant(WATCHED, sources=source(MISMATCH)))
    assert seen is not None
    assert (seen.severity, seen.evidence[0]) == ("warning", MISMATCH)
    rows = tuple(gpu(index, status="error", reason=MISMATCH) for index in range(2))
    at_run_time = check_mismatch(constant(WATCHED, gpus=rows))
    assert at_run_time is not None, "the driver was replaced under hwtop: its rows say so"
    assert at_run_time.evidence[0] == MISMATCH
    both = seen_with_log(
        "driver-mismatch", constant(job(rank(0), events=(event("driver-mismatch"),)), sources=source(MISMATCH))
    )
    assert both is not None
    assert both.severity == "critical", "a program of the job met it"
    assert MISMATCH in both.evidence
