"""One NVIDIA GPU, read through NVML in a thread that may be left behind."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from hwtop.collectors import nvml as codes
from hwtop.collectors.nvml_questions import GROUPS, IDENTITY, LEVELS, PCIE_TRAFFIC, Group, Question, gpu_processes
from hwtop.model.gpu import Gpu, GpuStatus

VENDOR: Final = "nvidia"
UNNAMED = "NVIDIA GPU"


class _Down(Exception):  # noqa: N818 (a state of the device, not a mistake)
    """No number of this device can be had now."""

    def __init__(self, status: GpuStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class NvmlDevice:
    """Reads one GPU. What changes at each tick is read each time, the rest as often as it is worth its cost."""

    def __init__(self, lib: Any, index: int, now: Callable[[], float]) -> None:
        self.index = index
        self.call = ""
        """The NVML function that is out now: read by another thread when it hangs."""
        self._lib = lib
        self._now = now
        self._handle: Any = None
        self._values: dict[str, Any] = {}
        self._missing: dict[str, str] = {}
        self._failing: set[str] = set()
        """Fields whose last question met an error that may pass."""
        self._due_s: dict[Group, float] = {}
        self._is_doubtful = False
        self._stagger()

    def check_presence(self) -> None:
        """Look the device up again before the next read: the number of GPUs has changed."""
        self._is_doubtful = True

    def read(self) -> Gpu:
        """The device now. Never raises for what a driver or a GPU does; may never return."""
        try:
            self._open()
            for group in GROUPS:
                self._ask_group(group)
            self._check_alive()
        except _Down as down:
            return self._row_without_numbers(down.status, str(down))
        return Gpu(index=self.index, vendor=VENDOR, status="ok", missing=self._gaps(), **self._fields())

    def _open(self) -> None:
        if self._is_doubtful:  # a flag: only the reading thread may touch the handle, NVML crashes on a wrong one
            self._handle, self._is_doubtful = None, False
        if self._handle is not None:
            return
        uuid = self._values.get("uuid")
        by = ("nvmlDeviceGetHandleByIndex", self.index) if uuid is None else ("nvmlDeviceGetHandleByUUID", uuid)
        try:
            self._handle = self._invoke(*by)
        except Exception as error:  # pynvml raises two unrelated classes, see codes.code_of
            code = codes.code_of(error)
            if uuid is not None and code in (codes.NOT_FOUND, codes.INVALID_ARGUMENT):
                raise _Down("lost", f"GPU is gone: the driver no longer lists it; {self._lost_advice()}") from error
            if code == codes.INVALID_ARGUMENT:
                raise _Down(
                    "error", f"no GPU {self.index}: the driver does not list it (nvidia-smi -L shows all)"
                ) from error
            raise self._down_for(code) or _Down(
                "error", f"NVML gives no access to this GPU: {error}; {self._error_advice()}"
            ) from error

    def _ask_group(self, group: Group) -> None:
        now_s = self._now()
        is_due = now_s >= self._due_s.get(group, -math.inf)
        for question in group.questions:
            if is_due or not self._failing.isdisjoint(question.fields):
                self._ask(question)
        if is_due:
            self._due_s[group] = now_s + group.every_s

    def _ask(self, question: Question) -> None:
        for function, args in question.calls:
            try:
                answer = question.answer(self._invoke(function, self._handle, *args))
            except Exception as error:  # pynvml raises two unrelated classes, see codes.code_of
                code = codes.code_of(error)
                self._note_failure(question.fields, code, error, function)
                if code in (codes.FUNCTION_NOT_FOUND, codes.ARGUMENT_VERSION_MISMATCH):
                    continue
                return
            for field, value in zip(question.fields, answer, strict=True):
                self._values[field] = value
                self._missing.pop(field, None)
                self._failing.discard(field)
            return

    def _note_failure(self, fields: tuple[str, ...], code: int, error: Exception, function: str) -> None:
        down = self._down_for(code)
        if down is not None:
            raise down from error
        lasting = {
            codes.NOT_SUPPORTED: "not supported by this GPU",
            codes.NO_PERMISSION: "permission denied",
            codes.FUNCTION_NOT_FOUND: f"driver too old for {function}",
            codes.ARGUMENT_VERSION_MISMATCH: f"driver too old for {function}",
        }
        for field in fields:
            self._values[field] = None
            self._missing[field] = lasting.get(code, f"{function}: {error}")
            if code in lasting:
                self._failing.discard(field)
            else:
                self._failing.add(field)
        if code == codes.NOT_SUPPORTED:
            self._explain(fields)

    def _explain(self, fields: tuple[str, ...]) -> None:
        """Say more than "not supported" where it is known why."""
        if "util_pct" in fields and self._is_mig_parent():
            self._missing.update(dict.fromkeys(fields, "MIG mode: utilization is per instance"))
        if "mem_total_bytes" in fields:
            self._missing.update(
                dict.fromkeys(fields, "not supported by this GPU (unified memory: it uses the host's RAM)")
            )

    def _is_mig_parent(self) -> bool:
        try:
            return bool(self._invoke("nvmlDeviceGetMigMode", self._handle)[0])
        except Exception:  # no MIG, or no answer: then it stays "not supported"
            return False

    def _stagger(self) -> None:
        """Spread the dear questions of several GPUs over the seconds: drivers may answer one at a time."""
        self._due_s[PCIE_TRAFFIC] = self._now() + self.index % 5
        self._missing.update(dict.fromkeys(PCIE_TRAFFIC.fields(), "not read yet: read every 5 s"))

    def _check_alive(self) -> None:
        if not self._failing:
            return
        levels = LEVELS.fields()
        failing = sorted(levels & self._failing)
        if failing and all(self._values[field] is None for field in levels):
            raise _Down(
                "error", f"NVML answers nothing about this GPU ({self._missing[failing[0]]}); {self._error_advice()}"
            )

    def _invoke(self, function: str, *args: Any) -> Any:
        self.call = function
        return getattr(self._lib, function)(*args)

    def _down_for(self, code: int) -> _Down | None:
        if code == codes.GPU_IS_LOST:
            return _Down("lost", f"GPU is lost: it no longer answers on the PCIe bus; {self._lost_advice()}")
        if code == codes.RESET_REQUIRED:
            return _Down("error", f"GPU needs a reset: end its processes, then nvidia-smi --gpu-reset -i {self.index}")
        if code == codes.UNINITIALIZED:
            return _Down("error", "NVML was shut down under hwtop (driver reloaded?); restart hwtop")
        return None

    def _lost_advice(self) -> str:
        return "look for Xid 79 in dmesg, then reboot; if it returns, check power and seating"

    def _error_advice(self) -> str:
        return f"see dmesg | grep NVRM; try nvidia-smi -q -i {self.index}"

    def _row_without_numbers(self, status: GpuStatus, reason: str) -> Gpu:
        """Who it is stays known; everything else is asked anew, through a new handle, once it answers again."""
        self._handle = None
        self._due_s.clear()
        self._failing.clear()
        self._missing.clear()
        self._stagger()
        self._values = {field: value for field, value in self._values.items() if field in IDENTITY.fields()}
        return Gpu(index=self.index, vendor=VENDOR, status=status, reason=reason, **self._fields())

    def _fields(self) -> dict[str, Any]:
        fields = {field: value for field, value in self._values.items() if field not in ("compute", "graphics")}
        fields.setdefault("uuid", None)
        fields["name"] = fields.get("name") or UNNAMED
        compute = self._values.get("compute")
        fields["processes"] = None if compute is None else gpu_processes(compute, self._values.get("graphics") or [])
        return fields

    def _gaps(self) -> dict[str, str]:
        gaps = {field: reason for field, reason in self._missing.items() if field not in ("compute", "graphics")}
        if "compute" in self._missing:
            gaps["processes"] = self._missing["compute"]
        return gaps
