"""What may not be read, and what is no Python, is a blind entry with advice; the rest works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.conftest import Start

pytestmark = pytest.mark.real

IS_ROOT = os.geteuid() == 0
UNPRIVILEGED = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if IS_ROOT else []
"""root without capabilities is as powerless over the processes and files of others as any user, and can still read the
folders of root that this checkout may lie in."""
NOBODY = 65534
FOREIGN = f"import os, time; os.setgid({NOBODY}); os.setuid({NOBODY}); print(flush=True); time.sleep(1000)"


def diagnose(pid: int, *arguments: str) -> dict[str, Any]:
    command = [*UNPRIVILEGED, sys.executable, "-m", "hwtop", "diagnose", str(pid), "--for", "2s", "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    assert done.stderr == ""
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def reasons(diagnosis: dict[str, Any], source: str) -> list[str]:
    return [blind["reason"] for blind in diagnosis["blind"] if blind["source"].startswith(source)]


@pytest.fixture
def foreign_pid() -> Iterator[int]:
    """A Python process of another user; without root, the first process of the machine has to do."""
    if not IS_ROOT:
        yield 1
        return
    process = subprocess.Popen([sys.executable, "-c", FOREIGN], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    yield process.pid
    process.kill()
    process.communicate()


def test_process_of_another_user_is_watched_as_far_as_it_may_be(foreign_pid: int) -> None:
    found = diagnose(foreign_pid)
    assert found["target"]["pid"] == foreign_pid
    advice = " ".join(reasons(found, "stacks"))
    assert ("CAP_SYS_PTRACE" if IS_ROOT else "sudo") in advice, found["blind"]


def test_log_that_may_not_be_read(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "secret.log"
    secret.write_text("step 1/10 loss 1.0\n")
    secret.chmod(0)
    found = diagnose(start().launcher_pid, "--logs", str(secret))
    assert any("ermission" in reason or "not allowed" in reason for reason in reasons(found, f"log {secret}"))
    assert found["job"]["ranks"], "the rest works"


def test_scan_of_a_log_that_may_not_be_read_is_one_line(tmp_path: Path) -> None:
    secret = tmp_path / "secret.log"
    secret.write_text("Traceback\n")
    secret.chmod(0)
    command = [*UNPRIVILEGED, sys.executable, "-m", "hwtop", "scan", str(secret)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert str(secret) in done.stderr


def test_process_that_is_no_python_is_diagnosed_without_stacks() -> None:
    sleeper = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    try:
        found = diagnose(sleeper.pid)
    finally:
        sleeper.kill()
        sleeper.wait()
    assert found["target"]["pid"] == sleeper.pid
    assert any("no permission" in reason for reason in reasons(found, "stacks")), found["blind"]
    assert [rank["state"] for rank in found["job"]["ranks"]] == ["unknown"]
    assert found["findings"] == []
