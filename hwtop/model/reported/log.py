"""Log files of the job, their new lines, and what those lines say."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Severity = Literal["critical", "warning", "info"]
Role = Literal["root", "cascade", "confirmation", "context"]
Writer = Literal["job", "unknown"]
"""Who wrote a line: a process of the job since it began, or perhaps an earlier one that wrote to the same file."""
LogLevel = Literal["critical", "error", "warning", "info", "debug"]
"""As the grammar of a logger names it: glog's letter, the word of Python's logging, `error:` of a launcher."""


class LogFile(Struct, frozen=True, gc=False, kw_only=True):
    """One followed file."""

    path: str
    pids: tuple[int, ...]
    """Processes whose fd 1 or 2 it is; empty for files named by --logs."""
    size_bytes: int | None
    age_s: float | None
    """Since the last write."""
    reason: str | None = None
    """Why it cannot be read."""
    skipped_lines: int = 0
    """Lines of floods that were not kept since it is followed; each was searched for what the log patterns know."""
    behind_bytes: int = 0
    """In the file already and not read yet: it is written faster than it is read."""
    content_age_s: float | None = None
    """No text in it is older; infinite where it may be of any age, None where nobody has looked."""


class LogLine(Struct, frozen=True, gc=False, kw_only=True):
    """One finished line, carriage-return bars already reduced to their last state, at most 16,384 characters."""

    path: str
    line_no: int | None
    """Counted from the start of the file, 1 first; None where hwtop began in the middle."""
    text: str
    at_s: float
    is_past: bool = False
    """Was in the file before hwtop attached, so `at_s` is not when it was written."""
    rank: int | None = None
    """As the line itself tells it. Derived: None in what was read, and where the line does not tell. Its level: `job.log.parsed`."""


class LogReading(Struct, frozen=True, gc=False, kw_only=True):
    """The new lines of all followed files; each line appears in exactly one reading."""

    at_s: float
    files: tuple[LogFile, ...]
    lines: tuple[LogLine, ...]
    skipped_lines: int = 0
    """Lines of a flood that were not kept in this reading (they were still matched for the literals that matter)."""
    time_s: float | None = None
    """When it was read, seconds after the epoch."""
    utc_offset_s: float = 0.0
    """Local time of the machine less universal time."""
    missing: dict[str, str] = {}


class Progress(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What one line says about the training. Fields the line does not hold are None."""

    step: int | None = None
    total_steps: int | None = None
    epoch: float | None = None
    loss: float | None = None
    """May be nan or inf."""
    lr: float | None = None
    grad_norm: float | None = None
    throughput: float | None = None
    throughput_unit: str | None = None
    step_time_s: float | None = None
    total_epochs: int | None = None
    """As the line tells it; Lightning counts from 0 and tells the last one's number."""
    mfu_pct: float | None = None
    """Model FLOP utilisation."""
    tflops_per_gpu: float | None = None
    memory_bytes: int | None = None
    """Of the device, as the line tells it: allocated or reserved, now or at most, whatever the framework prints."""
    loss_scale: float | None = None
    reward: float | None = None
    """What an agent has earned: of an episode, or the mean of several."""
    skipped_steps: int | None = None
    """As told: DeepSpeed counts since the start, Megatron-LM since the line before."""
    data_time_s: float | None = None
    """Waiting for data in one step."""
    zeros: tuple[str, ...] | None = None
    """Of the learning rate and the loss those that are 0 by the way they are written, where "0.0000" may be a small one that was rounded."""
    means: tuple[str, ...] | None = None
    """Names of fields above that are means since the start of the epoch or of the run, not values of this step."""


class LogEvent(Struct, frozen=True, gc=False, kw_only=True):
    """A line (or several) that matched a pattern."""

    pattern: str
    severity: Severity
    role: Role
    path: str
    line_no: int | None
    text: str
    at_s: float
    is_past: bool
    explanation: str
    rank: int | None = None
    xid: int | None = None
    groups: dict[str, str] = {}
    lines: int = 1
    """How many lines were joined; `line_no` and `text` are those of the line that tells most."""
    playbook: tuple[str, ...] = ()
    """Next steps for this very line, before those of the symptom."""
    title: str = ""
    """Heading, where `pattern` is no symptom of hwtop."""
    source: str = ""
    """Where the wording comes from."""
    writer: Writer = "job"
    level: LogLevel | None = None
    """As the line's logger tells it; None where the line names none."""
