"""Whether a GPU is well: memory errors, what was done about them, what the driver asks for, and its Xid errors."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.fields import units
from hwtop.job.kernel.event import bus_of
from hwtop.job.patterns.registry import builtin
from hwtop.model.gpu.device import Gpu
from hwtop.model.gpu.health import EccErrors
from hwtop.ui import marks
from hwtop.ui.panels.gpu.block import LABEL, Block, block, fact
from hwtop.ui.panels.gpu.view import GpuRow
from hwtop.ui.view import View
from hwtop.ui.widgets.line import Line

_SAME_S = 30.0
"""The driver's event and the kernel's line about one Xid come within this time; engineering default."""


def health(row: GpuRow, width: int) -> Block:
    """Counters of errors, in words."""
    return block("Health", _health(row.gpu), width)


def _health(gpu: Gpu) -> Iterator[Line]:
    if gpu.recovery_action:
        yield fact("driver asks", f"✖ {gpu.recovery_action}", "bad")
    if gpu.ecc is not None:
        yield from _ecc(gpu.ecc)
    if gpu.remapped is not None:
        rows = gpu.remapped
        count = f"{rows.uncorrected} uncorrected, {rows.corrected} corrected"
        yield fact("remapped rows", count if rows.uncorrected or rows.corrected else "none")
        if rows.has_failed:
            yield fact("", "✖ a row could not be remapped: have the board replaced", "bad")
        if rows.is_pending:
            yield fact("", "▲ one waits for a reset of the GPU", "warn")
    if gpu.retired is not None:
        pages = gpu.retired
        single, double = (units.count(count) for count in (pages.single_bit, pages.double_bit))
        yield fact("retired pages", f"{single} single-bit, {double} double-bit")
        if pages.is_pending:
            yield fact("", "▲ one waits for a reset of the GPU", "warn")


def _ecc(ecc: EccErrors) -> Iterator[Line]:
    if ecc.is_enabled is not None and not ecc.is_enabled:
        yield fact("ECC", "off", "dim")
        return
    counts = (ecc.volatile_uncorrected, ecc.volatile_corrected, ecc.aggregate_uncorrected, ecc.aggregate_corrected)
    if counts == (0, 0, 0, 0):
        yield fact("ECC errors", "none")
        return
    # Those of the board's life may long be mended: only the new ones are a sign of trouble.
    pairs = (
        ("ECC, new", ecc.volatile_uncorrected, ecc.volatile_corrected, bool(ecc.volatile_uncorrected)),
        ("ECC, ever", ecc.aggregate_uncorrected, ecc.aggregate_corrected, False),
    )
    for label, uncorrected, corrected, is_bad in pairs:
        if uncorrected is None and corrected is None:
            continue
        words = f"{'✖ ' if is_bad else ''}{units.count(uncorrected)} uncorrected"
        yield fact(label, words, "bad" if is_bad else "text").add(f", {units.count(corrected)} corrected")
    if ecc.volatile_uncorrected and ecc.sram_uncorrected is not None and ecc.dram_uncorrected is not None:
        yield fact("", f"{ecc.sram_uncorrected} in SRAM, {ecc.dram_uncorrected} in DRAM", "dim")


def xids(view: View, row: GpuRow, width: int) -> Block:
    """The driver's errors about this device, newest first, each with its meaning."""
    return block("Xid errors, newest first", _xids(view, row.gpu), width)


def _xids(view: View, gpu: Gpu) -> Iterator[Line]:
    if gpu.vendor != "nvidia":
        return
    history = xid_history(view, gpu)
    if not history:
        yield fact("none", "while hwtop watched", "dim")
    catalogue = builtin().xids
    for code, at_s in history:
        meaning = catalogue.get(code)
        mark, _, role = marks.SEVERITY[meaning.severity] if meaning else ("?", "", "text")
        when = f"{units.short_duration(max(0.0, view.frame.derived.at_s - at_s))} ago"
        text = meaning.meaning if meaning else "not in the catalogue that hwtop knows"
        yield Line(f"{mark} Xid {code}", role).fitted(LABEL).add(text).add(f"  {when}", "dim")


def xid_history(view: View, gpu: Gpu) -> list[tuple[int, float]]:
    """(code, when) newest first: the events of the driver, and what the kernel's log has of this device besides."""
    found = [(event.code, event.at_s) for event in gpu.xids]
    bus = bus_of(gpu.pci_bus_id or "")
    for event in view.job.logs.events if view.job else ():
        if event.xid is None or bus is None or bus_of(event.groups.get("bus", "")) != bus:
            continue
        if not any(code == event.xid and abs(at_s - event.at_s) < _SAME_S for code, at_s in found):
            found.append((event.xid, event.at_s))
    return sorted(found, key=lambda item: -item[1])
