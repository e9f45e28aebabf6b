"""MIG: the instances of a GPU that is split, each with its own memory and processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Ask, Question, Refused, first
from hwtop.collectors.gpu.nvidia.levels import MEMORY_CALLS
from hwtop.collectors.gpu.nvidia.processes import listed
from hwtop.model.gpu.device import GpuProcess, MigInstance

_OFF_FOR = 4
"""So many readings are left out where the GPU is not split: that changes seldom, at an administrator's hand."""
_NOT_AN_ID = 0xFFFFFFFF


class MigReader:
    """The instances of one GPU. What never changes of an instance is asked once."""

    def __init__(self) -> None:
        self._most: int | None = None
        self._until_look = 0
        self._known: dict[str, dict[str, Any]] = {}
        """UUID -> what never changes."""

    def question(self) -> Question:
        """Fills `mig_mode` and `mig`."""
        return Question(("mig_mode", "mig"), self._read)

    def _read(self, ask: Ask, handle: Any) -> Mapping[str, Any]:
        if self._until_look > 0:
            self._until_look -= 1
            return {}
        try:
            is_on = bool(ask("nvmlDeviceGetMigMode", handle)[0])
        except Refused as refused:
            if not refused.is_lasting:
                raise
            self._until_look = _OFF_FOR
            return {"mig_mode": refused, "mig": ()}
        self._until_look = 0 if is_on else _OFF_FOR
        return {"mig_mode": is_on, "mig": self._instances(ask, handle) if is_on else ()}

    def _instances(self, ask: Ask, handle: Any) -> tuple[MigInstance, ...]:
        if self._most is None:
            self._most = int(ask("nvmlDeviceGetMaxMigDeviceCount", handle))
        found = (self._instance(ask, handle, index) for index in range(self._most))
        return tuple(instance for instance in found if instance is not None)

    def _instance(self, ask: Ask, handle: Any, index: int) -> MigInstance | None:
        try:  # the handle is fetched again: it dangles once its instance is destroyed
            own = ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, index)
        except Refused as refused:
            if refused.code in (codes.NOT_FOUND, codes.INVALID_ARGUMENT):
                return None
            raise
        missing: dict[str, str] = {}
        uuid = _ask_for(ask, "uuid", missing, "nvmlDeviceGetUUID", own)
        lasting = self._known.get(uuid or "")
        if lasting is None:
            lasting = _lasting(ask, own, missing)
            if uuid is not None and not missing:
                self._known[uuid] = lasting
        used, total = _memory(ask, own, missing)
        processes = _processes(ask, own, index, missing)
        return MigInstance(
            index=index,
            uuid=uuid,
            mem_used_bytes=used,
            mem_total_bytes=total,
            processes=processes,
            missing=missing,
            **lasting,
        )


def _lasting(ask: Ask, own: Any, missing: dict[str, str]) -> dict[str, Any]:
    name = _ask_for(ask, "name", missing, "nvmlDeviceGetName", own)
    attributes = _ask_for(ask, "multiprocessors", missing, "nvmlDeviceGetAttributes_v2", own)
    return {
        "name": None if name is None else profile(name),
        "gpu_instance": _id(_ask_for(ask, "gpu_instance", missing, "nvmlDeviceGetGpuInstanceId", own)),
        "compute_instance": _id(_ask_for(ask, "compute_instance", missing, "nvmlDeviceGetComputeInstanceId", own)),
        "multiprocessors": getattr(attributes, "multiprocessorCount", None),
    }


def _memory(ask: Ask, own: Any, missing: dict[str, str]) -> tuple[int | None, int | None]:
    try:
        memory = first(ask, own, MEMORY_CALLS)
    except Refused as refused:
        missing["mem_used_bytes"] = missing["mem_total_bytes"] = refused.reason
        return None, None
    return memory.used, memory.total


def _processes(ask: Ask, own: Any, index: int, missing: dict[str, str]) -> tuple[GpuProcess, ...] | None:
    try:
        found = listed(ask, own)
    except Refused as refused:
        missing["processes"] = refused.reason
        return None
    return tuple(
        GpuProcess(pid=pid, mem_bytes=found[pid].mem_bytes, kind=found[pid].kind, mig=index) for pid in sorted(found)
    )


def _ask_for(ask: Ask, field: str, missing: dict[str, str], function: str, own: Any) -> Any:
    try:
        return ask(function, own)
    except Refused as refused:
        missing[field] = refused.reason
        return None


def _id(number: int | None) -> int | None:
    return None if number == _NOT_AN_ID else number


def profile(name: str) -> str:
    """The profile in the name of a MIG device: "1g.10gb" of "NVIDIA H100 80GB HBM3 MIG 1g.10gb"."""
    return name.rpartition(" MIG ")[2]
