from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from hwtop.collectors.stacks.pyspy import PySpy
from hwtop.collectors.stacks.pyspy_record import PySpyRecord, parse
from hwtop.job.stacks.classified import classified
from hwtop.job.stacks.short_names import ShortNames
from hwtop.model.stack import StackFrame, ThreadStack
from tests.stack_jobs import FOLDER, QUEUE_JOB, children, os_state, running, until

pytestmark = pytest.mark.real

RECORDED = (FOLDER / "torch_data_main.speedscope").read_bytes()


def test_samples_are_those_of_a_dump_in_order_of_time() -> None:
    samples = parse(RECORDED, 8124, 100.0, 102.0, ShortNames())
    assert len(samples) == 19
    times = [sample.at_s for sample in samples]
    assert times == sorted(times) and times[0] > 100.0 and times[-1] < 102.0
    frames = samples[0].frames
    assert [frame.name.rsplit(".", 1)[-1] for frame in (frames[0], frames[-1])] == ["decode", "<module>"]
    assert frames[0].short_filename == "trainer.py"
    assert {frame.short_filename for frame in frames} >= {
        "torch/utils/data/dataloader.py",
        "torch/utils/data/_utils/fetch.py",
    }
    assert Counter(classified(sample.frames).phase for sample in samples) == {"data-main": 19}


def speedscope(*profiles: tuple[str, list[list[int]]]) -> bytes:
    frames = [
        {"name": name, "file": "/home/ana/train/t.py", "line": line, "col": None}
        for line, name in enumerate(("<module>", "main", 'we;ird "name"'))
    ]
    return json.dumps(
        {
            "profiles": [{"type": "sampled", "name": name, "samples": samples} for name, samples in profiles],
            "shared": {"frames": frames},
        }
    ).encode()


def leaves(text: bytes, pid: int = 7) -> list[str]:
    return [sample.frames[0].name for sample in parse(text, pid, 0.0, 1.0, ShortNames())]


def test_the_main_thread_is_taken_by_name_else_by_id_else_the_oldest() -> None:
    main, other = [[0, 1]], [[0, 2]]
    assert leaves(speedscope(('Thread 9 "loader"', other), ('Thread 7 "MainThread"', main))) == ["main"]
    assert leaves(speedscope(('Thread 7 ""', main), ('Thread 9 ""', other))) == ["main"]
    assert leaves(speedscope(('Thread 0x7F12 ""', other), ('Thread 0x7F13 ""', main))) == ["main"]


def test_torn_and_empty_samples_are_left_out_and_names_may_be_anything() -> None:
    assert leaves(speedscope(('Thread 7 "MainThread"', [[], [1, 2], [0, 2], [2]]))) == ['we;ird "name"']


@pytest.mark.parametrize("text", [b"", b" \n", speedscope(), speedscope(('Thread 7 "MainThread"', [[], []]))])
def test_a_process_that_ended_before_the_first_sample_gives_none(text: bytes) -> None:
    assert parse(text, 7, 0.0, 1.0, ShortNames()) == ()


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"profiles": 3}'])
def test_what_is_no_speedscope_file_raises(text: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        parse(text, 7, 0.0, 1.0, ShortNames())


def test_a_real_window_shows_what_a_dump_shows_and_leaves_the_process_as_it_was() -> None:
    with running(QUEUE_JOB, "fork") as pid:
        spy, names = PySpy(), ShortNames()
        until(lambda: spy.look(pid).dump, lambda dump: _is_in(dump.threads, "next_batch"))
        take = PySpyRecord(names=names).take(pid, seconds=1, rate_per_s=50)
        assert take.profile.error is None
        assert len(take.profile.samples) >= 20
        assert 0 < take.cpu_s < 5
        waiting = [sample for sample in take.profile.samples if _phase(sample.frames) == "data"]
        assert len(waiting) >= len(take.profile.samples) / 2
        dumped = {frame for thread in spy.look(pid).dump.threads for frame in thread.frames}
        assert {frame for frame in waiting[0].frames if frame.name == "<module>"} <= dumped, "full and short names"
        assert os_state(pid)[0] in "RSD" and os_state(pid).endswith(" 0")


def test_no_such_process_is_an_error_and_a_target_that_ends_gives_what_there_was() -> None:
    take = PySpyRecord().take(2**22 + 1, seconds=1)
    assert take.profile.error is not None and take.profile.error.startswith("no process")
    brief = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1.5)"])
    until(lambda: PySpy().look(brief.pid).dump.error, lambda error: error is None)
    take = PySpyRecord().take(brief.pid, seconds=60, rate_per_s=50)
    brief.wait()
    assert take.profile.error is None
    assert take.profile.samples
    assert take.profile.to_s - take.profile.from_s < 60


def test_without_a_binary_there_is_a_reason() -> None:
    assert PySpyRecord([]).take(os.getpid()).profile.error is not None
    gone = PySpyRecord(["/nowhere/py-spy"]).take(os.getpid())
    assert gone.profile.error is not None and "cannot be started" in gone.profile.error


WATCH = """
import sys, threading, time
from hwtop.collectors.stacks.pyspy_record import PySpyRecord
record = PySpyRecord()
threading.Thread(target=record.take, args=(int(sys.argv[1]),), kwargs={"seconds": int(sys.argv[2])}, daemon=True).start()
print("started", flush=True)
time.sleep(float(sys.argv[3]))
"""


@pytest.mark.parametrize(("window_s", "stays_s", "kill"), [("60", "1000", signal.SIGKILL), ("600", "2", None)])
def test_no_pyspy_stays_behind(window_s: str, stays_s: str, kill: signal.Signals | None) -> None:
    """When hwtop leaves its windows are ended; after a kill -9 they end by themselves, here when their target does."""
    with running(QUEUE_JOB, "fork") as pid:
        watcher = subprocess.Popen([sys.executable, "-c", WATCH, str(pid), window_s, stays_s], stdout=subprocess.PIPE)
        (spy,) = until(lambda: _pyspys(watcher.pid), bool)
        if kill is not None:
            watcher.send_signal(kill)
        watcher.wait(timeout=30)
        if kill is None:
            assert until(lambda: _is_alive(spy), lambda alive: not alive) is False
    assert until(lambda: _is_alive(spy), lambda alive: not alive) is False
    assert watcher.stdout is not None
    watcher.stdout.close()


def _pyspys(pid: int) -> list[int]:
    return [child for child in children(pid) if b"record" in Path(f"/proc/{child}/cmdline").read_bytes()]


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _phase(frames: tuple[StackFrame, ...]) -> str:
    return classified(frames).phase


def _is_in(threads: tuple[ThreadStack, ...], name: str) -> bool:
    return bool(threads) and any(frame.name == name for frame in threads[0].frames)
