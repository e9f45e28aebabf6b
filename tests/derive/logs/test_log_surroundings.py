"""What stands around flagged lines outlives thousands of newer lines, and no more than that is kept."""

from __future__ import annotations

from hwtop.derive.logs.surroundings import SHOWN_AROUND, Surroundings
from hwtop.model.reported.log import LogEvent, LogLine


def lines(first: int, count: int, path: str = "/l/0.log") -> list[LogLine]:
    return [
        LogLine(path=path, line_no=number, text=f"line {number}", at_s=1.0) for number in range(first, first + count)
    ]


def event(line: LogLine, pattern: str = "rank-crash") -> LogEvent:
    return LogEvent(
        pattern=pattern,
        severity="critical",
        role="root",
        path=line.path,
        line_no=line.line_no,
        text=line.text,
        at_s=line.at_s,
        is_past=False,
        explanation="",
    )


def numbers(kept: Surroundings) -> list[int | None]:
    return [line.line_no for line in kept.lines]


def test_lines_around_a_flagged_one_are_kept_across_readings() -> None:
    kept = Surroundings()
    kept.advance(lines(1, 100), [])
    flagged = lines(101, 3)
    kept.advance(flagged, [event(flagged[1])])
    kept.advance(lines(104, 5_000), [])
    assert numbers(kept) == list(range(102 - SHOWN_AROUND, 102 + SHOWN_AROUND + 1))


def test_neighbours_are_kept_once() -> None:
    kept = Surroundings()
    read = lines(1, 40)
    kept.advance(read, [event(read[19]), event(read[22], "cuda-oom")])
    assert numbers(kept) == list(range(20 - SHOWN_AROUND, 23 + SHOWN_AROUND + 1))


def test_files_do_not_mix() -> None:
    kept = Surroundings()
    first, second = lines(1, 20), lines(1, 20, "/l/1.log")
    kept.advance([*first, *second], [event(second[10])])
    assert {line.path for line in kept.lines} == {"/l/1.log"}


def test_memory_is_bounded_when_everything_is_flagged() -> None:
    kept = Surroundings()
    for start in range(1, 20_000, 1_000):
        read = lines(start, 1_000)
        kept.advance(read, [event(line, f"pattern-{line.line_no}") for line in read])
    assert len(kept.lines) <= 600
    again = Surroundings()
    read = lines(1, 10_000)
    again.advance(read, [event(line) for line in read[::100]])
    assert len(again.lines) == 4 * (2 * SHOWN_AROUND + 1) - SHOWN_AROUND
