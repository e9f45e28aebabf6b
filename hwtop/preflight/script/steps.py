"""Advice about what a script does at each step."""

from __future__ import annotations

from hwtop.preflight.machine import Machine
from hwtop.preflight.script.hint import Found, hint
from hwtop.preflight.script.source import Script

_SEQUENCES = ("transformers", "torch.nn.LSTM", "torch.nn.GRU", "torch.nn.Transformer", "torch.nn.TransformerEncoder")
"""Models whose gradients are known to explode in float16."""


def _syncs(script: Script, _: Machine) -> Found:
    if "cuda" not in script.text:
        return
    for call in script.calls("item"):
        if not call.args and script.is_in_step(call):
            yield call.lineno, "item() at each step waits for the GPU"


def _prints(script: Script, _: Machine) -> Found:
    for call in script.calls("print"):
        if script.name(call.func) == "print" and script.is_in_step(call):
            yield call.lineno, "print at each step"


def _clipping(script: Script, _: Machine) -> Found:
    scalers = script.calls("GradScaler")
    clips = script.calls("clip_grad_norm_", "clip_grad_value_")
    if not scalers:
        return
    if clips and not script.calls("unscale_", "unscale_gradients"):
        for call in clips[:1]:
            yield call.lineno, "gradients are clipped while they are multiplied by the loss scale"
    is_sequence = script.imports("transformers") or script.calls(*_SEQUENCES)
    if not clips and is_sequence:
        for call in scalers:
            yield call.lineno, "float16 with a loss scale, and no gradient clipping"


STEPS = (
    hint(
        "script-sync",
        "`.item()` at each step, which waits for the GPU",
        _syncs,
        "Add up the loss on the GPU (total += loss.detach()), and call item() every N steps",
    ),
    hint("script-print", "`print` at each step", _prints, "Print every N steps: if step % 50 == 0"),
    hint(
        "script-clipping",
        "Gradients clipped before `unscale_`, or a sequence model in float16 without clipping",
        _clipping,
        "scaler.unscale_(optimizer), then torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    ),
)
