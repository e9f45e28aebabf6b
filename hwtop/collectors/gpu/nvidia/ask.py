"""How NVML is asked: one call at a time, refusals as values, and questions that are put together into groups with a cadence.

A question names the fields that it fills and has a function `read(ask, handle)` that returns them. A field is one of `Gpu`, or
"parent.child" for a child of one of its structs ("ecc.volatile_corrected"). A value may be a `Refused`: then the field is None
and its reason is reported. `read` may raise `Refused` when all its fields are refused. `Down` goes through everything: no number of
this GPU can be had now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.model.gpu.device import GpuStatus

Ask = Callable[..., Any]
"""Calls an NVML function by its name: `ask("nvmlDeviceGetName", handle)`. Raises Refused or Down; may never return."""


class Refused(Exception):  # noqa: N818 (an answer, not a mistake)
    """NVML did not answer this question."""

    def __init__(self, function: str, code: int, text: str, reason: str | None = None) -> None:
        super().__init__(text)
        self.code = code
        """nvmlReturn_t."""
        self.is_lasting = code in _LASTING
        """Asking again soon is of no use."""
        self.reason = reason or (_LASTING[code].format(function=function) if self.is_lasting else f"{function}: {text}")
        """For `missing`."""


class Down(Exception):  # noqa: N818 (a state of the device, not a mistake)
    """No number of this device can be had now."""

    def __init__(self, status: GpuStatus, reason: str, *, is_uninitialized: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.is_uninitialized = is_uninitialized
        """The library itself must be made ready again."""


Read = Callable[[Ask, Any], Mapping[str, Any]]


class Question(NamedTuple):
    """What to ask for some fields."""

    fields: tuple[str, ...]
    read: Read


class Group(NamedTuple):
    """Questions that are asked together, and how often."""

    every_s: float
    questions: tuple[Question, ...]
    is_staggered: bool = False
    """Begin later on the GPUs of higher index: drivers may answer one call at a time."""

    def fields(self) -> frozenset[str]:
        """All fields that the group fills."""
        return frozenset(field for question in self.questions for field in question.fields)


Call = tuple[str, tuple[Any, ...]]
"""A function with the arguments that follow the handle."""


def asked(
    fields: tuple[str, ...],
    calls: tuple[Call, ...],
    answer: Callable[[Any], tuple[Any, ...]],
    unsupported: str | None = None,
) -> Question:
    """The first of `calls` that the driver has; `answer` makes a value of each field of what it returned.

    `unsupported` says more than "not supported by this GPU" where it is known why.
    """

    def read(ask: Ask, handle: Any) -> Mapping[str, Any]:
        try:
            return dict(zip(fields, answer(first(ask, handle, calls)), strict=True))
        except Refused as refused:
            if unsupported is None or refused.code != codes.NOT_SUPPORTED:
                raise
            raise Refused(calls[0][0], refused.code, str(refused), reason=unsupported) from refused

    return Question(fields, read)


def one(field: str, function: str, *args: Any, scale: float | None = None) -> Question:
    """A question for one number or text; `scale` makes it a float."""
    return asked((field,), ((function, args),), lambda value: (value if scale is None else value * scale,))


def first(ask: Ask, handle: Any, calls: tuple[Call, ...]) -> Any:
    """What the first of `calls` that the driver has answers.

    Raises:
        Refused: by the last one, or by one that the driver has.
    """
    (function, args), others = calls[0], calls[1:]
    try:
        return ask(function, handle, *args)
    except Refused as refused:
        if not others or refused.code not in (codes.FUNCTION_NOT_FOUND, codes.ARGUMENT_VERSION_MISMATCH):
            raise
    return first(ask, handle, others)


_LASTING = {
    codes.NOT_SUPPORTED: "not supported by this GPU",
    codes.NO_PERMISSION: "permission denied",
    codes.FUNCTION_NOT_FOUND: "driver too old for {function}",
    codes.ARGUMENT_VERSION_MISMATCH: "driver too old for {function}",
}
