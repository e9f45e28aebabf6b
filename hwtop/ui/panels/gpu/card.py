"""All about one GPU, in blocks; on its own page in as many columns as have room."""

from __future__ import annotations

from hwtop.job.rank_set import named
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.gpu import facts as gpu_facts
from hwtop.ui.panels.gpu import health as gpu_health
from hwtop.ui.panels.gpu import links as gpu_links
from hwtop.ui.panels.gpu import mig as gpu_mig
from hwtop.ui.panels.gpu import missing as gpu_missing
from hwtop.ui.panels.gpu import processes as gpu_processes
from hwtop.ui.panels.gpu import topology as gpu_topology
from hwtop.ui.panels.gpu import trouble as gpu_trouble
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.gpu.block import GAP, Block, block, column_width, flow
from hwtop.ui.panels.gpu.view import GpuRow
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, wrapped

_TITLE_GAPS = 6
"""Cells of the frame around title and note."""
LEAST = 5
"""Rows for the frame and the most important facts."""
_COLUMN, _COLUMN_LEAST = 54, 36
"""Cells of a column that hold a bar beside each number; of one that holds the numbers alone, where rows are few."""


def draw(view: View, width: int, height: int) -> list[Line]:
    """The selected device, as far down as the person has scrolled. Where not all of it has room, problems come first."""
    row = gpu_view.row_of(view)
    if row is None:
        return box(
            [Line("◌ ", "dim").add(gpu_view.none_reason(view), "dim")], width, height, Line("GPU", "title"), Line()
        )
    lines = _lines(view, row, inner(width), height - 2)
    if not _is_alone(view):
        key = Line(key_names.first("choose", view.keymap), "key").add(" all of it", "label")
        if (rest := len(lines) - (height - 2)) > 0:
            key = Line(f"{rest} more rows  ", "accent").extend(key)
        return box(lines, width, height, _title(row, inner(width) - key.width), key)
    shown = table.window(len(lines), height - 2, view.scroll)
    return box(lines[shown.start :], width, height, _title(row, inner(width)), table.note(shown, len(lines), Line()))


def hidden(view: View, width: int, height: int) -> int:
    """Rows out of sight, where the device has the page."""
    row = gpu_view.row_of(view)
    if row is None or not _is_alone(view):
        return 0
    return max(0, len(_lines(view, row, inner(width), height - 2)) - (height - 2))


def _is_alone(view: View) -> bool:
    return view.alone == "gpu-card"


def _title(row: GpuRow, room: int) -> Line:
    """The UUID is left out where it has no room."""
    title = Line(f"GPU {row.gpu.index}", "title")
    title.add(f"  {named(row.ranks)}" if row.ranks else "", "text").add(f"  {row.gpu.name}", "text")
    uuid = Line(f"  {row.gpu.uuid}" if row.gpu.uuid else "", "dim")
    return title.extend(uuid) if title.width + uuid.width <= room - _TITLE_GAPS else title


def _lines(view: View, row: GpuRow, width: int, height: int) -> list[Line]:
    """In few columns with bars where that is enough room, else in more that are narrow."""
    first, most = (max(1, (width + GAP) // (cells + GAP)) for cells in (_COLUMN, _COLUMN_LEAST))
    most = first if _is_alone(view) else most
    for columns in (first, most):
        blocks = [each for each in _blocks(view, row, column_width(width, columns)) if each.lines]
        lines = flow(blocks, width, columns)
        if len(lines) <= height:
            return lines
    return flow(sorted(blocks, key=lambda each: not each.is_ill), width, most)


def _blocks(view: View, row: GpuRow, width: int) -> list[Block]:
    gpu = row.gpu
    state = _state(view, row, width)
    if _is_alone(view):
        inside = [
            block("Processes", gpu_processes.of_gpu(view, gpu, width), width),
            gpu_topology.ways(view, gpu, width),
        ]
        inside.append(gpu_missing.all_reported(view, width))
    else:
        inside = []
    return [
        state,
        gpu_mig.instances(gpu, width),
        gpu_facts.use(row, width),
        gpu_facts.memory(row, width),
        gpu_facts.power(row, width),
        gpu_health.health(row, width),
        gpu_health.xids(view, row, width),
        gpu_links.links(row, width),
        gpu_links.host(row, width),
        *inside,
    ]


def _state(view: View, row: GpuRow, width: int) -> Block:
    """Nothing while it answers and is well."""
    gpu = row.gpu
    lines: list[Line] = []
    if gpu.status in ("lost", "error"):
        lines.append(Line(f"✖ {gpu.status.upper()}: {gpu.reason or 'no reason given'}", "bad"))
    elif gpu.status == "stale":
        lines.append(Line(f"◌ stale for {gpu.age_s:.0f} s: {gpu.reason or 'no reason given'}", "warn"))
    lines += [Line(f"{each.mark} {each.words}", each.role) for each in gpu_trouble.troubles(gpu)]
    if reasons := gpu_trouble.throttled_by(gpu):
        words = f"{', '.join(reasons)}: {gpu_view.throttled_words(view, gpu.index)}"
        lines += wrapped(("▲ ", "warn"), words, "warn", width - 2)
    return block("Problems", lines, width, indent=2)
