"""The GPUs as the screen lists them, the one under the cursor, and what can be said of it in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import field
from msgspec.structs import asdict

from hwtop.fields import units
from hwtop.fields.gpu import GPU, UTIL, DeviceRow
from hwtop.fields.gpu import rows as device_rows
from hwtop.fields.level import Levels
from hwtop.fields.levels import built_in
from hwtop.job.rank_set import named, rank_set
from hwtop.model.frame import Frame
from hwtop.model.gpu.device import Gpu
from hwtop.seconds import clock
from hwtop.ui import marks
from hwtop.ui.once import once
from hwtop.ui.panels.gpu import trouble as gpu_trouble
from hwtop.ui.panels.gpu.state import GpuState
from hwtop.ui.tables.query import Query, parse
from hwtop.ui.view import View

PAST_MOST = 400
"""Newest moments that a trend looks at: more have no room on any screen."""


class GpuRow(DeviceRow, frozen=True):
    """One device with what the panels need to know of the rest of the frame."""

    levels: Levels = field(default_factory=built_in)
    """From where on its numbers are a warning."""
    past: tuple[float | None, ...] = ()
    """Utilization at each moment, oldest first, percent."""
    is_selected: bool = False
    is_of_rank: bool = False
    """The selected rank uses it."""


@once
def kept(view: View) -> tuple[Gpu, ...]:
    """The devices in the order of the frame; on the GPU page those that its filter lets through."""
    return tuple(row.gpu for row in _kept_rows(view))


@once
def _kept_rows(view: View) -> tuple[DeviceRow, ...]:
    return tuple(filter(query(view).lets, device_rows(view.frame.derived)))


@once
def query(view: View) -> Query[DeviceRow]:
    """The filter of the GPU page."""
    return parse(view.filter_of("gpu"), GPU.named(), _text)


def _text(row: DeviceRow) -> str:
    """Where words are looked for."""
    gpu = row.gpu
    return f"GPU {gpu.index} {gpu.name} {gpu.uuid or ''} {gpu.status} {gpu.reason or ''}"


@once
def rows(view: View, samples: int = 0) -> list[GpuRow]:
    """The devices of `kept`, each with its newest `samples` of utilization."""
    past = past_utils(view.frame, samples)
    here = selected(view)
    return [
        GpuRow(
            **asdict(row),
            levels=view.levels,
            past=past[row.gpu.index],
            is_selected=here is not None and row.gpu.index == here.index,
            is_of_rank=view.rank is not None and row.gpu.index in view.rank.gpus,
        )
        for row in _kept_rows(view)
    ]


def row_of(view: View) -> GpuRow | None:
    """The selected device."""
    return next((row for row in rows(view) if row.is_selected), None)


def past_utils(frame: Frame, samples: int) -> dict[int, tuple[float | None, ...]]:
    """Index -> utilization at each of the newest moments, percent."""
    reported: dict[int, list[float | None]] = {gpu.index: [] for gpu in frame.derived.gpus}
    for derived in frame.history[-samples:] if samples else ():
        now = {gpu.index: gpu.util_pct for gpu in derived.gpus}
        for index, values in reported.items():
            values.append(now.get(index))
    return {index: tuple(values) for index, values in reported.items()}


@once
def selected(view: View) -> Gpu | None:
    """The device under the cursor: the chosen one, else that of the selected rank, else the sickest, else that of a rank
    that a finding blames, else the first. Where another rank was selected since, its device takes over."""
    gpus = kept(view)
    chosen = next((gpu for gpu in gpus if gpu.index == view.state(GpuState).index), None)
    of_rank = [gpu for gpu in gpus if view.rank is not None and gpu.index in view.rank.gpus]
    if chosen is not None and (not of_rank or chosen in of_rank):
        return chosen
    if of_rank:
        return of_rank[0]
    blamed = view.shown_rank.gpus if view.shown_rank is not None else ()
    return max(gpus, key=lambda gpu: (gpu_trouble.weight(gpu), gpu.index in blamed, -gpu.index), default=None)


def use_tone(row: GpuRow, util_pct: float | None) -> tuple[str, str]:
    """(role, mark) of a utilization on this device; where no rank trains on it, neither good nor bad."""
    return marks.tone(UTIL.level(row, row.levels), util_pct, "good" if row.is_training else "dim")


def kinds(gpus: Sequence[Gpu]) -> str:
    """ "8 × NVIDIA H100 80GB HBM3"."""
    # One that does not answer may not even have reported its name.
    names = dict.fromkeys(gpu.name for gpu in [gpu for gpu in gpus if gpu.status == "ok"] or gpus)
    return f"{len(gpus)} × {next(iter(names))}" if len(names) == 1 else f"{len(gpus)} of {len(names)} kinds"


def none_reason(view: View) -> str:
    """Why there is no device."""
    for status in view.frame.derived.sources:
        if status.name == "gpu" and status.reason:
            return f"no GPU numbers: {status.reason}"
    blind = (f"no GPU numbers: {item.reason}" for item in view.frame.blind if item.source == "gpu")
    return next(blind, "no GPU on this machine")


def sentence(view: View) -> str:
    """What there is to say of the selected device, for the clipboard."""
    row = row_of(view)
    if row is None:
        return none_reason(view)
    gpu = row.gpu
    head = f"GPU {gpu.index} ({', '.join(filter(None, (named(row.ranks) if row.ranks else '', gpu.name, gpu.uuid)))})"
    if gpu.status != "ok":
        return f"{head}: {gpu.status}: {gpu.reason or 'no reason given'}"
    parts = [f"{units.pct(gpu.util_pct)} busy"] if gpu.util_pct is not None else []
    if gpu.mem_used_bytes is not None:
        total = f" of {units.size(gpu.mem_total_bytes)}" if gpu.mem_total_bytes is not None else ""
        parts.append(f"{units.size(gpu.mem_used_bytes)}{total} memory")
    if gpu.power_w is not None:
        parts.append(f"{gpu.power_w:.0f} W" + (f" of {gpu.power_limit_w:.0f} W" if gpu.power_limit_w else ""))
    if gpu.temp_c is not None:
        parts.append(f"{gpu.temp_c:.0f} °C")
    if reasons := gpu_trouble.throttled_by(gpu):
        parts.append(f"throttle: {', '.join(reasons)} ({throttled_words(view, gpu.index)})")
    return f"{head}: {', '.join([*parts, *(trouble.words for trouble in gpu_trouble.troubles(gpu))])}"


def device_at(gpus: Sequence[Gpu], index: int) -> Gpu | None:
    """The device with this index; None at a moment when there was none."""
    return next((gpu for gpu in gpus if gpu.index == index), None)


@once
def throttled_words(view: View, index: int) -> str:
    """ "throttled 61 % of the last 54 s, now since 08:03:26": how much of the time, and since when; "" where it never was."""
    past = [(derived, device_at(derived.gpus, index)) for derived in view.frame.history]
    held = [
        (derived, bool(gpu_trouble.throttled_by(gpu)))
        for derived, gpu in past
        if gpu is not None and gpu.throttle is not None
    ]
    share = sum(is_held for _, is_held in held) / len(held) if held else 0.0
    if share == 0.0:
        return ""
    free_at = next((place for place in reversed(range(len(held))) if not held[place][1]), -1)
    seen_s = round(held[-1][0].at_s - held[0][0].at_s)
    words = f"throttled {100 * share:.0f} % of the last {units.duration(seen_s)}" if seen_s else "throttled"
    if free_at + 1 == len(held):
        return words
    since = clock(held[free_at + 1][0].time_s)
    return words + (f", now since {since}" if free_at >= 0 else f", since before {since}")


def stale_words(gpus: Sequence[Gpu]) -> str:
    """A driver that hangs or is slow: the numbers are those it gave last. Empty where all answer."""
    late = tuple(gpu.index for gpu in gpus if gpu.status == "stale")
    if not late:
        return ""
    return f"{'driver' if len(late) == len(gpus) else f'GPU {rank_set(late)}'} does not answer in time"
