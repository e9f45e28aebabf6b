"""Advice about how a script loads its data."""

from __future__ import annotations

import ast
import re

from hwtop.job.whole_number import whole_number
from hwtop.preflight.machine import Machine
from hwtop.preflight.script.hint import Found, hint
from hwtop.preflight.script.source import LOOPS, Script, constant, has_more, keyword, words

_SETS_THE_EPOCH = ("lightning", "pytorch_lightning", "accelerate", "transformers", "fastai", "ignite")
"""Their trainers call set_epoch."""
_NOT_TRAINED = re.compile(r"val|test|eval")
"""In names of data that is only evaluated: its order does not matter."""


def _sampler(script: Script, _: Machine) -> Found:
    """Only where several epochs are trained: a loop around the loop that has the backward pass, or around the call of it."""
    if script.imports(*_SETS_THE_EPOCH) or script.calls("set_epoch") or not _has_epochs(script):
        return
    for call in script.calls("DistributedSampler"):
        around = next((each for each, _ in script.above(call) if isinstance(each, ast.stmt)), call)
        is_other = constant(keyword(call, "shuffle")) is False or any(map(_NOT_TRAINED.search, words(around)))
        if not is_other and not has_more(call):
            yield call.lineno, "DistributedSampler without set_epoch: each epoch has the same order"


def _has_epochs(script: Script) -> bool:
    for call in script.calls("backward"):
        function = script.function(call)
        places = [call, *(script.callers(function) if function is not None else ())]
        loops = sum(isinstance(around, LOOPS) for around, _ in script.above(call))
        if loops >= 2 or (loops and any(_is_in_loop(script, place) for place in places[1:])):
            return True
    return False


def _is_in_loop(script: Script, node: ast.AST) -> bool:
    return any(isinstance(around, LOOPS) for around, _ in script.above(node))


def _workers(script: Script, machine: Machine) -> Found:
    cores = len(machine.cores)
    ranks = (
        1 if machine.is_job else whole_number(machine.env.get("LOCAL_WORLD_SIZE")) or max(1, len(machine.state.gpus))
    )
    for call in script.calls("DataLoader"):
        count = constant(keyword(call, "num_workers"))
        if isinstance(count, int) and count > 1 and count * ranks > cores:
            times = f" for each of {ranks} ranks" if ranks > 1 else ""
            yield call.lineno, f"{count} loader workers{times}, and {cores} cores"


def _pinned(script: Script, _: Machine) -> Found:
    """A copy from memory that is not pinned is synchronous, whatever is asked for."""
    loaders = script.calls("DataLoader")
    pins = any(keyword(call, "pin_memory") is not None or has_more(call) for call in loaders)
    if not loaders or pins or script.calls("pin_memory"):
        return
    for call in script.calls("to", "cuda", "copy_"):
        if constant(keyword(call, "non_blocking")) is True:
            yield call.lineno, "non_blocking=True without pinned memory: the copy is synchronous"


LOADING = (
    hint(
        "script-sampler",
        "A DistributedSampler without `set_epoch` in a training of several epochs",
        _sampler,
        "Call sampler.set_epoch(epoch) at the start of each epoch",
    ),
    hint(
        "script-workers",
        "More loader workers than cores",
        _workers,
        "Set num_workers to the number of cores divided by the number of ranks, or less",
    ),
    hint(
        "script-pin-memory",
        "`non_blocking=True` although no DataLoader pins memory",
        _pinned,
        "DataLoader(..., pin_memory=True)",
    ),
)
