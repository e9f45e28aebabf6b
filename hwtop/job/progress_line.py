"""Progress line: log line -> Progress, or None for every line that is not about training steps."""

from __future__ import annotations

import re

from hwtop.job.log_fields import ALIASES, Field, best_rate, fields, is_foreign, rate, seconds
from hwtop.job.log_text import clean, split_prefix
from hwtop.model.log import Progress

_WIDEST_BAR = 1024
_LONGEST = 4096
"""A progress line is not longer; of what is, the start is looked at."""
_GATE = re.compile(
    r"loss|step|iter|fps|learning_rate|epoch|batch|update|\d\s?it/s|s/it|grad|samples|^\s*\d+/\d+\s|%\|| 0%|% ━",
    re.IGNORECASE,
)
_BAR = re.compile(
    r"(?<![\w/.])(?P<n>\d[\d.]*[kMG]?)/(?P<total>\d[\d.]*[kMG]?)\s*"
    r"(?:\[(?P<elapsed>[\d:]+)<(?P<eta>[^,\]]+)(?:,\s*(?P<rate>[\d.]+|\?)\s?(?P<unit>[A-Za-z ]+/s|s/[A-Za-z ]+))?"
    r"(?P<post>[^\]]*)\]?|(?P<rate2>[\d.]+)\s?(?P<unit2>it/s|s/it)\s+[\d:.s<]+)"
)
"""tqdm (docs: `{desc}: {percentage}|{bar}| {n}/{total} [{elapsed}<{remaining}, {rate}{postfix}]`); Ultralytics' own has no [."""
_DRAWN = re.compile(r"\d{1,3}%\s?(?:\|[^|]*\|)?[\s━╸╺─]*$")
"""Percentage and drawing that stand before the counts."""
_BAR_OF_TRAINING = re.compile(r"epoch|train|step|iter|batch|loss|fit|updat|\d:?\s*$|^\W*$", re.IGNORECASE)
_BAR_OF_OTHER = re.compile(
    r"valid|\bval\b|eval|test|predict|sanity|load|download|map|filter|token|sampl|shard|fetch|extract", re.IGNORECASE
)
_KERAS = re.compile(r"\s*(?P<n>\d+)/(?P<total>\d+)\s+(?:\[[=>. ]*\]|[━╸╺─]+|-)\s*(?P<post>.*)")
"""Keras 2 and 3 progbar; verbose=2 draws no bar."""
_YOLO = re.compile(r"\s*(?P<epoch>\d+)/\d+\s+[\d.]+[GMK]i?B?\s+(?P<loss>[\d.]+|nan)\s")
"""Ultralytics: epoch, GPU memory, then the losses, box loss first."""
_TORCHTUNE = re.compile(r"\s*(?P<epoch>\d+)\|\d+\|Loss: (?P<loss>[\d.]+|nan)")
"""torchtune recipes: epoch|step|Loss."""
_WINDOW = re.compile(r"\bTime\((?P<steps>\d+) iters?\): (?P<seconds>[\d.]+)s")
"""HugeCTR: the time of many steps."""
_TABLE = re.compile(r"\|\s*(?P<key>[A-Za-z][\w/ ]*?)\s*\|\s*(?P<value>[-+\d.eE]+)\s*\|\s*$")
"""stable-baselines3 logger: one pair a row."""
_CONFIG = re.compile(
    r"^\W*\w*(?:Config|Arguments|Namespace|Params|Options|args|hparams|config)\b\s*[(:={\[]", re.IGNORECASE
)
_CONFIG_KEYS = re.compile(
    r"batch.?size|num.?workers|weight.?decay|\bseed\b|optimizer|hidden|dropout|warmup|num.?layers|max.?steps|num.?epochs|"
    r"save.?steps|logging.?steps|\bepochs\b",
    re.IGNORECASE,
)
_FOREIGN_LINE = re.compile(r"^[\W\d_]*(?:valid(?:ation)?|val|eval(?:uat\w+)?|test(?:ing)?|sanity)\b", re.IGNORECASE)
_SUMMARY = re.compile(r"train_runtime|train_steps_per_second|total training time", re.IGNORECASE)
"""Means over the whole run, printed at its end: not the newest values."""
_RATE_ALONE = re.compile(r"[\w:]*global_step/sec: [\d.]+\s*")
"""TensorFlow's StepCounterHook."""
_STEP_FIRST = re.compile(r"\s*(?:global_)?step\s?[:=]\s?\d+\b")
"""With many more pairs behind it this is a line of metrics, whatever they are called (verl)."""
_FILLER = re.compile(
    r"\b(?:done|completed|finished|total|of|train(?:ing)?|ms|s|sec|seconds|step|node|rank|avg|eta)\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z]{2,}")


def parse(text: str) -> Progress | None:
    """What the line says of the training's progress.

    Accepts raw lines: escape sequences, carriage returns and prefixes of launchers and loggers are taken off. A loss of
    a validation line is not a training loss, and running text or a dump of settings is not progress: both give None.
    """
    _, text = split_prefix(clean(text)[:_LONGEST])
    if _GATE.search(text) is None or _FOREIGN_LINE.match(text) or _SUMMARY.search(text):
        return None
    if (bar := _bar(text)) is not None:
        return None if bar == _OTHER_BAR else bar
    if found := _KERAS.match(text):
        return _with_counts(found, _pairs(found.group("post")))
    if found := _TABLE.match(text):
        return _progress(_pairs(f"{found.group('key')}: {found.group('value')}"))
    if _CONFIG.match(text):
        return None
    return _judge(text, _pairs(text))


