"""Numeric: events from the values of a progress line rather than from its words."""

from __future__ import annotations

import math

from hwtop.job.log.parsed import ParsedLine
from hwtop.model.reported.log import LogEvent, Progress, Severity

NOT_A_NUMBER = rb"(?:^|[^a-z_ \n]|(?:^|[^f\n]) )(?:nan|inf|infinity)(?:$|[^a-z_\n])"
"""For the prefilter: a line without it holds no such value. Megatron's "number of nan iterations: 0" is none."""

HUGE_NORM = rb"norm['\"]?[ :=|]{1,8}['\"]?(?:[1-9]\d{5}|\d(?:\.\d{1,20})?e\+?(?:0[5-9]|[1-9]\d))"
"""For the prefilter: the same of a norm from `_EXPLODED` on."""
_EXPLODED = 1e5
"""Of a gradient norm (engineering default: clipping to the usual 1.0 leaves a hundred-thousandth of such a step)."""


def numeric_event(line: ParsedLine, progress: Progress) -> LogEvent | None:
    """The event of a loss or gradient norm that is not finite, or of a norm that is far too large; or None.

    A loss of NaN or Inf and a gradient norm of NaN raise `loss-nan`. A gradient norm of Inf alone raises
    `grad-explosion`: with fp16 the step is skipped and training may go on.
    """
    if progress.loss is not None and not math.isfinite(progress.loss):
        return _event(line, "loss-nan", "critical", f"The training loss is {progress.loss}.")
    if progress.grad_norm is None or abs(progress.grad_norm) < _EXPLODED:
        return None
    if math.isfinite(progress.grad_norm):
        return _event(line, "grad-explosion", "warning", f"The gradient norm is {progress.grad_norm:g}: far too large.")
    if math.isnan(progress.grad_norm):
        return _event(line, "loss-nan", "critical", "The gradient norm is NaN: the next step makes the weights NaN.")
    return _event(line, "grad-explosion", "warning", "The gradient norm is infinite: this step overflowed.")


def _event(line: ParsedLine, pattern: str, severity: Severity, explanation: str) -> LogEvent:
    return LogEvent(
        pattern=pattern,
        severity=severity,
        role="root",
        path=line.path,
        line_no=line.source.line_no,
        text=line.source.text,
        at_s=line.source.at_s,
        is_past=line.source.is_past,
        level=line.level,
        explanation=explanation,
        rank=line.rank,
    )
