"""Machine: what checks read. Each reading is made once, when the first check asks for it, by the collectors of the monitor."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from pathlib import Path
from sys import executable
from typing import TypeVar

from hwtop.collectors.gpu.source import GpuSource
from hwtop.collectors.host.cgroup import CgroupSource
from hwtop.collectors.host.cpu import CpuSource
from hwtop.collectors.host.disk import DiskSource
from hwtop.collectors.host.memory import MemorySource
from hwtop.collectors.host.network import NetworkSource
from hwtop.collectors.kernel.source import KernelLogSource
from hwtop.collectors.process.detail import DetailSource
from hwtop.collectors.process.files import read_cmdline
from hwtop.collectors.sampler import Sampler
from hwtop.collectors.source import Source
from hwtop.derive.state import StateBuilder
from hwtop.job.whole_number import whole_number
from hwtop.model.frame import DerivedState
from hwtop.model.gpu.device import Gpu, GpuProcess
from hwtop.model.host.kernel import KernelLine
from hwtop.model.plan import SamplingPlan
from hwtop.model.process import ProcessDetail
from hwtop.model.snapshot import Snapshot
from hwtop.preflight.probe import STEP_S, FrameworkProbe
from hwtop.preflight.script.source import Script, planned_workers
from hwtop.symptoms.gpu.words import named_gpus
from hwtop.symptoms.gpu.zombie import GONE
from hwtop.symptoms.history import History

HELD_SHARE = 0.05
"""Of its memory: a GPU of which more is in use is not free. Engineering default."""
_READ_EVERY_S = 0.4
"""Between two readings: what NVML averages over, and the rates of the rules, need more than one."""
_READ_TIMES = 3
_READ_PATIENCE_S = 2.0
"""How long sources may take to answer for the first time."""
_WORKERS = 4
"""Loader workers to start where the script does not say how many. Engineering default."""
_LATE = "not answering"
"""In the reason of a source that is still out."""
T = TypeVar("T")


class NotReadError(Exception):
    """What a check needs cannot be read here; the message says why."""


class Machine:
    """This machine as a run would find it: with the environment and the limits of `pid`, or of hwtop itself."""

    def __init__(
        self,
        *,
        pid: int | None = None,
        env: Mapping[str, str] | None = None,
        proc: str = "/proc",
        sys: str = "/sys",
        python: str | None = None,
        script: Path | None = None,
        step_s: float = STEP_S,
        is_one_of_several: bool = False,
        snapshots: Sequence[Snapshot] | None = None,
    ) -> None:
        """`python` is the interpreter of the training, `script` its file; `step_s` is the deadline of each step of the framework.
        `is_one_of_several`: other nodes are checked for the same run.
        `env` replaces the environment, `snapshots` what the collectors read.
        """
        self.pid = os.getpid() if pid is None else pid
        self.is_job = pid is not None
        self.proc, self.sys = proc, sys
        self._python, self._script, self._step_s = python, script, step_s
        self._env = env
        self._is_one_of_several = is_one_of_several
        self._snapshots = snapshots

    @cached_property
    def env(self) -> Mapping[str, str]:
        """Environment of the run. Values of secrets are masked where it is that of another process."""
        if self._env is not None:
            return self._env
        if not self.is_job:
            return os.environ
        if self.detail.env is None:
            raise NotReadError(f"environment of PID {self.pid}: {self.detail.missing.get('env', 'not reported')}")
        return dict(self.detail.env)

    @property
    def has_several_nodes(self) -> bool:
        """Whether others are checked too, or the launcher says that the run has more than one."""
        if self._is_one_of_several:
            return True
        numbers = (self.env.get(name) for name in ("SLURM_NNODES", "NNODES", "GROUP_WORLD_SIZE"))
        return any((whole_number(number) or 1) > 1 for number in numbers)

    @cached_property
    def detail(self) -> ProcessDetail:
        """Environment and limits of the process."""
        source = DetailSource(self.proc)
        source.set_plan(SamplingPlan(detail_pid=self.pid))
        found = source.read()
        assert found is not None
        return found

    @cached_property
    def python(self) -> str:
        """The interpreter of the training: that of the process, else `python3` as the shell finds it.

        Raises:
            NotReadError: the process is not run by one that can be found.
        """
        if self._python is not None:
            return self._python
        if not self.is_job:
            return shutil.which("python3") or executable
        found = shutil.which(next(iter(self._cmdline), ""), path=self.env.get("PATH"))
        if found is None or not os.path.basename(found).startswith("python"):
            raise NotReadError(f"the interpreter of PID {self.pid} is not known: name it with --python PATH")
        if os.stat(f"{self.proc}/{self.pid}").st_uid != os.geteuid():  # what somebody else has installed is not run
            raise NotReadError(f"PID {self.pid} belongs to another user: name the interpreter with --python PATH")
        return found

    @cached_property
    def torch_version(self) -> tuple[int, ...] | None:
        """That of the installed torch, from the name of its metadata next to the interpreter; None where there is none."""
        try:
            folder = Path(self.python).parent.parent
        except NotReadError:
            return None
        found = sorted(folder.glob("lib/python3*/site-packages/torch-*.dist-info"))
        numbers = re.findall(r"\d+", found[-1].name.removeprefix("torch-")) if found else []
        return tuple(map(int, numbers[:2])) or None

    @cached_property
    def cores(self) -> frozenset[int]:
        """Numbers of the cores that the run may use; all of them where the operating system has no affinity."""
        if not hasattr(os, "sched_getaffinity"):
            return frozenset(range(os.cpu_count() or 1))
        return frozenset(os.sched_getaffinity(self.pid))

    @cached_property
    def taken(self) -> dict[int, tuple[GpuProcess, ...]]:
        """GPUs that somebody computes on -> who; nobody where the driver lists no processes, but much of the memory is in use."""
        found = {}
        for gpu in self.state.gpus:
            alive = tuple(each for each in gpu.processes or () if each.kind == "compute" and each.state not in GONE)
            is_held = gpu.processes is None and (gpu.mem_used_bytes or 0) > HELD_SHARE * (gpu.mem_total_bytes or 0)
            if alive or is_held:
                found[gpu.index] = alive
        return found

    @property
    def in_use(self) -> str | None:
        """Why nothing is computed here: it would slow down, or end, what runs."""
        if self.is_job:
            return "a job runs: nothing is computed or written meanwhile"
        return f"{named_gpus(self.taken)} in use: nothing is computed meanwhile" if self.taken else None

    @cached_property
    def script(self) -> Script:
        """The training script: the file that was given, else the one that the process was started with.

        Raises:
            NotReadError: there is none, or it is no Python.
        """
        path = self._script or self._script_of_process()
        try:
            return Script(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError) as error:
            raise NotReadError(f"{path}: {error}") from error

    @cached_property
    def framework(self) -> FrameworkProbe:
        """torch, tried by that interpreter."""
        try:
            planned = planned_workers(self.script)
        except NotReadError:
            planned = None
        workers = min(_WORKERS, len(self.cores)) if planned is None else planned
        return FrameworkProbe(self.python, workers, self._step_s, is_idle=self.in_use is None)

    def close(self) -> None:
        """End the child."""
        if "framework" in self.__dict__:
            self.framework.close()

    @cached_property
    def snapshots(self) -> Sequence[Snapshot]:
        """A few readings of everything, oldest first. A source that does not answer costs its own part."""
        if self._snapshots is not None:
            return self._snapshots
        sampler = Sampler(self._sources(), host=os.uname().nodename, interval_s=_READ_EVERY_S)
        try:
            return tuple(_sampled(sampler))
        finally:
            sampler.close()

    @cached_property
    def history(self) -> History:
        """What rules of symptoms are asked with."""
        builder = StateBuilder()
        return History([builder.advance(snapshot) for snapshot in self.snapshots])

    @property
    def state(self) -> DerivedState:
        """Everything as it is now."""
        return self.history.now

    def unavailable(self, source: str) -> str | None:
        """Why a source cannot be read; None where it can."""
        return next((each.reason for each in self.state.sources if each.name == source and each.status != "ok"), None)

    def given(self, source: str, reading: T | None) -> T:
        """`reading`, which is of this source.

        Raises:
            NotReadError: there is none.
        """
        if reading is None:
            raise NotReadError(self.unavailable(source) or f"{source} not reported")
        return reading

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """Those that answer.

        Raises:
            NotReadError: none does.
        """
        answering = tuple(gpu for gpu in self.state.gpus if gpu.status == "ok")
        if not answering:
            gone = [f"GPU {gpu.index}: {gpu.reason}" for gpu in self.state.gpus]
            raise NotReadError(self.unavailable("gpu") or "; ".join(gone) or "no GPU")
        return answering

    @property
    def kernel_lines(self) -> tuple[KernelLine, ...]:
        """Records of the kernel log that it still has.

        Raises:
            NotReadError: it may not be read.
        """
        readings = [snapshot.kernel for snapshot in self.snapshots if snapshot.kernel is not None]
        self.given("kernel", readings or None)
        return tuple(line for reading in readings for line in reading.lines)

    @cached_property
    def _cmdline(self) -> tuple[str, ...]:
        return read_cmdline(f"{self.proc}/{self.pid}")

    def _script_of_process(self) -> Path:
        name = next((word for word in self._cmdline if word.endswith(".py")), None) if self.is_job else None
        if name is None:
            raise NotReadError("no script given: --for SCRIPT")
        return Path(os.readlink(f"{self.proc}/{self.pid}/cwd"), name)

    def _sources(self) -> list[Source]:
        proc, sys = self.proc, self.sys
        return [
            CpuSource(proc=proc, sys=sys),
            MemorySource(proc=proc),
            DiskSource(proc=proc, sys=sys),
            NetworkSource(proc=proc, sys=sys),
            CgroupSource(pid=self.pid if self.is_job else None, proc=proc, sys=sys),
            KernelLogSource(proc=proc, sys=sys),
            GpuSource(sys_root=sys, proc_root=proc),
        ]


def _sampled(sampler: Sampler) -> Iterator[Snapshot]:
    """Readings until all sources have answered, or their time is over."""
    until_s = time.monotonic() + _READ_PATIENCE_S
    for number in count(1):
        snapshot = sampler.tick()
        yield snapshot
        is_late = any(_LATE in (each.reason or "") for each in snapshot.sources)
        if number >= _READ_TIMES and not (is_late and time.monotonic() < until_s):
            return
        time.sleep(_READ_EVERY_S)
