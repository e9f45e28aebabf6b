"""Time spent in each function of the GPU driver's library, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hwtop.job.log.text import visible
from hwtop.model.frame import Frame
from hwtop.report.text_table import aligned

_HEAD = ("function", "calls", "mean ms", "max ms", "total ms")


def while_any(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames, up to the first that shows that there is nothing to measure here."""
    for frame in frames:
        yield frame
        if frame.number >= 2 and any(reason.startswith("no ") for reason in _reasons(frame)):
            return


def _reasons(frame: Frame) -> list[str]:
    """Why no GPU is read."""
    return [spot.reason for spot in frame.blind if spot.source == "gpu"]


def table(frame: Frame) -> str:
    """One line per function, the largest total first. Calls that have not returned are not included, but listed below."""
    derived = frame.derived
    if not derived.gpu_costs:
        return visible(f"no calls into NVML: {'; '.join(_reasons(frame)) or 'no NVIDIA GPU found'}") + "\n"
    cells = [
        (
            cost.function,
            f"{cost.calls}",
            f"{cost.mean_ms:.3f}",
            f"{cost.max_ms:.3f}",
            f"{cost.calls * cost.mean_ms:.1f}",
        )
        for cost in derived.gpu_costs
    ]
    lines = aligned((_HEAD, *cells), others=str.rjust)
    calls = sum(cost.calls for cost in derived.gpu_costs)
    total_s = sum(cost.calls * cost.mean_ms for cost in derived.gpu_costs) / 1e3
    rate = f", {calls / frame.watched_s:.0f}/s" if frame.watched_s > 0 else ""
    lines.append(f"{calls} calls in {frame.watched_s:.1f} s{rate}, {total_s:.3f} s in total, {len(derived.gpus)} GPUs")
    late = [spot for spot in frame.blind if spot.source.startswith("gpu")]
    lines += [visible(f"not included: {spot.source}: {spot.reason}") for spot in late]
    return "\n".join(lines) + "\n"
