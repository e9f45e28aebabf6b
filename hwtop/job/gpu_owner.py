"""Which GPUs a rank uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hwtop.model.gpu import Gpu
from hwtop.model.process import ProcessInfo

_CUDA_THREADS = ("cuda-EvtHandlr", "cuda0000")
"""Threads that the driver's library starts with a context."""


def gpus_of(process: ProcessInfo, local_rank: int | None, gpus: Sequence[Gpu]) -> tuple[int, ...]:
    """Indexes of the GPUs that the driver says this process has a context on.

    What the environment says counts only where the driver's lists cannot tell: none can be read, or the process has CUDA's
    threads and is in no list, because the PIDs there are of another namespace.
    """
    pids = {process.pid, *process.ns_pids}
    owned = tuple(gpu.index for gpu in gpus if any(entry.pid in pids for entry in gpu.processes or ()))
    if owned:
        return owned
    is_readable = any(gpu.processes is not None for gpu in gpus)
    has_context = any(thread.comm.startswith(_CUDA_THREADS) for thread in process.threads)
    return () if is_readable and not has_context else _by_environment(process, local_rank, gpus)


def _by_environment(process: ProcessInfo, local_rank: int | None, gpus: Sequence[Gpu]) -> tuple[int, ...]:
    visible = (process.env or {}).get("CUDA_VISIBLE_DEVICES")
    known = [gpu.index for gpu in gpus]
    order = known if visible is None else list(_visible(visible, gpus))
    place = 0 if len(order) == 1 else local_rank
    chosen = order[place] if place is not None and place < len(order) else None
    return (chosen,) if chosen is not None and chosen in known else ()


def _visible(value: str, gpus: Sequence[Gpu]) -> Iterator[int | None]:
    """Devices in CUDA's order; None for a UUID that is not watched.

    An entry that is neither number nor UUID ends the list (CUDA C++ Programming Guide, CUDA_VISIBLE_DEVICES).
    """
    for entry in (part.strip() for part in value.split(",")):
        if entry.isdigit():
            yield int(entry)
        elif entry.startswith("GPU-"):  # may be cut short
            yield next((gpu.index for gpu in gpus if gpu.uuid is not None and gpu.uuid.startswith(entry)), None)
        else:
            return
