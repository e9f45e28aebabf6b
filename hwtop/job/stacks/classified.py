"""What one stack says, whoever took it and when. Pure; worked out once for each distinct stack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from hwtop.job.stacks.frames import normalise, own_frames, short_name, user_frame
from hwtop.job.stacks.phase import is_waiting, phase_and_frame
from hwtop.model.rank_stack import Phase
from hwtop.model.stack import StackFrame, ThreadStack

_BARRIERS = frozenset({"barrier", "monitored_barrier", "wait_for_everyone"})
"""Ranks that wait here let another one do something alone (evaluate, save): no sign that it is slow at its share."""
_KEPT = 8192
"""Distinct stacks that are remembered: a training loop has some hundreds, and all ranks share them."""


class ClassifiedStack(Struct, frozen=True, kw_only=True, cache_hash=True):
    """One stack, understood."""

    phase: Phase
    decided_by: StackFrame | None
    """The frame of `path` that gave the phase away; None for "other", or where it is not in `path`."""
    path: tuple[StackFrame, ...]
    """Root first, as `frames.normalise` gives it."""
    place: tuple[tuple[str, str, int], ...]
    """The same as (function, file, line): what is compared to tell whether a process has moved."""
    user: StackFrame | None
    """Innermost frame of the user's own code."""
    own: tuple[StackFrame, ...]
    """Leaf first, nothing left out but what a forked worker inherited."""
    waits_active: bool
    waits_asleep: bool
    """Whether it waits for others, while its thread is on a CPU and while it sleeps."""
    is_at_barrier: bool

    def waits(self, is_active: bool) -> bool:
        """It waits for other ranks or for the device."""
        return self.waits_active if is_active else self.waits_asleep

    @property
    def needs_state(self) -> bool:
        """Only the OS state of the thread tells whether it waits."""
        return self.waits_active != self.waits_asleep


@lru_cache(maxsize=_KEPT)
def classified(frames: tuple[StackFrame, ...], has_device: bool = False) -> ClassifiedStack:
    """Of a training thread's frames, leaf first. `has_device`: as in `phase_and_frame`."""
    active, asleep = (
        ThreadStack(name=None, os_thread_id=None, is_active=is_active, owns_gil=False, frames=frames)
        for is_active in (True, False)
    )
    phase, reporter = phase_and_frame(active, has_device=has_device)
    path, own = normalise(active), own_frames(active)
    return ClassifiedStack(
        phase=phase,
        decided_by=_in_path(reporter, path),
        path=path,
        place=tuple(dict.fromkeys((frame.name, frame.filename, frame.line) for frame in path)),
        user=user_frame(own),
        own=own,
        waits_active=is_waiting(active, phase, reporter),
        waits_asleep=is_waiting(asleep, phase, reporter),
        is_at_barrier=reporter is not None and short_name(reporter.name) in _BARRIERS,
    )


def _in_path(frame: StackFrame | None, path: Sequence[StackFrame]) -> StackFrame | None:
    """The normalised form of `frame`."""
    if frame is None:
        return None
    name = short_name(frame.name)
    return next((each for each in reversed(path) if (each.name, each.filename) == (name, frame.filename)), None)
