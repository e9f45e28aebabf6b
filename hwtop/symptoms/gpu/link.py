"""pcie-degraded, nvlink-errors: the ways between a GPU, its host and its peers."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.job.rank_set import rank_set
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu
from hwtop.model.gpu.link import NvLink
from hwtop.model.reported.log import Severity
from hwtop.seconds import span
from hwtop.symptoms.gpu.words import (
    Fault,
    fault_lines,
    gpu_facts,
    named_gpus,
    not_ours,
    own_severity,
    peers_of,
    ranks_on,
    samples,
)
from hwtop.symptoms.history import History
from hwtop.symptoms.rule import Limits, Observation, limits_of, observed
from hwtop.symptoms.severity import worst

WINDOW_S = 60.0
"""Time in which a link is read under load, and in which the fabric manager may complete. Engineering default."""
REPLAYS_S = 120.0
"""Time over which the rate of PCIe replays is taken; each half must show some. Engineering default."""
NVLINK_XIDS = frozenset({74, 136, *range(144, 151), 155})
_LANES_GB_PER_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.97, 5: 3.94, 6: 7.56}
"""GB/s of one lane in one direction, by generation. Source: PCI-SIG."""


PCIE = limits_of("pcie-degraded")


NVLINK = limits_of("nvlink-errors")


def check_pcie(history: History, limits: Limits = PCIE) -> Observation | None:
    """A PCIe link is narrower or slower than it could be while the GPU works, or sends packets again and again."""
    found = [_slow_link(rows, history, limits) for rows in samples(history, WINDOW_S).values()]
    faults = [*(fault for fault in found if fault is not None), *_replays(history, limits)]
    if not faults:
        return None
    is_warning = worst(fault.severity for fault in faults) == "warning"
    return _observation("pcie-degraded", history, faults, 0.9 if is_warning else 0.6)


def check_nvlink(history: History, limits: Limits = NVLINK) -> Observation | None:
    """A link is down that its peers have, errors are counted, or the driver reports an NVLink fault."""
    faults: list[Fault] = []
    for gpu in history.now.gpus:
        if gpu.status == "ok":
            found = (_fabric(gpu, history), _down(gpu, history), *_rising(gpu, history, limits), _before(gpu, limits))
            faults += [fault for fault in found if fault is not None]
        codes = [f"Xid {code}" for code in sorted({event.code for event in gpu.xids} & NVLINK_XIDS)]
        faults += [Fault(gpu.index, "critical", f"the driver reported {', '.join(codes)}")] if codes else []
    return _observation("nvlink-errors", history, faults, 0.9) if faults else None


def _observation(symptom: str, history: History, faults: Sequence[Fault], confidence: float) -> Observation:
    level = worst(fault.severity for fault in faults)
    graver = [fault for fault in faults if fault.severity == level]
    first, reported = graver[0], {fault.gpu for fault in graver}
    gpu = next(gpu for gpu in history.now.gpus if gpu.index == first.gpu)
    others = reported - {first.gpu}
    return observed(
        symptom,
        severity=own_severity(history, reported, level),
        facts={
            "index": first.gpu,
            "fault": first.words,
            "others": named_gpus(others) if others else None,
            **gpu_facts(gpu),
        },
        confidence=confidence,
        evidence=(
            *fault_lines(faults),
            *not_ours(history, [fault.gpu for fault in faults]),
        ),
        ranks=ranks_on(history, reported),
    )


def _slow_link(rows: Sequence[Gpu], history: History, limits: Limits) -> Fault | None:
    """Judged under load only. Where all GPUs of the kind are alike the board or the host gives no more: that is told, not warned of.

    A GPU without memory of its own (GB10, Jetson) shares the host's: its PCIe link is there in name only.
    """
    loaded = [
        gpu for gpu in rows if gpu.util_pct is not None and gpu.util_pct > limits.loaded_pct and gpu.mem_total_bytes
    ]
    if len(loaded) < limits.looks or not all(_is_slow(gpu) for gpu in loaded):
        return None
    gpu = loaded[-1]
    peers = [each for each in peers_of(gpu, history) if (each.util_pct or 0.0) > limits.loaded_pct]
    is_alike = bool(peers) and all(_is_slow(each) for each in peers)
    is_narrow = _is_narrow(gpu)
    severity: Severity = "info" if is_alike or (not peers and not is_narrow) else "warning"
    faster = [each.index for each in peers if not _is_slow(each)]
    beside = f"; {named_gpus(faster)} {'has' if len(faster) == 1 else 'have'} the full link" if faster else ""
    beside = "; so do its peers: the board or the host may give no more" if is_alike else beside
    return Fault(gpu.index, severity, f"PCIe {_link(gpu)} while it works{beside}")


def _link(gpu: Gpu) -> str:
    gen, width, gen_max, width_max = gpu.pcie_gen, gpu.pcie_width, gpu.pcie_gen_max, gpu.pcie_width_max
    words = f"{gen or '?'}.0 x{width or '?'} instead of {gen_max or '?'}.0 x{width_max or '?'}"
    now, most = _gb_per_s(gen, width), _gb_per_s(gen_max, width_max)
    return f"{words} ({now:.0f} of {most:.0f} GB/s)" if now and most else words


def _gb_per_s(gen: int | None, width: int | None) -> float | None:
    runner = _LANES_GB_PER_S.get(gen or 0)
    return runner * width if runner and width else None


def _is_narrow(gpu: Gpu) -> bool:
    return gpu.pcie_width is not None and gpu.pcie_width_max is not None and 0 < gpu.pcie_width < gpu.pcie_width_max


def _is_slow(gpu: Gpu) -> bool:
    is_slow = gpu.pcie_gen is not None and gpu.pcie_gen_max is not None and 0 < gpu.pcie_gen < gpu.pcie_gen_max
    return is_slow or _is_narrow(gpu)


def _replays(history: History, limits: Limits) -> list[Fault]:
    """Counted over two minutes, in both of them: single replays are what the link layer is made for."""
    if not history.covers(REPLAYS_S):
        return []
    window = history.over(REPLAYS_S)
    middle = next(derived for derived in window if derived.at_s >= history.now.at_s - REPLAYS_S / 2)
    found = []
    for gpu in history.now.gpus:
        first, then, now = (_replays_at(derived, gpu.index) for derived in (window[0], middle, history.now))
        if first is None or then is None or now is None or not first < then < now:
            continue
        per_min = (now - first) / (REPLAYS_S / 60)
        severity: Severity = "warning" if per_min > limits.replays_per_min else "info"
        found.append(Fault(gpu.index, severity, f"{per_min:.0f} PCIe replays/min ({now:,} in total)"))
    return found


def _replays_at(derived: DerivedState, index: int) -> int | None:
    gpu = next((each for each in derived.gpus if each.index == index), None)
    return gpu.counters.pcie_replays if gpu is not None and gpu.counters is not None else None


def _fabric(gpu: Gpu, history: History) -> Fault | None:
    """What NVSwitches make of the GPUs failed, or has not come up for a whole window: without it no GPU reaches another."""
    if gpu.fabric is None or gpu.fabric == "completed":
        return None
    if not gpu.fabric.startswith(("failed", "unhealthy")):
        seen = [each.fabric for derived in history.over(WINDOW_S) for each in derived.gpus if each.index == gpu.index]
        if not history.covers(WINDOW_S) or "completed" in seen:
            return None
    return Fault(gpu.index, "warning", f"NVLink fabric {gpu.fabric}: does the fabric manager run?")


def _down(gpu: Gpu, history: History) -> Fault | None:
    """Links that others of its kind have, or that it had itself; boards may have links that lead nowhere."""
    down = {link.link for link in gpu.nvlinks or () if link.is_up is False}
    if not down:
        return None
    had = down & _up_at_first(gpu, history)
    up, others = len(_up(gpu)), max((len(_up(each)) for each in peers_of(gpu, history)), default=0)
    if not had and up >= others:
        return None
    name = _link_name(gpu)
    name += "" if len(down) == 1 else "s"
    which = f"{name} {rank_set(down)}" if len(down) < 4 else f"{len(down)} {name}"
    what = "went down" if had else "is down" if len(down) == 1 else "are down"
    beside = f": {up} links up, its peers have {others}" if others > up else f": {up} links up"
    return Fault(gpu.index, "critical" if had or up == 0 else "warning", f"{which} {what}{beside}")


def _link_name(gpu: Gpu) -> str:
    return {"nvidia": "NVLink", "amd": "xGMI link"}.get(gpu.vendor, "link")


def _up(gpu: Gpu) -> set[int]:
    return {link.link for link in gpu.nvlinks or () if link.is_up is True}


def _up_at_first(gpu: Gpu, history: History) -> set[int]:
    first = _first(gpu, history)
    return _up(first[1]) if first is not None else set()


def _first(gpu: Gpu, history: History) -> tuple[float, Gpu] | None:
    """The oldest reading that tells its links, and when it was."""
    seen = (
        (derived.at_s, each) for derived in history.derived_states for each in derived.gpus if each.index == gpu.index
    )
    return next(((at_s, each) for at_s, each in seen if each.nvlinks), None)


def _rising(gpu: Gpu, history: History, limits: Limits) -> list[Fault]:
    """What was counted while hwtop watched, over all links of a GPU. Names the link with most of it."""
    first = _first(gpu, history) if gpu.nvlinks else None
    if first is None or first[0] >= history.now.at_s or first[1].nvlinks == gpu.nvlinks:
        return []
    seconds = history.now.at_s - first[0]
    before = {link.link: link for link in first[1].nvlinks or ()}
    found = []
    for kind in ("recovery_errors", "replay_errors", "crc_errors", "ecc_errors", "packet_errors"):
        rises = {link.link: _rise(before.get(link.link), link, kind) for link in gpu.nvlinks or ()}
        total = sum(rises.values())
        if total == 0:
            continue
        is_fatal = kind in ("recovery_errors", "replay_errors") or (
            kind == "crc_errors" and max(rises.values()) / seconds >= limits.crc_per_s
        )
        name = kind.removesuffix("_errors")
        name = f"{_link_name(gpu)} {name if name in ('recovery', 'replay', 'packet') else name.upper()}"
        most = max(rises, key=rises.__getitem__)
        words = f"{total:,} {name} error{'s' if total > 1 else ''} in {span(seconds)}, most on link {most}"
        found.append(Fault(gpu.index, "critical" if is_fatal else "info", words))
    return found


def _rise(before: NvLink | None, now: NvLink, kind: str) -> int:
    first, last = (getattr(before, kind) if before is not None else None), getattr(now, kind)
    return max(0, last - first) if first is not None and last is not None else 0


def _before(gpu: Gpu, limits: Limits) -> Fault | None:
    """What was there already: since the driver was loaded, so nobody knows when."""
    links = gpu.nvlinks or ()
    crc = sum(link.crc_errors or 0 for link in links)
    hard = sum((link.replay_errors or 0) + (link.recovery_errors or 0) for link in links)
    if crc < limits.crc_before and not hard:
        return None
    words = f"{crc:,} {_link_name(gpu)} CRC and {hard:,} replay or recovery errors since the driver was loaded"
    return Fault(gpu.index, "info", words)
