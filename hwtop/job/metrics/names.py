"""What the names in metrics files mean: the same words as in logs, with the folders that metrics are sorted into.

Sources, besides those of `hwtop.job.progress.fields`: transformers integrations (train/...), Lightning loggers and
LearningRateMonitor (lr-AdamW/pg1), Keras TensorBoard and CSVLogger (epoch_loss), Ultralytics results.csv (lr/pg0), timm
summary.csv (train_loss), torchtitan (loss_metrics/..., throughput(tps)), DeepSpeed monitor (Train/Samples/train_loss),
Megatron-LM (lm loss, grad-norm, loss-scale), stable-baselines3 (time/fps).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from msgspec import Struct

from hwtop.job.progress.field_names import NAMES, name_of, plain_key, spaced
from hwtop.job.progress.field_units import Field, rate
from hwtop.job.progress.languages import key_in_english
from hwtop.lazy_regex import lazy_regex
from hwtop.model.curve import CurveName

_FOREIGN = lazy_regex(
    r"(?:^|[/. ])(?:val|valid|validation|eval|evaluation|test|dev|best|ema|critic|disc|discriminator|gan)(?:[/. \d]|$)"
)
_UNIT = lazy_regex(r"\((\w+)\)")
_FOLDER = lazy_regex(r"^[^/]+/")
_LR = lazy_regex(r"^(?:lr|learning rate)[ /]\S+")
_SCALE = lazy_regex(r"(?:^|[/ ])(?:loss|grad) scale$")
_OTHER_LOSS = lazy_regex(
    r"(?:^|[/ ])(?:box|global avg|epoch|mse|bce|cross entropy|xent|nll|recon(?:struction)?|diffusion) loss$"
)
"""Losses that go down as the only one does: Ultralytics, torchtitan, Keras. One of several that pull against each other (an actor's
and a critic's, a generator's) says nothing alone."""
_VAGUE = frozenset(
    ("norm", "total norm", "global norm", "steps", "iters", "batch", "batches", "up", "it", "ep", "cost")
)
"""In a folder of their own these may be of anything: weights, episodes."""
_STEP_LIKE = lazy_regex(r"\b(?:step|iter(?:ation)?|batch)\b")
_WHOLE_STEP = "end to end"
"""torchtitan's time_metrics/end_to_end(s)."""
_LOOSE = 1000
_ORDER = {name: 2 * place for place, name in enumerate(NAMES)}
_MEANT: dict[str, CurveName | Literal["step", "iteration", "epoch"]] = {
    "loss": "loss",
    "lr": "lr",
    "grad_norm": "grad_norm",
    "step_time": "step_time_s",
    "step": "step",
    "iteration": "iteration",
    "epoch": "epoch",
    "loss_scale": "loss_scale",
    "reward": "reward",
}


class MetricName(Struct, frozen=True, kw_only=True):
    """What a name stands for."""

    name: CurveName | Literal["step", "iteration", "epoch"]
    unit: str = ""
    """Of throughput."""
    factor: float = 1.0
    """To the units of the model."""
    preference: int = 0
    """Where several names of a file mean the same, the lowest counts."""


@lru_cache(maxsize=4096)
def meaning(tag: str) -> MetricName | None:
    """What `tag` means; None for what is not followed: validation, accuracies, system values."""
    name = spaced(key_in_english(spaced(tag.strip().lower()))).strip()
    if _FOREIGN.search(name):
        return None
    unit = _UNIT.search(name)
    name = _UNIT.sub("", name).strip()
    found = _known(unit.group(1) if unit is not None and name == "throughput" else name, 0)
    while found is None and _FOLDER.match(name):
        name = _FOLDER.sub("", name)
        found = _known(name, _LOOSE // 2) if name not in _VAGUE else None
    if found is None:
        return MetricName(name="loss", preference=_LOOSE) if _OTHER_LOSS.search(name) else None
    is_ms = "ms" in name.split() or (unit is not None and unit.group(1) == "ms")
    if found.name == "step_time_s" and is_ms:
        return MetricName(name="step_time_s", factor=1e-3, preference=found.preference)
    return found


def _order(name: str) -> int:
    plain = plain_key(name)
    return _ORDER[plain] + (plain != name) if plain in _ORDER else _LOOSE // 2 - 1 if name_of(name) else _LOOSE


def is_foreign_path(path: str) -> bool:
    """The file lies in a folder of the validation (Keras writes the same names into train/ and validation/)."""
    return any(part in ("validation", "val", "eval", "test") for part in path.lower().split("/")[-3:-1])


def _known(name: str, preference: int) -> MetricName | None:
    alias = _MEANT.get(name_of(name) or "") or ("step_time_s" if name == _WHOLE_STEP else None)
    if alias == "step_time_s" and name != _WHOLE_STEP and not _STEP_LIKE.search(name):
        return None  # "time" alone is a wall clock, or since the start, as often as it is of one step
    if alias is not None:
        return MetricName(name=alias, preference=preference + _order(name))
    if _LR.match(name):
        return MetricName(name="lr", preference=preference + _LOOSE)
    if _SCALE.search(name):
        return MetricName(name="loss_scale", preference=preference)
    rated = rate(Field(key=name, value=1.0))
    return MetricName(name="throughput", unit=rated[1], preference=preference) if rated is not None else None
