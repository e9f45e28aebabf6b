"""Fields of Gpu that are made of NVML field values, all of a question in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Ask, Question, Refused
from hwtop.collectors.gpu.nvidia.fields import FieldId, field_values


class Wanted(NamedTuple):
    """A field of Gpu, the numbers of the field values (NVML_FI_* of nvml.h) it is made of, their scope, and how."""

    field: str
    ids: tuple[int, ...]
    build: Callable[..., Any] = int
    scope: int = 0


def batched(*wanted: Wanted) -> Question:
    """One call for all of `wanted`. A field is refused when one of its values is."""
    ids = tuple(dict.fromkeys((number, want.scope) for want in wanted for number in want.ids))

    def read(ask: Ask, handle: Any) -> Mapping[str, Any]:
        values = field_values(ask, handle, ids)
        return {want.field: _built(want, values) for want in wanted}

    return Question(tuple(want.field for want in wanted), read)


def _built(want: Wanted, values: Mapping[FieldId, Any]) -> Any:
    parts = [values[number, want.scope] for number in want.ids]
    for part in parts:
        if isinstance(part, Refused):
            is_unknown = part.code == codes.INVALID_ARGUMENT  # what a driver answers for a number newer than itself
            return Refused("field value", codes.NOT_SUPPORTED, str(part)) if is_unknown else part
    return want.build(*parts)
