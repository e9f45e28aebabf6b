"""What samples of a rank's stacks show: phases, the lines that are hot, and stretches of one phase."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hwtop.model.stack import StackDump

Phase = Literal[
    "startup",
    "rendezvous",
    "compile",
    "checkpoint",
    "data",
    "data-main",
    "collective",
    "backward",
    "optimizer",
    "sync",
    "eval",
    "logging",
    "agent",
    "forward",
    "other",
]
"""What a rank's main thread is in (see `hwtop.job.stacks.phase`). "data" waits for loader workers, "data-main" loads in
the training process itself, "sync" waits for the device."""


class PhaseShare(Struct, frozen=True, gc=False, kw_only=True):
    """Share of a rank's samples in one phase over the window."""

    phase: Phase
    share: float
    """0 to 1."""


class HotSpot(Struct, frozen=True, gc=False, kw_only=True):
    """A user function that many samples of one process group were in."""

    function: str
    """Last component of its name."""
    file: str
    """Short: relative to its package."""
    line: int
    """The one that most of the samples were at."""
    share: float
    """Of all samples of the window, 0 to 1."""
    samples: int


class PhaseInterval(Struct, frozen=True, gc=False, kw_only=True):
    """A stretch of time in which every look at a rank showed one phase."""

    phase: Phase
    from_s: float
    """First look that showed it; times are of the snapshots' clock."""
    to_s: float
    """Last look that showed it."""
    looks: int
    looks_before: int
    """All looks at this rank before the first of these."""
    not_before_s: float | None = None
    """Last look that showed something else before."""
    over_by_s: float | None = None
    """First look that showed something else after; None while it goes on."""


class GrownShare(Struct, frozen=True, gc=False, kw_only=True):
    """A function or a line of user code that takes more of the samples than it did at the start of their window."""

    function: str
    file: str
    line: int
    """0 = the whole function."""
    before: float
    now: float
    """Share of the first and of the last third of the samples, 0 to 1."""
    first_s: tuple[float, float]
    last_s: tuple[float, float]
    """When these thirds were taken, on the monotonic clock."""


class HotLine(Struct, frozen=True, gc=False, kw_only=True):
    """A line of user code that many samples were at, in one phase; waits count as well."""

    function: str
    file: str
    line: int
    code: str | None
    """Its text; None where the file cannot be read or has changed since the process started."""
    phase: Phase
    share: float
    """Of all samples of the window, 0 to 1."""
    samples: int
    visits: int = 1
    """In how many stretches of samples, one after the other, it was there: samples of one long visit prove nothing of the rest."""


class RankStack(Struct, frozen=True, gc=False, kw_only=True):
    """What the samples of the rank's main thread, and of its loader workers, show."""

    dump: StackDump | None = None
    """The newest one."""
    phase: Phase | None = None
    phase_for_s: float | None = None
    """For which every sample showed this phase; None without a stack."""
    is_waiting: bool | None = None
    """In a collective, or asleep in backward or device sync: waits for others."""
    shares: tuple[PhaseShare, ...] = ()
    """Of each phase, largest first, over the newest 60 s."""
    wait_share: float | None = None
    """Share of the same samples in which `is_waiting`, explicit barriers left out."""
    barrier_share: float = 0.0
    """Share of the samples at those barriers."""
    samples: int = 0
    """How many samples the shares rest on."""
    wait_samples: int = 0
    """How many `wait_share` rests on: fewer where only the OS state of the thread, which dumps alone show, decides."""
    hot: tuple[HotSpot, ...] = ()
    """Hottest user lines of the main thread."""
    hot_lines: tuple[HotLine, ...] = ()
    """The lines that the main thread's samples were at, most samples first."""
    grown: tuple[GrownShare, ...] = ()
    """What takes more of its time than at the start of the window, the most grown first."""
    worker_hot: tuple[HotSpot, ...] = ()
    """Hottest user lines of its loader workers."""
    intervals: tuple[PhaseInterval, ...] = ()
    """When it saved or compiled, oldest first."""

    def intervals_of(self, phase: Phase) -> list[PhaseInterval]:
        """Those of one phase."""
        return [interval for interval in self.intervals if interval.phase == phase]

    @property
    def all_waits_share(self) -> float | None:
        """Share of the samples in which it waited for other ranks, at a barrier as well."""
        return None if self.wait_share is None else self.wait_share + self.barrier_share
