"""`hwtop prepare`: the lines do what they say, and a running job is asked what it has on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from hwtop.cli import cli
from hwtop.job.flight.settings import dump_files, dump_pipe
from hwtop.job.launch.environment import kept
from hwtop.job.switches import switches
from hwtop.model.member import Member
from hwtop.model.process import ProcessInfo
from hwtop.report.prepare import block, on_text
from tests.preflight.kineto_daemon import KinetoDaemon

_TRAINING = """
import glob, sys, time
import torch
ends = time.monotonic() + 60
while time.monotonic() < ends and not glob.glob(sys.argv[1]):
    torch.randn(50, 50) @ torch.randn(50, 50)
"""
_REQUEST = (
    "ACTIVITIES_LOG_FILE={}\nPROFILE_START_TIME=0\nACTIVITIES_DURATION_MSECS=100\nACTIVITIES_WARMUP_PERIOD_SECS=0"
)


def bash(lines: str, **env: str) -> dict[str, str]:
    """The environment after these lines; nothing is printed on standard error."""
    command = ["bash", "-euc", f"{lines}\nenv -0"]
    done = subprocess.run(command, capture_output=True, check=True, env={"PATH": os.environ["PATH"], **env})
    assert done.stderr == b""
    return dict(pair.split("=", 1) for pair in done.stdout.decode().split("\0") if pair)


@pytest.mark.parametrize(("form", "folder"), [("bash", "dumps"), ("slurm", "dumps-4711")])
def test_lines_for_shells_switch_everything_on(form: str, folder: str, tmp_path: Path) -> None:
    lines = CliRunner().invoke(cli, ["prepare", f"--{form}"]).output
    env = bash(lines, HOME=str(tmp_path), SLURM_SUBMIT_DIR=str(tmp_path), SLURM_JOB_ID="4711")
    assert {name: switch.state(env) for name, switch in switches().items()} == {
        name: "off" if switch.is_optional else "on" for name, switch in switches().items()
    }
    dumps = tmp_path / folder
    assert dumps.is_dir()
    assert dump_files(env, 3, None) == (f"{dumps}/nccl_trace_rank_3",)
    assert dump_pipe(env, 3, None) == f"{dumps}/nccl_pipe_rank_3.pipe"


def test_every_switch_says_what_it_gives_costs_and_needs() -> None:
    text = " ".join(block("bash").replace("\n# ", " ").split())
    for switch in switches().values():
        assert f"{switch.title}, from {switch.since} on. Benefit: {switch.benefit}. Cost: {switch.cost}." in text


def test_lines_for_python_write_stacks_on_a_signal(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    ask = "import json\nprint(json.dumps(dict(os.environ)))\nos.kill(os.getpid(), signal.SIGUSR1)\n"
    script.write_text(block("python") + ask)
    env = {"HOME": str(tmp_path), "KINETO_USE_DAEMON": "0"}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, env=env)
    assert "(most recent call first)" in done.stderr
    found = json.loads(done.stdout)
    assert dump_files(found, 0, None) == (f"{tmp_path}/dumps/nccl_trace_rank_0",)
    assert found["KINETO_USE_DAEMON"] == "0"  # what the user has set stays


def test_a_job_is_asked_rank_by_rank() -> None:
    def process(pid: int, env: Mapping[str, str]) -> ProcessInfo:
        raw = b"\0".join(f"{name}={value}".encode() for name, value in env.items())
        return ProcessInfo(
            pid=pid,
            ppid=1,
            comm="python",
            state="S",
            start_ticks=1,
            user_ticks=0,
            system_ticks=0,
            thread_count=1,
            caught_signals=1 << 9,
            env=kept(raw),
        )

    on = bash(block("bash"), HOME="/tmp")
    known = [Member(pid=pid, ppid=1, depth=1, role="rank", rank=pid - 10) for pid in (10, 11)]
    same = on_text([process(10, on), process(11, on)], known)
    assert [line.split()[-1] for line in same.splitlines()[:4]] == ["on"] * 4
    text = on_text([process(10, on), process(11, {**on, "TORCH_FR_BUFFER_SIZE": "0"})], known)
    assert "on (rank 0); off (TORCH_FR_BUFFER_SIZE=0) (rank 1)" in text
    assert "SIGUSR1 has a handler" in text
    unset = on_text([process(10, {})], known)
    assert "on from NCCL 2.24 on" in unset
    assert "older versions none" in unset


def test_the_command_asks_a_process() -> None:
    done = CliRunner().invoke(cli, ["prepare", "--check", str(os.getpid())])
    assert done.exit_code == 0
    assert "Kineto on demand" in done.output


@pytest.mark.real
def test_a_trace_of_a_prepared_job_is_taken(tmp_path: Path) -> None:
    sockets = tempfile.mkdtemp(prefix="kineto", dir="/tmp")  # the path of a socket has 107 characters at most
    daemon = KinetoDaemon(Path(sockets))
    env = bash(block("bash"), HOME=str(tmp_path)) | {"KINETO_IPC_SOCKET_DIR": sockets}
    job = subprocess.Popen(
        [sys.executable, "-c", _TRAINING, f"{tmp_path}/trace_*.json"], env=env, stderr=subprocess.DEVNULL
    )
    try:
        daemon.serve(_REQUEST.format(tmp_path / "trace.json"), patience_s=60)
        assert job.wait(60) == 0
        assert json.loads((tmp_path / f"trace_{job.pid}.json").read_text())["traceEvents"]
    finally:
        job.kill()
        job.wait()
        daemon.close()
        shutil.rmtree(sockets)
