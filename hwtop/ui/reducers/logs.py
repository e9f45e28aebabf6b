"""Which log lines are in sight, which one is marked, and what stands below them. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.model.frame import Frame
from hwtop.model.reported.log import LogLine
from hwtop.ui.panels.logs.state import SEARCH, LogInside, LogsState
from hwtop.ui.panels.logs.view import flags, lines
from hwtop.ui.reducers import fleet
from hwtop.ui.view import View


def with_frame(view: View, frame: Frame) -> View:
    """The view on a newer frame. Someone who reads further up keeps their lines: the scroll grows by what has come."""
    newer = fleet.with_frame(view, frame)
    if view.state(LogsState).is_following:
        return newer
    before, after = lines(view), lines(newer)
    bottom = len(before) - 1 - view.scroll
    if not 0 <= bottom < len(before):
        return newer
    # From the end: a line that is written again and again means the newest of its kind in both lists.
    twins = before[bottom:].count(before[bottom])
    for place in range(len(after) - 1, -1, -1):
        twins -= after[place] == before[bottom]
        if twins == 0:
            return replace(newer, scroll=len(after) - 1 - place)
    return replace(newer, scroll=len(after))


def searching_for(view: View, word: str) -> View:
    """`word` is marked in the lines."""
    return replace(view, filters={**view.filters, SEARCH: word})


def jump(view: View, step: int, rows: int) -> View:
    """To the next (1) or previous (-1) line that holds the searched word, or without one to a flagged line; round the ends,
    in the middle of `rows` rows of room."""
    job, mark = view.job, view.state(LogsState).mark
    if job is None:
        return view
    found = lines(view)
    if search := view.filter_of(SEARCH):
        thing = f"line with “{search}”"
        word = search.casefold()
        wanted = [place for place, line in enumerate(found) if word in line.text.casefold()]
    else:
        thing, flagged_by = "flagged line", flags(job)
        wanted = [place for place, line in enumerate(found) if (line.path, line.text) in flagged_by]
    if not wanted:
        return replace(view, note=f"no {thing} among these")
    here = found.index(mark) if mark in found else len(found) - view.scroll - (step > 0)
    further = [place for place in wanted if (place > here if step > 0 else place < here)]
    target = (further or wanted)[0 if step > 0 else -1]
    return replace(_marked(view, found, target, rows), note=f"{thing} {wanted.index(target) + 1} of {len(wanted)}")


def marked(view: View, line: LogLine) -> View:
    """This line is marked, and stays where it stands."""
    return view.with_state(replace(view.state(LogsState), mark=line, is_following=False))


def _marked(view: View, found: list[LogLine], place: int, rows: int) -> View:
    """The line at `place` of `found` is marked, and stands in the middle of `rows` rows of room."""
    scroll = max(0, min(len(found) - rows, len(found) - 1 - place - rows // 2))
    return marked(replace(view, scroll=scroll), found[place])


def stepped(view: View, step: int, rows: int) -> View:
    """The line `step` further down is marked."""
    found, mark = lines(view), view.state(LogsState).mark
    if not found:
        return view
    here = found.index(mark) if mark in found else len(found) - 1
    return _marked(view, found, max(0, min(len(found) - 1, here + step)), rows)


def opened(view: View, inside: LogInside) -> View:
    """The view with the marked line opened, or closed where that is open already. Without a mark it is the newest flagged
    line, else the newest one."""
    state = view.state(LogsState)
    if state.inside == inside:
        return closed(view)
    found = lines(view)
    if view.job is None or not found:
        return replace(view, note="no line to open")
    flagged_by = flags(view.job)
    flagged = (line for line in reversed(found) if (line.path, line.text) in flagged_by)
    mark = state.mark if state.mark in found else next(flagged, found[-1])
    return view.with_state(replace(state, inside=inside, mark=mark))


def closed(view: View) -> View:
    """The lines alone."""
    return view.with_state(replace(view.state(LogsState), inside=""))


def following(view: View) -> View:
    """New lines push the old ones up, or no longer."""
    state = view.state(LogsState)
    return replace(view, scroll=0).with_state(replace(state, is_following=not state.is_following, mark=None, inside=""))


def at_newest(view: View) -> View:
    """As at the start."""
    return replace(view, scroll=0).with_state(LogsState())
