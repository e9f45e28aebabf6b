"""Text of source lines, read as the watched process sees its files."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hwtop.collectors.stacks.source_lines import SourceLines
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from tests.collectors.file_owners import OWNER, FileOwners
from tests.stack_jobs import until


def frame(filename: str, line: int, name: str = "train") -> StackFrame:
    return StackFrame(name=name, filename=filename, short_filename=Path(filename).name, line=line)


def write(path: Path, text: str) -> str:
    """Files count by the time of their last change of any kind, which cannot be set: so the process must be younger."""
    path.write_text(text)
    return str(path)


@pytest.fixture
def script(tmp_path: Path) -> str:
    return write(tmp_path / "train.py", 'import gc\nfor step in range(9):\n    gc.collect()   \n    key = "x"\n\n')


@pytest.fixture
def sleeper(script: str, tmp_path: Path) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], cwd=tmp_path)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_the_line_is_stripped_and_a_missing_one_is_none(script: str, sleeper: int) -> None:
    lines = SourceLines()
    shown = lines.with_code((frame(script, 3), frame(script, 2), frame(script, 5), frame(script, 99)), sleeper)
    assert [each.code for each in shown] == ["gc.collect()", "for step in range(9):", None, None]


def test_a_relative_name_is_looked_for_where_the_process_stands(script: str, sleeper: int) -> None:
    (shown,) = SourceLines().with_code((frame("train.py", 3),), sleeper)
    assert shown.code == "gc.collect()"


def test_library_and_made_up_files_are_not_read(script: str, sleeper: int, tmp_path: Path) -> None:
    library = tmp_path / "site-packages" / "lib.py"
    library.parent.mkdir()
    frames = (frame(write(library, "x = 1\n"), 1), frame("<string>", 1, "<module>"), frame(script, 0), frame("", 1))
    assert [each.code for each in SourceLines().with_code(frames, sleeper)] == [None] * 4


def test_a_file_that_has_changed_since_the_process_started_is_not_what_runs(script: str, sleeper: int) -> None:
    ahead_s = time.time() + 60
    os.utime(script, (ahead_s, ahead_s))
    (shown,) = SourceLines().with_code((frame(script, 3),), sleeper)
    assert shown.code is None


def test_what_is_no_plain_file_of_sensible_size_is_left_alone(sleeper: int, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.py")
    large = write(tmp_path / "large.py", "x = 1\n" * 500_000)
    frames = (frame(str(tmp_path / "fifo.py"), 1), frame(large, 1), frame(str(tmp_path), 1), frame("/no/file.py", 1))
    assert [each.code for each in SourceLines().with_code(frames, sleeper)] == [None] * 4


def test_a_process_that_has_ended_leaves_its_frames_as_they_are(script: str) -> None:
    assert SourceLines().with_code((frame(script, 3),), 2**22 + 1) == (frame(script, 3),)


@pytest.mark.parametrize(
    ("line", "is_shown"),
    [
        ("tokens = batch.cuda()", True),
        ("n_tokens = (labels != -100).sum().item()", True),
        ('wandb.login(key="0123456789abcdef0123456789abcdef01234567")', False),
        ('client = Client(password="hunter22")', False),
        ('login("hf_abcdefghijklmnopqrstuvwxyz")', False),
        ('print({"loss": loss.item()})', True),
    ],
)
def test_a_line_with_a_secret_is_not_taken_along(line: str, is_shown: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "train.py", line + "\n")
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    try:
        (shown,) = SourceLines().with_code((frame(path, 1),), process.pid)
    finally:
        process.kill()
        process.wait()
    assert shown.code == (line if is_shown else None)


def test_only_the_training_thread_and_the_holder_of_the_lock_get_their_text(script: str, sleeper: int) -> None:
    def thread(name: str, owns_gil: bool) -> ThreadStack:
        return ThreadStack(name=name, os_thread_id=1, is_active=False, owns_gil=owns_gil, frames=(frame(script, 3),))

    dump = StackDump(
        pid=sleeper, at_s=1.0, threads=(thread("MainThread", False), thread("a", False), thread("b", True))
    )
    shown = SourceLines().dump_with_code(dump)
    assert [thread.frames[0].code for thread in shown.threads] == ["gc.collect()", None, "gc.collect()"]


def test_a_file_that_never_answers_costs_one_deadline_once(
    script: str, sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = SourceLines()
    real = os.stat
    asked, answers = [], threading.Event()

    def hang(path: str, **others: Any) -> os.stat_result:
        if str(path).endswith("dead.py"):
            asked.append(path)
            answers.wait(60)
        return real(path, **others)

    monkeypatch.setattr(os, "stat", hang)
    frames = (frame("/mnt/dead.py", 1), frame(script, 3))
    first = lines.with_code(frames, sleeper)
    second = lines.with_code(frames, sleeper)
    assert len(asked) == 1
    answers.set()
    assert [each.code for each in second] == [None, "gc.collect()"]
    assert first[0] == frames[0]


def test_the_same_frame_is_the_same_object_each_time(script: str, sleeper: int) -> None:
    lines = SourceLines()
    first = lines.with_code((frame(script, 3),), sleeper)
    assert lines.with_code((frame(script, 3),), sleeper)[0] is first[0]


def test_frames_of_a_live_process_get_their_text(tmp_path: Path) -> None:
    from hwtop.collectors.stacks.pyspy import PySpy

    path = write(tmp_path / "job.py", "import time\ndef train():\n    while True:\n        time.sleep(0.01)\ntrain()\n")
    process = subprocess.Popen([sys.executable, path])
    spy, lines = PySpy(), SourceLines()
    try:
        seen = until(
            lambda: [
                each.code
                for thread in lines.dump_with_code(spy.look(process.pid).dump).threads
                for each in thread.frames
            ],
            lambda codes: codes == ["time.sleep(0.01)", "train()"],
        )
    finally:
        process.kill()
        process.wait()
    assert seen == ["time.sleep(0.01)", "train()"]


def test_a_program_cannot_have_a_file_shown_that_its_user_may_not_read(
    tmp_path: Path, sleeper: int, owners: FileOwners
) -> None:
    """A frame holds the name that the program gave to compile()."""
    process = tmp_path / "proc" / str(sleeper)
    process.mkdir(parents=True)
    (process / "root").symlink_to("/")
    (process / "stat").write_bytes(Path(f"/proc/{sleeper}/stat").read_bytes())
    (process / "status").write_text(f"Name:\tpython\nUid:\t{OWNER}\t{OWNER}\t{OWNER}\t{OWNER}\n")
    secret, theirs, everyones = (Path(write(tmp_path / name, "x = 1\n")) for name in ("shadow.py", "own.py", "open.py"))
    for path in (secret, theirs):
        path.chmod(0o600)
    owners.give(theirs, OWNER)
    frames = tuple(frame(str(path), 1) for path in (secret, theirs, everyones))
    lines = SourceLines(proc=str(tmp_path / "proc"))
    assert [each.code for each in lines.with_code(frames, sleeper)] == [None, "x = 1", "x = 1"]
