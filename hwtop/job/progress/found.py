"""Progress found: what the fields of one line tell, and how much of it is sure enough to be said."""

from __future__ import annotations

import math
from itertools import product

from msgspec.structs import replace

from hwtop.job.progress.field_names import (
    BARE_SCALES,
    MEANS,
    ROUNDS,
    WEAK,
    is_foreign,
    is_loss_by_name,
    is_part_loss,
    is_some_loss,
    name_of,
    plain_key,
)
from hwtop.job.progress.field_units import Field, best_rate, rate, seconds, size_bytes, whole
from hwtop.job.progress.fields import fields
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

_WINDOW = lazy_regex(r"\bTime\((?P<steps>\d+) iters?\): (?P<seconds>\d+(?:\.\d*)?)s")
"""HugeCTR: the time of many steps."""
_MFU_BEHIND = lazy_regex(r"(\d+(?:\.\d+)?)%\s+(?:\w+\s+)?MFU\b")
"""llm.c: "45.6% bf16 MFU"."""
_ROUNDED = 1e-3
"""Relative: four digits, which one number in 300 has by chance. Engineering default."""
_TRUNK = {"train", "epoch train"}
_WHOLE = 1 / 32
"""So near must a product be to a whole number, by the digits of its factors: one in 16 is by chance. Engineering
default."""
_LONGEST_STEP_S = 86_400.0
"""A longer time is not that of a step. Engineering default."""
_MOST_EPOCHS = 1e8
"""A greater number is not an epoch. Engineering default."""
_MOST_TFLOPS = 1e6
"""A greater number is not a rate of computing. Engineering default."""
_ONE_STEP = {"step", "it", "iter", "iteration", "batch"}
_TIMES = {"ms", "s", "sec", "seconds"}
_DURATIONS = {"step_time", "data_time"}
_COUNTED = {"step", "iteration"}
_COUNTERS = {*_COUNTED, "epoch"}
_EXPLICIT = lazy_regex(
    r"^(?:iter|step|iteration) time|per (?:step|iter|batch)|(?:s|sec)/(?:step|it|batch)|/(?:step|iter|it|batch)$"
)
"""Keys of a duration that can be of nothing but a step."""
_PURE = {"loss", "lr", "grad_norm", "step", "iteration", "epoch", "loss_scale", "reward", "skipped", "total"}
"""Plain numbers: what carries a unit of time or work under such a name is something else (Paddle's "cost: 0.3 s")."""


