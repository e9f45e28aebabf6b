"""Facts: all of a process that decides where it belongs. What is made of them holds until one of them changes."""

from __future__ import annotations

from hwtop.model.process import ProcessInfo

_KEPT_BITS = 6
"""Of a size that are kept; bounds only how often processes are placed again."""


def of_tree(process: ProcessInfo) -> tuple[object, ...]:
    """All that `root` reads of a process that is no zombie: to which tree it belongs."""
    return (
        process.pid,
        process.ppid,
        process.comm,
        process.start_ticks,
        process.cmdline,
        process.env,
        process.exe,
        process.cwd,
        process.missing,
    )


def of_place(process: ProcessInfo) -> tuple[object, ...]:
    """All that `tree` reads: what it is in its job."""
    return (*of_tree(process), _rounded(process.rss_bytes or 0), {thread.comm for thread in process.threads})


def _rounded(size_bytes: int) -> tuple[int, int]:
    """To 3 %: its memory changes at each reading, and decides only where one process has several times another's."""
    shift = max(0, size_bytes.bit_length() - _KEPT_BITS)
    return size_bytes >> shift, shift
