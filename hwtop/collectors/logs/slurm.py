"""Log slurm: the file that srun or a batch script writes what slurmstepd reads from the ranks' pipes.

slurmstepd sends it to srun, which writes it into its own output or the file of `srun --output`; on a node without that srun
the controller reports the batch job's file (`scontrol show job`: StdOut, StdErr, with %j, %x, ... filled in already).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress

from hwtop.collectors.logs.pipe import pids_where, written_files
from hwtop.collectors.process.files import read_bytes

_STEP_TITLE = re.compile(rb"slurmstepd: \[(\d+)(?:\.(\w+))?\]")
_PATH = re.compile(r"\bStd(?:Out|Err)=(/.*?)(?= \w+=|\s*$)", re.MULTILINE)
_ANSWER_S = 5.0

Ask = Callable[[Sequence[str]], "str | None"]
"""Output of a command; None where it fails, is not installed or does not answer."""


def ask(command: Sequence[str]) -> str | None:
    """Run one of Slurm's commands; they wait much longer than this for a controller that is down."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def step_files(proc: str, stepd: int, ask: Ask = ask) -> tuple[str, ...]:
    """Files that hold what the tasks of slurmstepd `stepd` print; () where it is unknown. May block: see `ask`."""
    title = _STEP_TITLE.match(_read(f"{proc}/{stepd}/cmdline"))
    if title is None:
        return ()
    job = title[1].decode()
    sruns = pids_where(proc, lambda process: _is_srun_of(process, job))
    files = dict.fromkeys(path for pid in sruns for path in written_files(f"{proc}/{pid}"))
    if files:
        return tuple(files)
    reported = ask(["scontrol", "show", "job", "-o", job])
    paths = dict.fromkeys(_PATH.findall(reported or ""))
    return tuple(path for path in paths if path != "/dev/null" and os.path.exists(path))


def _is_srun_of(process: str, job: str) -> bool:
    if _read(f"{process}/comm").strip() != b"srun":
        return False
    return f"SLURM_JOB_ID={job}".encode() in _read(f"{process}/environ").split(b"\0")


def _read(path: str) -> bytes:
    with suppress(OSError):
        return read_bytes(path)
    return b""
