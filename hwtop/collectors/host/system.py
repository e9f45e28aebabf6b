"""The functions of psutil that the sources of the host call. `psutil` itself is one such object, tests give recorded answers.

psutil is asked first. A source reads /proc or /sys itself only for what psutil does not report, and says so there; what that
costs is measured by bench/psutil_cost.py.
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Literal, Protocol

# psutil warns where it sets a number to 0 because it cannot be read; a warning would be printed over the screen.
warnings.filterwarnings("ignore", category=RuntimeWarning, module="psutil")

CLOCK_TICKS_PER_S: int = os.sysconf("SC_CLK_TCK")


class System(Protocol):
    """Results are psutil's named tuples, whose fields differ between operating systems; all may raise OSError."""

    def boot_time(self) -> float:
        """Seconds since the epoch."""

    def cpu_times(self, percpu: Literal[True]) -> list[Any]:
        """Seconds since boot in each state, one entry for each core that is online."""

    def cpu_freq(self, percpu: Literal[True]) -> list[Any]:
        """MHz: one entry for each core, or for each group of cores that share a clock; empty where none is reported."""

    def cpu_stats(self) -> Any:
        """Context switches and interrupts since boot."""

    def getloadavg(self) -> tuple[float, float, float]:
        """Over 1, 5 and 15 minutes."""

    def virtual_memory(self) -> Any:
        """Bytes, as free(1) counts."""

    def swap_memory(self) -> Any:
        """Bytes."""

    def disk_io_counters(self, perdisk: Literal[True], nowrap: bool) -> dict[str, Any]:
        """Counters of whole disks and of partitions by name; as the kernel reports them with `nowrap=False`."""

    def disk_partitions(self, all: bool) -> list[Any]:  # noqa: A002 - psutil's name
        """What is mounted where, pseudo file systems included."""

    def net_io_counters(self, pernic: Literal[True], nowrap: bool) -> dict[str, Any]:
        """Counters by interface; as the kernel reports them with `nowrap=False`."""

    def net_if_stats(self) -> dict[str, Any]:
        """State and speed of the link by interface."""