class Found:
    """What the pass over one line collected."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.totals: dict[str, int] = {}
        self.rates: list[tuple[float, str]] = []
        self.paces: list[Field] = []
        self.throughputs: set[str] = set()
        """Units of those that the line itself calls its throughput."""
        self.means: list[str] = []
        self.zeros: list[str] = []
        """Of the learning rate and the loss those that are 0, and no small ones that were rounded."""
        self._weak: dict[str, str] = {}
        """Quantity -> the key it was told by, where another one counts more."""
        self.some_losses: list[float | None] = []
        """Those that are not known by name; None for one that is no more than a part."""
        self.objectives: list[float] = []
        """Those told by the name of an objective, such as mse: beside a loss they are no more than metrics."""
        self.times: list[Field] = []
        """Durations by unit whose keys say nothing."""
        self.is_per_step = False
        """The duration was told as one of a step: seconds a step, milliseconds an iteration."""
        self.numbers = 0
        self.percentages: list[Field] = []
        self.shares: list[Field] = []
        """Counts with a total that no key names."""

    def take(self, name: str, value: float, total: int | None = None, key: str = "") -> None:
        """The first value of a quantity counts: means over the window follow in parentheses. One of a weak key gives way."""
        weak = self._weak.pop(name, None)
        if name in self.values and (weak is None or key in WEAK):
            if weak is not None:
                self._weak[name] = weak
            return
        if weak in MEANS:
            self.means.remove(MEANS[weak])
        if key in WEAK:
            self._weak[name] = key
        if key in MEANS:
            self.means.append(MEANS[key])
        self.values[name] = value
        if total is not None:
            self.totals[name] = total

    def take_field(self, name: str, value: float, field: Field, key: str) -> None:
        """The same of a field, which also tells whether a 0 is one to the last digit."""
        self.take(name, value, field.total, key)
        if name in ("lr", "loss") and value == 0 and field.is_exact:
            self.zeros.append(name)

    def rate(self, speed: tuple[float, str], key: str) -> None:
        """Take a rate of work."""
        self.rates.append(speed)
        if key.startswith("throughput "):
            self.throughputs.add(speed[1])

    def name_sole_loss(self) -> None:
        """On a line that tells a step or an epoch the one loss is that of the training, whatever it is called."""
        losses = self.some_losses
        if not losses and self.values.keys() & _COUNTED:  # an epoch with an mse may as well be one of validation
            losses = [*self.objectives]
        if len(losses) == 1 and losses[0] is not None:
            self.values.setdefault("loss", losses[0])

    def take_counter_of_percentage(self) -> None:
        """Beside a loss a count whose share of its total is told as well is the counter: `12.0% (120/1000) loss 0.5`."""
        for count, share in product(self.shares, self.percentages):
            if count.total and abs(100.0 * count.value / count.total - share.value) <= 10.0 ** -(share.decimals or 0):
                self.take("iteration", count.value, count.total)
                return

    def take_time_of_a_batch(self) -> None:
        """A duration and a rate that multiply to a whole batch are of one step: `training time: 231.0 ms, 4432.9 images/s`."""
        if "step_time" in self.values:
            return
        for time, pace in product(self.times, self.paces):
            batch = (seconds(time) or 0.0) * pace.value
            error = batch * (time.precision + pace.precision)
            if batch > 1 + error and abs(batch - round(batch)) <= error <= _WHOLE:
                self.values["step_time"], self.is_per_step = seconds(time) or 0.0, True
                return

    def progress(self) -> Progress | None:
        """What is sure of it; None when that is nothing."""
        values = self.values
        name = "step" if "step" in values else "iteration"
        step = values.get(name)
        throughput, unit = best_rate(self.rates, self.throughputs) if self.rates else (None, None)
        step_time_s = values.get("step_time")
        if step is None and not self.is_per_step:
            step_time_s = None  # the time of a line without a step is that of an epoch or of the whole run
        if step_time_s is not None and not 0 < step_time_s < _LONGEST_STEP_S:
            step_time_s = None
        progress = Progress(
            step=whole(step),
            total_steps=self._total(name),
            epoch=values.get("epoch"),
            total_epochs=self.totals.get("epoch"),
            loss=values.get("loss"),
            lr=values.get("lr"),
            grad_norm=values.get("grad_norm"),
            throughput=throughput,
            throughput_unit=unit,
            step_time_s=step_time_s,
            mfu_pct=values.get("mfu"),
            tflops_per_gpu=values.get("tflops"),
            memory_bytes=whole(values.get("memory")),
            loss_scale=values.get("loss_scale"),
            reward=values.get("reward"),
            skipped_steps=whole(values.get("skipped")),
            data_time_s=values.get("data_time") if step_time_s is not None else None,
            zeros=tuple(self.zeros) or None,
        )
        if progress == Progress():
            return None
        return progress if not self.means else _with_means(progress, self.means)

    def _total(self, name: str) -> int | None:
        """The length of the counter's round. One told with another counter holds where both stand at the same number."""
        if (reported := self.totals.get(name)) is not None:
            return reported or None
        for other in ("iteration", "step"):
            if other in self.totals and self.values.get(other) == self.values.get(name):
                return self.totals[other]
        return whole(self.values.get("total")) if name in self.values else None


def found_in(text: str) -> Found:
    """All that the fields of `text` tell."""
    found = Found()
    if window := _WINDOW.search(text):
        found.take("step_time", float(window.group("seconds")) / max(1.0, float(window.group("steps"))))
        text = text[: window.start()] + text[window.end() :]
    previous = ""
    for field in fields(text):
        found.numbers += 1
        if field.is_percent:
            found.percentages.append(field)
            if not field.key:
                continue
        previous = "" if is_foreign(field.key) else _take(found, field, previous)
    found.take_time_of_a_batch()
    if "mfu" not in found.values and "MFU" in text and (behind := _MFU_BEHIND.search(text)):
        found.take("mfu", float(behind.group(1)))
    if "loss" in found.values and not found.values.keys() & _COUNTERS:
        found.take_counter_of_percentage()
    if found.values.keys() & _COUNTERS:
        found.name_sole_loss()
    return found


