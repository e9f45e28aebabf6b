"""One NVIDIA GPU, read through NVML in a thread that may be abandoned."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hwtop.collectors.gpu.nvidia import library as codes
from hwtop.collectors.gpu.nvidia.ask import Down, Group, Question, Refused
from hwtop.collectors.gpu.nvidia.cost import CallLedger, timed
from hwtop.collectors.gpu.nvidia.identity import IDENTITY
from hwtop.collectors.gpu.nvidia.integrated import from_kernel
from hwtop.collectors.gpu.nvidia.levels import LEVELS
from hwtop.collectors.gpu.nvidia.questions import device_groups
from hwtop.collectors.gpu.nvidia.row import row
from hwtop.model.gpu.device import Gpu, GpuStatus

_LEVELS = LEVELS.fields()
_STAGGER_S = 1.0
_STAGGERED = 5
"""Steps in which the GPUs of a machine begin with the expensive questions."""


class NvmlDevice:
    """Reads one GPU. What changes at each tick is read each time, the rest as often as it is worth its cost.

    A slow driver fills the row step by step: after `budget_s` a reading begins no further group, and those that waited
    longest come first in the next one.
    """

    def __init__(
        self, lib: Any, index: int, now: Callable[[], float], budget_s: float = 0.15, sys: str = "/sys"
    ) -> None:
        self.index = index
        self.call = ""
        """The NVML function that is out now: read by another thread when it hangs."""
        self.called_at_s = now()
        self.ledger = CallLedger()
        self.is_uninitialized = False
        """The library says that it was shut down."""
        self._lib = lib
        self._now = now
        self._budget_s = budget_s
        self._sys = sys
        self._handle: Any = None
        self._values: dict[str, Any] = {}
        self._missing: dict[str, str] = {}
        self._failing: set[str] = set()
        """Fields whose last question met an error that may pass."""
        self._groups: tuple[Group, ...] = ()
        self._due_s: list[float] = []
        self._is_doubtful = False
        self._begin()

    def check_presence(self) -> None:
        """Look the device up again before the next read: the number of GPUs has changed."""
        self._is_doubtful = True

    def read(self) -> Gpu:
        """The device now. Never raises for what a driver or a GPU does; may never return."""
        try:
            self._open()
            self._ask_groups()
            self._note(from_kernel(self._values, self._sys))
            self._check_alive()
        except Down as down:
            self.is_uninitialized = down.is_uninitialized
            return self._row_without_numbers(down.status, str(down))
        self.is_uninitialized = False
        return row(self.index, "ok", None, self._values, self._missing)

    def _begin(self) -> None:
        """Forget what was read, but for who it is; readers that keep something of the device are made again."""
        self._groups = device_groups(self._sys)
        now_s = self._now()
        self._due_s = [
            now_s + self.index % _STAGGERED * _STAGGER_S if group.is_staggered else -math.inf for group in self._groups
        ]
        self._failing.clear()
        self._values = {field: value for field, value in self._values.items() if field in IDENTITY.fields()}
        self._missing = {
            field: _not_yet(group)
            for group in self._groups
            for question in group.questions
            for field in question.fields
        }

    def _open(self) -> None:
        if self._is_doubtful:  # a flag: only the reading thread may touch the handle, NVML crashes on a wrong one
            self._handle, self._is_doubtful = None, False
        if self._handle is not None:
            return
        uuid = self._values.get("uuid")
        by = ("nvmlDeviceGetHandleByIndex", self.index) if uuid is None else ("nvmlDeviceGetHandleByUUID", uuid)
        try:
            self._handle = self._ask(*by)
        except Refused as refused:
            if uuid is not None and refused.code in (codes.NOT_FOUND, codes.INVALID_ARGUMENT):
                raise Down("lost", f"GPU is gone: the driver no longer lists it; {_LOST_ADVICE}") from refused
            if refused.code == codes.INVALID_ARGUMENT:
                raise Down(
                    "error", f"no GPU {self.index}: the driver does not list it (nvidia-smi -L shows all)"
                ) from refused
            raise Down("error", f"NVML gives no access to this GPU: {refused}; {self._error_advice()}") from refused

    def _ask_groups(self) -> None:
        """Identity and levels always, then what is due, longest due first, as far as the budget goes but one at least."""
        started_s = self._now()
        always = [place for place, group in enumerate(self._groups) if group in (IDENTITY, LEVELS)]
        others = sorted(set(range(len(self._groups))) - set(always), key=lambda place: self._due_s[place])
        for place in always:
            self._ask_group(place)
        for place in others:
            if self._ask_group(place) and self._now() - started_s > self._budget_s:
                return

    def _ask_group(self, place: int) -> bool:
        """Whether anything was asked."""
        group, now_s = self._groups[place], self._now()
        is_due = now_s >= self._due_s[place]
        if not is_due and not self._failing:
            return False
        questions = [q for q in group.questions if is_due or not self._failing.isdisjoint(q.fields)]
        for question in questions:
            self._ask_question(question)
        if is_due:
            self._due_s[place] = now_s + group.every_s
        return bool(questions)

    def _ask_question(self, question: Question) -> None:
        answers: Mapping[str, Any]
        try:
            answers = question.read(self._ask, self._handle)
        except Refused as refused:
            answers = dict.fromkeys(question.fields, refused)
        except Down:
            raise
        except Exception as error:  # an answer that is not understood, or an older pynvml without a structure
            why = f"cannot be read: {type(error).__name__}: {error}"
            answers = dict.fromkeys(question.fields, Refused("pynvml", codes.code_of(error), str(error), reason=why))
        self._note(answers)

    def _note(self, answers: Mapping[str, Any]) -> None:
        for field, answer in answers.items():
            if isinstance(answer, Refused):
                self._note_refusal(field, answer)
            else:
                self._values[field] = answer
                self._missing.pop(field, None)
                self._failing.discard(field)

    def _note_refusal(self, field: str, refused: Refused) -> None:
        self._values[field] = None
        self._missing[field] = refused.reason
        if refused.is_lasting:
            self._failing.discard(field)
        else:
            self._failing.add(field)

    def _check_alive(self) -> None:
        if all(self._values.get(field) is None for field in _LEVELS):
            failing = min(self._failing & _LEVELS or _LEVELS)
            raise Down(
                "error", f"NVML answers nothing about this GPU ({self._missing[failing]}); {self._error_advice()}"
            )

    def _ask(self, function: str, *args: Any) -> Any:
        self.call, self.called_at_s = function, self._now()
        try:
            return timed(self.ledger, self._lib, function, *args)
        except Exception as error:  # pynvml raises two unrelated classes, see codes.code_of
            code = codes.code_of(error)
            down = self._down_for(code)
            if down is not None:
                raise down from error
            raise Refused(function, code, str(error)) from error

    def _down_for(self, code: int) -> Down | None:
        if code == codes.GPU_IS_LOST:
            return Down("lost", f"GPU is lost: it no longer answers on the PCIe bus; {_LOST_ADVICE}")
        if code == codes.RESET_REQUIRED:
            return Down("error", f"GPU needs a reset: end its processes, then nvidia-smi --gpu-reset -i {self.index}")
        if code == codes.UNINITIALIZED:
            return Down(
                "error", f"NVML was shut down under hwtop (driver reloaded?); {_REVIVAL}", is_uninitialized=True
            )
        if code in (codes.DRIVER_NOT_LOADED, codes.LIB_RM_VERSION_MISMATCH):
            return Down("error", f"{codes.REASONS[code]}; {_REVIVAL}", is_uninitialized=True)
        return None

    def _error_advice(self) -> str:
        return f"see dmesg | grep NVRM; try nvidia-smi -q -i {self.index}"

    def _row_without_numbers(self, status: GpuStatus, reason: str) -> Gpu:
        """Who it is stays known; everything else is asked again, through a new handle, once it answers again."""
        self._handle = None
        self._begin()
        return row(self.index, status, reason, self._values, {})


_REVIVAL = "hwtop tries again every 10 s, else restart it"
_LOST_ADVICE = "look for Xid 79 in dmesg, then reboot; if it returns, check power and seating"


def _not_yet(group: Group) -> str:
    return "not read yet" + (f": read every {math.ceil(group.every_s)} s" if 0 < group.every_s < math.inf else "")
