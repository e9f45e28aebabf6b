"""How the GPUs are joined to each other: the matrix that `nvidia-smi topo -m` prints, with NUMA nodes and CPUs."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.fields import units
from hwtop.job.rank_set import rank_set
from hwtop.model.gpu.device import Gpu
from hwtop.model.gpu.link import Path, Topology
from hwtop.ui.panels.gpu import view as gpu_view
from hwtop.ui.panels.gpu.block import Block, block, fact
from hwtop.ui.view import View
from hwtop.ui.widgets import table
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line
from hwtop.ui.widgets.text import wrap

_ROLES: dict[Path, str] = {
    "SELF": "track",
    "NVLINK": "good",
    "XGMI": "good",
    "PIX": "info",
    "PXB": "info",
    "PHB": "text",
    "NODE": "text",
    "SYS": "mix-3",
    "UNKNOWN": "dim",
}
_LEGEND: dict[Path, str] = {
    "NVLINK": "NV: NVLinks (and their number)",
    "XGMI": "XG: xGMI links (and their number)",
    "PIX": "PIX: one PCIe switch",
    "PXB": "PXB: several switches",
    "PHB": "PHB: the host bridge",
    "NODE": "NODE: within a NUMA node",
    "SYS": "SYS: between sockets",
    "UNKNOWN": "?: not reported",
}
_HEAD = 5
"""Cells of the row's number, with the cursor."""
_NUMA, _CPUS_LEAST, _GAP = 4, 8, 2


def wanted(view: View, width: int) -> int:
    """Rows for all, with titles, legend and frame."""
    topology = view.frame.derived.topology
    if topology is None:
        return 3
    if not _fits(topology, inner(width)):
        return 2 + len(_sentences(view, topology, inner(width)))
    return 3 + len(topology.indexes) + len(_legend(topology, inner(width)))


def draw(view: View, width: int, height: int) -> list[Line]:
    """The matrix where it fits, else the way from the selected device to all others."""
    topology = view.frame.derived.topology
    title = Line("Topology", "title")
    if topology is None:
        return box(
            [Line("◌ the driver does not report how the GPUs are connected", "dim")], width, height, title, Line()
        )
    room = inner(width)
    if not _fits(topology, room):
        return box(_sentences(view, topology, room), width, height, title, Line())
    legend = _legend(topology, room)
    if height - 3 - len(legend) < len(topology.indexes):
        legend = legend[: max(0, height - 3 - len(topology.indexes))]
    lines, note = _matrix(view, topology, room, max(1, height - 3 - len(legend)))
    return box([*lines, *legend], width, height, title, note)


def ways(view: View, gpu: Gpu, width: int) -> Block:
    """From one device to all others, for its card."""
    topology = view.frame.derived.topology
    pairs = list(_ways(topology, gpu.index)) if topology else []
    return block("Ways to other GPUs", [fact(way, to) for way, to in pairs], width)


def _fits(topology: Topology, width: int) -> bool:
    return _HEAD + len(topology.indexes) * _cell(topology) <= width


def _cell(topology: Topology) -> int:
    longest = max((len(_text(topology, row, column)) for row, column in _pairs(topology)), default=1)
    return max(2, longest) + 1


def _pairs(topology: Topology) -> Iterator[tuple[int, int]]:
    size = range(len(topology.indexes))
    return ((row, column) for row in size for column in size)


def _path(topology: Topology, row: int, column: int) -> Path:
    if row == column:
        return "SELF"
    try:
        return topology.paths[row][column]
    except IndexError:
        return "UNKNOWN"


def _text(topology: Topology, row: int, column: int) -> str:
    path = _path(topology, row, column)
    if path in ("NVLINK", "XGMI"):
        try:
            count = topology.links[row][column]
        except IndexError:
            count = 0
        return f"{path[:2]}{count or ''}"
    return {"SELF": "·", "UNKNOWN": "?"}.get(path, path)


def _matrix(view: View, topology: Topology, width: int, height: int) -> tuple[list[Line], Line]:
    gpus = {gpu.index: gpu for gpu in view.frame.derived.gpus}
    here = gpu_view.selected(view)
    at = topology.indexes.index(here.index) if here and here.index in topology.indexes else 0
    cell = _cell(topology)
    left = width - _HEAD - cell * len(topology.indexes) - _GAP
    has_numa = left >= _NUMA and any(gpu.numa_node is not None for gpu in gpus.values())
    cpus = left - _NUMA - _GAP
    has_cpus = has_numa and cpus >= _CPUS_LEAST and any(gpu.cpus for gpu in gpus.values())
    head = Line("GPU".rjust(_HEAD), "label")
    for place, index in enumerate(topology.indexes):
        head.add(str(index).rjust(cell), "title" if place == at else "label")
    head.add(" " * _GAP + "NUMA" if has_numa else "", "label").add(" " * _GAP + "CPUs" if has_cpus else "", "label")
    shown = table.around(len(topology.indexes), height, at)
    lines = [head]
    for row in shown:
        index = topology.indexes[row]
        line = Line("▸" if row == at else " ", "accent").add(str(index).rjust(_HEAD - 1), "strong")
        for column in range(len(topology.indexes)):
            line.add(_text(topology, row, column).rjust(cell), _ROLES[_path(topology, row, column)])
        gpu = gpus.get(index)
        if has_numa:
            node = gpu.numa_node if gpu else None
            line.add(" " * _GAP).extend(Line(units.UNKNOWN if node is None else str(node)).fitted(_NUMA, "right"))
        if has_cpus:
            line.add(" " * _GAP).extend(Line((gpu.cpus if gpu else None) or units.UNKNOWN, "dim").fitted(cpus))
        lines.append(line)
    return lines, table.note(shown, len(topology.indexes), Line())


def _legend(topology: Topology, width: int) -> list[Line]:
    seen = {_path(topology, row, column) for row, column in _pairs(topology)}
    return [
        Line(text, "dim") for text in wrap(", ".join(words for path, words in _LEGEND.items() if path in seen), width)
    ]


def _ways(topology: Topology, index: int) -> Iterator[tuple[str, str]]:
    """(how, to whom), the nearest first."""
    if index not in topology.indexes:
        return
    row = topology.indexes.index(index)
    found: dict[str, list[int]] = {}
    order: dict[str, int] = {}
    for column, other in enumerate(topology.indexes):
        if column == row:
            continue
        text = _text(topology, row, column)
        found.setdefault(text, []).append(other)
        order[text] = list(_ROLES).index(_path(topology, row, column))
    for text in sorted(found, key=lambda text: order[text]):
        yield text, f"GPU{'s' * (len(found[text]) > 1)} {rank_set(found[text])}"


def _sentences(view: View, topology: Topology, width: int) -> list[Line]:
    here = gpu_view.selected(view)
    if here is None:
        return []
    text = "; ".join(f"{way} to {to}" for way, to in _ways(topology, here.index))
    lines = [Line(piece) for piece in wrap(f"GPU {here.index}: {text}", width)]
    return lines + _legend(topology, width)
