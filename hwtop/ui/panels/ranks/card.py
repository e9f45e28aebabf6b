"""All about one rank, in a few lines; then the newest lines of its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hwtop.fields import units
from hwtop.fields.process import state_word
from hwtop.job.metrics.files import spoken
from hwtop.job.stacks.frames import place, user_frame
from hwtop.model.rank import Rank
from hwtop.symptoms.text import counted
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.logs import view as log_view
from hwtop.ui.panels.ranks import table as ranks
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.view import View
from hwtop.ui.widgets.bar import stacked
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, elide_end, elide_middle

LEAST = 6
"""Rows for state, place, phases and last line, in a frame."""
_BAR = 24
_LABEL = 11


def draw(view: View, width: int, height: int) -> list[Line]:
    """The selected rank, else the one that a finding points at, else the lowest."""
    rank = rank_view.shown(view)
    if rank is None or view.job is None:
        return box([ranks.none(view)], width, height, Line("Rank", "title"), Line())
    room = inner(width)
    lines = [line for line in _facts(rank, room) if line.width]
    lines = [*lines[: max(0, height - 3)], *_words(view, rank, room, height - 2 - len(lines))]
    title = Line(f"Rank {rank.rank}", "title")
    title.add(f"  {rank.node}" if rank.node else "", "accent").add(f"  PID {rank.pid}", "text")
    if rank.gpus:
        title.add(f"  GPU {','.join(map(str, rank.gpus))}", "text")
    note = (
        Line(key_names.first("choose", view.keymap), "key")
        .add(" its stack  ", "label")
        .add(key_names.first("flame", view.keymap), "key")
        .add(" its flame", "label")
    )
    return box(lines, width, height, title, note)


def _facts(rank: Rank, width: int) -> Iterator[Line]:
    """In the order of their worth: a small card is cut from the end."""
    yield _state(rank)
    yield _stands(rank, width)
    yield _phases(rank, width)
    yield _held(rank)
    yield _workers(rank, width)
    yield _hot(rank, width)
    yield _process(rank)


def _labelled(label: str) -> Line:
    return Line(f"{label:<{_LABEL}}", "label")


def _state(rank: Rank) -> Line:
    glyph, role = marks.RANK_STATE[rank.state]
    line = _labelled("state").add(f"{glyph} {rank.state}", role)
    if not rank.is_alive:
        line.add(f"  {ranks.ended_with(rank.exit_code)}", role)
    step = rank.progress.step
    if step is not None:
        total = rank.progress.newest.total_steps if rank.progress.newest else None
        line.add("   step ", "label").add(units.count(step)).add(f" of {units.count(total)}" if total else "", "dim")
        line.add(f", {units.duration(rank.progress.step_age_s)} ago" if rank.progress.step_age_s is not None else "")
        line.add(f" ({spoken(rank.progress.reporter)})" if rank.progress.reporter else "", "dim")
    if rank.progress.step_time_s is not None:
        line.add(f"   {units.step_time(rank.progress.step_time_s)} s/step")
    return line


def _stands(rank: Rank, width: int) -> Line:
    stack = rank.stack.dump
    if not rank.is_alive or stack is None:
        return Line()
    line = _labelled("stack")
    if stack.error:
        return line.add("▲ ", "warn").add(elide_middle(stack.error, max(8, width - line.width - 2)), "text")
    here, below = rank.stack.hot[0] if rank.stack.hot else None, ""
    if rank.stack.phase:
        line.add(f"in {rank.stack.phase}", marks.PHASE[rank.stack.phase])
    if stack.threads and stack.threads[0].frames:
        leaf, user = stack.threads[0].frames[0], user_frame(stack.threads[0].frames)
        line.add(f"  {place(user or leaf)}")
        below = f"   in {place(leaf)}" if user is not None and user != leaf else ""
    elif here:
        line.add(f"  {here.file}:{here.line} {here.function}")
    if still_s := rank_view.still_s(rank):
        line.add(f"   same for {units.duration(still_s)}", "label")
    line.add(below, "label")  # what may be cut stands last
    return line.add(
        f"   kernel {rank.process.wchan}" if rank.process.wchan and rank.process.wchan != "0" else "", "label"
    )


def _phases(rank: Rank, width: int) -> Line:
    if not rank.stack.shares:
        return Line()
    bar, waits = max(6, min(_BAR, width // 6)), rank.stack.all_waits_share
    line = _labelled("phases").extend(stacked(ranks.mix(rank), bar)).add("  ")
    tail = f"  {counted(rank.stack.samples, 'sample')}" + ("" if waits is None else f", waits {units.pct(100 * waits)}")
    for each in rank.stack.shares:
        part = f"{each.phase} {units.pct(100 * each.share)}  "
        if line.width + len(part) + len(tail) > width:
            break
        line.add(part, marks.PHASE[each.phase])
    return line.add(tail.strip(), "dim")


def _workers(rank: Rank, width: int) -> Line:
    if not rank.workers:
        return Line()
    line = _labelled("workers")
    for number, (letter, count) in enumerate(sorted(Counter(worker.state for worker in rank.workers).items())):
        reported = f"{count} {state_word(letter)}"
        line.add(", " if number else "", "dim").add(reported, "warn" if letter in "DTtZ" else "text")
    used = [worker.cpu_pct for worker in rank.workers if worker.cpu_pct is not None]
    line.add(f"   CPU {units.pct(sum(used) if used else None)}")
    if rank.stack.worker_hot:
        hot = rank.stack.worker_hot[0]
        line.add(elide_middle(f"   {hot.function} ({hot.file}:{hot.line}) {units.pct(100 * hot.share)}", width // 2))
    return line


def _process(rank: Rank) -> Line:
    if not rank.is_alive:
        return Line()
    line = _labelled("process").add(
        f"CPU {units.pct(rank.process.cpu_pct)}, {units.pct(rank.process.tree_cpu_pct)} with workers"
    )
    line.add(
        f"   {units.size(rank.process.rss_bytes)} memory   {rank.process.thread_count} thread{'s' * (rank.process.thread_count != 1)}"
    )
    return line.add(f"   up {units.duration(rank.process.age_s)}", "dim") if rank.process.age_s is not None else line


def _held(rank: Rank) -> Line:
    """What holds it up where the kernel or a lock does."""
    blocked = rank.stall.blocked
    if blocked is not None:
        who = f"{'worker' if blocked.is_worker else 'thread'} {blocked.comm} of PID {blocked.pid}"
        line = _labelled("held up").add(f"{who} in state D for {units.duration(blocked.for_s)}", "warn")
        return line.add(f", in {blocked.wchan}" if blocked.wchan else "", "warn")
    if rank.stall.worker_locks:
        lock = rank.stall.worker_locks[0]
        name = lock.wait.lock or f"a {lock.wait.kind}"
        return _labelled("held up").add(
            f"worker {lock.pid} waits for {name}, which was held when it was forked", "warn"
        )
    return Line()


def _hot(rank: Rank, width: int) -> Line:
    """Its hottest lines, each with its text where there is room for it."""
    line = _labelled("hot") if rank.stack.hot_lines else Line()
    for hot in rank.stack.hot_lines[:3]:
        part = f"{units.pct(100 * hot.share)} {hot.file.rsplit('/', 1)[-1]}:{hot.line} "
        text = elide_end(hot.code or hot.function, 40)
        if line.width + cells(part) + cells(text) + 3 > width:
            break
        line.add(part, marks.PHASE[hot.phase]).add(f"{text}   ", "text")
    return line if line.width > _LABEL else Line()


def _words(view: View, rank: Rank, width: int, most: int) -> list[Line]:
    job = view.job
    if job is None:
        return []
    words = log_view.last_words(job, rank, max(1, most - 1))
    if not words:
        return [_labelled("log").add("no log line of this rank yet", "dim")]
    what = "last words" if not rank.is_alive else "log"
    if most < 2:
        return [Line(f"{what:<{_LABEL}}", "label").add(words[-1], "dim" if rank.is_alive else "text")]
    head = _labelled(what).add(elide_middle(rank.log.path or "", max(8, width // 2)), "dim")
    if rank.log.age_s is not None:
        head.add(f"   {units.duration(rank.log.age_s)} ago", "dim")
    return [head, *(Line("│ ", "border").add(text, "dim" if rank.is_alive else "text") for text in words)]
