"""Numeric: events from the values of a progress line rather than from its words."""

from __future__ import annotations

import math

from hwtop.job.log.parsed import ParsedLine
from hwtop.model.log import LogEvent, Progress, Severity

NOT_A_NUMBER = rb"(?:^|[^a-z_ \n]|(?:^|[^f\n]) )(?:nan|inf|infinity)(?:$|[^a-z_\n])"
"""For the prefilter: a line without it holds no such value. Megatron's "number of nan iterations: 0" is none."""


def numeric_event(line: ParsedLine, progress: Progress) -> LogEvent | None:
    """The event of a loss or gradient norm that is not finite, or None.

    A loss of NaN or Inf and a gradient norm of NaN raise `loss-nan`. A gradient norm of Inf alone raises
    `grad-explosion`: with fp16 the step is skipped and training may go on.
    """
    if progress.loss is not None and not math.isfinite(progress.loss):
        return _event(line, "loss-nan", "critical", f"The training loss is {progress.loss}.")
    if progress.grad_norm is None or math.isfinite(progress.grad_norm):
        return None
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
