"""Progress bar: tqdm, Keras, rich and Ultralytics bars of a line -> what they tell of the training."""

from __future__ import annotations

import re

from msgspec.structs import replace

from hwtop.job.progress.field_units import rate_unit, whole
from hwtop.job.progress.found import Found, found_in
from hwtop.job.whole_number import whole_number
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

OTHER_BAR = Progress()
"""A bar that is not about training steps."""
_READ_CHARS = 1024
_BAR = lazy_regex(
    r"(?<![\w/.])(?P<n>\d[\d.]*[kMG]?)(?:it)?/(?P<total>\d[\d.]*[kMG]?|\?(?=\s\[))(?:it)?\s*"
    r"(?:\[(?P<elapsed>[\d:.]+[smhd]?)<(?P<eta>[^,\]]+)(?:,\s*(?P<rate>\d+(?:\.\d*)?|\?)\s?(?P<unit>[A-Za-z ()]+/s|s/[A-Za-z ()]+))?"
    r"(?P<post>[^\]]*)\]?"
    r"|(?P<rate2>\d+(?:\.\d*)?)\s?(?P<unit2>it/s|s/it)\s+[\d:.s<]+"
    r"|\d+:[\d:]+\s+•\s+[-\d:]+\s+(?P<rate3>\d+(?:\.\d*)?)\s?(?P<unit3>it/s)"
    r"|rate:(?P<rate4>\d+(?:\.\d*)?)(?P<unit4>it/s|s/it)\s|[\d:]+ < [\d:]+, (?P<rate5>\d+(?:\.\d*)?) (?P<unit5>it/s|s/it)"
    r"|(?P<clock>(?:\d+:)?\d?\d:\d\d)\s*$)"
)
"""tqdm (docs: `{desc}: {percentage}|{bar}| {n}/{total} [{elapsed}<{remaining}, {rate}{postfix}]`); Ultralytics' own has no [;
Lightning's rich bar: `n/total elapsed • remaining rate`; tqdm_loggable: `Progress on:train 6.00it/10.0it rate:1.0it/s`;
YOLOv5 draws `|███| n/total elapsed`;
transformers' notebook callback `[n/total elapsed < remaining, rate it/s, Epoch 0.3/5]`."""
_DRAWN = lazy_regex(r"\d{1,3}%\s?(?:\|[^|]*\|)?[\s━╸╺─]*$|[━╸╺─]+\s*$")
"""Percentage and drawing that stand before the counts."""
_OF_TRAINING = lazy_regex(
    r"epoch|train|step|iter|batch|loss|fit|updat|\bsft\b|\bdpo\b|\bgrpo\b|fine-?tun|\d:?\s*$|^\W*$", re.IGNORECASE
)
_OF_EVALUATION = lazy_regex(r"valid|\bval\b|eval|test|predict|sanity|inferenc", re.IGNORECASE)
"""It may tell a loss, which is not that of the training."""
_OF_OTHER = lazy_regex(
    r"\bload|download|(?-i:\b[Mm]ap)|filter|tokeniz|sampling|shard|fetch|extract|class\s+images|compress|"
    r"generat|sav(?:e|ing)|cach|process|convert|prepar|\breading|\bwriting|upload|rollout|dataset|scan|\bfiles?\b|split|packing|truncat|quantiz",
    re.IGNORECASE,
)
_UNIT_OF_OTHER = lazy_regex(r"(?:examples?|ex|ba|rows?|files?|shards?|tables?|[kMGT]?i?B)/s|s/(?:file|shard|example)")
"""Units of `datasets` and of downloads."""
_OF_EPOCHS = lazy_regex(r"\W*(?:training )?epochs?(?: progress)?\W*$", re.IGNORECASE)
_MOST_EPOCHS = 1_000
"""A bar with a greater total counts steps, whatever it is called. Engineering default."""
_KERAS = lazy_regex(r"\s*(?P<n>\d+)/(?P<total>\d+|[Uu]nknown)\s+(?:\[[=>. ]*\]|[━╸╺─]+|-)\s*(?P<post>.*)")
"""Keras 2 and 3 progbar; verbose=2 draws no bar. All that it prints are means since the start of the epoch (keras
utils/progbar.py, stateful metrics of callbacks)."""
_YOLO = lazy_regex(
    r"\s*(?P<epoch>\d+)/(?P<epochs>\d+)\s+(?P<memory>\d+(?:\.\d*)?)(?P<size>[GMK])i?B?\s+(?P<loss>\d+(?:\.\d*)?|nan)\s"
)
"""Ultralytics: epoch, GPU memory, then the losses, box loss first."""
_TORCHTUNE = lazy_regex(r"(?:^|[\s:])(?P<epoch>\d+)\|\d+\|Loss: (?P<loss>\d+(?:\.\d*)?|nan)")
"""torchtune recipes: epoch|step|Loss."""
_SIZE_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def bar_in(text: str) -> Progress | None:
    """Progress of the last bar of a line, `OTHER_BAR` for one of something else, None without a bar. Text may follow it."""
    if "/" not in text:
        return None
    if found := _KERAS.match(text):
        return _keras(found)
    begin, last = 0, None
    for found in _BAR.finditer(text):
        if found.group("clock") and not text.endswith("| ", 0, found.start()):
            continue
        begin, last = (0 if last is None else last.end()), found
    return None if last is None else _tqdm(text, begin, last)


