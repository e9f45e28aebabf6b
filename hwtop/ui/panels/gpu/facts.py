"""What a GPU does and what it has: use, memory, power, temperatures, clocks, modes."""

from __future__ import annotations

from collections.abc import Iterator

from hwtop.fields import gpu as fields
from hwtop.fields import units
from hwtop.model.gpu.device import Gpu, GpuActivity
from hwtop.ui.panels.gpu.block import Block, block, fact, gauge
from hwtop.ui.panels.gpu.trouble import throttled_by
from hwtop.ui.panels.gpu.view import GpuRow, use_tone
from hwtop.ui.tables import cells
from hwtop.ui.widgets.line import Line

_ACTIVITY = (
    ("SM active", "sm_active_pct"),
    ("SM occupancy", "sm_occupancy_pct"),
    ("tensor units", "tensor_active_pct"),
    ("DRAM bandwidth", "dram_bw_pct"),
)


def use(row: GpuRow, width: int) -> Block:
    """How busy its parts are, each of all it could be."""
    return block("Use, of 100%", _use(row, width), width)


def _use(row: GpuRow, width: int) -> Iterator[Line]:
    gpu = row.gpu
    role, mark = use_tone(row, gpu.util_pct)
    if gpu.util_pct is not None:
        words = Line(f"{units.pct(gpu.util_pct)}{mark}", role)
        yield gauge("utilization", gpu.util_pct / 100, words, width, role)
    for label, field in _ACTIVITY:
        value: float | None = getattr(gpu.activity or GpuActivity(), field)
        if value is not None:
            yield gauge(label, value / 100, Line(units.pct(value)), width)
    others = (("memory busy", gpu.mem_util_pct), ("encoder", gpu.encoder_pct), ("decoder", gpu.decoder_pct))
    reported = [f"{label} {units.pct(value)}" for label, value in others if value is not None]
    if reported:
        yield fact("also", ", ".join(reported))


def memory(row: GpuRow, width: int) -> Block:
    """How full it is."""
    return block("Memory", _memory(row, width), width)


def _memory(row: GpuRow, width: int) -> Iterator[Line]:
    gpu = row.gpu
    if gpu.mem_used_bytes is not None:
        role, mark = cells.tone(fields.MEMORY_USED, row, row.levels, "info")
        words = Line(f"{mark}{units.size(gpu.mem_used_bytes)}", "text" if role in ("info", "dim") else role)
        words.add(f" of {units.size(gpu.mem_total_bytes)}" if gpu.mem_total_bytes is not None else "", "dim")
        used_pct = fields.MEMORY_USED.number(row)
        yield gauge("used", None if used_pct is None else used_pct / 100, words, width, role)
    if gpu.mem_reserved_bytes is not None:
        yield fact("driver keeps", units.size(gpu.mem_reserved_bytes))
    if gpu.unlisted_bytes:
        yield fact("in no process", units.size(gpu.unlisted_bytes))
    if gpu.bar1_used_bytes is not None:
        yield fact("BAR1", units.size(gpu.bar1_used_bytes)).add(f" of {units.size(gpu.bar1_total_bytes)}", "dim")


def power(row: GpuRow, width: int) -> Block:
    """Power, temperatures and clocks against their limits, and throttle reasons."""
    return block("Power, temperature, clocks", _power(row, width), width)


def _power(row: GpuRow, width: int) -> Iterator[Line]:
    gpu = row.gpu
    if gpu.power_w is not None:
        share = gpu.power_w / gpu.power_limit_w if gpu.power_limit_w else None
        words = Line(f"{gpu.power_w:.0f} W")
        words.add(f" of {gpu.power_limit_w:.0f} W" if gpu.power_limit_w else "", "dim")
        yield gauge("power", share, words, width)
    yield _limits(gpu)
    yield _temperature(row, width)
    if gpu.mem_temp_c is not None:
        yield fact("memory temp", f"{gpu.mem_temp_c:.0f} °C")
    if gpu.fan_pct is not None:
        yield fact("fan", units.pct(gpu.fan_pct))
    for label, now, most in (
        ("core clock", gpu.sm_clock_mhz, gpu.sm_clock_max_mhz),
        ("memory clock", gpu.mem_clock_mhz, gpu.mem_clock_max_mhz),
    ):
        if now is not None:
            words = Line(f"{now:.0f} MHz").add(f" of {most:.0f} MHz" if most else "", "dim")
            yield gauge(label, now / most if most else None, words, width)
    yield _throttle(row)
    yield _violations(row)
    yield _modes(gpu)


def _limits(gpu: Gpu) -> Line:
    """Beside the limit that holds, the one that it came with and the range that can be set."""
    if gpu.power_limit_w is None:
        return Line()
    line = fact("power limit", f"{gpu.power_limit_w:.0f} W")
    default = gpu.power_limit_default_w
    if default is not None:
        is_lowered = gpu.power_limit_w < default
        line.add(
            f", ▲ lowered from {default:.0f}" if is_lowered else f", default {default:.0f}",
            "warn" if is_lowered else "dim",
        )
    if gpu.power_limit_min_w is not None and gpu.power_limit_max_w is not None:
        line.add(f", {gpu.power_limit_min_w:.0f} to {gpu.power_limit_max_w:.0f} possible", "dim")
    return line


def _temperature(row: GpuRow, width: int) -> Line:
    gpu = row.gpu
    if gpu.temp_c is None:
        return Line()
    role, mark = cells.tone(fields.TEMPERATURE, row, row.levels)
    words = Line(f"{mark}{gpu.temp_c:.0f} °C", role)
    ends = [f"slows at {gpu.temp_slowdown_c:.0f}"] if gpu.temp_slowdown_c is not None else []
    ends += [f"off at {gpu.temp_shutdown_c:.0f}"] if gpu.temp_shutdown_c is not None else []
    words.add(f" {', '.join(ends)}" if ends else "", "dim")
    top = gpu.temp_shutdown_c or gpu.temp_slowdown_c
    return gauge("temperature", gpu.temp_c / top if top else None, words, width, "info" if role == "text" else role)


def _throttle(row: GpuRow) -> Line:
    if row.gpu.throttle is None:
        return Line()
    words = throttled_by(row.gpu)
    return fact("throttle", "▲ " + ", ".join(words), "warn") if words else fact("throttle", "none", "dim")


def _violations(row: GpuRow) -> Line:
    """How much of the last interval it throttled, which the reasons of a moment may miss."""
    rates = row.rates
    if rates is None:
        return Line()
    shares = (
        ("power", rates.power_violation_share),
        ("heat", rates.thermal_violation_share),
        ("reliability", rates.reliability_violation_share),
        ("board", rates.board_violation_share),
    )
    reported = [f"{word} {units.pct(100 * share)}" for word, share in shares if share is not None and share >= 0.005]
    return (
        fact("", f"time throttled since the last sample: {', '.join(reported)} (driver counter)")
        if reported
        else Line()
    )


def _modes(gpu: Gpu) -> Line:
    reported = [f"P{gpu.pstate}"] if gpu.pstate is not None else []
    if gpu.persistence_mode is not None:
        reported.append(f"persistence {'on' if gpu.persistence_mode else 'off'}")
    if gpu.compute_mode is not None:
        reported.append(f"compute {gpu.compute_mode}")
    if gpu.mig_mode is not None:
        reported.append(f"MIG {'on' if gpu.mig_mode else 'off'}")
    return fact("state", ", ".join(reported)) if reported else Line()
