"""The screen as a few lines of text, for terminals too small for panels: what is wrong, how the ranks, devices and host are,
then a word on each rank as far as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hwtop.fields import units
from hwtop.model.rank import Rank
from hwtop.ui import marks, progress
from hwtop.ui.keys import names as key_names
from hwtop.ui.pages import footer
from hwtop.ui.pages.registry import current
from hwtop.ui.panels import picker, picture_time, time_bar
from hwtop.ui.panels.gpu import summary as gpu_summary
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.ranks import view as rank_view
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import elide_clauses, wrap

_HINT_FROM = 5
"""Rows from which one is left for what the keys do."""


def draw(view: View, width: int, height: int) -> list[Line]:
    """As much as fits, what matters most first."""
    last = _last(view, width) if height >= _HINT_FROM or view.typing or view.time_typed is not None else []
    last = last[: max(1, height // 2)]
    room = height - len(last)
    lines = _verdict(view, width)[: max(1, room // 2)]
    lines += _jobs(view, room - len(lines)) if view.is_picking else _job(view, width, room - len(lines))
    lines = [line.fitted(width) for line in lines[:room]]
    lines += [Line().fitted(width)] * (room - len(lines))
    return [*lines, *(line.fitted(width) for line in last)]


def _verdict(view: View, width: int) -> list[Line]:
    glyph, word = marks.VERDICT[view.frame.verdict.level]
    held = f"‖ {picture_time.words(view)}: " if picture_time.is_past(view) else "‖ PAUSED " if view.is_paused else ""
    if view.playback is not None:
        held = f"{picture_time.played(view)}: "
    text = f"{held}{glyph} {word} {view.frame.verdict.text}"
    return [Line(piece, f"band-{view.frame.verdict.level}").fitted(width) for piece in wrap(text, width)]


def _jobs(view: View, room: int) -> list[Line]:
    """The list to pick one from, the cursor in sight."""
    found = picker.candidates(view)
    if not found:
        return [Line("try: hwtop demo", "accent")]
    cursor = picker.place(view)
    return [
        Line(f"{'▸' if index == cursor else ' '} {found[index].pid} {found[index].title}", _cursor(index == cursor))
        for index in table.around(len(found), max(1, room), cursor)
    ]


def _job(view: View, width: int, room: int) -> list[Line]:
    """Findings, a line each on ranks, devices and host, then ranks one by one."""
    ranks = view.ranks
    about = _about(view, ranks, width)
    findings = _findings(view, width, max(1, room - min(len(about), room // 2)))
    lines = [*findings, *about]
    left = room - len(lines)
    if left <= 0 or not ranks:
        return lines
    shown = table.around(len(ranks), left, rank_view.place_of_focused(view, ranks))
    return lines + [_rank(ranks[index], view.selected) for index in shown]


def _findings(view: View, width: int, room: int) -> list[Line]:
    """One line each; where there are too many, how many more."""
    lines = []
    for finding in view.frame.findings:
        mark, _, role = marks.SEVERITY[finding.severity]
        lines.append(Line(f"{mark} {elide_clauses(finding.title, max(1, width - 2))}", role))
    if len(lines) <= room:
        return lines
    return [*lines[: room - 1], Line(f"  {len(lines) - room + 1} more", "dim")]


def _about(view: View, ranks: Sequence[Rank], width: int) -> list[Line]:
    derived = view.frame.derived
    lines = [_ranks(ranks, width)] if ranks else []
    rows = gpu_view.rows(view)
    lines += [gpu_summary.summary(rows, width)] if rows else []
    host = Line()
    if derived.cpu:
        host.add("cpu ", "label").add(units.pct(derived.cpu.util_pct))
        host.add("  wait ", "label").add(units.pct(derived.cpu.iowait_pct))
    if derived.memory and derived.memory.total_bytes:
        share_pct = 100 * derived.memory.used_bytes / derived.memory.total_bytes
        host.add("  " if host.spans else "").add("mem ", "label").add(units.pct(share_pct))
    return [*lines, host] if host.spans else lines


def _ranks(ranks: Sequence[Rank], width: int) -> Line:
    """How many are in each state, the sickest first; where they are and how fast."""
    line = Line(f"{len(ranks)} rank{'s' * (len(ranks) != 1)}", "strong")
    parts = []
    for state, count in rank_view.state_counts(ranks):
        glyph, role = marks.RANK_STATE[state]
        parts.append(Line(f"{glyph} {count} ", role).add(state))
    steps = sorted(found for rank in ranks if (found := rank.progress.step) is not None)
    if steps:
        span = units.count(steps[0]) if steps[0] == steps[-1] else f"{units.count(steps[0])}–{units.count(steps[-1])}"
        parts.append(Line("step ", "label").add(span))
    times = [rank.progress.step_time_s for rank in ranks if rank.progress.step_time_s is not None]
    if times:
        parts.append(Line(f"{units.step_time(median(times))} s/step", "dim"))
    for part in parts:
        if line.width + 2 + part.width <= width:
            line.add("  ").extend(part)
    return line


def _rank(rank: Rank, selected: int | None) -> Line:
    mark, role = marks.RANK_STATE[rank.state]
    step = units.count(rank.progress.step)
    row = Line(f"{mark} {rank.rank} {rank.state}", role).add(
        f"  {step}  {units.step_time(rank.progress.step_time_s)}", "dim"
    )
    return row.recoloured("cursor") if rank.rank == selected else row


def _last(view: View, width: int) -> list[Line]:
    """What is typed, else what is said about the last key, else the keys and from which size on there is more."""
    if view.typing:
        return footer.draw(view, width, 1)
    if view.note:
        return [Line(piece, "accent") for piece in wrap(view.note, width)]
    if time_bar.rows(view):
        return time_bar.draw(view, width, 1)
    keys = Line()
    for action, word in (("quit", "quit"), ("help", "help")):
        keys.add("  " if keys.spans else "").add(key_names.first(action, view.keymap), "key").add(f" {word}", "label")
    larger = "panels from 60x15 on" if view.page == "overview" else f"{current(view).title} needs 60x15"
    more = f"  {progress.word(view) or larger}"
    return [keys.add(more, "dim") if keys.width + len(more) <= width else keys]


def _cursor(is_here: bool) -> str:
    return "cursor" if is_here else "text"
