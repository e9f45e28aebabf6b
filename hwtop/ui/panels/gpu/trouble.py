"""The problems of a GPU and what slows it, in a word or two: for the table, and for what comes first where room is short. Pure.

It shows what the driver says, and judges nothing: that is up to the rules (`hwtop/symptoms`).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hwtop.job.patterns.registry import builtin
from hwtop.job.rank_set import rank_set
from hwtop.model.gpu.device import Gpu, ThrottleReason
from hwtop.symptoms.gpu.power import LOW_LIMIT

THROTTLE_WORDS: dict[ThrottleReason, str] = {
    "sw_power_cap": "power cap",
    "hw_slowdown": "HW SLOWDOWN",
    "sync_boost": "sync boost",
    "sw_thermal": "HOT",
    "hw_thermal": "HOT (hardware)",
    "hw_power_brake": "POWER BRAKE",
    "hw_current": "current limit",
}
"""Clock limit reasons; idle and settings of the user are no throttling. The capital ones are faults."""
_WEIGHTS = {"bad": 2, "warn": 1}
_OF_STATUS = {"lost": 100, "error": 90, "stale": 1}


class Trouble(Struct, frozen=True):
    """One problem."""

    words: str
    role: str
    """ "bad" or "warn"."""

    @property
    def mark(self) -> str:
        """Its glyph: colour is never alone."""
        return "✖" if self.role == "bad" else "▲"


def troubles(gpu: Gpu) -> list[Trouble]:
    """The weighty ones first."""
    return sorted((*_memory(gpu), *_xids(gpu), *_links(gpu)), key=lambda trouble: -_WEIGHTS[trouble.role])


def weight(gpu: Gpu) -> int:
    """How sick it is: 0 = not at all."""
    reported = sum(_WEIGHTS[trouble.role] for trouble in troubles(gpu))
    return _OF_STATUS.get(gpu.status, 0) + reported + is_slowed(gpu) + _is_slowed_by_fault(gpu)


def is_slowed(gpu: Gpu) -> bool:
    """It throttles because of a fault, or of a power limit below its default."""
    has_low_limit = (gpu.power_limit_w or 0.0) < LOW_LIMIT * (gpu.power_limit_default_w or 0.0)
    return _is_slowed_by_fault(gpu) or (has_low_limit and "sw_power_cap" in (gpu.throttle or ()))


def _is_slowed_by_fault(gpu: Gpu) -> bool:
    return any(THROTTLE_WORDS.get(reason, "").split(" ")[0].isupper() for reason in gpu.throttle or ())


def throttled_by(gpu: Gpu) -> list[str]:
    """The throttle reasons of its clocks, in words; the driver's bit for any slowdown by hardware is left out where another one says
    which."""
    reasons = set(gpu.throttle or ())
    implied: set[ThrottleReason] = {"hw_slowdown"} if reasons & {"hw_thermal", "hw_power_brake"} else set()
    implied |= {"sw_thermal"} if "hw_thermal" in reasons else set()
    return [THROTTLE_WORDS[each] for each in gpu.throttle or () if each in THROTTLE_WORDS and each not in implied]


def _memory(gpu: Gpu) -> Iterator[Trouble]:
    if gpu.recovery_action:
        yield Trouble(gpu.recovery_action, "bad")
    if gpu.remapped and gpu.remapped.has_failed:
        yield Trouble("row remap failed", "bad")
    if gpu.ecc and gpu.ecc.volatile_uncorrected:
        yield Trouble(f"{gpu.ecc.volatile_uncorrected} ECC error{'s' * (gpu.ecc.volatile_uncorrected > 1)}", "bad")
    if gpu.remapped and gpu.remapped.is_pending:
        yield Trouble("row remap pending", "warn")
    if gpu.retired and gpu.retired.is_pending:
        yield Trouble("page waits for reset", "warn")


def _xids(gpu: Gpu) -> Iterator[Trouble]:
    if not gpu.xids:
        return
    newest = gpu.xids[-1].code
    meaning = builtin().xids.get(newest)
    if meaning is not None and meaning.severity == "info":
        return
    more = f" +{len(gpu.xids) - 1}" if len(gpu.xids) > 1 else ""
    yield Trouble(f"Xid {newest}{more}", "bad" if meaning and meaning.severity == "critical" else "warn")


def _links(gpu: Gpu) -> Iterator[Trouble]:
    """Where none is up, the device has no bridge: that is no trouble."""
    links = gpu.nvlinks or ()
    down = [link.link for link in links if link.is_up is False]
    if down and any(link.is_up for link in links):
        yield Trouble(f"NVLink {rank_set(down)} down", "bad")
    if broken := [link.link for link in links if link.recovery_errors and link.link not in down]:
        yield Trouble(f"NVLink {rank_set(broken)} recovered", "warn")
    if gpu.fabric not in (None, "completed"):
        yield Trouble(f"fabric {gpu.fabric}", "bad" if gpu.fabric.startswith(("failed", "unhealthy")) else "warn")
    is_narrow = gpu.pcie_width is not None and gpu.pcie_width_max is not None and gpu.pcie_width < gpu.pcie_width_max
    if is_narrow:
        yield Trouble(f"PCIe ×{gpu.pcie_width} of ×{gpu.pcie_width_max}", "warn")