def behind_bar(text: str) -> str:
    """What stands behind the last bar of a line: a logger goes on where a bar left the cursor."""
    ends = [found.end() for found in _BAR.finditer(text)]
    return text[ends[-1] :] if ends else ""


def _keras(bar: re.Match[str]) -> Progress | None:
    found = found_in(bar.group("post"))
    found.means = ["loss", "step_time_s"]
    return _with_counts(bar, found)


def _tqdm(text: str, begin: int, bar: re.Match[str]) -> Progress | None:
    desc = text[begin : bar.start()]
    if drawn := _DRAWN.search(desc, max(0, len(desc) - _READ_CHARS)):
        desc = desc[: drawn.start()]
    speeds = (bar.group("rate"), bar.group("rate2"), bar.group("rate3"), bar.group("rate4"), bar.group("rate5"))
    speed = next(filter(None, speeds), None)
    units = (bar.group("unit"), bar.group("unit2"), bar.group("unit3"), bar.group("unit4"), bar.group("unit5"))
    unit = next(filter(None, units), "").strip()
    if not _is_of_training(desc, unit, bar.group("post") or ""):
        return OTHER_BAR
    found = found_in(f"{desc} , {bar.group('post') or ''} , {text[bar.end() :]}")
    if row := _YOLO.match(desc):
        _take_row(found, row)
    elif row := _TORCHTUNE.search(desc):
        found.values.update(epoch=float(row.group("epoch")), loss=float(row.group("loss")))
    if _counts_epochs(desc, bar, speed, unit):
        return _epochs(bar, found)
    if speed not in (None, "?"):
        _take_rate(found, float(speed), unit)
    return _with_counts(bar, found)


def _is_of_training(desc: str, unit: str, post: str) -> bool:
    """It tells a loss, or is named so: people name their bars as they like, but what loads or generates data has no loss."""
    if _OF_EVALUATION.search(desc):
        return False
    is_named = _OF_TRAINING.search(desc) and not (_OF_OTHER.search(desc) or _UNIT_OF_OTHER.fullmatch(unit))
    return bool(is_named) or "loss" in found_in(post).values


def _take_row(found: Found, row: re.Match[str]) -> None:
    found.values.update(epoch=float(row.group("epoch")), loss=float(row.group("loss")))
    if (epochs := whole_number(row.group("epochs"))) is not None:
        found.totals["epoch"] = epochs
    if memory := float(row.group("memory")):
        found.values["memory"] = memory * _SIZE_UNITS[row.group("size")]


def _counts_epochs(desc: str, bar: re.Match[str], speed: str | None, unit: str) -> bool:
    """An outer bar over epochs: each takes seconds, and there are few."""
    if "epoch" in unit:
        return True
    if _OF_EPOCHS.fullmatch(desc) is None or _count(bar.group("total")) > _MOST_EPOCHS:
        return False
    return unit.startswith("s/") or speed in (None, "?")


def _epochs(bar: re.Match[str], found: Found) -> Progress | None:
    found.values["epoch"] = _count(bar.group("n"))
    if total := whole(_count(bar.group("total"))):
        found.totals["epoch"] = total
    progress = found.progress()
    return None if progress is None else replace(progress, step_time_s=None, throughput=None, throughput_unit=None)


def _take_rate(found: Found, speed: float, unit: str) -> None:
    if not unit.startswith("s/"):
        found.rates.insert(0, (speed, rate_unit(unit)))
    elif "step_time" not in found.values:
        found.values["step_time"] = speed


def _with_counts(bar: re.Match[str], found: Found) -> Progress | None:
    found.values["step"] = _count(bar.group("n"))
    found.name_sole_loss()
    if total := whole(_count(bar.group("total"))):
        found.totals["step"] = total
    return found.progress()


def _count(text: str) -> float:
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1])
    try:
        return float(text[:-1]) * scale if scale else float(text)
    except ValueError:
        return 0.0
