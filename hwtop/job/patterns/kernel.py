"""The patterns for the kernel's own log: its own wording first, then what log files also hold of GPUs and of the kernel.

The patterns for log files at large would find much in the kernel's log that is no fault: corrected errors, sockets that were
closed, links that come up.
"""

from __future__ import annotations

from functools import lru_cache

from hwtop.job.patterns.registry import Registry, builtin, builtin_file, merge

FILE = "kernel_log.toml"
_SHARED = frozenset(
    {
        "xid",
        "gpu-lost",
        "gpu-driver-hang",
        "ecc-error",
        "row-remap-pending",
        "nvlink-errors",
        "cpu-thermal-throttle",
        "too-many-open-files",
        "kernel-stall",
    }
)


@lru_cache(maxsize=1)
def kernel_registry() -> Registry:
    """What is looked for in the kernel's log."""
    own = builtin_file(FILE)
    known = builtin()
    shared = tuple(pattern for pattern in known.patterns if pattern.id in _SHARED and pattern not in own.patterns)
    return merge((own, Registry(shared, known.xids)))
