"""The GPUs as the screen lists them, the one under the cursor, and what can be said of it in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hwtop.job.rank_set import named, rank_set
from hwtop.model.frame import Frame
from hwtop.model.gpu import Gpu, GpuRates
from hwtop.ui import fields, gpu_trouble, units
from hwtop.ui.query import Query, parse
from hwtop.ui.view import View

PAST_MOST = 400
"""Newest moments that a trend looks at: more have no room on any screen."""


@dataclass(frozen=True)
class GpuRow:
    """One device with what the panels need to know of the rest of the frame."""

    gpu: Gpu
    ranks: tuple[int, ...] = ()
    rates: GpuRates | None = None
    past: tuple[float | None, ...] = ()
    """Utilization at each moment, oldest first, percent."""
    is_selected: bool = False
    is_of_rank: bool = False
    """The selected rank uses it; told where the list has no cursor of its own."""

    @property
    def is_training(self) -> bool:
        """A rank of the watched job uses it."""
        return bool(self.ranks)

    @property
    def nvlink_bytes_per_s(self) -> tuple[float | None, float | None]:
        """Sent and received over all links: what the chip measures itself, else the rate of its counters."""
        return _first_told(
            (self.gpu.activity, "nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s"),
            (self.rates, "nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s"),
        )

    @property
    def pcie_bytes_per_s(self) -> tuple[float | None, float | None]:
        """To the host and from it."""
        return _first_told(
            (self.gpu, "pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s"),
            (self.gpu.activity, "pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s"),
        )


def _first_told(*sources: tuple[object, str, str]) -> tuple[float | None, float | None]:
    for source, sent, received in sources:
        pair = getattr(source, sent, None), getattr(source, received, None)
        if pair != (None, None):
            return pair
    return None, None


def kept(view: View) -> tuple[Gpu, ...]:
    """The devices in the order of the frame; on their own page those that its filter lets through."""
    gpus = view.frame.moment.gpus
    if view.page != "gpu" or not view.filter:
        return gpus
    found = query(view)
    return tuple(gpu for gpu in gpus if found.lets(gpu))


def query(view: View) -> Query[Gpu]:
    """The filter of the GPU page."""
    return parse(view.filters.get("gpu", ""), fields.gpus(view.job), fields.gpu_text)


def rows(view: View, samples: int = 0) -> list[GpuRow]:
    """The devices of `kept`, each with its newest `samples` of utilization."""
    moment = view.frame.moment
    rates = {rate.index: rate for rate in moment.gpu_rates}
    past = past_utils(view.frame, samples)
    ranks = _ranks(view)
    here = selected(view)
    return [
        GpuRow(
            gpu=gpu,
            ranks=ranks.get(gpu.index, ()),
            rates=rates.get(gpu.index),
            past=past[gpu.index],
            is_selected=here is not None and gpu.index == here.index,
            is_of_rank=view.page != "gpu" and view.rank is not None and gpu.index in view.rank.gpus,
        )
        for gpu in kept(view)
    ]


def row_of(view: View) -> GpuRow | None:
    """The selected device."""
    return next((row for row in rows(view) if row.is_selected), None)


def past_utils(frame: Frame, samples: int) -> dict[int, tuple[float | None, ...]]:
    """Index -> utilization at each of the newest moments, percent."""
    told: dict[int, list[float | None]] = {gpu.index: [] for gpu in frame.moment.gpus}
    for moment in frame.history[-samples:] if samples else ():
        now = {gpu.index: gpu.util_pct for gpu in moment.gpus}
        for index, values in told.items():
            values.append(now.get(index))
    return {index: tuple(values) for index, values in told.items()}


def _ranks(view: View) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}
    for rank in view.job.ranks if view.job else ():
        for index in rank.gpus:
            found[index] = (*found.get(index, ()), rank.rank)
    return found


def selected(view: View) -> Gpu | None:
    """The device under the cursor: the chosen one, else that of the selected rank, else the sickest, else that of a rank
    that a finding blames, else the first. Where another rank was selected since, its device takes over."""
    gpus = kept(view)
    chosen = next((gpu for gpu in gpus if gpu.index == view.gpu), None)
    of_rank = [gpu for gpu in gpus if view.rank is not None and gpu.index in view.rank.gpus]
    if chosen is not None and (not of_rank or chosen in of_rank):
        return chosen
    if of_rank:
        return of_rank[0]
    blamed = view.shown_rank.gpus if view.shown_rank is not None else ()
    return max(gpus, key=lambda gpu: (gpu_trouble.weight(gpu), gpu.index in blamed, -gpu.index), default=None)


def moved(view: View, step: int) -> View:
    """The device `step` further is under the cursor; with it its rank is selected on every page."""
    gpus, here = kept(view), selected(view)
    return view if here is None else chosen(view, gpus.index(here) + step)


def chosen(view: View, place: int) -> View:
    """The device at this place of the list is under the cursor."""
    gpus = kept(view)
    if not gpus:
        return view
    gpu = gpus[max(0, min(len(gpus) - 1, place))]
    ranks = _ranks(view).get(gpu.index, ())
    return replace(view, gpu=gpu.index, selected=ranks[0] if ranks else None, scroll=0)


def memory_share(gpu: Gpu) -> float | None:
    """Of its memory that is in use."""
    return gpu.mem_used_bytes / gpu.mem_total_bytes if gpu.mem_used_bytes is not None and gpu.mem_total_bytes else None


def kinds(gpus: Sequence[Gpu]) -> str:
    """ "8 × NVIDIA H100 80GB HBM3"."""
    # One that does not answer may not even have told its name.
    names = dict.fromkeys(gpu.name for gpu in [gpu for gpu in gpus if gpu.status == "ok"] or gpus)
    return f"{len(gpus)} × {next(iter(names))}" if len(names) == 1 else f"{len(gpus)} of {len(names)} kinds"


def none_reason(view: View) -> str:
    """Why there is no device."""
    for status in view.frame.moment.sources:
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
        parts.append(f"{units.size(gpu.mem_used_bytes)} of {units.size(gpu.mem_total_bytes)} memory")
    if gpu.power_w is not None:
        parts.append(f"{gpu.power_w:.0f} W" + (f" of {gpu.power_limit_w:.0f} W" if gpu.power_limit_w else ""))
    if gpu.temp_c is not None:
        parts.append(f"{gpu.temp_c:.0f} °C")
    if held := gpu_trouble.held_back(gpu):
        parts.append(f"held back by {', '.join(held)}")
    return f"{head}: {', '.join([*parts, *(trouble.words for trouble in gpu_trouble.troubles(gpu))])}"


def stale_words(gpus: Sequence[Gpu]) -> str:
    """A driver that hangs or is slow: the numbers are those it gave last. Empty where all answer."""
    late = tuple(gpu.index for gpu in gpus if gpu.status == "stale")
    if not late:
        return ""
    return f"{'driver' if len(late) == len(gpus) else f'GPU {rank_set(late)}'} does not answer in time"
