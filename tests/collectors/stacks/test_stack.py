from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.stacks.attach import Ladder
from hwtop.collectors.stacks.pyspy import DumpResult, PySpy, is_whole, parse
from hwtop.collectors.stacks.pyspy_errors import Circumstance, circumstance, explain
from hwtop.collectors.stacks.source import StackSource, dump_all
from hwtop.model.plan import SamplingPlan
from hwtop.model.stack import StackDump, StackReading
from tests.stack_jobs import FOLDER, QUEUE_JOB, os_state, running, until

DENIED = "Permission Denied: Try running again with elevated permissions by going 'sudo env \"PATH=$PATH\" !!'\n"
NO_EXECUTABLE = "Error: Failed to get process executable name. Check that the process is running.\n\nCaused by:\n"
GONE = f"{NO_EXECUTABLE}    0: No such file or directory (os error 2)\n    1: No such file or directory (os error 2)\n"
NO_CAPABILITY = f"{NO_EXECUTABLE}    0: Permission denied (os error 13)\n    1: Permission denied (os error 13)\n"
DOCKER = (
    "Permission Denied\n\nIt looks like you are running in a docker container. Please make sure you started your "
    "container with the SYS_PTRACE capability. See https://github.com/benfred/py-spy#how-do-i-run-py-spy-in-docker for "
    "more details\n"
)
NOT_PYTHON = "Error: Failed to find python version from target process\n"
TORN = (
    "Error: Failed to get stack traces\n\nCaused by:\n    0: Failed to call get_stack_trace for thread 140188477766528\n"
    "    1: Failed to copy PyCodeObject\n    2: Bad address (os error 14)\n    3: Bad address (os error 14)\n"
)


def case(
    *,
    own: int = 1000,
    target: int | None = 1000,
    scope: int | None = None,
    container: bool = False,
    exe: str | None = "/usr/bin/python3.12",
) -> Circumstance:
    return Circumstance(
        pid=42,
        own_uid=own,
        target_uid=target,
        ptrace_scope=scope,
        in_container=container,
        exe=exe,
        pyspy="/opt/venv/bin/py-spy",
    )


@pytest.mark.parametrize(
    ("stderr", "situation", "error", "advice", "is_lasting"),
    [
        (DENIED, case(scope=1), "ptrace_scope is 1", "sudo setcap cap_sys_ptrace+ep /opt/venv/bin/py-spy", True),
        (DENIED, case(scope=1), "only a parent may attach", "sudo sysctl kernel.yama.ptrace_scope=0", True),
        (DENIED, case(scope=2), "only root may attach", 'sudo "$(command -v hwtop)" 42', True),
        (DENIED, case(target=0), "it belongs to uid 0", "as that user or as root", True),
        (DENIED, case(scope=0, container=True), "this container lacks SYS_PTRACE", "--cap-add SYS_PTRACE", True),
        (DENIED, case(scope=1, container=True), "ptrace_scope is 1", "on the host: sudo sysctl", True),
        (DOCKER, case(own=0, target=0, container=True), "root without CAP_SYS_PTRACE", "--cap-add SYS_PTRACE", True),
        (NO_CAPABILITY, case(own=0, target=0), "root without CAP_SYS_PTRACE", "securityContext", True),
        (NO_CAPABILITY, case(target=0), "it belongs to uid 0", "sudo", True),
        (GONE, case(target=None, exe=None), "no process 42", "grep NSpid /proc/42/status", True),
        (GONE, case(exe=None), "kernel thread or is ending", "process of the job", True),
        (GONE, case(), "cannot be found from here", "same container", True),
        (NOT_PYTHON, case(exe="/usr/bin/bash"), "pid 42 (bash) is not a Python process", "another language", True),
        (NOT_PYTHON, case(exe="/usr/bin/python3.12"), "does not know this Python", "pip install -U py-spy", True),
        (NOT_PYTHON, case(exe="/usr/bin/python3.13t"), "free-threaded", "pystack remote 42", True),
        (NOT_PYTHON, case(target=None), "no process 42", "NSpid", True),
        (
            "Error: Unsupported version of Python: 3.16.0\n",
            case(),
            "Python 3.16.0",
            "python3.16 -m profiling.sampling",
            True,
        ),
        (
            "error: Found argument '--json' which wasn't expected, or isn't valid in this context\n",
            case(),
            "py-spy does not know --json: it is too old",
            "py-spy>=0.4.2",
            True,
        ),
        ("error: unexpected argument '--nonblocking' found\n", case(), "does not know --nonblocking", "-U", True),
        ("Error: Unsupported version of Python: 3.2.1\n", case(), "Python 3.2.1", "pystack remote 42", True),
        (
            "Error: Failed to find a python interpreter in the .data section\n",
            case(),
            "no Python interpreter found",
            "pystack remote 42",
            True,
        ),
        (
            "Error: No python processes found in process 42 or any of its subprocesses\n",
            case(exe="/usr/bin/srun"),
            "(srun) is not a Python process",
            "another language",
            True,
        ),
        ("Error: Failed to suspend process\n", case(), "could not be suspended", "without suspending", False),
        ("This program requires root on OSX.\n", case(), "only root", "sudo", True),
        (TORN, case(), "moved while its stack was read", "tries again", False),
        (TORN, case(target=None), "no process 42", "NSpid", True),
        ("Error: No such file or directory (os error 2)\n", case(), "not there any more", "same container", True),
        ("Error: the moon is full\n", case(), "py-spy: the moon is full", "tries again", False),
        ("", case(), "without a word", "tries again", False),
    ],
)
def test_every_error_has_its_advice(
    stderr: str, situation: Circumstance, error: str, advice: str, is_lasting: bool
) -> None:
    reported = explain(stderr, situation)
    assert error in reported.error
    assert advice in reported.advice
    assert reported.is_lasting is is_lasting
    assert "\n" not in reported.error + reported.advice


