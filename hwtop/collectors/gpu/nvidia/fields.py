"""Field values: many numbers of one GPU in one call into NVML (nvmlDeviceGetFieldValues), each with a return code of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Ask, Refused

FieldId = tuple[int, int]
"""An NVML_FI_* of nvml.h and its scope: the number of a link, or 0."""
ALL_LINKS = 0xFFFFFFFF
"""The scope that sums a throughput counter over all links (UINT_MAX in nvml.h)."""

_FUNCTION = "nvmlDeviceGetFieldValues"
_MEMBERS = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
"""Members of nvmlValue_t in the order of nvmlValueType_t."""


def field_values(ask: Ask, handle: Any, wanted: Iterable[FieldId]) -> dict[FieldId, Any]:
    """The number behind each of `wanted`, or the `Refused` that stands in its place.

    Raises:
        Refused: the call as a whole failed.
        Down: the GPU answers nothing.
    """
    ids = list(wanted)
    answers = ask(_FUNCTION, handle, ids)
    return {field: _value(answer) for field, answer in zip(ids, answers, strict=True)}


def _value(answer: Any) -> Any:
    if answer.nvmlReturn != 0:
        unknown = f"driver too old for field {answer.fieldId} of {_FUNCTION}"
        reason = unknown if answer.nvmlReturn == codes.INVALID_ARGUMENT else None
        return Refused(_FUNCTION, answer.nvmlReturn, f"field {answer.fieldId}: error {answer.nvmlReturn}", reason)
    if answer.valueType >= len(_MEMBERS):
        return Refused(_FUNCTION, 0, f"field {answer.fieldId}: unknown type {answer.valueType}")
    return getattr(answer.value, _MEMBERS[answer.valueType])


def value_or_none(answer: Any) -> Any:
    """A value of `field_values`, None for what was refused."""
    return None if isinstance(answer, Refused) else answer


def bytes_of_kib(kib: int) -> int:
    """NVLink counters come in KiB (NVML_FI_DEV_NVLINK_THROUGHPUT_* of nvml.h)."""
    return kib * 1024
