"""Progress reader: the lines of one file and rank in order, with what only the lines before tell of one."""

from __future__ import annotations

import re

from msgspec.structs import replace

from hwtop.job.log.parsed import ParsedLine, parsed_text
from hwtop.job.progress.elapsed_clock import ElapsedClock
from hwtop.job.progress.field_units import preference
from hwtop.job.progress.languages import in_english
from hwtop.job.progress.line import progress_in, row_key
from hwtop.job.progress.record import Record
from hwtop.job.progress.schema import Schema
from hwtop.job.progress.table import DRAWN, Columns, heading, heading_of_two, may_head
from hwtop.lazy_regex import lazy_regex
from hwtop.model.reported.log import Progress

_MAY_BE_ROW = lazy_regex(rf"\s*[|{DRAWN}\d]")
_READ_ROW_CHARS = 4096
_RETURN = lazy_regex(r"\r|\^M|#015")
"""As it is, and as `cat -v` and syslog write it."""
_READ_PARTS = 4
_ROUND = lazy_regex(r"\b(?:episode|round)\W{0,3}\d", re.IGNORECASE)
_STEP = lazy_regex(r"(?:step|iter(?:ation)?|batch|update|\bit)\W{0,3}\d|\d/\d+ *\[", re.IGNORECASE)
_BARE_BAR = lazy_regex(r"\s*\d{1,3}%\|")


_FOREIGN_HEADING = lazy_regex(
    r"[^\w|]*(?:running )?(?:valid(?:at(?:e|ing|ion))?|eval(?:uat(?:e|ing|ion))?|test(?:ing)?)[^\w|]*(?:results?|metrics|errors?|set|loop)?[^\w|]*",
    re.IGNORECASE,
)
"""A line of its own that stands over the numbers of validation: `* Test`, `***** Running Evaluation *****`."""
_READ_HEADING_CHARS = 80
_MOST_FOREIGN = 20
"""Lines with numbers that belong to such a heading at most, where no step or epoch ends it. Engineering default."""