def test_circumstance_is_read_from_the_machine(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    (proc / "42").mkdir(parents=True)
    (proc / "42" / "status").write_text("Name:\tpython\nUid:\t1000\t1001\t1000\t1000\n")
    (proc / "42" / "exe").symlink_to("/usr/bin/python3.12")
    (proc / "sys/kernel/yama").mkdir(parents=True)
    (proc / "sys/kernel/yama/ptrace_scope").write_text("2\n")
    (proc / "self").mkdir()
    (proc / "self" / "cgroup").write_text("0::/kubepods/besteffort/pod1\n")
    read = circumstance(42, "py-spy", str(proc), str(tmp_path))
    assert (read.target_uid, read.ptrace_scope, read.in_container) == (1001, 2, True)
    assert read.exe == "/usr/bin/python3.12"
    gone = circumstance(43, "py-spy", str(proc), str(tmp_path))
    assert gone.is_gone


@pytest.mark.parametrize(
    "name", ["queue_trainer_py310", "queue_trainer_py311", "queue_trainer_py312", "queue_trainer_py313"]
)
def test_the_main_thread_comes_first_on_every_python(name: str) -> None:
    threads = parse((FOLDER / f"{name}.json").read_bytes(), 0)
    assert [thread.name for thread in threads] == ["MainThread", "heartbeat"]
    assert threads[0].frames[-1].name == "<module>"
    assert is_whole(threads)


def test_without_names_the_main_thread_is_the_one_with_the_pid() -> None:
    threads = json.loads((FOLDER / "queue_trainer_py312.json").read_text())
    pid = threads[-1]["os_thread_id"]
    for thread in threads:
        thread["thread_name"] = None
    assert parse(json.dumps(threads).encode(), pid)[0].os_thread_id == pid


@pytest.mark.parametrize("name", ["queue_worker_py311", "spawned_worker_py313"])
def test_a_torn_stack_is_known(name: str) -> None:
    assert not is_whole(parse((FOLDER / f"{name}.json").read_bytes(), 0))


def fake_pyspy(folder: Path, body: str) -> list[str]:
    """A py-spy made of a few lines of Python; `calls` counts its starts in a file."""
    script = folder / "fake.py"
    script.write_text(
        f"import os, sys, time\nfolder = {str(folder)!r}\npid = sys.argv[-1]\n"
        "calls = len(os.listdir(folder))\nopen(os.path.join(folder, f'call-{calls}-{pid}'), 'w').close()\n" + body
    )
    return [sys.executable, "-S", "-E", str(script)]


def calls(folder: Path) -> int:
    return len(list(folder.glob("call-*")))


def good(name: str = "queue_trainer_py312") -> str:
    return f"sys.stdout.write(open({str(FOLDER / (name + '.json'))!r}).read())\n"


def test_a_torn_stack_is_looked_at_again_at_once(tmp_path: Path) -> None:
    spy = PySpy(fake_pyspy(tmp_path, f"if calls < 2:\n    {good('queue_worker_py311')}else:\n    {good()}"))
    look = spy.look(os.getpid())
    assert is_whole(look.dump.threads)
    assert calls(tmp_path) == 2


def test_a_race_is_tried_three_times_and_no_more(tmp_path: Path) -> None:
    look = PySpy(fake_pyspy(tmp_path, f"sys.exit({TORN!r})")).look(os.getpid())
    assert look.dump.error is not None and "moved while" in look.dump.error
    assert calls(tmp_path) == 3
    assert look.cpu_s > 0


def test_a_refusal_is_not_tried_again(tmp_path: Path) -> None:
    look = PySpy(fake_pyspy(tmp_path, f"sys.exit({NOT_PYTHON!r})")).look(os.getpid())
    assert look.is_lasting
    assert calls(tmp_path) == 1


def test_a_hung_pyspy_is_killed_at_its_deadline(tmp_path: Path) -> None:
    spy = PySpy(fake_pyspy(tmp_path, "time.sleep(1000)"), deadline_s=0.3)
    look = spy.look(os.getpid())
    assert look.dump.error is not None and "did not answer within 0.3 s" in look.dump.error
    (child,) = spy._children.abandoned
    assert until(child.poll, lambda code: code is not None) == -9


@pytest.mark.parametrize("body", ["print('[]')", "print('{')", "pass", "print('[{\"frames\": []}]')"])
def test_an_answer_without_a_stack_is_an_error_not_an_empty_stack(tmp_path: Path, body: str) -> None:
    look = PySpy(fake_pyspy(tmp_path, body)).look(os.getpid())
    assert look.dump.error and look.dump.advice
    assert look.dump.threads == () or not look.dump.threads[0].frames


def test_a_target_that_is_stopped_meanwhile_is_reported(tmp_path: Path) -> None:
    (tmp_path / "proc" / "42").mkdir(parents=True)
    status = tmp_path / "proc" / "42" / "status"
    status.write_text("State:\tS (sleeping)\nTracerPid:\t0\n")
    stat = tmp_path / "proc" / "42" / "stat"
    stat.write_text(f"42 (python) S {' '.join(['0'] * 49)}\n")
    (tmp_path / "bin").mkdir()
    stops = f"open({str(stat)!r}, 'w').write('42 (python) T {' '.join(['0'] * 49)}')\n{good()}"
    look = PySpy(fake_pyspy(tmp_path / "bin", stops), proc=str(tmp_path / "proc")).look(42)
    assert look.dump.error is not None and "was stopped" in look.dump.error
    assert look.dump.advice is not None and "kill -CONT 42" in look.dump.advice
    assert look.dump.threads


def test_no_pyspy_is_a_reason() -> None:
    reason = PySpy([]).probe()
    assert reason is not None and "pip install" in reason
    assert PySpy().probe() is None
    look = PySpy([]).look(os.getpid())
    assert look.dump.error is not None and "not installed" in look.dump.error


def test_a_binary_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    look = PySpy([str(tmp_path / "gone")]).look(os.getpid())
    assert look.dump.error is not None and "cannot be started" in look.dump.error


@pytest.fixture
def job() -> Iterator[int]:
    with running(QUEUE_JOB, "fork") as pid:
        yield pid


def test_a_real_process_is_looked_at_and_left_running(job: int) -> None:
    spy = PySpy()
    dump = until(lambda: spy.look(job).dump, lambda found: "next_batch" in _names(found))
    assert [name for name in _names(dump) if name in ("next_batch", "main")] == ["next_batch", "main"]
    assert {thread.name for thread in dump.threads} == {"MainThread", "heartbeat"}
    for _ in range(20):
        assert spy.look(job).dump.error is None
        assert os_state(job)[0] in "RSD" and os_state(job).endswith(" 0")


def test_real_refusals(job: int) -> None:
    sleeper = subprocess.Popen(["sleep", "1000"])
    look = PySpy().look(sleeper.pid)
    sleeper.kill()
    sleeper.wait()
    assert look.dump.error == f"pid {sleeper.pid} (sleep) is not a Python process"
    assert look.is_lasting
    gone = PySpy().look(sleeper.pid).dump
    assert gone.error is not None and gone.error.startswith(f"no process {sleeper.pid}")


@pytest.mark.real
def test_each_dump_is_handed_over_once_and_all_come_at_once(job: int) -> None:
    source = StackSource()
    source.set_plan(SamplingPlan(stack_pids=(job, os.getpid(), 2**22 + 1)))
    found: list[StackDump] = []

    def read() -> set[int]:
        found.extend(source.read().dumps)
        return {dump.pid for dump in found}

    assert until(read, lambda pids: len(pids) == 3) == {job, os.getpid(), 2**22 + 1}
    until(read, lambda _: len(found) > 4)
    source.close()
    assert len({(dump.pid, dump.at_s) for dump in found}) == len(found)
    assert [dump.error is None for dump in found if dump.pid == 2**22 + 1] == [False]


def test_a_hung_pyspy_holds_up_neither_the_read_nor_the_others(tmp_path: Path) -> None:
    source = StackSource(command=fake_pyspy(tmp_path, f"if pid == '7':\n    time.sleep(1000)\n{good()}"))
    source.set_plan(SamplingPlan(stack_pids=(7, 8, 9)))
    started = time.monotonic()
    first = source.read()
    waited = time.monotonic() - started
    found = [*first.dumps]
    until(lambda: found.extend(source.read().dumps), lambda _: len({dump.pid for dump in found}) == 2)
    source.close()
    assert {dump.pid for dump in found} == {8, 9}
    assert waited < 2.0  # the limit is 0.25 s; hung it would be 5


def test_a_look_that_raises_is_a_reason_and_not_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = iter([MemoryError()])
    look = Ladder.look

    def first_fails(ladder: Ladder, pid: int) -> DumpResult:
        for error in failing:
            raise error
        return look(ladder, pid)

    monkeypatch.setattr(Ladder, "look", first_fails)
    source = StackSource(command=fake_pyspy(tmp_path, good()), budget_pct=1000.0, has_windows=False)
    source.set_plan(SamplingPlan(stack_pids=(7,)))
    found: list[StackDump] = []
    until(lambda: found.extend(source.read().dumps), lambda _: len(found) >= 2)
    source.close()
    assert [dump.error for dump in found[:2]] == ["pid 7 could not be read: MemoryError: ", None]


def test_without_threads_looks_are_taken_one_after_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse_looks(thread: threading.Thread) -> None:
        if thread.name.startswith("hwtop-look"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse_looks)
    source = StackSource(command=fake_pyspy(tmp_path, good()), has_windows=False)
    source.set_plan(SamplingPlan(stack_pids=(7, 8)))
    found: list[StackDump] = []
    until(lambda: found.extend(source.read().dumps), lambda _: len({dump.pid for dump in found}) == 2)
    source.close()
    assert {dump.error for dump in found} == {None}


def test_a_new_aim_is_followed(job: int) -> None:
    source = StackSource()
    source.set_plan(SamplingPlan(stack_pids=(os.getpid(),)))
    source.read()
    source.set_plan(SamplingPlan(stack_pids=(job,)))
    found: list[StackDump] = []
    until(lambda: found.extend(source.read().dumps), lambda _: bool(found) and found[-1].pid == job)
    source.close()
    assert found[-1].pid == job


def test_a_reading_is_bounded_and_loses_nothing(tmp_path: Path) -> None:
    source = StackSource(command=fake_pyspy(tmp_path, good()), max_per_read=2, has_windows=False)
    source.set_plan(SamplingPlan(stack_pids=(1, 2, 3, 4, 5)))
    readings: list[tuple[StackDump, ...]] = []
    until(
        lambda: readings.append(source.read().dumps),
        lambda _: len({dump.pid for each in readings for dump in each}) == 5,
    )
    source.close()
    assert max(map(len, readings)) <= 2


@pytest.mark.real
def test_windows_come_with_their_dump_and_the_focus_is_told(job: int) -> None:
    source = StackSource()
    source.set_plan(SamplingPlan(stack_pids=(job,), focus_pid=job))
    readings: list[StackReading] = []
    until(lambda: readings.append(source.read()), lambda _: bool(readings[-1].profiles))
    source.close()
    (profile,), dumps = readings[-1].profiles, readings[-1].dumps
    assert (profile.pid, profile.error, readings[-1].focus_pid) == (job, None, job)
    assert profile.samples  # how many depends on what a look costs here
    assert [dump.pid for dump in dumps] == [job]
    assert profile.samples[-1].at_s <= dumps[0].at_s
    from_profile = {frame.filename: frame for frame in profile.samples[-1].frames}
    assert all(
        from_profile[frame.filename].short_filename == frame.short_filename
        for frame in dumps[0].threads[0].frames
        if frame.filename in from_profile
    )


def test_the_end_of_a_process_is_no_error() -> None:
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    source = StackSource(budget_pct=100.0, has_windows=False)
    source.set_plan(SamplingPlan(stack_pids=(sleeper.pid, os.getpid())))
    found: list[StackDump] = []
    until(
        lambda: found.extend(source.read().dumps),
        lambda _: any(dump.pid == sleeper.pid and dump.error is None for dump in found),
    )
    sleeper.kill()
    sleeper.wait()
    found.clear()
    own = os.getpid()
    until(lambda: found.extend(source.read().dumps), lambda _: sum(dump.pid == own for dump in found) >= 4)
    source.close()
    ended = [dump for dump in found if dump.pid == sleeper.pid]  # the last one may have been taken before the end
    assert len(ended) <= 1 and all(dump.error is None for dump in ended)


def test_nothing_to_look_at_is_an_empty_reading() -> None:
    source = StackSource()
    assert source.read().dumps == ()
    source.close()


def test_dump_all_gives_one_dump_each(job: int) -> None:
    dumps = dump_all([job, os.getpid()], ends_s=time.monotonic() + 30)
    assert sorted(dump.pid for dump in dumps) == sorted([job, os.getpid()])


def _names(dump: StackDump) -> list[str]:
    return [frame.name for frame in dump.threads[0].frames] if dump.threads else []
