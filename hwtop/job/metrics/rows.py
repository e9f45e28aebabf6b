"""One row of a table or one JSON object -> what it tells."""

from __future__ import annotations

from collections.abc import Mapping

from hwtop.job.metrics.names import MetricName, meaning
from hwtop.job.metrics.parsed import MetricValue

_TIMES = ("_timestamp", "timestamp", "wall_time")
_EPOCH_S = (1e9, 1e11)
"""What lies between is seconds after the epoch, 1000 times as much milliseconds."""
_WORDS = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "-infinity": float("-inf"),
    "inf": float("inf"),
    "-inf": float("-inf"),
}


def numbers(row: Mapping[object, object], folder: str = "") -> dict[str, float]:
    """The numbers of a JSON object by name, those of objects in it as "folder/name"; NaN may be spelt as text."""
    found: dict[str, float] = {}
    for key, value in row.items():
        name = f"{folder}{key}"
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found[name] = _float(value)
        elif isinstance(value, str) and value.lower() in _WORDS:
            found[name] = _WORDS[value.lower()]
        elif isinstance(value, dict) and not folder:
            found.update(numbers(value, f"{name}/"))
    return found


def reported(row: Mapping[str, float], counter: str | None = None) -> list[MetricValue]:
    """What a row of numbers tells, with its step, epoch and time; `counter`: what counts the steps where no name says so."""
    known = {tag: found for tag in row if tag[:1] != "_" and (found := meaning(tag)) is not None}
    step = _first(row, known, "step")
    if step is None:
        step = _first(row, known, "iteration")
    if step is None:
        step = row.get("_step") if counter is None else row[counter]
    epoch = _first(row, known, "epoch")
    reported_s = _time(row)
    if "data_time" in row and "time" in row:  # detectron2 and MMEngine: both are of one iteration
        known["time"] = MetricName(name="step_time_s")
    whole = int(step) if step is not None and abs(step) < 2**62 else None
    return [
        MetricValue(
            tag=tag, meaning=found, value=row[tag] * found.factor, step=whole, epoch=epoch, reported_s=reported_s
        )
        for tag, found in known.items()
        if found.name not in ("step", "iteration")
    ]


def _first(row: Mapping[str, float], known: Mapping[str, MetricName], name: str) -> float | None:
    tags = [tag for tag, found in known.items() if found.name == name and abs(row[tag]) < float("inf")]
    return row[min(tags, key=lambda tag: known[tag].preference)] if tags else None


def _time(row: Mapping[str, float]) -> float | None:
    for name in _TIMES:
        value = row.get(name)
        if value is not None:
            for seconds in (value, value / 1000):
                if _EPOCH_S[0] < seconds < _EPOCH_S[1]:
                    return seconds
    return None


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of more than 308 digits
        return float("inf")
