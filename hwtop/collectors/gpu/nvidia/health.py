"""Health of an NVIDIA GPU: memory errors, what was done about them, and what the driver asks for."""

from __future__ import annotations

from typing import Any

from hwtop.collectors.gpu.nvidia.ask import Group, one
from hwtop.collectors.gpu.nvidia.batch import Wanted, batched
from hwtop.model.gpu.health import RemappedRows

_UNCORRECTED, _VOLATILE = 1, 0  # nvmlMemoryErrorType_t, nvmlEccCounterType_t
_DRAM, _SRAM = 2, 7  # nvmlMemoryLocation_t

_RECOVERY = {
    0: None,
    1: "reset the GPU",
    2: "reboot the node",
    3: "drain peer-to-peer traffic",
    4: "drain the GPU, then reset it",
    5: "recover the IMEX domain",
    6: "reset its PCIe bus",
    7: "reboot the system",
}
"""nvmlDeviceGpuRecoveryAction_t of nvml.h."""


def recovery_action(number: int) -> str | None:
    """What the driver asks for, in words; None where it asks for nothing."""
    return _RECOVERY.get(number, f"recovery action {number}")


def _remapped(corrected: int, uncorrected: int, is_pending: int, has_failed: int) -> RemappedRows:
    return RemappedRows(
        corrected=corrected, uncorrected=uncorrected, is_pending=bool(is_pending), has_failed=bool(has_failed)
    )


def _errors(field: str, where: int) -> Any:
    return one(field, "nvmlDeviceGetMemoryErrorCounter", _UNCORRECTED, _VOLATILE, where)


HEALTH = Group(
    9.9,
    (
        batched(
            Wanted("ecc.is_enabled", (1,), bool),  # NVML_FI_DEV_ECC_CURRENT and what follows it
            Wanted("ecc.volatile_corrected", (3,)),
            Wanted("ecc.volatile_uncorrected", (4,)),
            Wanted("ecc.aggregate_corrected", (5,)),
            Wanted("ecc.aggregate_uncorrected", (6,)),
            Wanted("retired.single_bit", (29,)),  # NVML_FI_DEV_RETIRED_*
            Wanted("retired.double_bit", (30,)),
            Wanted("retired.is_pending", (31,), bool),
            Wanted("remapped", (142, 143, 144, 145), _remapped),  # NVML_FI_DEV_REMAPPED_*
            Wanted("recovery_action", (230,), recovery_action),  # NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
        ),
        _errors("ecc.dram_uncorrected", _DRAM),
        _errors("ecc.sram_uncorrected", _SRAM),
    ),
)
