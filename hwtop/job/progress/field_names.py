"""Field names: what the keys of the frameworks' log lines are called here.

Sources: Megatron-LM training.py, GPT-NeoX, NeMo, nanotron, torchtitan metrics.py, torchtune, nanoGPT train.py, llm.c, MaxText
metric_logger.py, clu, DeepSpeed engine.py and timer.py, InternEvo, Keras progbar.py, transformers trainer_callback.py, ms-swift,
LLaMA-Factory, verl, OpenRLHF, fairseq progress_bar.py, timm train.py, Swin, open_clip, torchvision references utils.py, detectron2,
MMEngine, LeRobot, Paddle (NLP, OCR, Seg, Detection), MindSpore and MindFormers, OpenNMT, Marian, OLMo, Composer.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD_BREAK = re.compile(r"[_\-\s]+")

_LOSS = """loss, train loss, training loss, lm loss, total loss, reduced train loss, train/loss, loss/train, loss train, loss is,
 train/total loss, loss/train/total, train loss/train/total, loss/tok, meta loss, avg loss, mean loss, running loss, avr loss,
 loss total, train/loss step, train loss step, loss step, step loss, batch loss, ce loss, nll loss, mlm loss, loss/total, gpt loss,
 train total loss, loss/total loss, train/ce loss, train/crossentropyloss, train/cross entropy loss, loss mean, cost, actor/loss,
 training/loss, learning/loss, losses/loss, losses/total loss, average loss, train/mean loss, lm loss value, mini batch loss, minibatch loss, current batch loss, current loss, train batch loss, trainingloss, trainloss, loss batch, total loss train, loss avg rank, epoch loss, train epoch loss, loss function, cross entropy loss, crossentropy loss, cross entropy, crossentropy, ce, xent, nll"""
_MEAN_LOSS = """epoch loss, train epoch loss, avg loss, mean loss, running loss, avr loss, average loss,
 average epoch loss, avg epoch loss, mean epoch loss, epoch avg loss, epoch average loss, avg train loss, average train loss, mean train loss,
 average training loss, avg training loss, mean training loss, train avg loss, train loss avg, loss avg, avg/ loss"""
_GRAD_NORM = """grad norm, gradnorm, gnorm, gradient norm, global grad norm, total grad norm, train/grad norm, norm, train grad norm,
 gradients norm, train/global grad norm, optim/total grad norm, global norm, actor/grad norm, learning/grad norm, total norm, grdn, gn"""
_LR = """lr, learning rate, lrate, train/lr, train/learning rate, current lr, base lr, learningrate, actor/lr, l/r, train lr, lr/train,
 learning/current learning rate, optim/learning rate group0, optim/lr, lr 0, optim0 lr0,
 base learning rate, learnrate"""
_STEP = """step, global step, train step, training step, completed step, current step, num updates, train/global step, train/step,
 trainer/global step, total timesteps, steps, update step, optimizer step, global step/max steps, steps[global step/max steps],
 steps global step/max steps, time/total timesteps, step in epoch, current steps, global steps, training/global step, optim step, opt step"""
_ITERATION = """iteration, iter, it, batch, update, updates, mini batch, minibatch, itr, training iteration, train iter, up,
 trained batches, learning iteration, iters, train iteration, iter train, train batch, micro step"""
_ROUND = "episode, round, server round, comm round, communication round, global round, federated round"
_EPOCH = "epoch, epch, train epoch, training epoch, ep, epochs completed, train/epoch, progress or epoch, training/epoch, epoch train"
_STEP_TIME = """time, step time, iter time, iteration time, time per step, time per iteration, elapsed time per iteration, per step time,
 elapsed time per iteration ms, elapsed time per iteration s, train step timing in s, train step timing, seconds, s/step,
 s/it, sec/step, sec/it, sec/batch, s/batch, batch time, took, dt, step avg, avg step time, time/step, step time s, ms/step, step time ms,
 seconds per step, train/step time, iter time s, time per batch, time s, step duration, batch t, batch cost, avg batch cost,
 timing s/step, step time in s, ms/batch, ms/it, ms/iter, ms/iteration, ms/update, time/batch, time/iter, time/it, time each step,
 time per iter, sec/iter, sec/iteration, s/iter, s/iteration, seconds/step, seconds/iter, seconds/it"""
_MEAN_STEP_TIME = "step avg, avg step time"
_DATA_TIME = "data, data time, data t, reader cost, avg reader cost, data cost, dt data, data load time, dataloader time, data loading time"
_LOSS_SCALE = "loss scale, loss scaler, grad scale, amp scale"
_SKIPPED = "number of skipped iterations, skipped, skipped steps, inf nan skip batches, skipped iterations, num skipped"
_MFU = "mfu, train/mfu, perf/mfu, perf/mfu/actor, model flops utilization, bf16 mfu"
_TFLOPS = """tflops, tflop/s, tflops/gpu, throughput per gpu tflop/s/gpu, tflop/s/gpu, tflop/s/device, model tflops per gpu,
 approx flops per gpu, train throughput per npu, tflops per gpu, achieved tflops, model tflops, interval hardware tflops per device"""
_MEMORY = """memory, mem, max mem, max memory, gpu mem, gpumem, memory usage, memory gib, memory gb, max mem gb, memory allocated gb,
 max memory allocated gb, perf/max memory allocated gb, cuda memory allocated, memallocated, peak memory, gpu memory, gpu mem gb, vram,
 peak mem, max memory allocated, memory allocated, reserved memory, memory mb, mem gb, max mem mb"""
_TOTAL = "total steps, max steps, total iters, total iterations"


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
        "skipped": _SKIPPED,
        "mfu": _MFU,
        "tflops": _TFLOPS,
        "memory": _MEMORY,
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

ROUNDS = frozenset(_names(_ROUND))
"""Counters of whole games or of federated rounds: the step where no other counter is told."""

WEAK = frozenset({*MEANS, *ROUNDS, "base lr", "base learning rate"})
"""Keys whose value gives way to that of another key of the same quantity."""

_COUNTERS = {"step", "iteration", "iter", "it", "epoch", "batch"}
_OF_COUNT = {"num", "number", "no", "nr", "idx", "index", "id", "count"}
"""Words behind the name of a counter that say no more than that it is one: `step_num`, `batch idx`."""
_FILLERS = {
    *("finished", "training", "step", "train", "current", "at", "of", "on", "the", "completed", "processed", "in", "for", "worker"),
    *("model", "global", "starting", "end", "done", "info", "update", "set", "and", "after"),
}  # fmt: skip

_OTHER_EPOCHS = {
    *("best", "warmup", "start", "max", "last", "total", "save", "num", "per", "end", "min", "eval", "val", "valid", "validation", "test"),
    *("first", "decay", "next", "prev", "previous", "resume", "log", "target", "each", "every", "steps", "batches", "n", "ppo", "until"),
}  # fmt: skip
"""Words that make an epoch another one than the one of now; others name the network: "VAE epoch 3"."""
_OF_NOW = {"cur", "curr", "current", "train", "training", "this", "new", "now", "the", "batch", "step", "iter"}
"""Words before the name of a quantity that say no more than that it is the newest one of training."""
_COUNTED = {"step", "iteration", "epoch"}
_PLAIN = {"loss", "lr", "grad_norm"}
_LOSS_OF_PART = re.compile(
    r"(?:.*[ /])?(?:entropy|kl|pg|gradient|value|vf|policy|actor|critic|aux\w*|reg\w*|z|d|g|gen\w*|disc\w*|balanc\w*|best|min|old|prev\w*|last)[ /]?loss"
)
_OTHER_LOSS = re.compile(r"(?:.*[ /])?(?:best|min|max|last|prev\w*|old|target|delta|baseline)[ /].*")
_LOSS_BY_NAME = re.compile(
    r"(?:.*[ /])?(?:bce|mse|rmse|mae|l1|l2|smooth l1|huber|ctc|nce|info ?nce|nelbo|neg elbo|negative elbo|recon|dsm|bpb|bpd|bits/dim)"
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
    name = NAMES.get(key)
    if name is not None or " " not in key:
        return name
    *before, last = key.split(" ")
    if last in _OF_COUNT:
        return name if (name := name_of(" ".join(before))) in _COUNTED else None
    if last in _COUNTERS:
        if before[-1] == "end":
            return None  # a setting: end_step
        is_named = last == "epoch" and len(before) == 1 and before[0].isalpha() and before[0] not in _OTHER_EPOCHS
        return NAMES[last] if is_named or before[-1] == "at" or _FILLERS.issuperset(before) else None
    first, _, rest = key.partition(" ")
    name = name_of(rest) if first in _OF_NOW else None
    return name if name in _PLAIN else None


_FOREIGN = re.compile(
    r"(?:val(?:id(?:ation)?)?|eval(?:uation)?|test(?:ing)?|dev|ema)(?:[ /_]|loss|$)|.*[ /](?:val|valid|validation|eval|test)(?:[ /]|$)"
)


@lru_cache(maxsize=2048)
def is_foreign(key: str) -> bool:
    """The key belongs to validation or test, not to training."""
    return _FOREIGN.match(key) is not None
