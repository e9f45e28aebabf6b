from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hwtop.collectors.process.sudo import Sudo, is_roots
from hwtop.collectors.stacks.attach import Ladder
from hwtop.collectors.stacks.pyspy import DumpResult, PySpy, find_pyspy
from hwtop.collectors.stacks.server_look import ServerLook
from hwtop.collectors.stacks.source import StackSource
from hwtop.model.plan import Request, SamplingPlan
from hwtop.model.stack import StackDump
from tests.interpreters import interpreters
from tests.served_jobs import Served, served
from tests.stack_jobs import QUEUE_JOB, os_state, running, until

pytestmark = pytest.mark.real

DENIES = "Permission Denied: Try running again with elevated permissions by going 'sudo env \"PATH=$PATH\" !!'"


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("sockets"), "unix", "tcp", "locked", "closed") as found:
        yield found


@pytest.fixture
def denied(tmp_path: Path) -> list[str]:
    """A py-spy that only root may use: the real one where `sudo` has left its mark. Counts its calls."""
    return _script(
        tmp_path / "py-spy",
        f'echo x >> {tmp_path}/looks\n[ -n "$BY_SUDO" ] && exec {find_pyspy()} "$@"\necho "{_quoted(DENIES)}" >&2\nexit 1\n',
    )


def sudo(folder: Path, *, lets: bool) -> Sudo:
    """A sudo that asks for no password, or for one. Counts how often it was asked whether it would."""
    refuses = '\necho "sudo: a password is required" >&2\nexit 1\n'
    body = f'[ "$1" = true ] && echo x >> {folder}/asked\n' + ('BY_SUDO=1 exec "$@"\n' if lets else refuses)
    return Sudo(_script(folder / "sudo", body), is_allowed=True)


def names(dump: StackDump) -> list[str]:
    return [frame.name for frame in dump.threads[0].frames] if dump.threads else []


def test_py_spy_comes_first_for_it_only_reads(jobs: Served) -> None:
    look = Ladder().look(jobs["unix"])
    assert (look.dump.via, look.dump.refusals) == ("py-spy", ())
    assert names(look.dump) == ["train_step", "loop", "<module>"]


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_where_py_spy_is_denied_the_debug_server_answers(
    jobs: Served, denied: list[str], tmp_path: Path, kind: str
) -> None:
    dump = Ladder(denied, sudo=sudo(tmp_path, lets=False)).look(jobs[kind]).dump
    assert (dump.error, dump.via) == (None, "debug-server")
    assert names(dump) == ["train_step", "loop", "<module>"]
    assert (dump.threads[0].name, dump.threads[0].os_thread_id) == ("MainThread", jobs[kind])
    assert not dump.threads[0].is_active
    assert "train_step" in [frame.name for thread in dump.threads[1:] for frame in thread.frames]
    assert [refusal.rung for refusal in dump.refusals] == ["py-spy", "sudo"]
    assert "no permission to read the memory of the process" in dump.refusals[0].reason
    assert dump.refusals[1].reason == "a password is required"
    assert all(refusal.advice for refusal in dump.refusals)


def test_as_root_py_spy_tells_more_than_the_server(jobs: Served, denied: list[str], tmp_path: Path) -> None:
    dump = Ladder(denied, sudo=sudo(tmp_path, lets=True)).look(jobs["unix"]).dump
    assert (dump.error, dump.via) == (None, "sudo")
    assert names(dump) == ["train_step", "loop", "<module>"]
    assert [refusal.rung for refusal in dump.refusals] == ["py-spy"]


def test_sudo_is_asked_once_and_the_rung_that_held_is_kept(jobs: Served, denied: list[str], tmp_path: Path) -> None:
    now = [0.0]
    ladder = Ladder(denied, sudo=sudo(tmp_path, lets=False), now=lambda: now[0])
    looks = [ladder.look(jobs["unix"]) for _ in range(5)]
    assert {look.dump.via for look in looks} == {"debug-server"}
    assert len({look.dump.refusals for look in looks}) == 1
    assert len((tmp_path / "looks").read_text().split()) == 1
    now[0] = 61.0
    ladder.look(jobs["unix"])
    assert len((tmp_path / "looks").read_text().split()) == 2
    assert len((tmp_path / "asked").read_text().split()) == 1


