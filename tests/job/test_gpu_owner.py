from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from hwtop.job.gpu_owner import UsedGpus, gpus_of
from hwtop.model.gpu.device import Gpu, GpuProcess, MigInstance
from hwtop.model.process import ProcessInfo, ThreadInfo
from tests.derive.readings import process
from tests.parts import replace

UUIDS = ("GPU-aaaa1111-0000", "GPU-bbbb2222-0000", "GPU-bbcc3333-0000", "GPU-dddd4444-0000")


def held(pid: int, state: str | None = None, **fields: Any) -> GpuProcess:
    return GpuProcess(pid=pid, mem_bytes=1, state=state, **fields)


def gpus(*owners: Sequence[int | GpuProcess] | None, **fields: Any) -> tuple[Gpu, ...]:
    """One GPU for each: the PIDs that the driver lists, None where it does not tell."""
    return tuple(
        Gpu(
            index=index,
            vendor="nvidia",
            name="H100",
            uuid=UUIDS[index],
            status="ok",
            processes=None
            if pids is None
            else tuple(entry if isinstance(entry, GpuProcess) else held(entry) for entry in pids),
            **fields,
        )
        for index, pids in enumerate(owners)
    )


def trainer(visible: str | None = None, *, has_context: bool = True, **fields: Any) -> ProcessInfo:
    """PID 7."""
    env = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    names = ["python", *(["cuda-EvtHandlr"] if has_context else [])]
    threads = tuple(ThreadInfo(tid=7 + n, comm=name, state="S", cpu_ticks=0) for n, name in enumerate(names))
    return process(7, **{"env": env, "threads": threads, **fields})


def used(process: ProcessInfo, local_rank: int | None, gpus: tuple[Gpu, ...]) -> tuple[int, ...]:
    """The GPUs; where there are none although the process has CUDA's threads, there is a reason."""
    found = gpus_of(process, local_rank, gpus)
    has_context = any(thread.comm.startswith("cuda") for thread in process.threads)
    assert (found.reason is not None) == (not found.indexes and has_context and bool(gpus)), found
    return found.indexes


UNREADABLE = gpus(None, None, None, None)


def test_the_driver_knows_best() -> None:
    assert used(trainer("3"), 3, gpus((), (7,), (9, 7), ())) == (1, 2)


def test_a_process_in_a_container_is_known_by_its_pid_there_unless_that_is_another_one_here() -> None:
    inside = trainer(ns_pids=(7, 41))
    assert used(inside, 0, gpus((), (41,))) == (1,)
    assert used(inside, 0, gpus((), (held(41, "X"),))) == (1,)
    assert gpus_of(inside, 0, gpus((), (held(41, "S"),))) == UsedGpus()
    assert gpus_of(trainer(ns_pids=(7, 0), has_context=False), 0, gpus((), (held(0),))) == UsedGpus()


def test_who_holds_no_context_uses_no_gpu() -> None:
    idle = trainer("0,1", has_context=False)
    assert gpus_of(idle, 0, gpus((), ())) == UsedGpus()
    assert gpus_of(idle, 0, gpus((99,), ())) == UsedGpus()
    assert gpus_of(idle, 0, UNREADABLE) == UsedGpus()


def test_a_context_that_the_driver_lists_under_a_foreign_pid_is_told_by_the_environment() -> None:
    assert used(trainer("0,1"), 1, gpus((51_234,), (51_235,))) == (1,)
    assert used(trainer("0,1"), 1, gpus((), ())) == (1,)  # older drivers list nothing inside a container


def test_lists_that_speak_of_processes_here_are_believed_against_the_environment() -> None:
    others = gpus((held(99, "R"),), (), None)
    assert used(trainer("0,1,2"), 1, others) == ()  # GPU 1 says that it is not there
    whole = gpus((held(99, "R"),), ())
    assert gpus_of(trainer("0,1"), 1, whole) == UsedGpus()  # on none of these, whatever the environment says
    assert used(trainer("0,1,2"), 2, others) == (2,)  # its list cannot be read


