"""What happens to hwtop itself: it is interrupted, terminated, or short of what a machine gives."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hwtop import cli
from hwtop.feed.address_space import NEEDED_BYTES
from tests.stack_jobs import QUEUE_JOB, children, running, until


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_an_interrupt_while_it_is_imported_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(100)\n")
    command, env = [sys.executable, "-m", "hwtop", "symptoms"], {**os.environ, "PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode in (-signal.SIGINT, 130)
    assert "Traceback" not in said


def test_an_ignored_interrupt_stays_ignored() -> None:
    shell = f'trap "" INT HUP TERM; echo ready; exec "{sys.executable}" -m hwtop symptoms'
    with subprocess.Popen(["sh", "-c", shell], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            process.send_signal(number)
        assert process.stdout.read() != ""
    assert process.returncode == 0


@pytest.mark.real
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_no_child_outlives_hwtop(number: signal.Signals) -> None:
    """py-spy is held, so that it cannot end by itself."""
    with running(QUEUE_JOB, "fork") as job:
        command = [sys.executable, "-m", "hwtop", "diagnose", str(job), "--for", "10m"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            spies = until(lambda: _recording(process.pid), bool)
            os.kill(spies[0], signal.SIGSTOP)
            process.send_signal(number)
            _, error = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "Traceback" not in error
    assert until(lambda: _is_alive(spies[0]), lambda is_alive: not is_alive) is False


def _recording(pid: int) -> list[int]:
    found = []
    for child in children(pid):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"record" in command:
            found.append(child)
    return found


@pytest.mark.parametrize("command", [("diagnose", "--for", "1s"), ("snapshot",)])
def test_too_little_address_space_is_one_line(command: tuple[str, ...]) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (NEEDED_BYTES // 2, NEEDED_BYTES // 2))

    done = subprocess.run(
        [sys.executable, "-m", "hwtop", *command, "-p", str(os.getpid())],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=limited,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "hwtop: the limit on address space is 0.81 GB, and watching reserves up to 1.6 GB (uses 0.1 GB): "
        "ulimit -v 1572864, or unlimited\n"
    )


@pytest.mark.parametrize(
    ("error", "words"),
    [(RuntimeError("can't start new thread"), "no thread can be started: raise"), (MemoryError(), "no memory: ")],
)
def test_what_the_machine_refuses_is_no_internal_error(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(**_: object) -> None:
        raise error

    monkeypatch.setattr(cli.cli, "main", refuse)
    with pytest.raises(SystemExit) as left:
        cli.main([])
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith(f"hwtop: {words}")


@pytest.mark.parametrize("standard_error", ["2>&-", "2>/dev/full"])
def test_an_error_that_cannot_be_printed_keeps_its_exit_code(standard_error: str) -> None:
    command = f'"{sys.executable}" -m hwtop explain no-such-symptom {standard_error}'
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    assert subprocess.run(["sh", "-c", command], check=False, env=buffered).returncode == 2
