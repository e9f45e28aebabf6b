"""One real job with what `hwtop diagnose` must find on it, and how it is started and watched."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from tests.diagnosis.devices import mirrored
from tests.fakenvml.fixture import FakeNvml
from tests.training import TrainingJob, job_file, start_python, start_torchrun

LIGHT, BUSY, HEAVY = 0.125, 1.0, 2.0
"""Cores that a job keeps busy: it mostly sleeps, it computes in one process, it computes on all ranks."""
_SLACK_S = 60
_FAKECTL = Lock()
"""It is run within this process, and reads its arguments from `sys.argv`."""


@dataclass(frozen=True, eq=False)
class Case:
    """A job of one file (`tests.training.job_file`), and what the card on top must say of it."""

    script: str
    symptom: str | None
    """None: a healthy job, on which nothing of warning or above may be found."""
    ranks: tuple[int, ...] | None = None
    """Culprits; None where all ranks or any may be named."""
    telling: tuple[str, ...] = ()
    """What the card must hold: what is wrong, where the culprit stands, where the others wait."""
    ready: str = r"(?i)(?:step|iter)\W{1,12}5\b"
    """The line after which hwtop is started; empty: at once."""
    seconds: int = 20
    """How long hwtop watches. Where it has not found the fault it may look once more, twice as long: a loaded machine is slow."""
    launch: str = "torchrun"
    """ "python": one process, or the script starts its ranks. "node": torchrun of one node of two. "alone": one rank of two.
    "one file": torchrun, all ranks in one log."""
    nproc: int = 2
    env: Mapping[str, str] = field(default_factory=dict)
    gpu: Mapping[str, object] = field(default_factory=dict)
    """Where the job is to have a GPU: what the fake driver says of it."""
    has_device: bool = False
    """The ranks work on pretended devices (tests/jobs/pretend_device.py): the fake driver tells how busy those are."""
    also: tuple[str, ...] = ()
    """Symptoms that are true of the job too, in the eyes of the detection matrix: they may stand below the expected one."""
    meanwhile: Callable[[TrainingJob], None] | None = None
    """What happens to the job while hwtop watches; it cannot be looked at twice then."""
    or_above: str | None = None
    """May be on top instead, with `symptom` as what follows from it."""
    cores: float = LIGHT

    @property
    def name(self) -> str:
        """Unlike all others."""
        how = self.meanwhile.__name__ if self.meanwhile else self.launch
        return f"{self.script}-{how}"


@dataclass(frozen=True)
class Watched:
    """What hwtop said, and what the job wrote."""

    report: dict[str, Any]
    code: int
    logs: str
    recording: Path
    """What hwtop read."""

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Most important first, without that others use the machine: the jobs of other tests do."""
        return own_findings(self.report)

    @property
    def serious(self) -> list[str]:
        """The symptoms of warning and above."""
        return [each["symptom"] for each in self.findings if each["severity"] != "info"]

    def __str__(self) -> str:
        """For a person who must find out why a test failed."""
        return json.dumps(self.findings, indent=1, ensure_ascii=False) + "\n" + self.logs


def watch(case: Case, folder: Path, library: Path, on_ready: Callable[[], None]) -> Watched:
    """Start the job, let hwtop look at it, end it. `library` is the fake NVML; `on_ready` is called when the job has started."""
    with start(case, folder) as job:
        if case.ready:
            job.wait_for_line(case.ready)
        on_ready()
        pid = next(iter(job.rank_pids().values()), job.launcher_pid)
        with environment(case, job, library) as env:
            watched = look(job, pid, case.seconds, env, case.meanwhile)
            if case.symptom is not None and case.meanwhile is None and why_wrong(case, watched) is not None:
                watched = look(job, pid, 2 * case.seconds, env)
            return watched


def look(
    job: TrainingJob,
    pid: int,
    seconds: int,
    env: Mapping[str, str],
    meanwhile: Callable[[TrainingJob], None] | None = None,
) -> Watched:
    """What `hwtop diagnose` says of a job that runs."""
    recording = job.folder / f"{seconds}s.hwtop"
    command = [
        sys.executable,
        "-m",
        "hwtop",
        "diagnose",
        str(pid),
        "--for",
        f"{seconds}s",
        "--json",
        "--record",
        str(recording),
    ]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as hwtop:
        if meanwhile is not None:
            meanwhile(job)
        out, err = hwtop.communicate(timeout=seconds + _SLACK_S)
    assert (hwtop.returncode in (0, 1), err) == (True, ""), err
    report = json.loads(out)
    return Watched(report, own_code(report, hwtop.returncode), job.text()[-2000:], recording)


def own_findings(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of the report of a `diagnose`, without that others use the machine."""
    return [each for each in report["findings"] if each["symptom"] != "machine-shared"]


def own_code(report: Mapping[str, Any], code: int) -> int:
    """The exit code without that: several jobs run at a time."""
    found = own_findings(report)
    return code if len(found) == len(report["findings"]) else int(any(each["severity"] != "info" for each in found))


def why_wrong(case: Case, watched: Watched) -> str | None:
    """What the card on top lacks; None: it is right."""
    if case.symptom is None:
        return f"a healthy job: {watched.serious}" if watched.serious or watched.code else None
    if not watched.findings or watched.code != 1:
        return f"nothing found, exit code {watched.code}"
    first = watched.findings[0]
    is_above = first["symptom"] == case.or_above and any(
        line.startswith(f"{case.symptom}: ") for line in first["folded"]
    )
    if first["severity"] == "info" or not (first["symptom"] == case.symptom or is_above):
        return f"{first['severity']} {first['symptom']} is on top"
    if case.ranks is not None and tuple(first["ranks"]) != case.ranks:
        return f"it blames {first['ranks']}"
    if not first["evidence"] or not first["next_steps"]:
        return "no evidence or next steps"
    card = json.dumps(first, ensure_ascii=False)
    missing = [text for text in case.telling if text not in card]
    return f"the card does not say {missing}" if missing else None


def start(case: Case, folder: Path) -> TrainingJob:
    """The job in `folder`."""
    script, port = job_file(case.script), _free_port()
    if case.launch == "python":
        return start_python(script, folder, env=case.env)
    if case.launch == "alone":
        env = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        return start_python(script, folder, logs="launcher.log", env=env)
    if case.launch == "node":
        meeting = ["--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1", "--master-port", str(port)]
        command = [sys.executable, "-m", "torch.distributed.run", *meeting, "--nproc-per-node", "1", str(script)]
        return TrainingJob(command, folder, {}, "launcher.log")
    return start_torchrun(script, folder, nproc=case.nproc, is_redirected=case.launch == "torchrun", env=dict(case.env))


@contextmanager
def environment(case: Case, job: TrainingJob, library: Path) -> Iterator[Mapping[str, str]]:
    """In which hwtop sees the GPUs that the job is to have, as long as the context is open."""
    if not case.gpu and not case.has_device:
        yield os.environ
        return
    with _FAKECTL:
        fake = FakeNvml(library, job.folder)
        fake.load("h100x8-train")
        pids = job.rank_pids() or {0: job.launcher_pid}
        Path(fake.env["FAKENVML_PIDS"]).write_text("".join(f"rank{rank} {pid}\n" for rank, pid in pids.items()))
        if case.gpu:
            fake.set(0, **case.gpu)
    with mirrored(job.folder, Path(fake.env["FAKENVML_SCENARIO"])) if case.has_device else nullcontext():
        yield fake.env


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