def test_processes_in_mig_instances_and_clients_of_mps_are_on_their_gpu() -> None:
    instance = MigInstance(index=1, uuid="MIG-1", processes=(held(7),))
    assert used(trainer(), 0, (gpus(None)[0], replace(gpus(None, ())[1], mig=(instance,)))) == (1,)
    server = held(50, "S", name="/usr/bin/nvidia-cuda-mps-server")
    assert used(trainer("0"), 0, gpus((server,), (server, held(7, "S", kind="mps")))) == (1,)
    reported = gpus_of(trainer("0"), 0, gpus((held(50, name="nvidia-cuda-mps-server"),), ()))
    assert reported.indexes == () and "MPS" in (reported.reason or "")


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
        ("NoDevFiles", 0, ()),
        ("0,-1,1", 1, (0,)),  # what follows an invalid entry is invisible, so there is one device
        ("9", 0, ()),
        ("9,1", 1, (1,)),  # GPU 9 may be one that is not watched
        ("GPU-bbcc3333-0000,GPU-aaaa1111-0000", 0, (2,)),
        ("GPU-bbcc3333-0000,GPU-aaaa1111-0000", 1, (0,)),
        ("GPU-bbcc", 0, (2,)),  # cut short
        ("GPU-bb", 0, ()),  # of two
        ("GPU-ffff", 0, ()),
        ("MIG-GPU-bbcc3333-0000/1/0", 0, (2,)),
        ("MIG-GPU-bbcc3333-0000/1/0,0", 1, (2,)),  # one instance a process
        ("MIG-GPU-ffff/1/0", 0, ()),
        ("MIG-ffff", 0, ()),
    ],
)
def test_where_the_driver_tells_nothing_the_environment_does(
    visible: str | None, local_rank: int | None, owned: tuple[int, ...]
) -> None:
    assert used(trainer(visible), local_rank, UNREADABLE) == owned


@pytest.mark.parametrize(
    ("visible", "owned"), [("MIG-1111-a", (0,)), ("MIG-2222", (1,)), ("MIG-", ()), ("MIG-9", ()), ("0", ())]
)
def test_mig_instances_by_uuid_not_by_number(visible: str, owned: tuple[int, ...]) -> None:
    first, second = gpus(None, None, mig_mode=True)
    split = (
        replace(first, mig=(MigInstance(index=0, uuid="MIG-1111-a"), MigInstance(index=1, uuid="MIG-1111-b"))),
        replace(second, mig=(MigInstance(index=0, uuid="MIG-2222-a"),)),
    )
    assert used(trainer(visible), 0, split) == owned
    assert used(trainer("0"), 0, split[:1]) == (0,)  # every instance is on the only GPU


