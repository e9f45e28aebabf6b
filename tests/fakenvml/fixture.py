"""Fixtures: the fake NVML, built once a session, and a live scenario that a test changes while something reads it."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import msgspec
import pytest

from hwtop.model.gpu.device import Gpu, GpuReading

HERE = Path(__file__).parent
PIDS = {f"rank{rank}": 4100 + rank for rank in range(8)} | {"xorg": 4200}
"""What "@rank0" and so on stand for in the scenarios."""


GUARD_S = 60.0
"""Upper bound for what must not hang, generous because the machine may be busy."""


def are_ok(gpus: tuple[Gpu, ...]) -> bool:
    return all(gpu.status == "ok" for gpu in gpus)


def unexplained(gpu: Gpu) -> set[str]:
    """Fields that are None without a reason, but for those where None is an answer."""
    may_be_none = {"reason", "recovery_action", "unlisted_bytes", "node", "local_index"}
    return {field for field in gpu.__struct_fields__ if getattr(gpu, field) is None} - may_be_none - gpu.missing.keys()


class Answer(msgspec.Struct, frozen=True):
    """What `probe.py` says to one command."""

    took_s: float
    reading: GpuReading | None = None
    reason: str | None = None


class GpuProbe:
    """hwtop's GPU source in a process of its own, with its own NVML and a clock that can be moved on."""

    def __init__(self, env: dict[str, str], deadline_s: float, only: tuple[int, ...]) -> None:
        command = [sys.executable, "-m", "tests.fakenvml.probe", str(deadline_s), *map(str, only)]
        self.process = subprocess.Popen(
            command, cwd=HERE.parent.parent, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def say(self, command: str) -> Answer:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return msgspec.json.decode(self.process.stdout.readline(), type=Answer)

    def read(self) -> tuple[Gpu, ...]:
        answer = self.say("read")
        assert answer.reading is not None, answer.reason
        return answer.reading.gpus

    def read_until(self, is_so: Callable[[tuple[Gpu, ...]], bool]) -> tuple[Gpu, ...]:
        """The first reading that is so. While the driver is not ready yet there is none."""
        end_s = time.monotonic() + GUARD_S
        while True:
            answer = self.say("read")
            if answer.reading is not None and is_so(answer.reading.gpus):
                return answer.reading.gpus
            assert time.monotonic() < end_s, answer
            time.sleep(0.02)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class FakeNvml:
    """A live scenario. `env` makes a new process load the fake library and follow the scenario."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._live = folder / "live.scn"
        pids = folder / "pids"
        pids.write_text("".join(f"{name} {pid}\n" for name, pid in PIDS.items()))
        self._probes: list[GpuProbe] = []
        self.env = {
            **os.environ,
            "LD_LIBRARY_PATH": str(library),
            "FAKENVML_SCENARIO": str(self._live),
            "FAKENVML_PIDS": str(pids),
            "FAKENVML_TRACE": str(folder / "trace"),
        }

    def load(self, scenario: str) -> None:
        """Start over with one of scenarios/."""
        self._control("load", scenario)

    def set(self, gpu: int | str, **values: object) -> None:
        """Change keys of a GPU, "0-3", "all" or "system"."""
        self._control("set", str(gpu), *(f"{key}={value}" for key, value in values.items()))

    def fail(self, gpu: int | str, functions: str, error: str) -> None:
        """Let functions (a glob) return an error."""
        self._control("fail", str(gpu), functions, error)

    def sleep(self, gpu: int | str, functions: str, milliseconds: int | str) -> None:
        """Let functions (a glob) take so long, or "hang"."""
        self._control("sleep", str(gpu), functions, str(milliseconds))

    def xid(self, gpu: int, code: int) -> None:
        """Fire an Xid event."""
        self._control("xid", str(gpu), str(code))

    def undo(self) -> None:
        """Drop every change since `load`."""
        self._control("undo")

    def trace(self) -> list[tuple[str, int]]:
        """Function and GPU of each call so far, calls that have not returned included; GPU -1 where a call concerns none."""
        trace = Path(self.env["FAKENVML_TRACE"])
        words = (line.split() for line in (trace.read_text().splitlines() if trace.exists() else []))
        return [(function, int(gpu)) for _, _, function, gpu in words]

    def calls(self, function: str, gpu: int) -> int:
        """How often a function was called for a GPU so far, calls that have not returned included."""
        return self.trace().count((function, gpu))

    def probe(self, *only: int, deadline_s: float = 5.0) -> GpuProbe:
        """hwtop's GPU source in a new process. The deadline is generous unless it is what a test is about."""
        probe = GpuProbe(self.env, deadline_s, only)
        self._probes.append(probe)
        return probe

    def close(self) -> None:
        for probe in self._probes:
            probe.close()

    def _control(self, *words: str) -> None:
        with mock.patch.object(sys, "argv", ["fakectl", str(self._live), *words]):
            runpy.run_path(str(HERE / "fakectl"))


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the fake libnvidia-ml.so.1; its subfolders have that of an `old` and a `new` driver."""
    folder = tmp_path_factory.mktemp("fakenvml")
    subprocess.run(
        ["make", "-s", "-j3", "-C", str(HERE), f"DIR={folder}", "all", "old", "new"], check=True, capture_output=True
    )
    return folder


@pytest.fixture
def fake_nvml(nvml_library: Path, tmp_path: Path) -> Iterator[FakeNvml]:
    """A fake NVML with a scenario of this test's own, at first eight training H100."""
    fake = FakeNvml(nvml_library, tmp_path)
    fake.load("h100x8-train")
    yield fake
    fake.close()


@pytest.fixture
def old_nvml(nvml_library: Path, tmp_path: Path) -> Iterator[FakeNvml]:
    """The same with the library of a driver before 450, which lacks many functions."""
    fake = FakeNvml(nvml_library / "old", tmp_path)
    fake.load("h100x8-train")
    yield fake
    fake.close()


@pytest.fixture
def new_nvml(nvml_library: Path, tmp_path: Path) -> Iterator[FakeNvml]:
    """The same with a library that lacks what CUDA 14 is to lack."""
    fake = FakeNvml(nvml_library / "new", tmp_path)
    fake.load("h100x8-train")
    yield fake
    fake.close()
