"""The environment and open files of one process: read from a real one, secrets gone before they leave the collector."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from hwtop.collectors.process.detail import DetailSource
from hwtop.feed.live import LiveSource
from hwtop.model.plan import SamplingPlan
from hwtop.model.process import ProcessDetail
from tests.collectors.fake_proc import FakeProc, FakeProcess
from tests.fake_source import FakeClock

SECRETS = {
    "HF_TOKEN": "planted-a1",
    "WANDB_API_KEY": "planted-b2",
    "DATABASE_URL": "postgres://ada:planted-c3@db/runs",
    "NCCL_AUTH_KEY": "planted-d4",
    "EXTRA_ARGS": "--lr 1 --api-key planted-e5",
    "CLOUD": "AKIAPLANTEDPLANTED66",
}
CODE = """
import socket, sys, time
log = open(sys.argv[1] + "/run.log", "a"); log.write("x" * 100); log.flush()
data = open(sys.argv[1] + "/data.bin", "rb", buffering=0); data.read(30)
wire = socket.socket()
print(flush=True)
time.sleep(1000)
"""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    (tmp_path / "data.bin").write_bytes(b"x" * 4000)
    command = [sys.executable, "-c", CODE, str(tmp_path), "--password", "planted-f7"]
    env = {"PATH": os.environ["PATH"], "RANK": "0", "WORLD_SIZE": "1", "ODD": "a\x1b[31m\nb", **SECRETS}
    started = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert started.stdout is not None
    started.stdout.readline()
    yield started
    started.kill()
    started.communicate()


def look(source: DetailSource, pid: int | None) -> ProcessDetail:
    source.set_plan(SamplingPlan(detail_pid=pid))
    detail = source.read()
    assert detail is not None
    return detail


def test_a_real_process(process: subprocess.Popen[bytes], tmp_path: Path) -> None:
    detail = look(DetailSource(), process.pid)
    assert detail.missing == {}
    assert detail.env is not None
    env = dict(detail.env)
    assert list(detail.env) == sorted(detail.env)
    assert set(SECRETS) <= set(env)
    assert (env["RANK"], env["HF_TOKEN"], env["ODD"]) == ("0", "****", "a\x1b[31m\nb")
    assert env["EXTRA_ARGS"] == "--lr 1 --api-key ****"
    assert detail.files is not None
    files = {file.target: file for file in detail.files}
    log, data = files[f"{tmp_path}/run.log"], files[f"{tmp_path}/data.bin"]
    assert (log.mode, log.is_writable, log.size_bytes, log.offset_bytes) == ("w", True, 100, 100)
    assert (data.mode, data.is_writable, data.size_bytes, data.offset_bytes) == ("r", False, 4000, 30)
    assert any(target.startswith("socket:") for target in files)
    assert detail.file_count == len(detail.files)
    assert int(detail.limits["Max open files"].split()[0]) > 0


def test_no_secret_is_in_any_snapshot(process: subprocess.Popen[bytes]) -> None:
    source = LiveSource(target_pid=process.pid, interval_s=0.2)
    packed, seen = b"", False
    deadline = time.monotonic() + 30
    for snapshot in source:
        packed += msgspec.msgpack.encode(snapshot)
        seen = seen or (snapshot.detail is not None and bool(snapshot.detail.env))
        if (seen and snapshot.process is not None and snapshot.process.processes) or time.monotonic() > deadline:
            break
        source.set_plan(SamplingPlan(target_pid=process.pid, stack_pids=(process.pid,), detail_pid=process.pid))
    source.close()
    assert seen
    assert b"HF_TOKEN" in packed and b"--password" in packed  # told that they are there
    assert b"planted" not in packed.lower()


def test_nobody_looks(process: subprocess.Popen[bytes]) -> None:
    source = DetailSource()
    assert source.read() is None
    look(source, process.pid)
    source.set_plan(SamplingPlan())
    assert source.read() is None


def test_read_at_leisure_but_another_process_at_once(tmp_path: Path) -> None:
    FakeProc(tmp_path, [FakeProcess(7, 1, "python a"), FakeProcess(8, 1, "python b")])
    clock = FakeClock()
    source = DetailSource(str(tmp_path), clock, deadline_s=5)
    first = look(source, 7)
    clock.at_s += 1.0
    assert look(source, 7) is first
    assert look(source, 8).pid == 8
    clock.at_s += 2.5
    assert look(source, 8).at_s == clock.at_s


def test_a_process_that_blocks_costs_only_its_own_part(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path, [FakeProcess(7, 1, "python a"), FakeProcess(8, 1, "python b", env={"RANK": "1"})])
    proc.block(7, "environ")
    source = DetailSource(str(tmp_path))
    detail = look(source, 7)
    assert detail.env is None
    assert "not answering" in detail.missing["env"]
    assert detail.limits == {"Max open files": "1024 files"}
    other = look(source, 8)
    assert other.env == (("RANK", "1"),)
    assert other.missing == {}
    proc.unblock(7, "environ")


def test_a_process_that_has_ended(tmp_path: Path) -> None:
    FakeProc(tmp_path, [])
    detail = look(DetailSource(str(tmp_path)), 7)
    assert (detail.env, detail.files) == (None, None)
    assert set(detail.missing.values()) == {"the process has ended"}


def test_a_title_written_over_the_environment(tmp_path: Path) -> None:
    FakeProc(tmp_path, [FakeProcess(7, 1, "python a")])
    (tmp_path / "7" / "environ").write_bytes(b"rank 0: training\0\0=x\0RANK=0\0RANK=9\0\xff\xfe=1\0")
    detail = look(DetailSource(str(tmp_path)), 7)
    assert detail.env == (("RANK", "0"), ("\ufffd\ufffd", "1"))
