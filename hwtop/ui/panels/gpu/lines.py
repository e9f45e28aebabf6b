"""GPUs, one line each; or one line for all, or one for why there are none."""

from __future__ import annotations

from msgspec.structs import replace

from hwtop.fields import units
from hwtop.symptoms.records import records, room_of
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.gpu import grid as gpu_grid
from hwtop.ui.panels.gpu import table as gpu_table
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.gpu.summary import summary
from hwtop.ui.panels.gpu.trouble import troubles
from hwtop.ui.tables.filter import reported
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import cells, wrap

_WHY = 1
"""Rows that say why there is no device."""
_SHOWN = frozenset({"util_pct", "mem_used_bytes", "power_w", "temp_c", "sm_clock_mhz", "throttle"})
"""What the table has a column for where some device reports it."""
_WHERE_THERE_SHOULD_BE_SOME = (
    "hwtop doctor   # what hwtop can read on this machine, and what to do about the rest",
    "ls /dev/nvidia* /dev/kfd /dev/dri   # does the kernel show a device here?",
    "In a container: start it with its GPUs (docker run --gpus all, podman run --device nvidia.com/gpu=all, apptainer exec --nv)",
    "In a Slurm job: ask for them (--gres=gpu:1), and look from inside it (srun --overlap --jobid JOB --pty bash)",
)
"""Next steps on a page without GPUs."""


def wanted(view: View, _: int) -> int:
    """Rows for one line a device, with titles and frame; without a device one row says why."""
    count = len(view.frame.derived.gpus)
    return count + 3 if count else _WHY


def is_calm(view: View) -> bool:
    """No finding is about a device, and none has a problem of its own."""
    found = {finding.symptom for finding in view.frame.findings} & records().keys()
    return not any(room_of(symptom) == "gpu" for symptom in found) and not any(
        troubles(gpu) or gpu.status != "ok" for gpu in view.frame.derived.gpus
    )


def wanted_grid(view: View, width: int) -> int:
    """Rows for a cell a device, with frame."""
    return 2 + gpu_grid.rows(len(view.frame.derived.gpus), inner(width))


def draw(view: View, width: int, height: int) -> list[Line]:
    """The devices in the overview."""
    gpus = view.frame.derived.gpus
    if not gpus:
        if height == _WHY:
            return [Line(" GPUs  ", "title").extend(_none(view, width - 8, 1)[0]).fitted(width)]
        return box(_none(view, inner(width), height - 2), width, height, Line("GPUs", "title"), Line())
    rows = gpu_view.rows(view, 2 * gpu_table.PAST_CELLS_WIDEST)
    if height < len(gpus) + 2:
        is_grid = height >= wanted_grid(view, width)
        lines = gpu_grid.lines(rows, inner(width)) if is_grid else [summary(rows, inner(width))]
        note = Line(gpu_view.kinds(gpus), "dim")
    else:
        has_header = height >= len(gpus) + 3
        lines = gpu_table.lines(rows, range(len(rows)), view, inner(width), has_header=has_header)
        note = _late(view).extend(_why(view)).add(gpu_view.kinds(gpus), "dim")
    return box(lines, width, height, Line("GPUs", "title"), note)


def place_at(view: View, y: int, height: int) -> int | None:
    """Of the device in this row of the overview, among all."""
    count = len(view.frame.derived.gpus)
    place = y - 1 - (height >= count + 3)
    return place if height >= count + 2 and 0 <= place < count else None


def _none(view: View, room: int, rows: int) -> list[Line]:
    """Why there is nothing to show; where the rows are few, the first reasons."""
    reason = gpu_view.none_reason(view)
    pieces = wrap(reason, max(8, room - 2))
    if len(pieces) > rows:
        clauses = reason.split("; ")
        while len(clauses) > 1 and cells("; ".join(clauses)) > room - 4:
            clauses.pop()
        pieces = ["; ".join(clauses) + " …"]
    return [Line("  " if number else "◌ ", "dim").add(piece, "dim") for number, piece in enumerate(pieces)]


def _ways(room: int) -> list[Line]:
    """What to look at where there should be some."""
    lines = [Line()]
    for text in _WHERE_THERE_SHOULD_BE_SOME:
        for number, piece in enumerate(wrap(text, max(8, room - 4))):
            lines.append(Line("    " if number else "  → ", "accent").add(piece, "text"))
    return lines


def _late(view: View) -> Line:
    words = gpu_view.stale_words(view.frame.derived.gpus)
    return Line(words, "warn").add(" ─ ", "border") if words else Line()


def _why(view: View) -> Line:
    """Where the reasons stand for the dashes of the table."""
    has_dashes = any(_SHOWN & gpu.missing.keys() for gpu in view.frame.derived.gpus)
    return (
        Line(key_names.first("gpu", view.keymap), "key").add(f" says why {units.UNKNOWN}", "label").add(" ─ ", "border")
        if has_dashes
        else Line()
    )


def draw_page(view: View, width: int, height: int) -> list[Line]:
    """The devices on their own page, with a cursor in place of the mark of the rank's; more than there are rows scroll with it."""
    gpus = view.frame.derived.gpus
    if not gpus:
        none = _none(view, inner(width), height - 2)
        return box([*none, *_ways(inner(width))][: height - 2], width, height, Line("GPUs", "title"), Line())
    title = Line("GPUs", "title")
    if word := view.filter_of("gpu"):
        found = len(gpu_view.kept(view))
        title.extend(reported(word, found, len(gpus), "GPUs", gpu_view.query(view).problem))
        if not found:
            return box([Line("◌ no GPU matches", "dim")], width, height, title, Line())
    rows = [replace(row, is_of_rank=False) for row in gpu_view.rows(view, 2 * gpu_table.PAST_CELLS_WIDEST)]
    shown = rows_shown(view, height)
    drawn = gpu_table.lines(rows, shown, view, inner(width) - 2, has_header=True)
    lines = [Line("  ").extend(drawn[0])]
    for place, line in zip(shown, drawn[1:], strict=True):
        lines.append(Line("▸ " if rows[place].is_selected else "  ", "accent").extend(line))
    note = _late(view).add(gpu_view.kinds(gpus), "dim")
    if len(shown) < len(rows):
        note.add(" ─ ", "border").add(table.part(shown, len(rows)), "accent")
    return box(lines, width, height, title, note)


def rows_shown(view: View, height: int) -> range:
    """Which devices, by their place, a panel of `height` rows shows on the page: the selected one is among them."""
    gpus = gpu_view.kept(view)
    here = gpu_view.selected(view)
    return table.around(len(gpus), max(1, height - 3), gpus.index(here) if here else 0)
