"""Python stacks of the job's processes."""

from __future__ import annotations

from msgspec import Struct


class StackFrame(Struct, frozen=True, kw_only=True):
    """One frame of `py-spy dump --json`."""

    name: str
    """co_qualname on Python >= 3.11, co_name before: compare the last dotted component."""
    filename: str
    short_filename: str
    """Relative to the package where there is one ("torch/utils/data/dataloader.py")."""
    line: int


class ThreadStack(Struct, frozen=True, kw_only=True):
    """One Python thread."""

    name: str | None
    os_thread_id: int | None
    is_active: bool
    """Was running on a CPU when looked at."""
    owns_gil: bool
    frames: tuple[StackFrame, ...]
    """Leaf first."""


class StackDump(Struct, frozen=True, kw_only=True):
    """All Python threads of one process at one time, or why there are none."""

    pid: int
    at_s: float
    threads: tuple[ThreadStack, ...] = ()
    """The main thread first."""
    error: str | None = None
    advice: str | None = None
    """What would make it work: the exact command."""


class StackReading(Struct, frozen=True, kw_only=True):
    """Dumps taken since the last snapshot: a sampler, so each dump appears in exactly one reading."""

    at_s: float
    dumps: tuple[StackDump, ...]
    missing: dict[str, str] = {}
