"""All about the node under the cursor: what is wrong with it, its GPUs and ranks, its host, its agent."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.fields import gpu as gpu_fields
from hwtop.fields import node as fields
from hwtop.fields import units
from hwtop.fields.gpu import DeviceRow
from hwtop.fields.node_row import BEHIND, NodeRow
from hwtop.job.rank_set import named
from hwtop.model.fleet import NodeReport
from hwtop.model.rank import Rank
from hwtop.ui import marks
from hwtop.ui.keys import names as key_names
from hwtop.ui.panels.fleet import view as fleet_view
from hwtop.ui.panels.fleet.view import Slot
from hwtop.ui.tables import cells
from hwtop.ui.view import View
from hwtop.ui.widgets.box import box, inner
from hwtop.ui.widgets.line import Line, wrapped

LEAST = 9
"""Rows from which it says something."""
WIDTH = 64
_BAR = 10
_EVIDENCE = 3


def draw(view: View, width: int, height: int) -> list[Line]:
    """The most important first; what has no room is left out at the end."""
    row = fleet_view.selected(view)
    if row is None:
        return box([], width, height, Line("Node", "title"), Line())
    lines = list(_lines(view, row, inner(width)))
    note = Line(key_names.first("choose", view.keymap), "key").add(" opens", "label")
    return box(lines, width, height, Line("Node ", "title").add(row.node.name, "strong"), note)


def _lines(view: View, row: NodeRow, width: int) -> Iterator[Line]:
    yield from _status(row, width)
    yield from _wrong(row, width)
    for slot in fleet_view.slots(row):
        yield _slot(view, row, slot)
    if row.node.report is not None:
        yield from _host(view, row, row.node.report)
    yield from _clock(row, width)


def _status(row: NodeRow, width: int) -> Iterator[Line]:
    """Whether its reports come, and why not."""
    line = fleet_view.status(row)
    report = row.node.report
    if report is not None:
        line.add(f"   {named([rank.rank for rank in row.ranks])}" if row.ranks else "   no rank of the job", "text")
        if report.host != row.node.name:
            line.add(f"   {report.host}", "dim")
    yield line
    if row.node.reason:
        yield from wrapped(("  ", "dim"), row.node.reason, marks.NODE_STATUS[row.node.status][1], width)
    if report is not None and not row.is_current:
        yield Line("  below: its last report", "dim")


def _wrong(row: NodeRow, width: int) -> Iterator[Line]:
    """What makes it differ, else what it says of itself."""
    found = row.blame or row.own
    if found is not None:
        glyph, _, role = marks.SEVERITY[found.severity]
        yield from wrapped((f"{glyph} ", role), found.title, role, width)
        for text in found.evidence[:_EVIDENCE]:
            yield from wrapped(("  • ", "dim"), text, "text", width)
        for text in found.next_steps[:1]:
            yield from wrapped(("  → ", "accent"), text, "accent", width)
    elif row.node.report is not None:
        verdict = row.node.report.verdict
        glyph, _ = marks.VERDICT[verdict.level]
        yield from wrapped((f"{glyph} ", "good" if verdict.level == "ok" else "dim"), verdict.text, "text", width)


def _slot(view: View, row: NodeRow, slot: Slot) -> Line:
    """ "GPU 3 ━━━━━━━━── 82% 640W 66°C  rank 27 ● training"."""
    line = Line()
    if slot.gpu is not None:
        device = DeviceRow(slot.gpu, (slot.rank.rank,) if slot.rank else ())
        line.add(f"GPU {slot.number:<2} ", "label")
        if slot.gpu.status in ("lost", "error"):
            return line.add(f"✖ {slot.gpu.status.upper()}  {slot.gpu.reason or ''}", "bad")
        line.extend(cells.bar(gpu_fields.UTIL, device, view.levels, _BAR))
        for field, room in ((gpu_fields.UTIL, 5), (gpu_fields.POWER, 6), (gpu_fields.TEMPERATURE, 6)):
            line.extend(cells.number(field, device, view.levels).fitted(room, "right"))
        line.add("  ")
    if slot.rank is not None:
        line.extend(_rank(row, slot.rank))
    return line


def _rank(row: NodeRow, rank: Rank) -> Line:
    glyph, role = marks.RANK_STATE[rank.state]
    line = Line(f"{rank.rank:>4} ", "strong").add(f"{glyph} {rank.state}", role)
    found = rank.progress.step
    if found is not None and row.step_of_most is not None and row.step_of_most - found >= BEHIND:
        line.add(f" -{row.step_of_most - found:,.0f}", "warn")
    return line


def _host(view: View, row: NodeRow, report: NodeReport) -> Iterator[Line]:
    """Processor, memory, network, and what the agent takes."""
    line = cells.labelled(fields.CPU, row, view.levels).add("   ")
    line.extend(cells.labelled(fields.MEMORY, row, view.levels, "memory"))
    nics = report.network.nics if report.network else ()
    rates = [(nic.rx_bytes_per_s, nic.tx_bytes_per_s) for nic in nics]
    received = [rx for rx, _ in rates if rx is not None]
    sent = [tx for _, tx in rates if tx is not None]
    if received or sent:
        line.add("   network ", "label").add(f"↓{units.rate(sum(received))} ↑{units.rate(sum(sent))}", "text")
    yield line
    own = f"{units.fine_pct(report.own_cpu_pct)} of a core, {units.size(report.own_rss_bytes)}"
    agent = Line("agent ", "label").add(own, "dim")
    if row.node.skipped:
        agent.add(f"   {row.node.skipped:,} reports skipped", "warn")
    yield agent


def _clock(row: NodeRow, width: int) -> Iterator[Line]:
    if row.node.clock_skew_s is not None:
        line = Line("clock ", "label").add(fields.SKEW.text(row), "text")
        if row.node.clock_error_s is not None:
            line.add(f" ± {row.node.clock_error_s * 1000:.1f} ms", "dim")
        yield line
    elif row.node.clock_reason:
        yield from wrapped(("clock ", "label"), row.node.clock_reason, "dim", width)
