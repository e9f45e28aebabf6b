"""Which devices the environment of a process lets its runtime see, in the order in which the runtime numbers them.

Every vendor has its own variables, and its own order of devices, which is not always that of the driver. Where the two
orders cannot be told to agree there is a reason and no number.

Sources: CUDA Programming Guide, "CUDA Environment Variables" (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER); MIG User Guide, "CUDA
Device Enumeration"; rocm.docs.amd.com, "GPU isolation techniques"; Level Zero specification, "Environment Variables"
(ZE_AFFINITY_MASK, ZE_FLAT_DEVICE_HIERARCHY); cloud.google.com/tpu and github.com/pytorch/xla (TPU_VISIBLE_CHIPS).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hwtop.job.whole_number import whole_number
from hwtop.model.gpu.device import Gpu, Vendor

_BY_PCI = "PCI_BUS_ID"


class Visible(Struct, frozen=True, kw_only=True):
    """What a process may use."""

    indexes: tuple[int | None, ...] = ()
    """`Gpu.index` of device 0, 1, ... of its runtime; None for one that is not among those that hwtop reads."""
    reason: str | None = None
    """Why these are unknown."""


def visible_gpus(vendor: Vendor, env: Mapping[str, str], gpus: Sequence[Gpu]) -> Visible:
    """Devices of this vendor that are visible to a process with this environment. `gpus` holds all vendors'."""
    own = [gpu for gpu in gpus if gpu.vendor == vendor]
    if vendor == "nvidia":
        return _cuda(env, own)
    base = _base(own, gpus)
    if base is None:
        return Visible(reason="its device numbers are ambiguous while --gpus hides devices")
    numbers = {gpu.index - base: gpu.index for gpu in own}
    if vendor == "amd":
        return _rocm(env, own, numbers)
    return _level_zero(env, own, numbers) if vendor == "intel" else _tpu(env, numbers)


def _base(own: Sequence[Gpu], gpus: Sequence[Gpu]) -> int | None:
    """Index of the vendor's device 0; None where devices before it are hidden."""
    is_whole = [gpu.index for gpu in gpus] == list(range(len(gpus)))
    return min((gpu.index for gpu in own), default=0) if is_whole else None


def _cuda(env: Mapping[str, str], gpus: Sequence[Gpu]) -> Visible:
    reported = env.get("CUDA_VISIBLE_DEVICES")
    if reported is None or _first(reported).lstrip("-").isdigit():
        doubt = _doubt(env, gpus)
        if doubt is not None:
            return Visible(reason=doubt)
    watched = [gpu.index for gpu in gpus]
    if reported is None:
        return Visible(
            indexes=tuple(index if index in watched else None for index in range(max(watched, default=-1) + 1))
        )
    found: list[int | None] = []
    for entry in (part.strip() for part in reported.split(",")):
        if (number := whole_number(entry)) is not None:
            found.append(number if number in watched else None)
        elif entry.startswith("GPU-"):
            found.append(_by_uuid(entry, gpus))
        elif entry.startswith("MIG-"):
            found.append(_by_mig(entry, gpus))
            break  # a process sees one MIG instance, whatever follows
        else:
            break  # what follows an entry that is neither is invisible
    return Visible(indexes=tuple(found))


def _first(reported: str) -> str:
    return reported.split(",")[0].strip()


def _doubt(env: Mapping[str, str], gpus: Sequence[Gpu]) -> str | None:
    """Why CUDA's device numbers may differ from the driver's."""
    if any(gpu.mig_mode for gpu in gpus) and len(gpus) > 1:
        return "MIG is on: its instances count as devices, so a device number is ambiguous"
    if env.get("CUDA_DEVICE_ORDER") != _BY_PCI and len({gpu.name for gpu in gpus}) > 1:
        return f"different GPU models: CUDA numbers the fastest first (CUDA_DEVICE_ORDER={_BY_PCI} gives the driver's order)"
    return None


