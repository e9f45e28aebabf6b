"""`hwtop web` as a process, on a job of one process."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

DEADLINE_S = 60.0


@dataclass(frozen=True)
class Served:
    """A running one."""

    process: subprocess.Popen[str]
    address: str

    @property
    def page(self) -> str:
        """Without the token."""
        return self.address.partition("?")[0]

    @property
    def host(self) -> str:
        return self.address.split("/")[2]

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(DEADLINE_S)


def hwtop(*args: str) -> list[str]:
    return [sys.executable, "-m", "hwtop", *args]


@contextlib.contextmanager
def job() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "while True: __import__('time').sleep(0.05)"]) as process:
        try:
            yield process.pid
        finally:
            process.kill()


@contextlib.contextmanager
def served(pid: int, *args: str, errors: IO[str] | None = None) -> Iterator[Served]:
    command = hwtop("web", str(pid), "--interval", "0.5s", *args)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            assert first.startswith("hwtop: http://")
            yield Served(process, first.removeprefix("hwtop: ").strip())
        finally:
            process.kill()