_OTHER_BAR = Progress()
"""A bar that is not about training steps."""


class _Found:
    """What the pass over one line collected."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.totals: dict[str, int] = {}
        self.rates: list[tuple[float, str]] = []
        self.pairs = 0

    def take(self, name: str, field: Field, value: float) -> None:
        """The first value of a field counts: means over the window follow in parentheses."""
        if name in self.values:
            return
        self.values[name] = value
        if field.total is not None:
            self.totals[name] = field.total


def _pairs(text: str) -> _Found:
    found = _Found()
    if window := _WINDOW.search(text):
        found.values["step_time"] = float(window.group("seconds")) / max(1, int(window.group("steps")))
        text = text[: window.start()] + text[window.end() :]
    previous = ""
    for field in fields(text):
        name = _name_of(field, previous)
        found.pairs += bool(field.key)
        if is_foreign(field.key):
            previous = ""
            continue
        if name == "step_time":
            found.take(name, field, seconds(field))
        elif name is not None:
            found.take(name, field, field.value)
        elif field.unit and field.per.lstrip("/ ") in {"step", "it", "iter", "batch"}:
            found.take("step_time", field, seconds(field))
        elif (speed := rate(field)) is not None:
            found.rates.append(speed)
        previous = name or ("epoch" if field.key in {"train", "epoch train"} else "")
        if previous == "epoch" and name is None:
            found.take("epoch", field, field.value)
    return found


def _name_of(field: Field, previous: str) -> str | None:
    name = ALIASES.get(field.key)
    if name is None and not field.key and previous == "epoch" and field.total is not None:
        return "iteration"  # Epoch: [0]  [  40/9143]
    if name == "step_time" and field.key == "time" and field.total is not None:
        return None
    return name


def _bar(text: str) -> Progress | None:
    """Progress of the last bar of a line, `_OTHER_BAR` for one of something else, None without a bar. Text may follow it."""
    begin, last = 0, None
    for found in _BAR.finditer(text):
        begin, last = (0 if last is None else last.end()), found
    if last is None:
        return None
    desc = text[begin : last.start()]
    if drawn := _DRAWN.search(desc, max(0, len(desc) - _WIDEST_BAR)):
        desc = desc[: drawn.start()]
    if _BAR_OF_OTHER.search(desc) or _BAR_OF_TRAINING.search(desc) is None:
        return _OTHER_BAR
    pairs = _pairs(desc + " , " + (last.group("post") or "") + " , " + text[last.end() :])
    if row := _YOLO.match(desc) or _TORCHTUNE.match(desc):
        pairs.values.update(epoch=float(row.group("epoch")), loss=float(row.group("loss")))
    speed, unit = (last.group("rate") or last.group("rate2")), (last.group("unit") or last.group("unit2") or "")
    if speed not in (None, "?"):
        _bar_rate(pairs, float(speed), unit.strip())
    return _with_counts(last, pairs)


def _bar_rate(found: _Found, speed: float, unit: str) -> None:
    if not unit.startswith("s/"):
        found.rates.insert(0, (speed, unit))
    elif "step_time" not in found.values:
        found.values["step_time"] = speed


def _with_counts(bar: re.Match[str], found: _Found) -> Progress | None:
    found.values["step"], found.totals["step"] = _count(bar.group("n")), int(_count(bar.group("total")))
    return _progress(found)


def _count(text: str) -> float:
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1])
    try:
        return float(text[:-1]) * scale if scale else float(text)
    except ValueError:
        return 0.0


def _judge(text: str, found: _Found) -> Progress | None:
    """Progress of a line of pairs, when there is enough to be sure that it is one."""
    values = found.values
    if not values.keys() & {"step", "iteration", "epoch", "loss"}:
        return _progress(found) if _RATE_ALONE.fullmatch(text) else None
    if "loss" not in values and not found.rates and len(_CONFIG_KEYS.findall(text)) >= 2:
        return None
    told = len(values) + len(found.rates)
    if told == 1 and not _is_bare(text) and not (_STEP_FIRST.match(text) and found.pairs >= 4):
        return None
    return _progress(found)


def _is_bare(text: str) -> bool:
    """The line holds nothing but one known field: "step: 10", "[batch=1/100]:", "Epoch 3/10". Running text holds words."""
    words = _WORD.findall(_FILLER.sub(" ", re.sub(r"[a-z]+[_=/:][\w/]*(?=[:=])", " ", text)))
    known = {"step", "iter", "iteration", "epoch", "batch", "loss", "global", "train", "lm"}
    return all(word.lower() in known for word in words)


def _progress(found: _Found) -> Progress | None:
    values = found.values
    name = "step" if "step" in values else "iteration"
    step = values.get(name)
    step_time_s = values.get("step_time")
    if step is None or (step_time_s is not None and not 0 < step_time_s < 86_400):
        step_time_s = None  # the time of a line without a step is that of an epoch or of the whole run
    throughput, unit = best_rate(found.rates) if found.rates else (None, None)
    progress = Progress(
        step=None if step is None or step != step else int(step),
        total_steps=found.totals.get(name) or found.totals.get("step") or found.totals.get("iteration"),
        epoch=values.get("epoch"),
        loss=values.get("loss"),
        lr=values.get("lr"),
        grad_norm=values.get("grad_norm"),
        throughput=throughput,
        throughput_unit=unit,
        step_time_s=step_time_s,
    )
    return None if progress == Progress() else progress
