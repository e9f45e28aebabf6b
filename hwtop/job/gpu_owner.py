"""Which GPUs a rank uses: as the driver says, and only where it cannot, as the environment says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hwtop.job.gpu_visible import Visible, visible_gpus
from hwtop.model.gpu.device import Gpu, GpuProcess, Vendor
from hwtop.model.process import ProcessInfo

_CUDA_THREADS = ("cuda-EvtHandlr", "cuda0000")
"""Threads that NVIDIA's library starts with a context."""
_MPS_SERVER = "nvidia-cuda-mps-server"
_NAMING: dict[Vendor, tuple[str, ...]] = {
    "nvidia": ("CUDA_VISIBLE_DEVICES",),
    "amd": ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"),
    "intel": ("ZE_AFFINITY_MASK",),
    "tpu": ("TPU_VISIBLE_CHIPS", "TPU_VISIBLE_DEVICES"),
}
"""Variables that say that a process means to use the vendor's devices."""


class UsedGpus(Struct, frozen=True, kw_only=True):
    """GPUs of one process."""

    indexes: tuple[int, ...] = ()
    reason: str | None = None
    """Why they are not known, of a process that uses some."""


def gpus_of(process: ProcessInfo, local_rank: int | None, gpus: Sequence[Gpu]) -> UsedGpus:
    """The GPUs that the driver says this process has a context on.

    The environment counts only where the driver's list cannot decide: the list of that GPU cannot be read, or its PIDs are
    of another namespace. Then there must be a sign that the process uses GPUs: CUDA's threads, or a variable that only such
    a process has.
    """
    listed = tuple(gpu.index for gpu in gpus if any(_is(process, entry) for entry in _entries(gpu)))
    if listed:
        return UsedGpus(indexes=listed)
    vendor = _vendor_in_use(process, gpus)
    if vendor is None:
        return UsedGpus()
    own = [gpu for gpu in gpus if gpu.vendor == vendor]
    open_ones = {gpu.index for gpu in own if gpu.processes is None} if _speaks_our_pids(own) else {g.index for g in own}
    if not open_ones:
        return UsedGpus()  # it uses none of those that are shown
    env = process.env
    if env is None:
        return UsedGpus(reason="not in the driver's process list, and its environment cannot be read")
    doubt = _renumbered(process, env, own)
    visible = Visible(reason=doubt) if doubt is not None else visible_gpus(vendor, env, gpus)
    if visible.reason is not None:
        return UsedGpus(reason=f"not in the driver's process list, and {visible.reason}")
    return _chosen(visible.indexes, vendor, local_rank, open_ones)


def _chosen(visible: tuple[int | None, ...], vendor: Vendor, local_rank: int | None, open_ones: set[int]) -> UsedGpus:
    """The device that a rank takes by convention: the only one, or that of its local rank. A TPU program takes all."""
    if vendor == "tpu":
        known = tuple(index for index in visible if index in open_ones)
        return UsedGpus(indexes=known, reason=None if known else _NOT_SHOWN)
    place = 0 if len(visible) == 1 else local_rank
    if place is None:
        return UsedGpus(reason=f"not in the driver's process list, and it may use any of {len(visible)} GPUs")
    if place >= len(visible):
        return UsedGpus(reason=f"not in the driver's process list, and only {len(visible)} GPUs are visible to it")
    index = visible[place]
    return UsedGpus(reason=_NOT_SHOWN) if index not in open_ones or index is None else UsedGpus(indexes=(index,))


_NOT_SHOWN = "its environment names a GPU that hwtop does not show"


def _entries(gpu: Gpu) -> list[GpuProcess]:
    """Processes on the GPU and in its MIG instances."""
    return [*(gpu.processes or ()), *(entry for instance in gpu.mig for entry in instance.processes or ())]


def _is(process: ProcessInfo, entry: GpuProcess) -> bool:
    """Whether an entry of the driver means this process.

    Drivers tell the PID in the namespace of the reader or of the host. One of a nested namespace (NSpid) is believed only where
    no process here has that PID itself.
    """
    if entry.pid <= 0:
        return False
    return entry.pid == process.pid or (entry.pid in process.ns_pids[1:] and entry.state in (None, "X"))


def _speaks_our_pids(gpus: Sequence[Gpu]) -> bool:
    """Some PID in the lists is that of a process seen here: then the lists are complete, and in our namespace."""
    return any(entry.state not in (None, "X") for gpu in gpus for entry in _entries(gpu))


def _vendor_in_use(process: ProcessInfo, gpus: Sequence[Gpu]) -> Vendor | None:
    """Whose devices the process uses for certain; None where nothing shows that it uses any."""
    present = dict.fromkeys(gpu.vendor for gpu in gpus)
    if any(thread.comm.startswith(_CUDA_THREADS) for thread in process.threads):
        return "nvidia" if "nvidia" in present else None
    env = process.env or {}
    named = [
        vendor
        for vendor in present
        if vendor != "nvidia" and any(env.get(name) for name in _NAMING[vendor]) and not _is_reported(vendor, gpus)
    ]
    return named[0] if len(named) == 1 else None


def _is_reported(vendor: Vendor, gpus: Sequence[Gpu]) -> bool:
    """Every list of the vendor can be read: a process in none of them uses no GPU."""
    return all(gpu.processes is not None for gpu in gpus if gpu.vendor == vendor)


def _renumbered(process: ProcessInfo, env: Mapping[str, str], gpus: Sequence[Gpu]) -> str | None:
    """Why a device number of the process may mean another GPU here. A UUID is the same everywhere."""
    reported = env.get("CUDA_VISIBLE_DEVICES", "")
    if reported.startswith(("GPU-", "MIG-")):
        return None
    if any(entry.name is not None and _MPS_SERVER in entry.name for gpu in gpus for entry in _entries(gpu)):
        return "under MPS its device numbers are those of the MPS server"
    if len(process.ns_pids) > 1 and env.get("NVIDIA_VISIBLE_DEVICES", "") != "all":
        return "its device numbers are those of its container"
    granted = (env.get("SLURM_STEP_GPUS") or env.get("SLURM_JOB_GPUS") or "").split(",")
    if (
        granted != [""]
        and granted != reported.split(",")
        and granted != [str(number) for number in range(len(granted))]
    ):
        return f"Slurm allocated GPU {','.join(granted)}: its device numbers may count these from 0"
    return None