def test_sudo_is_never_run_without_consent(jobs: Served, denied: list[str], tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    silent = Sudo(_script(tmp_path / "sudo", f"echo x >> {asked}\n"))
    ladder = Ladder(denied, sudo=silent)
    refusals = {refusal.rung: refusal for _ in range(3) for refusal in ladder.look(jobs["unix"]).dump.refusals}
    assert not asked.exists()
    assert refusals["sudo"].reason == "not used without --sudo"


def test_after_consent_on_the_screen_refused_processes_are_tried_again_as_root(
    jobs: Served, denied: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hwtop.collectors.process.sudo._is_allowed", threading.Event())
    silent = Sudo(_script(tmp_path / "sudo", 'BY_SUDO=1 exec "$@"\n'))
    source = StackSource(command=denied, sudo=silent, has_windows=False, budget_pct=1000.0)

    def next_dump(request: Request | None, via: str) -> StackDump:
        """A look that was under way may be delivered first."""
        source.set_plan(SamplingPlan(stack_pids=(jobs["closed"],), request=request))
        return until(lambda: [dump for dump in source.read().dumps if dump.via == via], bool)[0]

    other = Request(number=1, kind="flight-pipe", pid=jobs["closed"])
    assert [refusal.rung for refusal in next_dump(other, "debug-server").refusals if refusal.needs_consent] == ["sudo"]
    dump = next_dump(Request(number=2, kind="sudo", pid=jobs["closed"]), "sudo")
    source.close()
    assert (dump.via, dump.error) == ("sudo", None)


def test_a_rule_for_other_commands_is_asked_once(jobs: Served, denied: list[str], tmp_path: Path) -> None:
    """sudo runs `true` without a password, but not py-spy."""
    asked = tmp_path / "asked"
    body = f'[ "$1" = true ] && exit 0\necho x >> {asked}\necho "sudo: a password is required" >&2\nexit 1\n'
    now = [0.0]
    ladder = Ladder(denied, sudo=Sudo(_script(tmp_path / "sudo", body), is_allowed=True), now=lambda: now[0])
    for now[0] in (0.0, 61.0, 122.0):
        assert ladder.look(jobs["unix"]).dump.via == "debug-server"
    assert len(asked.read_text().split()) == 1


def test_root_runs_only_what_nobody_else_can_change(tmp_path: Path) -> None:
    mine = tmp_path / "py-spy"
    mine.touch(mode=0o755)
    (tmp_path / "link").symlink_to("/usr/bin/env")
    assert is_roots("/usr/bin/env") and is_roots(str(tmp_path / "link"))
    assert not is_roots(str(mine)), "its folder is below /tmp, where everybody may write"
    assert not is_roots(str(tmp_path / "absent"))


def test_with_every_rung_refused_each_reason_is_kept(denied: list[str], tmp_path: Path) -> None:
    with running(QUEUE_JOB, "fork") as pid:
        look = Ladder(denied, sudo=sudo(tmp_path, lets=False)).look(pid)
    assert look.is_lasting
    assert look.dump.error is not None and f"memory of pid {pid}" in look.dump.error
    assert [refusal.rung for refusal in look.dump.refusals] == ["py-spy", "sudo", "debug-server"]
    assert not any(str(pid) in refusal.reason for refusal in look.dump.refusals)
    assert "worker_main()" in look.dump.refusals[2].advice


def test_rights_are_not_asked_for_where_they_would_not_help(jobs: Served, tmp_path: Path) -> None:
    unknown = _script(tmp_path / "py-spy", "echo 'Error: Unsupported version of Python: 3.16.0' >&2\nexit 1\n")
    dump = Ladder(unknown, sudo=sudo(tmp_path, lets=True)).look(jobs["unix"]).dump
    assert dump.via == "debug-server"
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    "error", ["Error: Failed to find python version from target process", "Error: Bad address (os error 14)"]
)
def test_no_rung_is_tried_for_what_none_can_mend(tmp_path: Path, error: str) -> None:
    sleeper = subprocess.Popen(["sleep", "1000"])
    spy = _script(tmp_path / "py-spy", f"echo '{error}' >&2\nexit 1\n")
    dump = Ladder(spy, sudo=sudo(tmp_path, lets=True)).look(sleeper.pid).dump
    sleeper.kill()
    sleeper.wait()
    assert dump.error is not None
    assert dump.refusals == ()
    assert not (tmp_path / "asked").exists()


def test_a_server_that_waits_for_the_interpreter_lock_is_asked_once(jobs: Served) -> None:
    now = [0.0]
    look = ServerLook(deadline_s=0.5, now=lambda: now[0])
    pid = jobs["locked"]

    def reason() -> str:
        return str(look.look(pid).dump.error)

    first = until(reason, lambda text: "did not answer" in text)
    assert "did not answer within 0.5 s" in first
    assert "did not answer before" in reason()
    now[0] = 301.0
    assert "did not answer within 0.5 s" in reason()


def test_without_rights_every_rung_says_why(jobs: Served) -> None:
    """As in a container without SYS_PTRACE."""
    reported = subprocess.run(
        [*_without_rights(), sys.executable, "-c", _LOOK, str(jobs["closed"])],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert "no permission to read the memory" in reported[0]
    assert any(line.startswith("py-spy: no permission") for line in reported)
    assert any(line.startswith("debug-server: ") and "may not be read" in line for line in reported)


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_py_spy_reads_targets_of_every_python_here(version: str) -> None:
    with _target(interpreters()[version]) as pid:
        look = until(lambda: PySpy().look(pid), lambda look: "next_batch" in " ".join(names(look.dump)))
        assert look.dump.error is None
        assert [name.rsplit(".", 1)[-1] for name in names(look.dump)][-1] == "<module>"
        assert {thread.name for thread in look.dump.threads} == {"MainThread", "heartbeat"}
        assert os_state(pid).endswith(" 0") and os_state(pid)[0] in "RSD"
        assert _told_version(look) in (version, None)


_LOOK = """
import sys
from hwtop.collectors.stacks.attach import Ladder
dump = Ladder().look(int(sys.argv[1])).dump
print(dump.error)
for refusal in dump.refusals:
    print(f"{refusal.rung}: {refusal.reason}")
"""


def _told_version(look: DumpResult) -> str | None:
    """Of Python's own files on the stack, where there are any."""
    for thread in look.dump.threads:
        for frame in thread.frames:
            if "/python3." in frame.filename:
                return frame.filename.split("/python", 1)[1].split("/", 1)[0]
    return None


@contextlib.contextmanager
def _target(python: str) -> Iterator[int]:
    process = subprocess.Popen(
        [python, str(QUEUE_JOB), "fork"],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _without_rights() -> list[str]:
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


def _script(path: Path, body: str) -> list[str]:
    path.write_text(f"#!/bin/sh\n{body}")
    path.chmod(0o755)
    return [str(path)]


def _quoted(text: str) -> str:
    return text.replace('"', '\\"').replace("$", "\\$")


def test_pyspy_of_a_zipapp_is_found_beside_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info, binary = tmp_path / "py_spy-0.4.3.dist-info", tmp_path / "bin" / "py-spy"
    for folder in (info, binary.parent):
        folder.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: py-spy\nVersion: 0.4.3\n")
    binary.write_text("")
    binary.chmod(0o755)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.setattr("sys.executable", "/opt/nowhere/python")
    monkeypatch.setenv("PATH", "/opt/nowhere")
    assert find_pyspy() == str(binary)
    binary.chmod(0o644)
    assert find_pyspy() is None