def _by_uuid(entry: str, gpus: Sequence[Gpu]) -> int | None:
    """A UUID may be cut short as long as it means one GPU."""
    found = [gpu.index for gpu in gpus if gpu.uuid is not None and gpu.uuid.startswith(entry)]
    return found[0] if len(found) == 1 else None


def _by_mig(entry: str, gpus: Sequence[Gpu]) -> int | None:
    """MIG-<UUID of the instance>, or MIG-GPU-<UUID of the GPU>/<GPU instance>/<compute instance> (drivers before R470)."""
    if entry.startswith("MIG-GPU-"):
        return _by_uuid(entry.removeprefix("MIG-").partition("/")[0], gpus)
    found = {gpu.index for gpu in gpus for each in gpu.mig if each.uuid is not None and each.uuid.startswith(entry)}
    return found.pop() if len(found) == 1 else None


def _rocm(env: Mapping[str, str], gpus: Sequence[Gpu], numbers: Mapping[int, int]) -> Visible:
    """ROCR_VISIBLE_DEVICES chooses for the runtime below; HIP's variable, or its two other names, chooses among these."""
    seen: list[int | None] = list(numbers.values())
    lower = env.get("ROCR_VISIBLE_DEVICES")
    if lower is not None:
        seen = []
        for entry in (part.strip() for part in lower.split(",")):
            number = whole_number(entry)
            if number is None and not entry.startswith("GPU-"):
                break
            seen.append(_by_unique_id(entry, gpus) if number is None else numbers.get(number))
    upper = next((env[name] for name in _HIP if name in env), None)
    if upper is not None:
        places = _numbers(upper)
        seen = [seen[place] if place < len(seen) else None for place in places]
    return Visible(indexes=tuple(seen))


_HIP = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def _by_unique_id(entry: str, gpus: Sequence[Gpu]) -> int | None:
    """ "GPU-" and the unique_id of amdgpu in 16 hex digits."""
    wanted = entry.removeprefix("GPU-").lower()
    found = [
        gpu.index for gpu in gpus if gpu.uuid and gpu.uuid.lower().removeprefix("gpu-").removeprefix("0x") == wanted
    ]
    return found[0] if len(found) == 1 else None


def _level_zero(env: Mapping[str, str], gpus: Sequence[Gpu], numbers: Mapping[int, int]) -> Visible:
    """Entries are DEVICE or DEVICE.TILE."""
    mask = env.get("ZE_AFFINITY_MASK")
    if len(gpus) > 1 and len({gpu.name for gpu in gpus}) > 1:
        return Visible(reason="different GPU models: the order of Level Zero's device numbers is unknown")
    if (
        len(gpus) > 1
        and env.get("ZE_FLAT_DEVICE_HIERARCHY", "FLAT") != "COMPOSITE"
        and any("Max" in g.name for g in gpus)
    ):
        return Visible(reason="Level Zero numbers tiles, not GPUs (ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE numbers GPUs)")
    if mask is None:
        return Visible(indexes=tuple(numbers.values()))
    devices = dict.fromkeys(_numbers(",".join(entry.partition(".")[0] for entry in mask.split(","))))
    return Visible(indexes=tuple(numbers.get(number) for number in devices))


def _tpu(env: Mapping[str, str], numbers: Mapping[int, int]) -> Visible:
    """libtpu asks for TPU_VISIBLE_CHIPS first, for the older TPU_VISIBLE_DEVICES where it is empty."""
    reported = env.get("TPU_VISIBLE_CHIPS") or env.get("TPU_VISIBLE_DEVICES")
    return Visible(indexes=tuple(numbers.get(number) for number in (_numbers(reported) if reported else numbers)))


def _numbers(reported: str) -> list[int]:
    """Up to the first entry that is none."""
    found: list[int] = []
    for number in map(whole_number, reported.split(",")):
        if number is None:
            break
        found.append(number)
    return found