def _take(found: Found, field: Field, previous: str) -> str:
    """Take one field; returns the name it goes by for the one after it."""
    name, is_per_step = _name(found, field, previous)
    if name is None:
        if (speed := rate(field)) is not None:
            found.rate(speed, field.key)
            found.paces.append(field)
        elif field.unit in _TIMES:
            found.times.append(field)
        elif field.total is not None and not (field.unit or field.per):
            found.shares.append(field)
        elif is_some_loss(field.key) and not (field.unit or field.per or field.is_percent):
            found.some_losses.append(None if is_part_loss(field.key) else field.value)
        elif is_loss_by_name(field.key) and not (field.unit or field.per or field.is_percent):
            found.objectives.append(field.value)
        if field.key not in _TRUNK or not field.value.is_integer():
            return ""
        found.take("epoch", field.value, field.total)  # Train: 0 [  32/33 (100%)]
        return "epoch"
    if speed := rate(field) if name == "tflops" else None:
        found.rate(speed, field.key)
    value = value_of(name, field)
    if value is None:
        return ""
    if name == "step_time" and name not in found.values:
        found.is_per_step = is_per_step
    found.take_field(name, value, field, plain_key(field.key))
    return name


def _name(found: Found, field: Field, previous: str) -> tuple[str | None, bool]:
    """The name of a field's quantity, and whether its duration can be of nothing but a step."""
    name = name_of(field.key)
    if name is None and field.unit and field.per.lstrip("/ ") in _ONE_STEP:
        return "step_time", True
    if name is None and not field.key:
        return _nameless(field, previous), False
    if name in _COUNTED and field.unit in _TIMES and field.total is None and not field.per:
        return "step_time", True  # step 125.5 ms
    if field.key == "batch" and "data_time" in found.values and not field.value.is_integer():
        return "step_time", True  # Data 0.001 (0.550) Batch 0.818 (3.887)
    if name == "step_time" and field.key == "time" and field.total is not None:
        return None, False
    return name, name == "step_time" and _EXPLICIT.search(field.key) is not None


def _nameless(field: Field, previous: str) -> str | None:
    """A number without a key: the counter behind an epoch, or a duration told by its unit."""
    if previous == "epoch" and field.total is not None and not field.per:
        return "iteration"  # Epoch: [0]  [  40/9143]
    return "step_time" if field.unit == "ms" and not field.is_aside and not field.per else None


def value_of(name: str, field: Field) -> float | None:
    """In the unit of Progress; None when the field cannot be what its name says."""
    if name in _DURATIONS:
        return None if field.is_percent else seconds(field)
    if field.key == "steps" and field.total is None:
        return None  # how many there are, or how many were done
    if field.key in ROUNDS and not field.value.is_integer():
        return None
    if name == "epoch" and field.value > _MOST_EPOCHS:
        return None  # seconds since 1970
    if field.key in BARE_SCALES and not _is_power_of_two(field.value):
        return None
    if name in _PURE:
        return None if field.unit or field.per or field.is_percent else field.value
    if name == "memory":
        size = size_bytes(field)
        return None if size is None else float(size)
    if name == "mfu":
        return _mfu_pct(field)
    if name == "tflops" and field.value > _MOST_TFLOPS:
        return field.value / 1e12  # MindFormers: 170.5T
    return field.value if field.value >= 0 else None


def _is_power_of_two(value: float) -> bool:
    """As a loss scale is, which scalers halve and double; one that is small is written in some digits."""
    mantissa, _ = math.frexp(value)  # from one half to one
    return any(math.isclose(mantissa, power, rel_tol=_ROUNDED) for power in (0.5, 1.0))


def _mfu_pct(field: Field) -> float | None:
    """In percent. A bare number up to 1 may be either a share or a percentage: left out, except under verl's names."""
    if field.is_percent:
        return field.value if 0 <= field.value <= 100 else None
    if field.key.startswith("perf/") and 0 <= field.value <= 1:
        return 100.0 * field.value
    return field.value if 1 < field.value <= 100 else None


def _with_means(progress: Progress, means: list[str]) -> Progress:
    reported = tuple(name for name in means if getattr(progress, name) is not None)
    return replace(progress, means=reported) if reported else progress
