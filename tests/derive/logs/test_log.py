from __future__ import annotations

import pytest

from hwtop.derive.logs.log import LogBook
from hwtop.model.reported.log import LogLine
from tests.derive.readings import log_lines, logs

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


def path(attempt: int, rank: int, name: str = "stdout") -> str:
    return f"/logs/none_x/attempt_{attempt}/{rank}/{name}.log"


def restarted(*later: list[LogLine]) -> LogBook:
    """Attached after a restart: the first attempt's files are read as the past."""
    book = LogBook()
    before = log_lines(path(0, 0), 10.0, "step 500 loss 1.5", is_past=True)
    why = log_lines(path(0, 1, "stderr"), 10.0, OOM, is_past=True)
    known = {path(1, rank): (rank,) for rank in (0, 1)}
    now = log_lines(path(1, 0), 10.0, "starting", is_past=True)
    book.advance(logs(10.0, *before, *why, *now), known, {})
    files = book.files
    for at_s, lines in enumerate(later, start=11):
        reading = logs(float(at_s), *lines)
        book.advance(type(reading)(at_s=reading.at_s, files=files, lines=reading.lines), known, {})
    return book


def test_the_attempt_before_tells_why_it_was_started_anew_and_no_progress() -> None:
    book = restarted()
    assert [(event.pattern, event.rank, event.is_past) for event in book.events] == [("cuda-oom", 1, True)]
    report = book.of_rank(0, {path(1, 0): (0,)}, 10.0)
    assert (report.progress.newest, report.log.path) == (None, path(1, 0))


def test_three_steps_of_the_new_attempt_make_it_history() -> None:
    steps = [log_lines(path(1, 0), 11.0 + n, f"step {n} loss 2.5", first=2 + n) for n in range(3)]
    assert [event.pattern for event in restarted(*steps[:2]).events] == ["cuda-oom"]
    assert restarted(*steps).events == ()


@pytest.mark.slow
def test_numbers_that_are_no_ranks_take_no_memory_for_ever() -> None:
    book = LogBook()
    lines = log_lines("/logs/a.log", 10.0, *(f"{number}: step {number} loss 2.5" for number in range(20_000)))
    book.advance(logs(10.0, *lines), {}, {})
    assert len(book._streams) <= 5000


def test_the_pace_before_the_attach_is_bounded_by_the_age_of_the_job() -> None:
    book, path_ = LogBook(), path(0, 0)
    past = log_lines(path_, 10.0, *(f"step {number} loss 2.5" for number in range(40, 141)), is_past=True)
    book.advance(logs(10.0, *past, age_s=2.0), {path_: (0,)}, {}, 27.0)
    live = log_lines(path_, 11.0, "step 141 loss 2.5", first=102)
    book.advance(logs(11.0, *live), {path_: (0,)}, {}, 28.0)
    pace = book.of_rank(0, {path_: (0,)}, 11.0).log.past_pace
    assert pace is not None
    assert (pace.steps, pace.step_s) == (100, 0.25)


@pytest.mark.parametrize(
    "form",
    [
        "rank {rank} step {step} loss 2.5",
        "Rank {rank}: step {step} loss 2.5",
        "[R{rank}] step {step} loss 2.5",
        "[GPU{rank}] Epoch 1 | Step {step} | loss 2.5",
        "(rank={rank}) step {step} loss 2.5",
        "2026-11-03 10:00:00,123 INFO rank{rank} step {step} loss 2.5",
        '{{"step": {step}, "rank": {rank}, "loss": 2.5}}',
        "step={step} loss=2.5 rank={rank}",
    ],
)
def test_ranks_that_write_into_one_file_are_told_apart_by_what_their_lines_say(form: str) -> None:
    book, shared = LogBook(), {"/logs/all.log": (0, 1)}
    for at_s, (first, second) in enumerate([(3, 7), (4, 8), (5, 9)], start=10):
        said = [form.format(rank=rank, step=step) for rank, step in ((0, first), (1, second))]
        book.advance(logs(float(at_s), *log_lines("/logs/all.log", float(at_s), *said)), shared, {})
    newest = [book.of_rank(rank, shared, 12.0).progress.newest for rank in (0, 1)]
    assert [each and each.step for each in newest] == [5, 9]


