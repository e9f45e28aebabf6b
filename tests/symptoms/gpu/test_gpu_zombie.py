"""zombie-gpu-memory."""

from __future__ import annotations

from typing import Any

import pytest

from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.symptoms.gpu.zombie import check_zombie
from hwtop.symptoms.history import History
from tests.symptoms.derived_states import GIB, constant, derived, event, gpu, job, rank, row

ONE = rank(0, gpus=(0,))
MIB = 1 << 20


def idle(index: int = 0, **fields: Any) -> Gpu:
    return gpu(index, **({"util_pct": 0.0, "mem_used_bytes": 70 * GIB, "power_w": 70.0} | fields))


def entry(pid: int = 4194000, gib: float = 69.0, **fields: Any) -> GpuProcess:
    return GpuProcess(pid=pid, mem_bytes=int(gib * GIB), **fields)


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (idle(processes=(entry(state="X"),)), True),
        (idle(processes=(entry(state="Z"),)), True),
        (idle(processes=(entry(state="S"),)), False),
        (idle(processes=(entry(state=None),)), False),  # of another namespace: nobody knows
        (idle(processes=(entry(state="X", gib=0.01),)), False),
        (idle(processes=(entry(state="X", gib=0.02),)), True),
        (idle(processes=(), unlisted_bytes=70 * GIB), True),
        (idle(processes=(), unlisted_bytes=500 * MIB), False),  # the driver's own
        (idle(processes=(), unlisted_bytes=None), False),  # a container sees only its own processes
        (idle(processes=None, unlisted_bytes=None), False),
        (idle(processes=(), unlisted_bytes=70 * GIB, util_pct=3.0), False),  # somebody is there
        (idle(processes=(), unlisted_bytes=70 * GIB, status="stale"), False),
        (gpu(processes=(entry(pid=1000, state="R"),)), False),
    ],
)
def test_memory_of_nobody(device: Gpu, expected: bool) -> None:
    assert (check_zombie(constant(job(ONE), gpus=(device,))) is not None) is expected


def test_a_zombie_of_the_job_is_known_from_its_own_table() -> None:
    gone = row(1001, rank=1, state="Z")
    watched = job(ONE, processes=(gone,))
    seen = check_zombie(constant(watched, gpus=(idle(processes=(entry(pid=1001),)),)))
    assert seen is not None
    assert "GPU 0: PID 1001 holds 69.0 GiB and is a zombie" in seen.evidence


def test_who_is_harmed_decides_how_bad_it_is() -> None:
    dead = idle(3, processes=(entry(state="X"),))
    harmed = check_zombie(constant(job(rank(0, gpus=(3,))), gpus=(dead,)))
    others = check_zombie(constant(job(ONE), gpus=(gpu(0), dead)))
    wanted = check_zombie(constant(job(ONE, events=(event("cuda-oom"),)), gpus=(gpu(0), dead)))
    nobody = check_zombie(History([derived(1.0, None, gpus=(dead,))]))
    assert [each.severity if each else None for each in (harmed, others, wanted, nobody)] == [
        "warning",
        "info",
        "warning",
        "warning",
    ]
    assert harmed is not None
    assert harmed.title == "GPU 3: 69.0 GiB held by processes that have ended, not available to rank 0"
    assert harmed.evidence[0] == "GPU 3: PID 4194000 holds 69.0 GiB and no longer exists"
    assert "/dev/nvidia3" in harmed.next_steps[0] and "--gpu-reset -i 3" in harmed.next_steps[-1]
