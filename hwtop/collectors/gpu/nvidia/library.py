"""NVML made ready: the library loaded and initialised, its GPUs counted, and its errors in words a user can act on."""

from __future__ import annotations

import importlib
from typing import Any

from msgspec import Struct

from hwtop.collectors.gpu.nvidia.cost import CallLedger, timed
from hwtop.errors import CannotError

SUCCESS = 0
UNINITIALIZED = 1
INVALID_ARGUMENT = 2
NOT_SUPPORTED = 3
NO_PERMISSION = 4
NOT_FOUND = 6
DRIVER_NOT_LOADED = 9
LIBRARY_NOT_FOUND = 12
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
RESET_REQUIRED = 16
LIB_RM_VERSION_MISMATCH = 18
ARGUMENT_VERSION_MISMATCH = 25
GPU_NOT_FOUND = 28
UNKNOWN = 999
# nvmlReturn_t of nvml.h: repeated here because pynvml must not be imported by the thread that words an error

_NO_GPUS = (
    "no GPUs: the NVIDIA driver runs but lists none (lspci | grep -i nvidia; in a container: start it with the GPUs, "
    "e.g. docker run --gpus all)"
)

REASONS = {
    LIBRARY_NOT_FOUND: "no NVIDIA driver: libnvidia-ml.so.1 not found",
    DRIVER_NOT_LOADED: "NVIDIA driver not loaded: run modprobe nvidia (dmesg | grep NVRM says why it fails)",
    LIB_RM_VERSION_MISMATCH: "NVIDIA driver/library version mismatch: the driver was upgraded while its kernel module was "
    "loaded; reboot, or end all GPU processes and reload the nvidia module",
    NO_PERMISSION: "no permission to use the NVIDIA driver: check the access rights of /dev/nvidiactl and /dev/nvidia*",
    GPU_NOT_FOUND: _NO_GPUS,
    FUNCTION_NOT_FOUND: "NVIDIA driver too old: its libnvidia-ml.so.1 lacks nvmlInitWithFlags",
    UNKNOWN: "NVIDIA driver failed to initialise (Unknown Error): see dmesg | grep NVRM; a container may have lost its "
    "access to /dev/nvidia* and needs a restart",
}


class Nvml(Struct, frozen=True, kw_only=True):
    """The initialised library."""

    lib: Any
    """The module pynvml."""
    driver: str | None
    count: int


class NvmlOpening:
    """Loads and initialises NVML. Each step may hang in the driver, so `open` runs where it can be abandoned."""

    def __init__(self) -> None:
        self.call = "import pynvml"
        """The step that is out now: read by another thread when it hangs."""
        self.ledger = CallLedger()

    def open(self) -> Nvml:
        """The library with its GPUs counted.

        Raises:
            CannotError: why there is nothing to read.
        """
        self.call = "import pynvml"
        try:
            lib = importlib.import_module("pynvml")
        except ImportError as error:
            raise CannotError(
                f"the Python module pynvml cannot be imported ({error}): pip install nvidia-ml-py"
            ) from error
        try:
            self._ask(lib, "nvmlInit")
            count = int(self._ask(lib, "nvmlDeviceGetCount"))
        except lib.NVMLError as error:
            reason = REASONS.get(code_of(error), f"NVIDIA driver: {self.call} failed: {error}")
            raise CannotError(reason) from error
        if count == 0:
            raise CannotError(_NO_GPUS)
        return Nvml(lib=lib, driver=self._driver(lib), count=count)

    def _driver(self, lib: Any) -> str | None:
        try:
            return str(self._ask(lib, "nvmlSystemGetDriverVersion"))
        except lib.NVMLError:
            return None

    def _ask(self, lib: Any, function: str) -> Any:
        self.call = function
        return timed(self.ledger, lib, function)


def code_of(error: Exception) -> int:
    """nvmlReturn_t of what a pynvml function raised; FUNCTION_NOT_FOUND when the driver or pynvml itself lacks the function.

    `NVMLLibraryMismatchError`, which pynvml raises in place of FUNCTION_NOT_FOUND for unversioned names, is no NVMLError and
    carries no code.
    """
    if isinstance(error, AttributeError) or type(error).__name__ == "NVMLLibraryMismatchError":
        return FUNCTION_NOT_FOUND
    code = getattr(error, "value", UNKNOWN)
    return code if isinstance(code, int) else UNKNOWN
