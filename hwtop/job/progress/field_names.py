"""Field names: what the keys of the frameworks' log lines are called here.

Sources: Megatron-LM training.py, GPT-NeoX, NeMo, nanotron, torchtitan metrics.py, torchtune, nanoGPT train.py, llm.c, MaxText
metric_logger.py, clu, DeepSpeed engine.py and timer.py, InternEvo, Keras progbar.py, transformers trainer_callback.py, ms-swift,
LLaMA-Factory, verl, OpenRLHF, fairseq progress_bar.py, timm train.py, Swin, open_clip, torchvision references utils.py, detectron2,
MMEngine, LeRobot, Paddle (NLP, OCR, Seg, Detection), MindSpore and MindFormers, OpenNMT, Marian, OLMo, Composer.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hwtop.lazy_regex import lazy_regex

_WORD_BREAK = lazy_regex(r"[_\-\s]+")

_LOSS = """loss, lm loss, ce loss, nll loss, mlm loss, gpt loss, meta loss, cross entropy loss, crossentropy loss, cross entropy, crossentropy,
 ce, xent, nll, loss is, loss/tok, loss mean, loss function, cost, actor/loss, lm loss value, loss avg rank, crossentropyloss, trainloss, trainingloss"""
_MEAN_LOSS = """epoch loss, avg loss, mean loss, running loss, avr loss, average loss, average epoch loss, avg epoch loss, mean epoch loss,
 epoch avg loss, epoch average loss, loss avg, avg/ loss"""
_GRAD_NORM = "grad norm, gradnorm, gnorm, gradient norm, gradients norm, norm, actor/grad norm, grdn, gn"
_LR = "lr, learning rate, learningrate, lrate, learnrate, base lr, base learning rate, actor/lr, l/r, lr 0, optim0 lr0, lr group0"
_STEP = """step, num updates, total timesteps, time/total timesteps, steps, current steps, global steps, global step/max steps,
 steps[global step/max steps], steps global step/max steps, step in epoch"""
_ITERATION = "iteration, iter, it, itr, iters, iter train, batch, minibatch, trained batches, update, updates, up, micro step, mini batch"
_ROUND = "episode, round, server round, comm round, communication round, global round, federated round"
_EPOCH = "epoch, epch, ep, epochs completed, progress or epoch, epoch train"
_STEP_TIME = "time, time s, seconds, took, dt, step avg, avg step time, avg batch cost"
_MEAN_STEP_TIME = "step avg, avg step time"
_DATA_TIME = "data, data time, data t, reader cost, avg reader cost, data cost, dt data, data load time, dataloader time, data loading time"
_BARE_SCALE = "scale, scaler"
_LOSS_SCALE = f"loss scale, loss scaler, grad scale, amp scale, {_BARE_SCALE}"
_REWARD = """reward, rewards, return, returns, episode reward, episode return, ep reward, ep return, episodic reward, episodic return, ep rew, rew,
 mean reward, mean return, avg reward, avg return, average reward, average return, reward mean, return mean, mean episode reward, mean ep reward,
 ep rew mean, rollout/ep rew mean, mean episode return, episode reward mean, episode return mean, charts/episodic return, critic/rewards/mean,
 critic/score/mean"""
_SKIPPED = "skipped, inf nan skip batches, num skipped"
_MFU = "mfu, perf/mfu, perf/mfu/actor, model flops utilization, bf16 mfu"
_TFLOPS = """tflops, tflop/s, throughput per gpu tflop/s/gpu, model tflops per gpu, approx flops per gpu, train throughput per npu,
 achieved tflops, model tflops, interval hardware tflops per device"""
_TOTAL = "total steps, max steps, total iters, total iterations"

_COUNTER = r"(?:step|iter(?:ation)?|it|batch|update)"
_FORMS: dict[str, re.Pattern[str]] = {
    "step_time": lazy_regex(
        rf"(?:ms|s|sec|seconds|elapsed time|time)(?:/| per | each ){_COUNTER}(?: m?s)?|(?:per |train )?{_COUNTER}(?: time| timing| duration| cost| t)(?: in)?(?: m?s)?|timing s/step|train/step time"
    ),
    "memory": lazy_regex(
        r"(?:max |peak |reserved |perf/max )?(?:gpu |cuda )?(?:mem(?:ory)?|vram)(?: ?allocated)?(?: gi?b| mb)?|gpumem|memallocated|memory usage"
    ),
    "tflops": lazy_regex(r"tflops?(?:/s)?(?:/| per )(?:gpu|device)"),
    "skipped": lazy_regex(rf"(?:(?:num(?:ber of)?|total) )?(?:skipped {_COUNTER}(?:e?s)?|{_COUNTER}(?:e?s)? skipped)"),
}
"""How the keys of a duration, a size, a speed and a count of skipped steps are made."""


def _names(text: str) -> list[str]:
    return [spaced(name.strip()) for name in text.split(",")]


def spaced(name: str) -> str:
    """One space between the words of a name, whatever stood there."""
    return _WORD_BREAK.sub(" ", name)


NAMES: dict[str, str] = {
    alias: name
    for name, aliases in {
        "loss": f"{_LOSS}, {_MEAN_LOSS}",
        "grad_norm": _GRAD_NORM,
        "lr": _LR,
        "step": _STEP,
        "iteration": f"{_ITERATION}, {_ROUND}",
        "epoch": _EPOCH,
        "step_time": _STEP_TIME,
        "data_time": _DATA_TIME,
        "loss_scale": _LOSS_SCALE,
        "reward": _REWARD,
        "skipped": _SKIPPED,
        "mfu": _MFU,
        "tflops": _TFLOPS,
        "total": _TOTAL,
    }.items()
    for alias in _names(aliases)
}
"""Key of a line, normalised -> name of a quantity."""

MEANS: dict[str, str] = {
    **dict.fromkeys(_names(_MEAN_LOSS), "loss"),
    **dict.fromkeys(_names(_MEAN_STEP_TIME), "step_time_s"),
}
"""Keys of values that are means over the epoch or the run -> the field of Progress."""

BARE_SCALES = frozenset(_names(_BARE_SCALE))
"""Keys of a loss scale that others use as well: of images, of a learning rate."""

ROUNDS = frozenset(_names(_ROUND))
"""Counters of whole games or of federated rounds: the step where no other counter is told."""

WEAK = frozenset({*MEANS, *ROUNDS, "base lr", "base learning rate"})
"""Keys whose value gives way to that of another key of the same quantity."""

_COUNTERS = {"step", "iteration", "iter", "it", "epoch", "batch"}
_OF_COUNT = {"num", "number", "no", "nr", "idx", "index", "id", "count"}
"""Words behind the name of a counter that say no more than that it is one: `step_num`, `batch idx`."""
_FILLERS = {
    *("finished", "training", "step", "train", "trainer", "current", "at", "of", "on", "the", "completed", "processed", "in", "for", "worker"),
    *("model", "global", "starting", "end", "done", "info", "update", "set", "and", "after", "learning", "optimizer", "optim", "opt", "mini"),
}  # fmt: skip

_OTHER_EPOCHS = {
    *("best", "warmup", "start", "max", "last", "total", "save", "num", "per", "end", "min", "eval", "val", "valid", "validation", "test"),
    *("first", "decay", "next", "prev", "previous", "resume", "log", "target", "each", "every", "steps", "batches", "n", "ppo", "until"),
}  # fmt: skip
"""Words that make an epoch another one than the one of now; others name the network: "VAE epoch 3"."""
_OF_NOW = {
    *("cur", "curr", "current", "train", "training", "this", "new", "now", "the", "batch", "step", "iter", "mini", "minibatch"),
    *("total", "global", "reduced", "optim", "learning", "losses", "metrics"),
}  # fmt: skip
"""Words about the name of a quantity that say no more than that it is the newest one of training."""
_COUNTED = {"step", "iteration", "epoch"}
_PLAIN = {"loss", "lr", "grad_norm", "mfu"}
_LOSS_OF_PART = lazy_regex(
    r"(?:.*[ /])?(?:entropy|kl|pg|gradient|value|vf|policy|actor|critic|aux\w*|reg\w*|z|d|g|gen\w*|disc\w*|balanc\w*|best|min|old|prev\w*|last)[ /]?loss"
)
_OTHER_LOSS = lazy_regex(r"(?:.*[ /])?(?:best|min|max|last|prev\w*|old|target|delta|baseline)[ /].*")
_LOSS_BY_NAME = lazy_regex(
    r"(?:.*[ /])?(?:ce|xent|nll|cross ?entropy|log ?loss|bce|mse|rmse|mae|l1|l2|smooth l1|huber|ctc|nce|info ?nce|nelbo|neg elbo|negative elbo|recon|dsm|bpb|bpd|bits/dim)(?:/tok(?:en)?)?"
)
"""What a training may minimise. Not what may be a score that rises (elbo, dice) nor a term of others (kl)."""


@lru_cache(maxsize=2048)
def is_some_loss(key: str) -> bool:
    """The key names a loss of its own making ("mask loss"): the training's, where it is the only one of a line."""
    return key.endswith("loss") or key.startswith(("loss ", "loss/"))


