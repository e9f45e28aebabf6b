from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hwtop.collectors.process.repair import repaired
from hwtop.collectors.process.sudo import Sudo
from hwtop.collectors.process.target_state import read_state
from hwtop.collectors.stacks.deep_look import DeepSource
from hwtop.model.plan import Request, RequestKind, SamplingPlan
from hwtop.model.stack import DeepDump
from tests.stack_jobs import os_state, until

pytestmark = pytest.mark.real

TRAINER = Path(__file__).parents[2] / "data" / "attach" / "faulthandler_trainer.py"


@contextmanager
def hung(kind: str, log: Path, *words: str) -> Iterator[int]:
    """A hung trainer that writes to `log`; `kind` is what it does about SIGUSR1."""
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, str(TRAINER), kind, *words], stdout=file, stderr=file)
    try:
        assert until(log.read_bytes, lambda text: b"ready" in text)
        yield process.pid
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with hung("register", tmp_path_factory.mktemp("logs") / "train.log") as pid:
        yield pid


def runs(pid: int) -> bool:
    """Hangs in its sleep as before, with nobody at its heels."""
    return until(lambda: os_state(pid), lambda state: state == "S 0") == "S 0"


def ask(kind: RequestKind, pid: int, source: DeepSource | None = None) -> DeepDump:
    return (source or DeepSource()).look(Request(number=1, kind=kind, pid=pid))


@pytest.mark.parametrize(
    ("kind", "python", "native"), [("native", "train_step (", "libc"), ("pystack", "in train_step", "(C) File")]
)
def test_native_stacks_of_a_real_process_that_runs_on(job: int, kind: RequestKind, python: str, native: str) -> None:
    dump = ask(kind, job)
    assert (dump.error, dump.kind, dump.pid) == (None, kind, job)
    assert python in dump.text and native in dump.text
    assert runs(job)


def test_a_registered_faulthandler_answers_into_the_log(job: int) -> None:
    dump = ask("faulthandler", job)
    assert dump.error is None
    assert dump.text.startswith(f"SIGUSR1 sent to PID {job}; it has written to ")
    assert "train.log" in dump.text
    assert "in train_step\n" in dump.text
    assert runs(job)


def test_a_process_that_catches_no_signal_is_sent_none(tmp_path: Path) -> None:
    with hung("none", tmp_path / "log") as pid:
        dump = ask("faulthandler", pid)
        assert dump.error is not None and "no signal was sent" in dump.error and "faulthandler.register" in dump.error
        assert runs(pid)


def test_a_program_known_for_a_handler_of_its_own_is_sent_none(tmp_path: Path) -> None:
    with hung("handler", tmp_path / "log", "--plugin=submitit") as pid:
        dump = ask("faulthandler", pid)
        assert dump.error is not None and "submitit, which uses SIGUSR1 itself" in dump.error
        assert runs(pid)


def test_a_handler_that_ends_the_process_is_reported(tmp_path: Path) -> None:
    with hung("handler", tmp_path / "log") as pid:
        dump = ask("faulthandler", pid)
        assert dump.error == f"pid {pid} has ended after SIGUSR1: its handler is not faulthandler's"