class ProgressReader:
    """Learns the columns of tables and which rate the file's progress lines tell."""

    def __init__(self) -> None:
        self._columns: Columns | None = None
        self._unit: str | None = None
        self._unit_alone: str | None = None
        self._has_step_time = False
        self._clock = ElapsedClock()
        self._record = Record()
        self._schema = Schema()
        self._foreign_left = 0
        self._above = ""
        self._has_steps = False
        self._row_counter: str | None = None
        """Of tables of two columns: the key of the first counter, which is followed."""
        self._trained_total: int | None = None
        """The length of the bar that told a loss."""

    def read(self, text: str) -> Progress | None:
        """As `read_line`, of a raw line."""
        return self.read_line(parsed_text(text))

    def read_line(self, line: ParsedLine) -> Progress | None:
        """What the line says of the training's progress, and the rows of a table whose heading was seen.

        Of a line with carriage returns the newest parts are read one after the other: a bar, and what was printed over it.
        """
        line = in_english(line)
        if _RETURN.search(line.source.text) is None:
            return self._read(line)
        progress = None
        for part in [part for part in _RETURN.split(line.source.text) if part.strip()][-_READ_PARTS:]:
            if (reported := self._read(parsed_text(part))) is not None:
                progress = merged(progress, reported)
        return progress

    def _read(self, line: ParsedLine) -> Progress | None:
        text = line.text
        progress = progress_in(line)
        if progress is None:
            progress = self._record.row(text) or self._row(line)
        elif self._columns is not None and progress.total_epochs is not None and progress.memory_bytes is not None:
            progress = self._by_name(progress, line, self._columns)
        progress = self._schema.read(line, progress)
        self._record.see(text, progress)
        if progress is None or self._is_under_foreign_heading(progress) or self._is_other_bar(progress, text):
            return None
        if self._is_other_counter(progress, line):
            return None
        progress = self._without_round(progress, text)
        if progress.step is not None and progress.step_time_s is not None:
            progress = replace(progress, step_time_s=self._clock.step_time_s(progress.step, progress.step_time_s))
        return self._in_one_unit(progress)

    @property
    def are_elapsed(self) -> bool:
        """The times of the lines have turned out to be those since the start."""
        return self._clock.is_elapsed

    def times_are_elapsed(self) -> None:
        """What the lines tell as a step's time is what has passed since the start."""
        self._clock.found_out()

    def with_names(self, line: ParsedLine) -> str:
        """The line; of a row of a table each value behind its column's name."""
        return (self._columns.named(line.body) if self._columns is not None else None) or line.text

    def _row(self, line: ParsedLine) -> Progress | None:
        text = line.text
        if self._columns is not None and len(text) <= _READ_ROW_CHARS and _MAY_BE_ROW.match(line.body):
            row = self._columns.row(line.body)
            if row is not None or self._columns.has_loss:
                return row
        if len(text) <= _READ_HEADING_CHARS and _FOREIGN_HEADING.fullmatch(text):
            self._foreign_left = _MOST_FOREIGN
        lower = text.lower()
        if may_head(lower) or "loss" in lower:
            found = heading(line.body)
            if found is None or not found.has_loss:
                of_two = heading_of_two(self._above, line.body)
                found = of_two if of_two is not None and of_two.has_loss else self._columns or found
            self._columns = found
        self._above = text if "iteration" in lower and len(text) <= _READ_ROW_CHARS else ""
        return None

    def _is_under_foreign_heading(self, progress: Progress) -> bool:
        if self._foreign_left == 0 or progress.step is not None or progress.epoch is not None:
            self._foreign_left = 0
            return False
        self._foreign_left -= 1
        return True

    def _is_other_bar(self, progress: Progress, text: str) -> bool:
        """A bar without a name, a loss or the length of the bar that told a loss: that of the evaluation behind it."""
        if progress.total_steps is None:
            return False
        if progress.loss is not None:
            self._trained_total = progress.total_steps
        is_bare = progress.loss is None and progress.epoch is None and _BARE_BAR.match(text) is not None
        return is_bare and self._trained_total not in (None, progress.total_steps)

    def _is_other_counter(self, progress: Progress, line: ParsedLine) -> bool:
        """A table that tells an iteration in one row and the frames of the environment in another: one of them is the step."""
        key = row_key(line) if progress.step is not None and progress.loss is None else None
        if key is None:
            return False
        self._row_counter = self._row_counter or key
        return key != self._row_counter

    def _without_round(self, progress: Progress, text: str) -> Progress:
        """An episode or a round is the step only in a file that tells no steps: the two would take turns."""
        if progress.step is None:
            return progress
        is_round = _ROUND.search(text) is not None and _STEP.search(text) is None
        self._has_steps = self._has_steps or not is_round
        return replace(progress, step=None, total_steps=None) if is_round and self._has_steps else progress

    def _by_name(self, progress: Progress, line: ParsedLine, columns: Columns) -> Progress:
        """YOLO's row with its bar: which loss is the whole one is told by the heading."""
        row = columns.row(line.text)
        return progress if row is None or row.loss is None else replace(progress, loss=row.loss)

    def _in_one_unit(self, progress: Progress) -> Progress | None:
        """A file that tells several rates at different lines is followed in the one a person would name first."""
        unit = progress.throughput_unit
        if progress.step is None and progress.loss is None and progress.epoch is None and unit is not None:
            return self._rate_alone(progress, unit)
        self._has_step_time = self._has_step_time or progress.step_time_s is not None
        if unit is None or unit == self._unit:
            return progress
        if self._unit is None or preference(unit) < preference(self._unit):
            self._unit = unit
            return progress
        return replace(progress, throughput=None, throughput_unit=None)

    def _rate_alone(self, progress: Progress, unit: str) -> Progress | None:
        """TensorFlow's `global_step/sec`: left out where the lines with a step tell a rate of their own, or others a better one."""
        if self._unit is not None:
            return None
        is_best = self._unit_alone is None or preference(unit) <= preference(self._unit_alone)
        if is_best:
            self._unit_alone = unit
        if unit == "steps/s" and not self._has_step_time and progress.throughput:
            progress = replace(progress, step_time_s=1.0 / progress.throughput)
        return progress if is_best else replace(progress, throughput=None, throughput_unit=None)


def merged(old: Progress | None, new: Progress) -> Progress:
    """`new`, and what it does not hold from `old`."""
    if old is None:
        return new
    reported = {name: value for name in new.__struct_fields__ if (value := getattr(new, name)) is not None}
    return replace(old, **reported)
