"""A row of Gpu made of the answers to the questions: children joined to their structs, gaps with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hwtop.collectors.gpu.nvidia.integrated import understood
from hwtop.model.gpu.device import Gpu, GpuActivity, GpuCounters, GpuProcess, GpuStatus, MigInstance
from hwtop.model.gpu.health import EccErrors, RetiredPages

VENDOR: Final = "nvidia"
UNNAMED = "NVIDIA GPU"

_PARENTS = {"activity": GpuActivity, "counters": GpuCounters, "ecc": EccErrors, "retired": RetiredPages}
"""Structs whose children are asked for one by one, as "parent.child"."""

_PER_INSTANCE = "MIG mode: utilization is per instance"
_NOT_IN_MIG = dict.fromkeys(("util_pct", "mem_util_pct", "encoder_pct", "decoder_pct"), _PER_INSTANCE) | {
    "processes.sm_pct": "MIG mode: the driver does not report the utilization of processes"
}


def row(
    index: int, status: GpuStatus, reason: str | None, values: Mapping[str, Any], missing: Mapping[str, str]
) -> Gpu:
    """The device as these answers describe it. `missing` may name what is known after all: only real gaps are kept."""
    values, missing = understood(values, missing)
    fields: dict[str, Any] = {"name": UNNAMED, "uuid": None}
    children: dict[str, dict[str, Any]] = {parent: {} for parent in _PARENTS}
    for field, value in values.items():
        parent, dot, child = field.partition(".")
        if dot and parent in children:
            children[parent][child] = value
        elif not dot and value is not None:
            fields[field] = value
    gaps = {field: why for field, why in missing.items() if values.get(field) is None}
    for parent, struct in _PARENTS.items():
        if any(value is not None for value in children[parent].values()):
            fields[parent] = struct(**children[parent])
        else:
            gaps = _joined(parent, gaps)
    if fields.get("mig_mode"):
        gaps |= {field: why for field, why in _NOT_IN_MIG.items() if field in gaps}
    if fields.get("mig"):
        fields["processes"] = _placed(fields.get("processes"), fields["mig"])
    return Gpu(index=index, vendor=VENDOR, status=status, reason=reason, missing=gaps, **fields)


def _joined(parent: str, gaps: dict[str, str]) -> dict[str, str]:
    """One reason for a struct of which nothing is known."""
    reasons = [why for field, why in gaps.items() if field.startswith(f"{parent}.")]
    kept = {field: why for field, why in gaps.items() if not field.startswith(f"{parent}.")}
    return kept | ({parent: reasons[0]} if reasons else {})


def _placed(
    processes: tuple[GpuProcess, ...] | None, instances: tuple[MigInstance, ...]
) -> tuple[GpuProcess, ...] | None:
    """Processes of the whole GPU, those of its MIG instances as the instances report them."""
    reported = {process.pid: process for instance in instances for process in instance.processes or ()}
    if processes is None and not reported:
        return None
    return tuple(sorted(({p.pid: p for p in processes or ()} | reported).values(), key=lambda process: process.pid))
