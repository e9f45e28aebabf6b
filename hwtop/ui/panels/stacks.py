"""Stacks: where the ranks stand, grouped; then the selected rank's threads."""

from __future__ import annotations

from hwtop.model.job import Job, Rank, StackGroup
from hwtop.model.stack import StackFrame, ThreadStack
from hwtop.ui import marks, units
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_middle


def wanted_groups(view: View, width: int) -> int:
    """Rows for the sentence and the groups, frame included."""
    return 2 + len(_groups(view, inner(width)))


def draw_groups(view: View, width: int, height: int) -> list[Line]:
    """One sentence, then a line or two a group."""
    lines = _groups(view, inner(width))
    return box(lines, width, height, Line("Where the ranks stand", "title"), Line())


def draw_rank(view: View, width: int, height: int) -> list[Line]:
    """All Python threads of one rank, leaf first, as far down as the person has scrolled."""
    rank = view.rank or _telling(view)
    if rank is None:
        return box([Line("no rank", "dim")], width, height, Line("Stack", "title"), Line())
    lines = _rank(rank, inner(width), view.frame.moment.at_s)
    first = max(0, min(view.scroll, len(lines) - (height - 2)))
    title = Line(f"Stack of rank {rank.rank}", "title").add(f"  PID {rank.pid}", "dim")
    note = Line("j k choose the rank", "dim") if view.selected is None else Line("selected", "accent")
    if len(lines) > height - 2:
        note = Line(f"{first + 1}–{min(len(lines), first + height - 2)} of {len(lines)}", "accent")
    return box(lines[first:], width, height, title, note)


def hidden(view: View, width: int, height: int) -> int:
    """Rows of the rank's threads that a panel of this size has no room for."""
    rank = view.rank or _telling(view)
    return max(0, len(_rank(rank, inner(width), view.frame.moment.at_s)) - (height - 2)) if rank else 0


def _telling(view: View) -> Rank | None:
    """The rank that tells most when none is selected: one that is blamed, else one of the smallest group."""
    job = view.job
    if job is None or not job.ranks:
        return None
    odd = view.blamed or (job.stack_groups[-1].ranks if job.stack_groups else ())
    return next((rank for rank in job.ranks if rank.rank in odd), job.ranks[0])


def _groups(view: View, width: int) -> list[Line]:
    job = view.job
    if job is None:
        return [Line("no job", "dim")]
    lines = [_sentence(job, view.blamed)]
    widest = max((len(units.ranks(group.ranks)) for group in job.stack_groups), default=0)
    lines += [_group(group, min(widest, 14), width, view.selected) for group in job.stack_groups]
    for error, advice in job.stack_errors[:3]:
        lines.append(Line("▲ ", "warn").add(error, "text").add(f"  → {advice}" if advice else "", "accent"))
    return lines


def _sentence(job: Job, blamed: tuple[int, ...]) -> Line:
    groups = job.stack_groups
    if not groups:
        return Line("◌ no stacks yet", "dim")
    if len(groups) == 1:
        return Line("● ", "info").add(f"{_who(groups[0])} stand at the same place: {_place(groups[0].leaf)}", "strong")
    largest = groups[0]
    # Ranks of a healthy job differ all the time; it is a warning where a finding names one of them.
    is_odd = any(rank in blamed for group in groups[1:] for rank in group.ranks)
    mark = Line("▲ ", "warn") if is_odd else Line("● ", "info")
    others = "; ".join(f"{_who(group)} at {_place(group.leaf)}" for group in groups[1:3])
    more = f" and {len(groups) - 3} more groups" if len(groups) > 3 else ""
    return mark.add(f"{_who(largest)} at {_place(largest.leaf)}, but {others}{more}", "strong")


def _who(group: StackGroup) -> str:
    return f"rank {group.ranks[0]}" if len(group.ranks) == 1 else f"{len(group.ranks)} ranks"


def _place(frame: StackFrame | None) -> str:
    return (
        f"{frame.name.rsplit('.', 1)[-1]} ({frame.short_filename.rsplit('/', 1)[-1]}:{frame.line})"
        if frame
        else "an unknown place"
    )


def _group(group: StackGroup, widest: int, width: int, selected: int | None) -> Line:
    mark = "▸ " if selected in group.ranks else "  "
    line = Line(mark, "accent").extend(Line(units.ranks(group.ranks), "strong").fitted(widest)).add("  ")
    phase = group.phase or "other"
    line.extend(Line(phase, marks.PHASE[phase]).fitted(11)).add(" ")
    user = f"{_place(group.user_frame)} → " if group.user_frame and group.user_frame != group.leaf else ""
    return line.add(elide_middle(user + _place(group.leaf), max(8, width - line.width)), "text")


def _rank(rank: Rank, width: int, now_s: float) -> list[Line]:
    stack = rank.stack
    if stack is None:
        return [Line("◌ no stack of this rank yet", "dim")]
    if stack.error:
        lines = [Line("▲ ", "warn").add(stack.error, "text")]
        return [*lines, Line("→ ", "accent").add(stack.advice, "accent")] if stack.advice else lines
    about = Line(f"taken {units.duration(max(0.0, now_s - stack.at_s))} ago", "dim")
    if rank.same_stack_for_s:
        about.add("   ▲ the same for " if rank.same_stack_for_s > 30 else "   the same for ", "label")
        about.add(units.duration(rank.same_stack_for_s), "warn" if rank.same_stack_for_s > 30 else "text")
    if rank.phase:
        about.add("   phase ", "label").add(rank.phase, marks.PHASE[rank.phase])
    if rank.wchan:
        about.add("   kernel ", "label").add(rank.wchan, "text")
    lines = [about]
    for thread in stack.threads:
        lines += _thread(thread, width)
    return lines


def _thread(thread: ThreadStack, width: int) -> list[Line]:
    head = Line("● " if thread.is_active else "◌ ", "good" if thread.is_active else "dim")
    head.add(thread.name or "thread", "strong").add(f"  {'running' if thread.is_active else 'idle'}", "dim")
    head.add("  holds the GIL" if thread.owns_gil else "", "accent")
    return [head, *(_frame(frame, width) for frame in thread.frames)]


def _frame(frame: StackFrame, width: int) -> Line:
    is_library = "site-packages" in frame.filename or "/lib/python" in frame.filename or frame.filename.startswith("<")
    name_width = max(12, min(36, width * 2 // 5))
    line = Line("    ").extend(
        Line(elide_middle(frame.name, name_width), "dim" if is_library else "text").fitted(name_width)
    )
    path = f"{frame.short_filename}:{frame.line}"
    return line.add("  ").add(elide_middle(path, max(8, width - line.width)), "dim" if is_library else "accent")