@lru_cache(maxsize=2048)
def is_loss_by_name(key: str) -> bool:
    """The key is the name of an objective ("bce", "eps mse"): the loss, where a step tells nothing else that is one."""
    return _LOSS_BY_NAME.fullmatch(key) is not None and _OTHER_LOSS.fullmatch(key) is None


@lru_cache(maxsize=2048)
def is_part_loss(key: str) -> bool:
    """One of several losses, though the others may not be told, or not the newest."""
    return _LOSS_OF_PART.fullmatch(key) is not None or key.startswith("loss")


@lru_cache(maxsize=2048)
def name_of(key: str) -> str | None:
    """The quantity a key stands for; None for one that is not known."""
    formed = next((name for name, form in _FORMS.items() if form.fullmatch(key)), None)
    if (name := NAMES.get(key) or formed or NAMES.get(plain_key(key))) is not None:
        return name
    *before, last = re.split("[ /]", key)
    if before and last in _OF_COUNT:
        return name if (name := name_of(" ".join(before))) in _COUNTED else None
    if not before or last not in _COUNTERS or before[-1] == "end":
        return None  # end_step is a setting
    is_named = last == "epoch" and len(before) == 1 and before[0].isalpha() and before[0] not in _OTHER_EPOCHS
    is_filled = _FILLERS.issuperset(
        word for word in before if not word[-1:].isdigit()
    )  # trainer-0 step=10, rank0 step 10
    return NAMES[last] if is_named or before[-1] == "at" or is_filled else None


@lru_cache(maxsize=2048)
def plain_key(key: str) -> str:
    """The key without words that say no more than that this is the newest value of training: `train/total_loss` is `loss`."""
    if key in NAMES:
        return key
    words = re.split("[ /]", key.replace("learning rate", "lr"))
    plain = " ".join(dict.fromkeys(word for word in words if word not in _OF_NOW))
    return plain if NAMES.get(plain) in _PLAIN else key


_FOREIGN = lazy_regex(
    r"(?:val(?:id(?:ation)?)?|eval(?:uation)?|test(?:ing)?|dev|ema)(?:[ /_]|loss|$)|.*[ /](?:val|valid|validation|eval|test)(?:[ /]|$)"
)


@lru_cache(maxsize=2048)
def is_foreign(key: str) -> bool:
    """The key belongs to validation or test, not to training."""
    return _FOREIGN.match(key) is not None
