"""Two runs next to each other, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from msgspec import Struct

from hwtop.feed.recorded import RecordedRun
from hwtop.job.log.text import visible
from hwtop.model.baseline import Comparison, JobIdentity
from hwtop.model.output import Output
from hwtop.model.symptom import Verdict
from hwtop.report.baseline import (
    DifferenceObject,
    NotAlike,
    comparison_text,
    difference_object,
    not_alike,
    sentence,
)
from hwtop.symptoms.runs.baseline import compare
from hwtop.symptoms.runs.circumstances import Differing, differing
from hwtop.symptoms.runs.rows import RowDifference, RowKind, compare_rows

_SHOWN = 40
"""Circumstances in the text."""
_WORDS: dict[RowKind, str] = {"rank": "rank", "gpu": "GPU"}


def _only(these: tuple[str, ...] | None, others: tuple[str, ...] | None) -> tuple[str, ...]:
    """Nothing where either is not known."""
    return () if these is None or others is None else tuple(each for each in these if each not in others)


def _first(lines: Iterable[str]) -> list[str]:
    """Two environments can differ in hundreds of packages."""
    every = list(lines)
    more = len(every) - _SHOWN
    return [*every[:_SHOWN], *([f"and {more} more: --json has all"] if more > 0 else [])]


class RowObject(Struct, frozen=True, kw_only=True):
    """One number of one rank or GPU in both runs."""

    kind: RowKind
    number: int
    difference: DifferenceObject


class RunsReport(Output, frozen=True, kw_only=True):
    """`hwtop compare --json`; the first keys are those of `hwtop baseline compare --json`."""

    slower: bool | None
    quicker: bool
    pace: str | None
    where: str | None
    where_s: float | None
    differences: tuple[DifferenceObject, ...]
    not_alike: tuple[NotAlike, ...]
    then: JobIdentity
    now: JobIdentity
    verdict_then: Verdict
    """Of the end of the recording."""
    verdict_now: Verdict
    rows: tuple[RowObject, ...]
    """Only clear differences."""
    circumstances: tuple[NotAlike, ...]
    """What differs in host, driver, command and environment."""
    symptoms_only_then: tuple[str, ...]
    symptoms_only_now: tuple[str, ...]
    untrusted: tuple[str, ...] = ("circumstances", "not_alike", "now", "then", "verdict_now.text", "verdict_then.text")
    """Parts whose text may quote the job: data, never instructions."""


class Runs:
    """Two recorded runs, compared."""

    def __init__(self, then: RecordedRun, now: RecordedRun) -> None:
        self.then, self.now = then, now
        self.found: Comparison = compare(then.baseline, now.baseline)
        whole = then.history, now.history
        self._rows = compare_rows(whole[0], whole[1]) if whole[0] is not None and whole[1] is not None else ()
        self._differing: tuple[Differing, ...] = differing(then.circumstances, now.circumstances)
        self._only_then = _only(then.symptoms, now.symptoms)
        self._only_now = _only(now.symptoms, then.symptoms)

    def report(self) -> RunsReport:
        """As JSON has it."""
        found = self.found
        return RunsReport(
            slower=found.is_slower,
            quicker=found.is_quicker,
            pace=found.pace,
            where=found.where,
            where_s=found.where_s,
            differences=tuple(map(difference_object, found.differences)),
            not_alike=not_alike(found.not_alike),
            then=self.then.baseline.identity,
            now=self.now.baseline.identity,
            verdict_then=self.then.verdict,
            verdict_now=self.now.verdict,
            rows=tuple(
                RowObject(kind=row.kind, number=row.number, difference=difference_object(row.difference))
                for row in self._rows
                if row.difference.is_clear
            ),
            circumstances=not_alike(self._differing),
            symptoms_only_then=self._only_then,
            symptoms_only_now=self._only_now,
        )

    def text(self, name: str) -> list[str]:
        """The answer first; `name` is that of the earlier recording. A job that hangs is not slower in its last steps, so the verdict
        comes second."""
        answer, *numbers = comparison_text(self.found, self.then.baseline, self.now.baseline, name)
        lines = [answer, f"now: {visible(self.now.verdict.text)}", *numbers]
        parts = (
            ("Ranks and GPUs that differ", self._row_lines()),
            ("Findings", self._finding_lines()),
            (
                "Circumstances",
                _first(f"{visible(what)}: {visible(old)} -> {visible(new)}" for what, old, new in self._differing),
            ),
        )
        for title, found in parts:
            if found:
                lines += ["", title, *(f"  {line}" for line in found)]
        return lines

    def _row_lines(self) -> list[str]:
        """Not what all ranks or GPUs have in common: that is a difference of the run."""
        lines = []
        for (kind, _), group in groupby(self._rows, key=lambda row: (row.kind, row.difference.name)):
            rows = list(group)
            clear = [row for row in rows if row.difference.is_clear]
            if len(clear) < len(rows):
                lines += [self._row_line(kind, row) for row in clear]
        return lines

    def _row_line(self, kind: RowKind, row: RowDifference) -> str:
        words = sentence(row.difference, self.then.baseline, self.now.baseline)
        return f"{_WORDS[kind]} {row.number}: {words}"

    def _finding_lines(self) -> list[str]:
        pairs = (("only then", self._only_then), ("only now", self._only_now))
        return [f"{words}: {', '.join(found)}" for words, found in pairs if found]
