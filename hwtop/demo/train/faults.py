"""The faults that are planted, whatever the trainer is made of."""

from __future__ import annotations

import hashlib
import os
import signal
import threading

from .settings import Settings

LEAK_BYTES_PER_STEP = 25_000_000
LEAK_LIMIT_BYTES = 4_000_000_000

CUDA_OOM_TEXT = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.04 GiB is free. "
    "Including non-PyTorch memory, this process has 78.06 GiB memory in use. Of the allocated memory 74.32 GiB is "
    "allocated by PyTorch, and 2.87 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is "
    "large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for "
    "Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
)
"""As torch 2.x words it (c10/cuda/CUDACachingAllocator.cpp)."""


class OutOfMemoryError(RuntimeError):
    """Stands in for the error of the same name in torch, down to its name in a traceback."""

    __module__ = "torch"


def strike(settings: Settings, rank: int, step: int) -> None:
    """Do what the planted fault does to this rank at this step; returns at once where it does nothing here."""
    if step != settings.fault_step or rank != settings.fault_rank:
        return
    if settings.fault == "hang":
        flush_metrics()
    elif settings.fault == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif settings.fault == "dead":
        os.kill(os.getpid(), signal.SIGKILL)
    elif settings.fault == "crash":
        check_batch(labels=[3, 1, 12], classes=10)
    elif settings.fault == "cuda-oom":
        raise OutOfMemoryError(CUDA_OOM_TEXT)


def flush_metrics() -> None:
    """Wait for a writer thread that never was started."""
    threading.Event().wait()


def check_batch(labels: list[int], classes: int) -> None:
    """ValueError for a label outside of the classes."""
    for label in labels:
        if label >= classes:
            raise ValueError(f"label {label} is out of range for {classes} classes")


class Leak:
    """Memory that is kept and never used again."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self._limit_bytes = min(LEAK_LIMIT_BYTES, available_bytes() // 2)

    def grow(self) -> None:
        """Keep some more, up to 4 GB or half of the memory that was free at first."""
        if (len(self._kept) + 1) * LEAK_BYTES_PER_STEP <= self._limit_bytes:
            self._kept.append(b"\x01" * LEAK_BYTES_PER_STEP)


def available_bytes() -> int:
    """Free memory of this machine; where the system cannot tell, twice the most that is leaked."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 2 * LEAK_LIMIT_BYTES


def start_compute_threads() -> None:
    """Start many more threads than there are cores, each of which computes all the time.

    The job is first bound to at most four cores, so that a large machine stays usable.
    """
    cores = 4
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))[:cores]
        os.sched_setaffinity(0, allowed)
        cores = len(allowed)
    os.nice(5)
    for index in range(cores + 6):
        threading.Thread(target=matmul_block, name=f"compute-{index}", daemon=True).start()


def matmul_block() -> None:
    """Compute without end outside of the interpreter lock; hashing stands in for a matrix product."""
    block = b"\0" * (8 << 20)
    while True:
        hashlib.sha256(block)