def test_where_the_answer_goes_is_said_when_it_cannot_be_read() -> None:
    process = subprocess.Popen(
        [sys.executable, str(TRAINER), "register"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == b"ready\n"
    dump = ask("faulthandler", process.pid)
    written = [process.stderr.readline() for _ in range(2)]
    process.kill()
    process.communicate()
    assert f"standard error of PID {process.pid} is pipe:[" in dump.text
    assert b"in train_step" in written[1]


@pytest.mark.parametrize("kind", ["native", "pystack", "faulthandler"])
def test_a_process_that_is_not_there(kind: RequestKind) -> None:
    dump = ask(kind, 2**22 + 1)
    assert dump.error is not None and "no process 4194305" in dump.error
    assert dump.text == ""


def test_a_missing_program_comes_with_the_command_that_installs_it(job: int) -> None:
    source = DeepSource(pyspy=[], pystack=[])
    assert ask("pystack", job, source).advice == "pip install 'hwtop[pystack]'"
    assert ask("native", job, source).advice == "pip install 'py-spy>=0.4.2'"


def test_what_fails_is_told_in_the_tools_own_words(job: int, tmp_path: Path) -> None:
    fails = script(tmp_path, "echo 'could not load symbols' >&2; exit 7")
    assert ask("pystack", job, DeepSource(pystack=fails)).error == "tool: could not load symbols"
    assert ask("pystack", job, DeepSource(pystack=[str(tmp_path / "gone")])).error is not None


def test_a_tool_that_is_refused_is_run_as_root_where_sudo_lets_it(job: int, tmp_path: Path) -> None:
    tool = script(tmp_path, '[ -n "$BY_SUDO" ] && echo "seen $*" && exit\necho "Operation not permitted" >&2; exit 1')
    sudo = tmp_path / "sudo"
    sudo.write_text('#!/bin/sh\nBY_SUDO=1 exec "$@"\n')
    sudo.chmod(0o755)
    dump = ask("pystack", job, DeepSource(pystack=tool, sudo=Sudo([str(sudo)], is_allowed=True)))
    assert (dump.text, dump.error) == (f"seen remote --native-all {job}\n", None)
    refused = ask("pystack", job, DeepSource(pystack=tool, sudo=Sudo([str(tmp_path / "none")], is_allowed=True)))
    assert refused.error is not None and "no permission to read the memory" in refused.error
    assert refused.advice


def test_a_target_that_a_tool_leaves_stopped_goes_on(tmp_path: Path) -> None:
    with hung("none", tmp_path / "log") as pid:
        dump = ask("native", pid, DeepSource(pyspy=script(tmp_path, f"kill -STOP {pid}; echo stack")))
        assert dump.error is None
        assert dump.text == f"note: the dump left PID {pid} stopped; hwtop continued it (SIGCONT)\n\nstack\n"
        assert runs(pid)


def test_a_tool_that_hangs_is_killed_and_its_target_goes_on(tmp_path: Path) -> None:
    """A real tracer, killed while it holds its target: the kernel lets go of it."""
    holds = tmp_path / "holds.py"
    holds.write_text(_HOLDS)
    with hung("none", tmp_path / "log") as pid:
        source = DeepSource(pyspy=[sys.executable, str(holds), str(tmp_path / "held")], deadline_s=2.0)
        dump = ask("native", pid, source)
        assert (tmp_path / "held").read_text() == "t"
        assert dump.error is not None and "did not end within 2 s and was killed" in dump.error
        assert runs(pid)


def test_one_that_was_stopped_before_stays_so(tmp_path: Path) -> None:
    with hung("none", tmp_path / "log") as pid:
        os.kill(pid, signal.SIGSTOP)
        until(lambda: os_state(pid), lambda state: state == "T 0")
        dump = ask("native", pid, DeepSource(pyspy=script(tmp_path, "echo stack")))
        assert dump.text == "stack\n"
        assert os_state(pid) == "T 0"


def test_a_target_that_cannot_be_let_go_is_reported(tmp_path: Path) -> None:
    """Its tracer lives on: only that can let it go."""
    holds = tmp_path / "holds.py"
    holds.write_text(_HOLDS)
    with hung("none", tmp_path / "log") as pid:
        before = read_state(pid)
        assert before is not None
        tracer = subprocess.Popen([sys.executable, str(holds), str(tmp_path / "held"), "dump", "-p", str(pid)])
        until((tmp_path / "held").exists, bool)
        note, harm = repaired(pid, before)
        assert note == ""
        assert harm is not None
        assert (harm.error, harm.advice) == (
            f"pid {pid} is still held by its tracer, pid {tracer.pid}",
            f"kill -9 {tracer.pid}",
        )
        dump = ask("pystack", pid)
        assert dump.error is not None and "a debugger is already attached" in dump.error
        tracer.kill()
        tracer.wait()
        assert repaired(pid, before) == ("", None)


def test_a_process_with_a_thread_in_uninterruptible_sleep_is_left_alone(tmp_path: Path) -> None:
    """vfork(2): the parent sleeps in state D until its child has started a program or ended."""
    source = tmp_path / "vforks.c"
    source.write_text("#include <unistd.h>\nint main(){ if(!vfork()) { sleep(1000); _exit(0);} return 0; }\n")
    subprocess.run(["gcc", "-o", str(tmp_path / "vforks"), str(source)], check=True)
    process = subprocess.Popen([str(tmp_path / "vforks")], start_new_session=True)
    until(lambda: os_state(process.pid), lambda state: state == "D 0")
    dump = ask("native", process.pid, DeepSource(pyspy=script(tmp_path, "echo touched")))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert dump.text == ""
    assert dump.error is not None and "uninterruptible sleep" in dump.error


def test_each_request_is_served_once_and_others_not_at_all(job: int, tmp_path: Path) -> None:
    source = DeepSource(pyspy=script(tmp_path, f"echo x >> {tmp_path}/calls; echo stack"))
    found: list[DeepDump] = []

    def read() -> int:
        found.extend(source.read().dumps)
        return len(found)

    def wants(number: int, kind: RequestKind) -> None:
        source.set_plan(SamplingPlan(request=Request(number=number, kind=kind, pid=job)))

    source.set_plan(SamplingPlan())
    wants(1, "native")
    wants(1, "native")
    assert until(read, lambda count: count == 1) == 1
    wants(2, "flight-pipe")
    wants(1, "native")
    wants(3, "native")
    assert until(read, lambda count: count == 2) == 2
    time.sleep(0.1)
    assert read() == 2
    source.close()
    assert [dump.request for dump in found] == [1, 3]
    assert len((tmp_path / "calls").read_text().split()) == 2


_HOLDS = """
import ctypes, os, sys, time
held, pid = sys.argv[1], int(sys.argv[-1])
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(16, pid, None, None) == 0, ctypes.get_errno()
os.waitpid(pid, 0)
state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
open(held + ".new", "w").write(state)
os.rename(held + ".new", held)
time.sleep(1000)
"""


def script(folder: Path, body: str) -> list[str]:
    path = folder / "tool"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return [str(path)]
