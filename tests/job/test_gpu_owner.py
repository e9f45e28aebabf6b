from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hwtop.job.gpu_owner import gpus_of
from hwtop.model.gpu import Gpu, GpuProcess
from hwtop.model.process import ProcessInfo, ThreadInfo
from tests.derive.readings import process

UUIDS = ("GPU-aaaa1111-0000", "GPU-bbbb2222-0000", "GPU-bbcc3333-0000", "GPU-dddd4444-0000")


def gpus(*owners: Sequence[int] | None) -> tuple[Gpu, ...]:
    """One GPU for each: the PIDs that the driver lists, None where it does not tell."""
    return tuple(
        Gpu(
            index=index,
            vendor="nvidia",
            name="H100",
            uuid=UUIDS[index],
            status="ok",
            processes=None if pids is None else tuple(GpuProcess(pid=pid, mem_bytes=1) for pid in pids),
        )
        for index, pids in enumerate(owners)
    )


def trainer(visible: str | None = None, *, has_context: bool = False, **fields: Any) -> ProcessInfo:
    """PID 7."""
    env = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    names = ["python", *(["cuda-EvtHandlr"] if has_context else [])]
    threads = tuple(ThreadInfo(tid=7 + n, comm=name, state="S", cpu_ticks=0) for n, name in enumerate(names))
    return process(7, env=env, threads=threads, **fields)


def test_the_driver_knows_best() -> None:
    assert gpus_of(trainer("3"), 3, gpus((), (7,), (9, 7), ())) == (1, 2)


def test_a_process_in_a_container_is_known_by_any_of_its_pids() -> None:
    assert gpus_of(trainer(ns_pids=(7, 41)), 0, gpus((), (41,))) == (1,)


def test_who_holds_no_context_uses_no_gpu() -> None:
    assert gpus_of(trainer("0,1"), 0, gpus((), ())) == ()
    assert gpus_of(trainer("0,1"), 0, gpus((99,), ())) == ()


def test_a_context_that_the_driver_lists_under_a_foreign_pid_is_told_by_the_environment() -> None:
    inside = trainer("0,1", has_context=True)
    assert gpus_of(inside, 1, gpus((51_234,), (51_235,))) == (1,)
    assert gpus_of(inside, 1, gpus((), ())) == (1,)  # older drivers list nothing inside a container


@pytest.mark.parametrize(
    ("visible", "local_rank", "owned"),
    [
        (None, 1, (1,)),
        (None, 4, ()),
        (None, None, ()),
        ("2,3", 0, (2,)),
        ("2,3", 1, (3,)),
        ("3", 2, (3,)),
        ("3", None, (3,)),
        (" 2 , 3 ", 1, (3,)),
        ("", 0, ()),
        ("-1", 0, ()),
        ("0,-1,1", 1, (0,)),  # what follows an invalid entry is invisible, so there is one device
        ("9", 0, ()),
        ("9,1", 1, (1,)),  # GPU 9 may be one that is not watched
        ("GPU-bbcc3333-0000,GPU-aaaa1111-0000", 0, (2,)),
        ("GPU-bbcc3333-0000,GPU-aaaa1111-0000", 1, (0,)),
        ("GPU-bbcc", 0, (2,)),  # cut short
        ("GPU-ffff", 0, ()),
        ("MIG-GPU-aaaa1111-0000/1/0", 0, ()),
    ],
)
def test_where_the_driver_tells_nothing_the_environment_does(
    visible: str | None, local_rank: int | None, owned: tuple[int, ...]
) -> None:
    assert gpus_of(trainer(visible), local_rank, gpus(None, None, None, None)) == owned


def test_without_gpus_there_is_nothing_to_own() -> None:
    assert gpus_of(trainer("0"), 0, ()) == ()
