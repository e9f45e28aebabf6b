"""What the text of one source line says that the stack does not: calls into C leave no Python frame. Pure."""

from __future__ import annotations

import re

from hwtop.lazy_regex import lazy_regex

_SYNC = lazy_regex(
    r"""
      \.(?:item|cpu|tolist|numpy|block_until_ready|synchronize)\(
    | \bdevice_get\(                                  # JAX
    | \b(?:float|int|bool)\(\s*[\w.\[\]'"]*(?:loss|norm)[\w.\[\]'"]*\s*\)
    | \.(?:to|copy_)\([^)]*["']cpu["']
    | \.nonzero\(\) | \bis_?nan\([^)]*\)\.any\(\)
    """,
    re.VERBOSE,
)
"""Reading a value back: torch and JAX wait until the device has computed it (PyTorch "Performance Tuning Guide", avoid
unnecessary CPU-GPU synchronization; JAX "Asynchronous dispatch")."""
_PRINTS = lazy_regex(r"(?:^|[^\w.])print\(|\bsys\.std(?:out|err)\.(?:write|flush)\(")
_MORE = lazy_regex(
    r";\s*(?!print\(|sys\.std(?:out|err)\.)[\w.]+\(|^(?!\s*(?:print\(|sys\.std))[^'\"(]*\([^;]*;\s*print\("
)
"""A second statement on the line that calls something else: then nothing tells which of the two takes the time."""
_COLLECTS = lazy_regex(r"\bgc\.collect\(")
_PAUSES = lazy_regex(r"\bsleep\(")
_SLEEPS = lazy_regex(r"\bsleep\(|\.(?:wait|join|acquire|recv|accept|poll|select)\(")


_HANDLE = lazy_regex(r"\.[wW]ait(?:all|any|some|_all)?\(")


def waits_on_handle(code: str | None) -> bool:
    """It waits in C for the end of something that was started before. Threads, events, processes and queues of Python wait in Python
    code, which the stack shows; what is left are the handles of asynchronous collectives (torch `Work.wait`, mpi4py `Request.Wait`)."""
    return code is not None and _HANDLE.search(code) is not None


def pauses(code: str | None) -> bool:
    """It sleeps for a time."""
    return code is not None and _PAUSES.search(code) is not None


def waits_for_device(code: str | None) -> bool:
    """A tensor's value is read back here. On a CPU tensor the same call costs nothing."""
    return code is not None and _SYNC.search(code) is not None


def prints(code: str | None) -> bool:
    """It writes to the terminal or to the file that stands for it, and does nothing else."""
    return code is not None and _PRINTS.search(code) is not None and _MORE.search(code) is None and not sleeps(code)


def collects_garbage(code: str | None) -> bool:
    """An explicit full collection."""
    return code is not None and _COLLECTS.search(code) is not None


def sleeps(code: str | None) -> bool:
    """It asks to wait: for a time, a thread, a lock or a message."""
    return code is not None and _SLEEPS.search(code) is not None
