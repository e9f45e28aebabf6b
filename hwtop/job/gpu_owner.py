"""Which GPUs a rank uses."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.model.gpu import Gpu
from hwtop.model.process import ProcessInfo


def gpus_of(process: ProcessInfo, local_rank: int | None, gpus: Sequence[Gpu]) -> tuple[int, ...]:
    """Indexes of the GPUs that the driver says this process has a context on; what the environment says only where the
    driver's list cannot tell (not readable, or its PIDs are of another namespace).
    """
    pids = {process.pid, *process.ns_pids}
    owned = tuple(gpu.index for gpu in gpus if any(entry.pid in pids for entry in gpu.processes or ()))
    if owned or any(gpu.processes for gpu in gpus):
        return owned
    if gpus and all(gpu.processes is not None for gpu in gpus if gpu.status == "ok"):
        return ()  # all lists were read, and nobody holds a context
    return _by_environment(process, local_rank, gpus)


def _by_environment(process: ProcessInfo, local_rank: int | None, gpus: Sequence[Gpu]) -> tuple[int, ...]:
    visible = (process.env or {}).get("CUDA_VISIBLE_DEVICES")
    order = [gpu.index for gpu in gpus]
    if visible is not None:
        named = [entry.strip() for entry in visible.split(",")]
        by_uuid = {gpu.uuid: gpu.index for gpu in gpus if gpu.uuid}
        found = [int(entry) if entry.isdigit() else by_uuid.get(entry) for entry in named]
        order = [index for index in found if index in order]
    if len(order) == 1:
        return (order[0],)
    return (order[local_rank],) if local_rank is not None and local_rank < len(order) else ()
