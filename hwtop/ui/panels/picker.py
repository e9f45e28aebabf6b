"""The jobs on this machine, to pick one from: what can be attached, and once for all why the rest cannot."""

from __future__ import annotations

from msgspec import Struct

from hwtop.fields import units
from hwtop.job.rank_set import rank_set
from hwtop.model.process import JobCandidate
from hwtop.ui.keys import names as key_names
from hwtop.ui.once import once
from hwtop.ui.tables.filter import matches, reported
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, wrapped
from hwtop.ui.widgets.table import Column
from hwtop.ui.widgets.text import cells, elide_middle, visible, wrap

_FRAME = 2
QUIET_S = 120.0
"""Without a line in its logs for so long, a job may be stuck; most write each few seconds. Engineering default."""
_COMMAND_ROWS = 2
"""Of the whole command of the job under the cursor."""
SUBJECT = "picker"
"""Whose filter is typed."""
_LIST_LEAST = 3
"""Rows of the list: titles and two jobs."""
_TRY = (
    ("hwtop demo straggler", "one rank computes slower than the others"),
    ("hwtop demo hang", "one rank never comes to a collective"),
    ("hwtop demo slow-loader", "the ranks wait for their data"),
    ("hwtop demo --list", "all of them"),
)


class PickerState(Struct, frozen=True):
    """What the page remembers."""

    cursor: int = 0
    """Row of the list."""
    pid: int | None = None
    """Of the job that was chosen there: the cursor stays on it while others come and go."""


@once
def candidates(view: View) -> list[JobCandidate]:
    """What can be picked and has every word of the filter: training jobs first, then what has loaded a training library; what
    may be attached before what may not, then what is quiet, then the largest; else in the order of the scan."""
    words = view.filter_of(SUBJECT).split()
    found = [each for each in view.frame.derived.candidates or () if all(matches(word, _text(each)) for word in words)]
    return sorted(found, key=lambda each: (_distance(each), not each.can_attach, not is_quiet(each), -each.ranks))


def _distance(job: JobCandidate) -> int:
    """From what surely trains to what surely does not."""
    return 0 if job.kind == "training" else 1 if job.framework else 2 if job.kind == "python" else 3


def is_quiet(job: JobCandidate) -> bool:
    """A training job that writes nothing any more: it may be stuck."""
    return job.kind == "training" and (job.log_age_s or 0.0) >= QUIET_S


def _text(candidate: JobCandidate) -> str:
    return f"{candidate.pid} {candidate.kind} {candidate.framework or ''} {candidate.user} {candidate.title}"


def place(view: View) -> int:
    """Of the cursor among all."""
    found, state = candidates(view), view.state(PickerState)
    chosen = (index for index, each in enumerate(found) if each.pid == state.pid)
    return next(chosen, min(state.cursor, max(0, len(found) - 1)))


def moved_to(view: View, index: int) -> View:
    """The cursor on this one, the nearest where there is none."""
    found = candidates(view)
    index = max(0, min(len(found) - 1, index))
    return view.with_state(PickerState(index, found[index].pid if found else None))


def settled(view: View) -> View:
    """The cursor on the job that it shows, before any key: another one that comes does not slip under it."""
    is_here = view.frame.derived.job is None and bool(view.frame.derived.candidates)
    return moved_to(view, place(view)) if is_here and view.state(PickerState).pid is None else view


def wanted(view: View, width: int) -> int:
    """Rows for all jobs and all that is said of them, frame included."""
    found = candidates(view)
    if not found:
        return _FRAME + len(_none(view, width))
    return _FRAME + 1 + len(found) + 1 + len(_below(view, found, inner(width)))


def draw(view: View, width: int, height: int) -> list[Line]:
    """One row a job; with none, how to try hwtop without one."""
    title = Line("Pick a job", "title")
    found = candidates(view)
    room = inner(width)
    if not found:
        return box(_none(view, width), width, height, title, _filtered(view, found))
    columns = table.chosen(_columns(view), room - 2)
    cursor = place(view)
    below = _below(view, found, room)[: max(1, height - _FRAME - _LIST_LEAST - 1)]
    lines = [Line("  ").extend(table.header(columns)).fitted(room)]
    shown = _shown(len(found), cursor, len(below), height)
    for index in shown:
        line = Line("▸ " if index == cursor else "  ", "accent").extend(table.row(columns, found[index])).fitted(room)
        lines.append(line.recoloured("cursor") if index == cursor else line)
    lines += [Line()] * (height - _FRAME - len(below) - len(lines))
    is_filtered = bool(view.filter_of(SUBJECT))
    note = Line(_count(found, is_filtered=is_filtered), "accent" if _distance(found[0]) < 2 else "dim")
    note.extend(_filtered(view, found))
    if len(shown) < len(found):
        note.add(" ─ ", "border").add(table.part(shown, len(found)), "accent")
    return box([*lines, *below], width, height, title, note)


def _count(found: list[JobCandidate], *, is_filtered: bool) -> str:
    """Of those that are listed. That none of them trains is no word about the machine where a filter leaves some out."""
    jobs = sum(_distance(each) == 0 for each in found)
    loaded = sum(_distance(each) == 1 for each in found)
    said = f"{jobs} training job{'' if jobs == 1 else 's'}" if jobs or not (loaded or is_filtered) else ""
    return ", ".join(filter(None, (said, f"{loaded} with a training library" if loaded else "")))


def place_at(view: View, y: int, width: int, height: int) -> int | None:
    """Of the job in this row, among all."""
    found = candidates(view)
    if not found:
        return None
    below = _below(view, found, inner(width))[: max(1, height - _FRAME - _LIST_LEAST - 1)]
    shown = _shown(len(found), place(view), len(below), height)
    return shown[y - 2] if 0 <= y - 2 < len(shown) else None