def test_a_number_in_a_line_is_no_writer_where_it_cannot_be_one() -> None:
    book, shared = LogBook(), {"/logs/all.log": (0, 1)}
    said = ("rank 7 step 3 loss 2.5", "r2 step 4 loss 2.5", "rank 1.5 step 5 loss 2.5", "step 6 loss 2.5 top_rank=1.5")
    book.advance(logs(10.0, *log_lines("/logs/all.log", 10.0, *said)), shared, {})
    reports = [book.of_rank(rank, shared, 10.0).progress.newest for rank in (0, 1)]
    assert [each and each.step for each in reports] == [6, None]


def _shared(*lines: str) -> LogBook:
    book, ranks = LogBook(), {"/logs/all.log": (0, 1)}
    for number, line in enumerate(lines):
        book.advance(logs(10.0 + number, *log_lines("/logs/all.log", 10.0 + number, line, first=1 + number)), ranks, {})
    return book


@pytest.mark.parametrize(
    "label", ["[{}] ", "({}): ", "{} | ", "2026-11-28 10:00:00,125 INFO [{}] ", "2026-11-28 10:00:11 | INFO | {} | "]
)
def test_a_number_in_front_of_the_lines_is_the_rank_where_the_ranks_take_turns(label: str) -> None:
    pairs = [(rank, step) for step in range(10, 20) for rank in (step % 2, 1 - step % 2)]
    lines = [f"{label.format(rank)}step {step} loss {2.5 if rank == 0 else 'nan'}" for rank, step in pairs]
    book = _shared(*lines)
    told = [book.of_rank(rank, {"/logs/all.log": (0, 1)}, 30.0).progress for rank in (0, 1)]
    assert [each.step for each in told] == [19, 19]
    assert [bool(each.lost_values) or str(each.newest and each.newest.loss) == "nan" for each in told] == [False, True]


def test_a_number_in_front_of_the_lines_that_passes_is_no_rank() -> None:
    """Epochs: each is over some day, whoever enters it first."""
    lines = [f"[{epoch}] step {step} loss 2.5" for epoch in (0, 1) for step in range(10) for _ in (0, 1)]
    late = [f"[{epoch}] step 9 loss 2.5" for epoch in (0, 1, 0, 1, 1, 1)]
    book = _shared(*lines[:20], *late, *lines[20:])
    assert {rank for _, rank in book._streams._streams} == {None}


def test_an_old_step_does_not_become_young_when_its_rank_writes_something_else() -> None:
    book, steps = LogBook(), path(0, 0)
    known = {steps: (0,), path(0, 0, "stderr"): (0,)}
    past = log_lines(steps, 100.0, "step 599 loss 2.5", is_past=True)
    book.advance(logs(100.0, *past, age_s=60.0), known, {})
    error = log_lines(path(0, 0, "stderr"), 130.0, "RuntimeError: Connection closed by peer")
    book.advance(logs(130.0, *error, age_s=0.0), known, {})
    assert book.of_rank(0, known, 130.0).progress.step_age_s == 90.0


def test_each_file_has_a_share_of_the_lines_that_are_kept() -> None:
    book = LogBook()
    every = [
        line
        for rank in range(4)
        for line in log_lines(path(0, rank), 10.0, *(f"step {step} loss 2.5" for step in range(599)), is_past=True)
    ]
    book.advance(logs(10.0, *every), {path(0, rank): (rank,) for rank in range(4)}, {})
    kept = [(line.path, line.text) for line in book.lines]
    assert {sum(each == path(0, rank) for each, _ in kept) for rank in range(4)} == {125}
    assert kept[-4:] == [(path(0, rank), "step 598 loss 2.5") for rank in range(4)]