@pytest.mark.parametrize(
    ("visible", "order", "owned"),
    [
        ("1", None, ()),
        (None, None, ()),
        ("1", "FASTEST_FIRST", ()),
        ("1", "PCI_BUS_ID", (1,)),
        (None, "PCI_BUS_ID", (0,)),
        ("GPU-bbbb", None, (1,)),
    ],
)
def test_numbers_on_gpus_of_several_kinds_count_only_in_pci_order(
    visible: str | None, order: str | None, owned: tuple[int, ...]
) -> None:
    card, big = gpus(None, None)
    mixed = (replace(card, name="T400"), big)
    env = {} if order is None else {"CUDA_DEVICE_ORDER": order}
    env |= {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert used(trainer(env=env), 0, mixed) == owned


def test_with_some_gpus_watched_numbers_still_count_all() -> None:
    watched = UNREADABLE[2:]
    assert used(trainer(), 0, watched) == ()
    assert used(trainer(), 2, watched) == (2,)
    assert used(trainer("3,0"), 0, watched) == (3,)
    assert used(trainer("3,0"), 1, watched) == ()


@pytest.mark.parametrize(
    ("env", "owned"),
    [
        ({"CUDA_VISIBLE_DEVICES": "0,1"}, ()),
        ({"CUDA_VISIBLE_DEVICES": "0,1", "NVIDIA_VISIBLE_DEVICES": "2,3"}, ()),
        ({"CUDA_VISIBLE_DEVICES": "0,1", "NVIDIA_VISIBLE_DEVICES": "all"}, (0,)),
        ({"CUDA_VISIBLE_DEVICES": "GPU-dddd"}, (3,)),
    ],
)
def test_numbers_in_a_container_seen_from_outside(env: dict[str, str], owned: tuple[int, ...]) -> None:
    assert used(trainer(env=env, ns_pids=(7, 1)), 0, UNREADABLE) == owned


@pytest.mark.parametrize(
    ("granted", "visible", "owned"),
    [("2,3", "0,1", ()), ("2,3", "2,3", (2,)), ("0,1", "0,1", (0,)), ("0,1,2,3", "2", (2,)), ("1,2", "1", ())],
)
def test_numbers_under_slurm(granted: str, visible: str, owned: tuple[int, ...]) -> None:
    env = {"SLURM_STEP_GPUS": granted, "CUDA_VISIBLE_DEVICES": visible}
    assert used(trainer(env=env), 0, UNREADABLE) == owned


def test_an_environment_that_cannot_be_read_is_a_reason() -> None:
    assert "environment cannot be read" in (gpus_of(trainer(env=None), 0, UNREADABLE).reason or "")


def test_without_gpus_there_is_nothing_to_own() -> None:
    assert gpus_of(trainer("0"), 0, ()) == UsedGpus()


@pytest.mark.parametrize(
    ("vendor", "env", "owned"),
    [
        ("amd", {}, ()),
        ("amd", {"HIP_VISIBLE_DEVICES": "1,2"}, (1,)),
        ("amd", {"ROCR_VISIBLE_DEVICES": "2,3", "HIP_VISIBLE_DEVICES": "1"}, (3,)),  # counted among the two
        ("amd", {"ROCR_VISIBLE_DEVICES": "GPU-4b2c1a9f8d3e6f7a"}, (0,)),
        ("amd", {"ROCR_VISIBLE_DEVICES": "2,3", "CUDA_VISIBLE_DEVICES": "0"}, (2,)),
        ("amd", {"ROCR_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": "3"}, ()),
        ("intel", {"ZE_AFFINITY_MASK": "2"}, (2,)),
        ("intel", {"ZE_AFFINITY_MASK": "2.0,2.1"}, (2,)),
        ("tpu", {"TPU_VISIBLE_CHIPS": "1,2"}, (1, 2)),
        ("tpu", {"TPU_VISIBLE_CHIPS": "", "TPU_VISIBLE_DEVICES": "3"}, (3,)),
        ("tpu", {"TPU_VISIBLE_CHIPS": "0", "TPU_VISIBLE_DEVICES": "3"}, (0,)),
        ("tpu", {}, ()),
    ],
)
def test_other_vendors_have_other_variables(vendor: Any, env: dict[str, str], owned: tuple[int, ...]) -> None:
    uuids = ("0x4b2c1a9f8d3e6f7a", None, None, None)
    others = tuple(replace(gpu, vendor=vendor, uuid=uuid) for gpu, uuid in zip(UNREADABLE, uuids, strict=True))
    process = trainer(env=env, has_context=False)
    assert gpus_of(process, 0, others).indexes == owned
    listed = tuple(replace(gpu, processes=()) for gpu in others)
    assert gpus_of(process, 0, listed) == UsedGpus()  # the lists are whole, and it is in none
    assert gpus_of(process, 0, (*listed[:3], replace(listed[3], processes=(held(7),)))).indexes == (3,)


def test_tiles_and_kinds_of_intel_gpus_are_not_guessed() -> None:
    env = {"ZE_AFFINITY_MASK": "1"}
    tiles = tuple(replace(gpu, vendor="intel", name="Data Center GPU Max 1550") for gpu in UNREADABLE)
    assert "tiles" in (gpus_of(trainer(env=env, has_context=False), 0, tiles).reason or "")
    env["ZE_FLAT_DEVICE_HIERARCHY"] = "COMPOSITE"
    assert gpus_of(trainer(env=env, has_context=False), 0, tiles).indexes == (1,)
    mixed = (replace(tiles[0], name="UHD Graphics"), *tiles[1:])
    assert "models" in (gpus_of(trainer(env=env, has_context=False), 0, mixed).reason or "")


def test_a_second_vendor_is_numbered_from_its_own_first() -> None:
    amd = [replace(gpu, vendor="amd") for gpu in UNREADABLE[2:]]
    process = trainer(env={"HIP_VISIBLE_DEVICES": "1"}, has_context=False)
    assert gpus_of(process, 0, (*gpus((), ()), *amd)).indexes == (3,)
    assert "--gpus hides" in (gpus_of(process, 0, tuple(amd)).reason or "")