def _shown(count: int, cursor: int, below: int, height: int) -> range:
    return table.around(count, max(1, height - _FRAME - 2 - below), cursor)


def _below(view: View, found: list[JobCandidate], width: int) -> list[Line]:
    """What Enter does, what hinders it with the command that helps, and what to do without a training job."""
    chosen = found[place(view)]
    if view.attaching is not None and not view.note:
        first = [Line("◌ ", "accent").add(f"attaching to {view.attaching} …", "accent")]
    elif view.note or not chosen.can_attach:
        text = view.note or f"cannot attach: {chosen.reason or 'no reason given'}"
        first = list(wrapped(("▲ ", "warn"), text, "warn", width))
    else:
        first = [
            Line(key_names.first("choose", view.keymap), "key").add(
                f" attaches to {chosen.pid}; next time at once: ", "text"
            )
        ]
        first[0].add(f"hwtop {chosen.pid}", "accent")
    foreign = sorted({job.user for job in found if not job.can_attach and job.kind != "other"})
    if foreign:
        first.append(Line(f"To watch jobs of {', '.join(foreign)}: ", "text").add("sudo $(command -v hwtop)", "accent"))
    if _distance(found[0]) > 1:
        first.append(Line("No training job among them: ", "text").add("hwtop demo", "accent").add(" tries one", "text"))
    if chosen.folder:
        first.append(Line("in ", "dim").add(elide_middle(visible(chosen.folder), width - 3), "text"))
    if cells(chosen.title) > table.chosen(_columns(view), width - 2)[-1][1]:
        first += [Line(piece, "dim") for piece in wrap(chosen.title, width)[:_COMMAND_ROWS]]
    return first


def _filtered(view: View, found: list[JobCandidate]) -> Line:
    return reported(view.filter_of(SUBJECT), len(found), len(view.frame.derived.candidates or ()), "processes")


def _none(view: View, width: int) -> list[Line]:
    if not view.frame.derived.candidates:
        return _nothing(width)
    clear = Line(key_names.first("clear", view.keymap), "key")
    return [Line("No process has all these words.", "strong"), clear.add(" clears the filter", "text")]


def _nothing(width: int) -> list[Line]:
    lines = [Line("No Python process runs on this machine.", "strong"), Line()]
    texts = "Start a training job and it appears here. Or watch a small real one with a planted fault:"
    lines += [Line(piece, "text") for piece in wrap(texts, inner(width))]
    lines += [Line(f"    {command:<26}", "accent").add(about, "dim") for command, about in _TRY]
    text = "A job in another container is seen from the host, a job on another machine by hwtop there."
    return [*lines, Line(), *(Line(piece, "dim") for piece in wrap(text, inner(width)))]


def _columns(view: View) -> list[Column[JobCandidate]]:
    programs = {each.pid: each for each in view.frame.derived.programs}

    def cpu(item: JobCandidate, _: int) -> Line:
        used = programs.get(item.pid)
        return Line(units.pct(used.cpu_pct if used else None))

    def held(item: JobCandidate, _: int) -> Line:
        used = programs.get(item.pid)
        return Line(units.size(used.rss_bytes if used else None), "dim")

    def gpus(item: JobCandidate, _: int) -> Line:
        used = programs.get(item.pid)
        pids = frozenset(used.pids if used else ())
        on = [gpu.index for gpu in view.frame.derived.gpus if any(each.pid in pids for each in gpu.processes or ())]
        return Line(rank_set(on) if on else units.UNKNOWN)

    return [
        Column("pid", 7, lambda item, _: Line(str(item.pid), "strong"), align="right"),
        Column("kind", 10, _kind),
        Column("ranks", 5, lambda item, _: Line(str(item.ranks) if item.ranks else units.UNKNOWN), 1, align="right"),
        Column("GPU", 5, gpus, 4, align="right"),
        Column("CPU", 5, cpu, 3, align="right"),
        Column("mem", 6, held, 6, align="right"),
        Column("log", 5, _log, 1, align="right"),
        Column("user", 8, lambda item, _: Line(item.user, "dim"), 5),
        Column("age", 4, lambda item, _: Line(units.short_duration(item.age_s)), 2, align="right"),
        Column("attach", 6, lambda item, _: Line("yes", "good") if item.can_attach else Line("▲ no", "warn"), 5),
        Column("what", 16, _what, grow=1),
    ]


def _what(item: JobCandidate, width: int) -> Line:
    """Its command; where that has no room without what jobs have in common: folders, then launcher and its options."""
    if cells(item.title) <= width:
        return Line(item.title)
    program, blank, rest = item.title.partition(" ")
    name, words = program.rpartition("/")[2], rest.split()
    if cells(f"{name} {rest}") <= width:
        return Line(name + blank + rest)
    at = next((index for index, word in enumerate(words) if word.endswith(".py")), None)
    if at is None:
        return Line(name + blank + rest)
    script = " ".join((words[at].rpartition("/")[2], *words[at + 1 :]))
    return Line(f"{name} … {script}" if at and cells(f"{name} … {script}") <= width else script)


def _log(item: JobCandidate, _: int) -> Line:
    """How long ago its newest log was written."""
    age = units.short_duration(item.log_age_s)
    return Line(f"▲{age}", "warn") if is_quiet(item) else Line(age)


def _kind(item: JobCandidate, _: int) -> Line:
    if item.kind == "training":
        return Line("● training", "good")
    return Line(f"● {item.framework}", "text") if item.framework else Line(f"  {item.kind}", "dim")
