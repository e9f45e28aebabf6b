"""`hwtop doctor`: what is hidden is named, each with what would show it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from hwtop.cli import cli
from hwtop.collectors.kernel.source import INITIAL_PID_NAMESPACE
from hwtop.model.gpu.device import GpuActivity
from hwtop.model.host.cgroup import CgroupReading
from hwtop.preflight.visibility import VISIBILITY
from tests.host import write_tree
from tests.preflight.machines import ask, h100, link, machine

_H100 = h100(0)
_ALL, _NONE = "CapEff:\t000001ffffffffff\n", "CapEff:\t0000000000000000\n"
_MOUNTS = "22 1 0:20 / /proc rw - proc proc rw{}\n"


def test_stacks_are_visible_with_the_capability(tmp_path: Path) -> None:
    able = machine(tmp_path, {"proc/self/status": _ALL})
    assert ask(VISIBILITY, "see-stacks", able).status == "pass"


@pytest.mark.parametrize(("scope", "status"), [("0", "pass"), ("1", "warn"), ("3", "warn")])
def test_ptrace_scope_decides_about_ones_own_processes(scope: str, status: str, tmp_path: Path) -> None:
    uid = "Uid:\t1000\t1000\t1000\t1000\n"
    files = {
        "proc/self/status": _NONE,
        f"proc/{os.getpid()}/status": uid,
        "proc/sys/kernel/yama/ptrace_scope": scope,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 1000)
        found = ask(VISIBILITY, "see-stacks", machine(tmp_path, files))
    assert found.status == status
    if scope == "1":
        assert "ptrace_scope is 1" in found.reason
        assert "sudo sysctl kernel.yama.ptrace_scope=0" in (found.remedy or "")
        assert str(os.getpid()) not in (found.remedy or "")


def test_stacks_of_a_process_are_tried(tmp_path: Path) -> None:
    gone = machine(tmp_path, {"proc/self/status": _ALL}, options={"pid": 2**22 - 1})
    found = ask(VISIBILITY, "see-stacks", gone)
    assert found.status == "warn"
    assert "no process" in found.reason


@pytest.mark.parametrize(
    ("caps", "option", "status", "words"),
    [
        (_ALL, ",hidepid=2", "pass", "all users"),
        (_NONE, ",hidepid=2", "warn", "hidepid=2"),
        (_NONE, "", "warn", "not root"),
    ],
)
def test_processes_of_others(caps: str, option: str, status: str, words: str, tmp_path: Path) -> None:
    files = {"proc/self/status": caps, "proc/self/mountinfo": _MOUNTS.format(option)}
    found = ask(VISIBILITY, "see-other-users", machine(tmp_path, files))
    assert found.status == status
    assert words in found.reason


@pytest.mark.parametrize(("namespace", "status"), [(INITIAL_PID_NAMESPACE, "pass"), ("pid:[4026532001]", "warn")])
def test_a_pid_namespace_hides_processes(namespace: str, status: str, tmp_path: Path) -> None:
    link(tmp_path / "proc/self/ns/pid", namespace)
    assert ask(VISIBILITY, "see-processes", machine(tmp_path)).status == status


@pytest.mark.parametrize(("other", "status"), [("net:[1]", "pass"), ("net:[2]", "warn")])
def test_a_network_namespace_hides_interfaces(other: str, status: str, tmp_path: Path) -> None:
    link(tmp_path / "proc/self/ns/net", "net:[1]")
    link(tmp_path / "proc/77/ns/net", other)
    found = ask(VISIBILITY, "see-network", machine(tmp_path, options={"pid": 77}))
    assert found.status == status
    assert status == "pass" or "nsenter -t 77 -n" in (found.remedy or "")


def test_the_kernel_log_says_itself_how_it_can_be_read(tmp_path: Path) -> None:
    from hwtop.collectors.kernel.source import KernelLogSource

    write_tree(tmp_path, {"proc/sys/kernel/dmesg_restrict": "1"})
    source = KernelLogSource(kmsg=str(tmp_path / "none"), journalctl=str(tmp_path / "none"), proc=str(tmp_path))
    reason = source.probe()
    assert reason is not None
    found = ask(VISIBILITY, "see-kernel-log", machine(refused={"kernel": reason}))
    assert found.status == "warn"
    assert "--cap-add SYSLOG" in (found.remedy or "")


def test_gpus_that_do_not_answer_and_fields_that_are_refused() -> None:
    silent = replace(_H100, index=1, status="error", reason="GPU is lost")
    assert ask(VISIBILITY, "see-gpus", machine(gpus=(_H100, silent))).status == "warn"
    assert ask(VISIBILITY, "see-gpus", machine(gpus=(_H100,))).status == "pass"
    assert ask(VISIBILITY, "see-gpus", machine(refused={"gpu": "no NVIDIA driver"})).reason == "no NVIDIA driver"
    hung = machine(refused={"gpu": "NVIDIA driver not answering: nvmlInit has not returned for 3 s"})
    assert ask(VISIBILITY, "see-gpus", hung).status == "warn"
    refused = replace(_H100, missing={"activity": "permission denied", "fan_pct": "not supported by this GPU"})
    found = ask(VISIBILITY, "see-gpu-fields", machine(gpus=(refused,)))
    assert (found.status, found.reason) == ("warn", "permission denied: activity")
    assert ask(VISIBILITY, "see-gpu-fields", machine(gpus=(_H100,))).status == "pass"


def test_gpm() -> None:
    busy = replace(_H100, activity=GpuActivity(sm_active_pct=50.0))
    assert ask(VISIBILITY, "see-gpu-activity", machine(gpus=(busy,))).status == "pass"
    without = replace(_H100, activity=None, missing={"activity": "not supported by this GPU"})
    assert ask(VISIBILITY, "see-gpu-activity", machine(gpus=(without,))).status == "skip"


def test_the_cgroup() -> None:
    seen = CgroupReading(at_s=100.0, version=2, path="/job")
    assert ask(VISIBILITY, "see-cgroup", machine(cgroup=seen)).status == "pass"
    hidden = machine(refused={"cgroup": "no cgroup here"})
    assert ask(VISIBILITY, "see-cgroup", hidden).reason == "no cgroup here"


def test_slurm_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ask(VISIBILITY, "see-slurm", machine(tmp_path)).status == "skip"
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\necho 'squeue: error: x' >&2\necho 'squeue: fatal: no controller' >&2\nexit 1\n")
    squeue.chmod(0o755)
    found = ask(VISIBILITY, "see-slurm", machine(tmp_path))
    assert found.status == "warn"
    assert found.reason.endswith("squeue: fatal: no controller")
    squeue.write_text("#!/bin/sh\n")
    assert ask(VISIBILITY, "see-slurm", machine(tmp_path)).status == "pass"


def test_the_command_prints_the_contract() -> None:
    done = CliRunner().invoke(cli, ["doctor", "--json"])
    checks = json.loads(done.stdout)["checks"]
    assert [check["id"] for check in checks] == [check.id for check in VISIBILITY.checks]
    assert all(check.keys() >= {"id", "status", "reason", "remedy", "took_s"} for check in checks)
    assert done.exit_code == (1 if any(check["status"] == "warn" for check in checks) else 0)
    assert all(check["remedy"] for check in checks if check["status"] in ("warn", "fail"))
