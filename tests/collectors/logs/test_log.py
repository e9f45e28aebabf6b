"""Log files that grow, rotate, shrink, vanish and flood."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.logs import output
from hwtop.collectors.logs.pipe import find_reader
from hwtop.collectors.logs.source import LogSource
from hwtop.model.plan import LogTarget, SamplingPlan
from hwtop.model.reported.log import LogFile, LogLine


class Followed:
    """A source that follows one path, and what it brought."""

    def __init__(self, path: Path | str, pids: tuple[int, ...] = (), line_limit: int = 20_000) -> None:
        self.source = LogSource(line_limit=line_limit, together_s=20.0)
        self.source.set_plan(SamplingPlan(logs=(LogTarget(path=str(path), pids=pids),)))
        self.skipped = 0
        self.file: LogFile | None = None

    def lines(self) -> list[LogLine]:
        """The new lines."""
        reading = self.source.read()
        self.skipped += reading.skipped_lines
        self.file = reading.files[0]
        return list(reading.lines)

    def texts(self) -> list[str]:
        return [line.text for line in self.lines()]


@pytest.fixture(autouse=True)
def _a_busy_machine_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_WAIT_S", 60.0)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.log"


def append(path: Path, data: str | bytes) -> None:
    with path.open("ab") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def test_first_what_is_there_then_what_is_new(log: Path) -> None:
    append(log, "step 1\nstep 2\n")
    followed = Followed(log, pids=(7,))
    assert [(line.text, line.line_no, line.is_past) for line in followed.lines()] == [
        ("step 1", 1, True),
        ("step 2", 2, True),
    ]
    assert followed.texts() == []
    append(log, "step 3\n")
    assert [(line.text, line.line_no, line.is_past) for line in followed.lines()] == [("step 3", 3, False)]
    assert followed.file is not None
    assert (followed.file.path, followed.file.pids, followed.file.size_bytes) == (str(log), (7,), 21)
    assert followed.file.age_s is not None
    assert followed.file.reason is None


def test_lines_have_the_time_at_which_their_file_was_written_and_come_in_that_order(tmp_path: Path) -> None:
    clock = [100.0]
    paths = [tmp_path / f"rank_{number}.log" for number in range(3)]
    for path in paths:
        append(path, "step 1\n")
    source = LogSource(together_s=20.0, now=lambda: clock[0], wall=lambda: 1_000_000.0 + clock[0])
    source.set_plan(SamplingPlan(logs=tuple(LogTarget(path=str(path), pids=()) for path in paths)))
    source.read()
    for path, written_s in zip(paths, (1_000_100.4, 1_000_100.2, 1_000_300.0), strict=True):
        append(path, "step 2\n")
        os.utime(path, (written_s, written_s))  # the last one by the clock of another machine
    clock[0] = 100.5
    assert [(line.path, round(line.at_s, 3)) for line in source.read().lines] == [
        (str(paths[1]), 100.2),
        (str(paths[0]), 100.4),
        (str(paths[2]), 100.5),
    ]


def test_of_a_long_file_the_end_with_its_line_numbers(log: Path) -> None:
    append(log, "".join(f"line {number:06d}\n" for number in range(1, 40_001)))
    lines = Followed(log).lines()
    assert len(lines) < 25_000
    assert (lines[-1].text, lines[-1].line_no) == ("line 040000", 40_000)
    assert all(line.text == f"line {line.line_no:06d}" for line in lines)


def test_a_file_that_comes_late(log: Path) -> None:
    followed = Followed(log)
    assert followed.texts() == []
    assert followed.file is not None
    assert followed.file.reason == f"{log} does not exist (yet)"
    append(log, "hello\n")
    assert followed.texts() == ["hello"]
    assert followed.file.reason is None


def test_rotation_by_rename_loses_nothing(log: Path) -> None:
    append(log, "one\n")
    followed = Followed(log)
    followed.texts()
    append(log, "two\n")
    log.rename(log.with_suffix(".1"))
    append(log, "three\n")
    assert [(line.text, line.line_no) for line in followed.lines()] == [("two", 2), ("three", 1)]
    append(log.with_suffix(".1"), "written by one that has not noticed\n")
    append(log, "four\n")
    assert followed.texts() == ["written by one that has not noticed", "four"]


@pytest.mark.parametrize("after", ["new 1\n", "new text that is longer than what was there before\nnew 1\n"])
def test_copytruncate(log: Path, after: str) -> None:
    append(log, "old 1\nold 2\n")
    followed = Followed(log)
    followed.texts()
    log.write_text(after)
    lines = followed.lines()
    assert [line.text for line in lines] == after.splitlines()
    assert lines[0].line_no == 1


def test_a_deleted_log_is_followed_while_it_is_written(log: Path) -> None:
    with log.open("wb", buffering=0) as file:
        file.write(b"one\n")
        followed = Followed(log)
        assert followed.texts() == ["one"]
        log.unlink()
        file.write(b"two\n")
        assert followed.texts() == ["two"]
        assert followed.file is not None
        assert "deleted while the job writes to it" in (followed.file.reason or "")


def test_a_log_that_was_deleted_before_is_found_through_proc(log: Path) -> None:
    with log.open("wb", buffering=0) as file:
        program = "import time; print('last words', flush=True); print('x', flush=True); time.sleep(600)"
        child = subprocess.Popen([sys.executable, "-c", program], stdout=file)
        try:
            while not log.read_bytes().endswith(b"x\n"):
                assert child.poll() is None
            log.unlink()
            followed = Followed(f"{log} (deleted)", pids=(child.pid,))
            assert followed.texts() == ["last words", "x"]
            assert followed.file is not None
            assert "deleted" in (followed.file.reason or "")
        finally:
            child.kill()
            child.wait()


def test_bars_are_reduced_to_their_last_state_but_for_what_they_told_before(log: Path) -> None:
    append(log, "begin\n\r  0%| 0/10\r 10%|# 1/10")
    followed = Followed(log)
    assert followed.texts() == ["begin", "  0%| 0/10", " 10%|# 1/10"]
    assert followed.texts() == []
    append(log, "\r 20%|## 2/10\r 30%|### 3/10")
    assert followed.texts() == [" 30%|### 3/10"]
    append(log, "\r100%|##########| 10/10\ndone\n")
    assert [(line.text, line.line_no) for line in followed.lines()] == [("100%|##########| 10/10", 2), ("done", 3)]


def test_a_bar_file_without_a_single_newline(log: Path) -> None:
    append(log, "".join(f"\r{step:5d}/99999 [00:01<00:01, 5.0it/s]" for step in range(10_000)))
    followed = Followed(log)
    told = followed.texts()
    assert told[-1] == " 9999/99999 [00:01<00:01, 5.0it/s]"
    assert 2_000 < len(told) < 9_000
    append(log, "\r10000/99999 [00:01<00:01, 5.0it/s]")
    assert followed.texts() == ["10000/99999 [00:01<00:01, 5.0it/s]"]


def test_last_words_without_a_newline(log: Path) -> None:
    append(log, "one\nSegmentation fault (core dum")
    followed = Followed(log)
    reported = [*followed.texts(), *followed.texts(), *followed.texts(), *followed.texts()]
    assert reported == ["one", "Segmentation fault (core dum"]


def test_escape_sequences_broken_text_and_holes(log: Path) -> None:
    append(log, b"\x00" * 5000 + b"\x1b[31mred\x1b[0m\n\xff\xfe broken\nwindows\r\n")
    assert Followed(log).texts() == ["red", "\ufffd\ufffd broken", "windows"]


def test_an_endless_line_is_cut_and_the_next_is_whole(log: Path) -> None:
    append(log, "start\n")
    followed = Followed(log)
    followed.texts()
    for _ in range(5):
        append(log, "x" * 1_000_000)
        followed.texts()
    append(log, "\nnext\n")
    texts = followed.texts()
    assert texts == ["x" * 16_384 + " … [4,983,616 more bytes cut]", "next"]


def test_a_flood_keeps_the_newest_and_every_line_that_matters(log: Path) -> None:
    append(log, "start\n")
    followed = Followed(log, line_limit=1000)
    followed.texts()
    flood = [f"noise {number}" for number in range(30_000)]
    flood[500] = "torch.OutOfMemoryError: CUDA out of memory."
    append(log, "\n".join(flood) + "\n")
    texts = followed.texts()
    assert texts[0] == "torch.OutOfMemoryError: CUDA out of memory."
    assert texts[-1] == "noise 29999"
    assert len(texts) <= 2001
    assert followed.skipped == 30_000 - len(texts)


def test_globs_find_files_that_come_later(tmp_path: Path) -> None:
    clock = [0.0]
    source = LogSource(globs=(str(tmp_path / "*" / "rank*.log"),), now=lambda: clock[0])
    assert "no such file yet" in source.read().missing["globs"]
    (tmp_path / "run").mkdir()
    append(tmp_path / "run" / "rank0.log", "hello\n")
    found: list[str] = []
    until = time.monotonic() + 60
    while not found and time.monotonic() < until:
        clock[0] += 6.0
        found = [line.text for line in source.read().lines]
    assert found == ["hello"]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        (
            "/dev/pts/3",
            "stdout is a terminal (/dev/pts/3): nothing to tail; start with > train.log 2>&1 or | tee train.log",
        ),
        ("/dev/null", "/dev/null"),
        ("socket:[77]", "socket"),
        ("pipe:[99999999999]", "reader was not found"),
    ],
)
def test_what_cannot_be_tailed_says_why(path: str, says: str) -> None:
    followed = Followed(path, pids=(7,))
    assert followed.texts() == []
    assert followed.file is not None
    assert followed.file.pids == (7,)
    assert says in (followed.file.reason or "")


def test_a_fifo_is_never_opened(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    followed = Followed(fifo)
    assert followed.texts() == []
    assert followed.file is not None
    assert "not a regular file" in (followed.file.reason or "")


@pytest.fixture
def tee(log: Path) -> Iterator[tuple[str, int]]:
    """(pipe, pid of the tee that reads it)."""
    child = subprocess.Popen(["tee", str(log)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert child.stdin is not None
    try:
        yield os.readlink(f"/proc/self/fd/{child.stdin.fileno()}"), child.pid
    finally:
        child.stdin.close()
        child.wait()


def test_behind_a_pipe_the_file_that_tee_writes_is_followed(tee: tuple[str, int], log: Path) -> None:
    pipe, pid = tee
    until = time.monotonic() + 60
    while not log.exists():
        assert time.monotonic() < until
    reader = find_reader("/proc", pipe, writers=(os.getpid(),))
    assert reader is not None
    assert (reader.pid, reader.comm, reader.files) == (pid, "tee", (str(log),))
    followed = Followed(pipe, pids=(os.getpid(),))
    append(log, "through tee\n")
    reported: list[str] = []
    while not reported:
        reported = followed.texts()
        assert time.monotonic() < until
    assert reported == ["through tee"]
    assert followed.file is not None
    assert followed.file.path == str(log)


def test_a_dead_mount_costs_its_own_row_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead, fine = tmp_path / "dead.log", tmp_path / "fine.log"
    append(dead, "never read\n")
    append(fine, "hello\n")
    released = threading.Event()
    real = os.stat

    def hang(path: str, **more: bool) -> os.stat_result:
        if str(path) == str(dead):
            released.wait(60)
        return real(path, **more)

    monkeypatch.setattr("hwtop.collectors.logs.tail.os.stat", hang)
    source = LogSource()
    source.set_plan(SamplingPlan(logs=(LogTarget(path=str(dead)), LogTarget(path=str(fine)))))
    reported: list[str] = []
    reasons: dict[str, str | None] = {}
    until = time.monotonic() + 60
    while not reported and time.monotonic() < until:
        reading = source.read()
        reported = [line.text for line in reading.lines]
        reasons = {file.path: file.reason for file in reading.files}
    released.set()
    assert reported == ["hello"]
    assert "not answering" in (reasons[str(dead)] or "")
    assert reasons[str(fine)] is None


def test_without_any_log_it_says_what_to_do() -> None:
    assert LogSource().read().missing == {"files": "no log file known: name it with --logs GLOB"}


def test_the_log_of_a_rank_that_is_gone_is_followed_on(log: Path) -> None:
    append(log, "one\n")
    followed = Followed(log)
    followed.texts()
    followed.source.set_plan(SamplingPlan())
    append(log, "last words\n")
    assert followed.texts() == ["last words"]


def test_utf_16_with_a_byte_order_mark(log: Path) -> None:
    append(log, "step 1 größer\r\nstep 2".encode("utf-16"))
    followed = Followed(log)
    assert followed.texts() == ["step 1 größer"]
    more = " loss 2.5 €\r\nstep 3\r\n".encode("utf-16-le")
    append(log, more[:21])
    assert followed.texts() == []
    append(log, more[21:])
    assert followed.texts() == ["step 2 loss 2.5 €", "step 3"]


def test_utf_8_with_a_byte_order_mark(log: Path) -> None:
    append(log, "\ufeffstep 1\n")
    assert Followed(log).texts() == ["step 1"]


def test_copytruncate_leaves_a_hole_as_long_as_the_file_was(log: Path) -> None:
    """A writer that does not append goes on at its old offset: the hole is not read."""
    with log.open("wb", buffering=0) as file:
        file.write(b"old\n")
        file.seek(1 << 40)
        file.write(b"far\n")
        followed = Followed(log)
        followed.texts()
        os.truncate(log, 0)
        assert followed.texts() == []
        file.write(b"CUDA out of memory\nnew\n")
        assert followed.texts() == ["CUDA out of memory", "new"]
        assert followed.file is not None
        assert followed.file.behind_bytes == 0


def test_a_burst_keeps_memory_bounded_and_loses_nothing_that_is_flagged(log: Path) -> None:
    line = b"[2026-01-02 03:04:05,678] [DEBUG] [loader.py:210:fetch] worker 3 fetched a shard in 12.3 ms from cache\n"
    block = line * 10_000
    append(log, "start\n")
    followed = Followed(log, line_limit=1000)
    followed.texts()
    wanted = 0
    with log.open("ab", buffering=0) as file:
        for number in range(100):
            file.write(block)
            if number % 20 == 10:
                file.write(b"torch.OutOfMemoryError: CUDA out of memory. burst %d\n" % number)
                wanted += 1
    size, before = log.stat().st_size, rss_bytes()
    found: list[str] = []
    kept = 0
    while followed.skipped + kept < 1_000_000 + wanted:
        texts = followed.texts()
        kept += len(texts)
        found += [text for text in texts if "OutOfMemory" in text]
        assert followed.file is not None
        assert followed.file.behind_bytes < size
    assert len(found) == wanted
    assert followed.skipped + kept == 1_000_000 + wanted
    assert followed.file is not None and followed.file.skipped_lines == followed.skipped
    assert rss_bytes() - before < 60e6


def test_hundreds_of_files_in_one_thread(tmp_path: Path) -> None:
    paths = [tmp_path / f"rank{number}.log" for number in range(300)]
    for path in paths:
        append(path, "hello\n")
    source = LogSource(together_s=20.0)
    source.set_plan(SamplingPlan(logs=tuple(LogTarget(path=str(path)) for path in paths)))
    before = threading.active_count()
    assert sorted(line.path for line in source.read().lines) == sorted(map(str, paths))
    assert threading.active_count() <= before + 1
    for path in paths[::2]:
        append(path, "more\n")
    assert [line.text for line in source.read().lines] == ["more"] * 150
    source.close()


def test_one_that_floods_leaves_the_others_theirs(tmp_path: Path) -> None:
    loud, *quiet = paths = [tmp_path / f"rank{number}.log" for number in range(20)]
    for path in paths:
        append(path, "hello\n")
    source = LogSource(together_s=20.0, line_limit=2000)
    source.set_plan(SamplingPlan(logs=tuple(LogTarget(path=str(path)) for path in paths)))
    source.read()
    for _ in range(2):
        append(loud, "noise\n" * 5000)
        for path in quiet:
            append(path, "step 1\n" * 30)
        reading = source.read()
        assert all(sum(line.path == str(path) for line in reading.lines) == 30 for path in quiet)
    assert sum(line.path == str(loud) for line in reading.lines) > 1000


def test_a_folder_that_does_not_answer_costs_few_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = [tmp_path / "dead" / f"rank{number}.log" for number in range(50)]
    fine = tmp_path / "fine.log"
    append(fine, "hello\n")
    released = threading.Event()
    real = os.stat

    def hang(path: str, **more: bool) -> os.stat_result:
        if "/dead/" in str(path):
            released.wait(60)
        return real(path, **more)

    monkeypatch.setattr("hwtop.collectors.logs.tail.os.stat", hang)
    clock = [0.0]
    source = LogSource(now=lambda: time.monotonic() + clock[0])
    source.set_plan(SamplingPlan(logs=tuple(LogTarget(path=str(path)) for path in [*dead, fine])))
    before = threading.active_count()
    reported: list[str] = []
    until = time.monotonic() + 60
    while not reported and time.monotonic() < until:
        reading = source.read()
        reported = [line.text for line in reading.lines]
        clock[0] += 3.0
    released.set()
    assert reported == ["hello"]
    assert threading.active_count() - before < 10
    reasons = {file.path: file.reason or "" for file in reading.files}
    assert all("not answering" in reasons[str(path)] for path in dead)


def test_a_template_of_slurm_is_filled_in_from_the_job(tmp_path: Path) -> None:
    append(tmp_path / "pretrain-77_0.out", "mine\n")
    append(tmp_path / "pretrain-78_0.out", "of another job\n")
    env = {**os.environ, "SLURM_JOB_ID": "77", "SLURM_JOB_NAME": "pretrain"}
    child = subprocess.Popen(["sleep", "600"], env=env)
    try:
        clock = [0.0]
        source = LogSource(globs=(str(tmp_path / "%x-%j_%t.out"),), together_s=20.0, now=lambda: clock[0])
        source.set_plan(SamplingPlan(logs=(LogTarget(path="/dev/null", pids=(child.pid,)),)))
        reported: list[str] = []
        until = time.monotonic() + 60
        while not reported and time.monotonic() < until:
            clock[0] += 6.0
            reported = [line.text for line in source.read().lines]
    finally:
        child.kill()
        child.wait()
    assert reported == ["mine"]


def test_lines_of_a_container_runtime_are_unwrapped(log: Path) -> None:
    for text in ("step 1\\n", 'say \\"hi\\"\\n'):
        append(log, f'{{"log":"{text}","stream":"stdout","time":"2026-01-02T03:04:05.1Z"}}\n')
    assert Followed(log).texts() == ["step 1", 'say "hi"']


def rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
