"""Python stacks of the job's processes."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Rung = Literal["proc", "py-spy", "sudo", "debug-server"]
"""How a stack was got: a rung of the attach ladder, in the order in which they are tried: what only reads the process
before what runs code in it."""

DeepKind = Literal["native", "pystack", "faulthandler"]
"""Looks that a person must ask for: py-spy with native frames, pystack, the signal of a registered faulthandler."""


class StackFrame(Struct, frozen=True, gc=False, kw_only=True, cache_hash=True):
    """One frame of `py-spy dump --json`."""

    name: str
    """co_qualname on Python >= 3.11, co_name before: compare the last dotted component."""
    filename: str
    short_filename: str
    """Relative to the package where there is one ("torch/utils/data/dataloader.py")."""
    line: int
    code: str | None = None
    """Text of the line, stripped; only of user frames whose file could be read and is no younger than the process."""
    holds: tuple[str, ...] = ()
    """Locks that its function holds at this line, as the source calls them; of the same frames."""


class ThreadStack(Struct, frozen=True, gc=False, kw_only=True):
    """One Python thread."""

    name: str | None
    os_thread_id: int | None
    is_active: bool
    """Was running on a CPU when looked at."""
    owns_gil: bool
    frames: tuple[StackFrame, ...]
    """Leaf first."""


class Refusal(Struct, frozen=True, gc=False, kw_only=True):
    """Why a rung of the attach ladder gave nothing."""

    rung: Rung
    reason: str
    advice: str = ""
    """What would make it work: the exact command."""
    needs_consent: bool = False
    """The user may allow it on the screen."""
    ranks: tuple[int, ...] = ()
    """Whom it concerns; filled where the refusals of the whole job are put together."""


class StackDump(Struct, frozen=True, gc=False, kw_only=True):
    """All Python threads of one process at one time, or why there are none."""

    pid: int
    at_s: float
    threads: tuple[ThreadStack, ...] = ()
    """The main thread first."""
    error: str | None = None
    advice: str | None = None
    """What would make it work: the exact command."""
    via: Rung = "py-spy"
    refusals: tuple[Refusal, ...] = ()
    """Rungs that were tried before `via`, or all of them where there is an error."""


class StackSample(Struct, frozen=True, gc=False, kw_only=True):
    """What one process's training thread was in at one time."""

    at_s: float
    frames: tuple[StackFrame, ...]
    """Leaf first."""


class StackProfile(Struct, frozen=True, gc=False, kw_only=True):
    """Many evenly spaced samples of one process, taken by one py-spy: cheap, but without OS state or lock owner."""

    pid: int
    from_s: float
    to_s: float
    samples: tuple[StackSample, ...] = ()
    error: str | None = None
    advice: str | None = None


class DeepDump(Struct, frozen=True, gc=False, kw_only=True):
    """The answer to a person's request for a deep look: text, as the tool printed it."""

    request: int
    """Number of the request."""
    pid: int
    at_s: float
    kind: DeepKind
    text: str = ""
    error: str | None = None
    advice: str | None = None


class DeepChoice(Struct, frozen=True, gc=False, kw_only=True):
    """One deep look at one process, as a menu offers it."""

    kind: DeepKind
    label: str
    what_it_does: str
    """To the watched process: what a person must know before saying yes."""
    refusal: str | None = None
    """Why it cannot be had, with the command that would make it possible; None = it can."""


class DeepReading(Struct, frozen=True, gc=False, kw_only=True):
    """Deep looks that have ended since the last snapshot, each in exactly one reading."""

    at_s: float
    dumps: tuple[DeepDump, ...] = ()


class StackReading(Struct, frozen=True, gc=False, kw_only=True):
    """Taken since the last snapshot: a sampler, so each dump and profile appears in exactly one reading."""

    at_s: float
    dumps: tuple[StackDump, ...]
    profiles: tuple[StackProfile, ...] = ()
    focus_pid: int | None = None
    """The process that is looked at without a pause."""
    missing: dict[str, str] = {}
