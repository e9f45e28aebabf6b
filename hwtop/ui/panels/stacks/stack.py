"""The stack of one rank: all its Python threads."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.fields import units
from hwtop.job.stacks.frames import is_user_frame, place, short_name
from hwtop.model.evidence import MOSTLY
from hwtop.model.rank import Rank
from hwtop.model.stack import Refusal, StackFrame, ThreadStack
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.ranks import table as ranks
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_end, elide_middle, elide_path, wrap

_STILL_S = 30.0
"""From here on a stack that stays the same is marked."""
_NAME, _PLACE = 36, 44
"""Most cells of a function and of its place."""


def draw(view: View, width: int, height: int) -> list[Line]:
    """All Python threads of one rank, leaf first, as far down as the person has scrolled."""
    rank = rank_view.shown(view)
    if rank is None:
        return box([ranks.none(view)], width, height, Line("Stack", "title"), Line())
    lines = _lines(rank, inner(width), view.frame.derived.at_s)
    shown = table.window(len(lines), height - 2, view.scroll)
    title = Line(f"Stack of rank {rank.rank}", "title").add(f"  PID {rank.pid}", "dim")
    keys = Line(key_names.several(("up", "down"), view.keymap), "key").add(" another rank", "label")
    return box(lines[shown.start :], width, height, title, table.note(shown, len(lines), keys))


def wanted(view: View, width: int) -> int:
    """Rows for all threads, frame included."""
    rank = rank_view.shown(view)
    return 2 + (len(_lines(rank, inner(width), view.frame.derived.at_s)) if rank else 1)


def hidden(view: View, width: int, height: int) -> int:
    """Rows of the rank's threads that a panel of this size has no room for."""
    return max(0, wanted(view, width) - height)


def _lines(rank: Rank, width: int, now_s: float) -> list[Line]:
    stack = rank.stack.dump
    if not rank.is_alive and (stack is None or stack.error):
        return [Line("✖ ", "bad").add("this rank has ended, and no stack of it was seen before", "text")]
    if stack is None:
        return [Line("◌ no stack of this rank yet", "dim")]
    if stack.error:
        lines = [Line("▲ ", "warn").add(stack.error, "text")]
        lines += [Line("→ ", "accent").add(piece, "accent") for piece in wrap(stack.advice or "", max(8, width - 2))]
        return [*lines, *(_refusal(refusal) for refusal in stack.refusals)]
    lines = (
        [] if rank.is_alive else [Line("✖ ", "bad").add("this rank has ended; this is where it was last seen", "text")]
    )
    lines += _about(rank, now_s - stack.at_s, stack.via, width)
    columns = _columns([frame for thread in stack.threads for frame in thread.frames], width)
    for thread in stack.threads:
        lines += _thread(thread, columns, width)
    return lines


def _refusal(refusal: Refusal) -> Line:
    line = Line("◌ ", "dim").add(f"{refusal.rung}: {refusal.reason}", "dim")
    return line.add(f"  → {refusal.advice}", "accent") if refusal.advice else line


def _about(rank: Rank, age_s: float, via: str, width: int) -> list[Line]:
    line = Line()
    if rank.stack.phase:
        line.add("phase ", "label").add(rank.stack.phase, marks.PHASE[rank.stack.phase]).add("   ")
    still_s = rank_view.still_s(rank)
    if still_s:
        is_still = still_s > _STILL_S
        line.add("▲ the same for " if is_still else "the same for ", "warn" if is_still else "label")
        line.add(units.duration(still_s), "warn" if is_still else "text").add("   ")
    if rank.process.wchan and rank.process.wchan != "0":
        line.add("kernel ", "label").add(rank.process.wchan, "text").add("   ")
    line.add(f"{units.duration(max(0.0, age_s))} ago", "dim")  # what may be cut stands last
    by = f" by {via}"
    if line.width + len(by) <= width:
        line.add(by, "dim")
    held = rank.stall.held
    if held is None:
        return [line]
    if (
        rank_view.has_stepped(rank, held.seconds)
        if held.is_still
        else (still_s or 0.0) > min(_STILL_S, held.seconds * MOSTLY)
    ):  # something else disproves what so few looks show
        return [line]
    over = f"{held.looks} samples over {units.duration(held.seconds)}"
    if held.is_still:
        shown = (
            "" if (still_s or 0.0) > held.seconds else f"{over} show "
        )  # so few looks say less than what is known already
        return [line, Line("stuck: ", "label").add(f"{shown}no change below {place(held.frame)}", "text")]
    return [line, Line("moves: ", "label").add(f"{over}, always in {place(held.frame)}, changing below", "text")]


def _columns(frames: Sequence[StackFrame], width: int) -> tuple[int, int]:
    """(cells of a function, of its place): as wide as what stands in them, so that the rest is left for source text."""
    name = min(max(12, min(_NAME, width * 2 // 5)), max((cells(frame.name) for frame in frames), default=0))
    return name, min(_PLACE, max(8, width - name - 6), max((cells(_where(frame)) for frame in frames), default=0))


def _where(frame: StackFrame) -> str:
    return f"{frame.short_filename}:{frame.line}"


def _thread(thread: ThreadStack, columns: tuple[int, int], width: int) -> list[Line]:
    head = Line("● " if thread.is_active else "◌ ", "good" if thread.is_active else "dim")
    head.add(thread.name or "thread", "strong").add(f"  {'running' if thread.is_active else 'idle'}", "dim")
    head.add("  holds the GIL" if thread.owns_gil else "", "accent")
    return [head, *(_frame(frame, columns, width) for frame in thread.frames)]


def _frame(frame: StackFrame, columns: tuple[int, int], width: int) -> Line:
    is_user = is_user_frame(frame)
    name_cells, place_cells = columns
    name = frame.name if cells(frame.name) <= name_cells else elide_middle(short_name(frame.name), name_cells)
    line = Line("    ").extend(Line(name, "strong" if is_user else "dim").fitted(name_cells)).add("  ")
    line.extend(Line(elide_path(_where(frame), place_cells), "accent" if is_user else "dim").fitted(place_cells))
    code_room = width - line.width - 2
    if frame.code and code_room >= 12:
        line.add(f"  {elide_end(frame.code, code_room)}", "dim")
    return line
