"""Several looks at one process in time: what stayed on the stack while the rest moved. Pure.

The time axis of STAT's "3D" traces (Lee et al., SC 2008): the innermost frame that every look shows is where a process is held.
The same path every time is stuck; work that changes below a frame that stays is slow.
"""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.model.rank import Held
from hwtop.model.stack import StackFrame

LOOKS = 6
"""Newest samples that are compared. Engineering default."""
LOOK_EVERY_S = 2.0
"""Samples that are nearer see the same step. Engineering default."""


def held(looks: Sequence[tuple[float, tuple[StackFrame, ...]]]) -> Held | None:
    """Where the newest `LOOKS` looks (at_s, root-first path as `frames.normalise` gives it), oldest first, agree.

    Frames are the same when function, file and line are. None of fewer than two looks, or where not even the root stayed.
    """
    newest = [look for look in looks if look[1]][-LOOKS:]
    if len(newest) < 2:
        return None
    paths = [path for _, path in newest]
    depth = shared_depth(paths)
    if depth == 0:
        return None
    return Held(
        frame=paths[-1][depth - 1],
        is_still=all(len(path) == depth for path in paths),
        looks=len(newest),
        seconds=newest[-1][0] - newest[0][0],
    )


def shared_depth(paths: Sequence[Sequence[StackFrame]]) -> int:
    """How many frames from the root on all paths share."""
    depth = 0
    for level in zip(*paths, strict=False):
        if len({(frame.name, frame.filename, frame.line) for frame in level}) > 1:
            return depth
        depth += 1
    return depth
