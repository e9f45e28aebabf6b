from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hwtop.errors import CannotError, UsageError
from hwtop.fleet.hosts import hosts_of
from hwtop.fleet.launchers.command import CommandLauncher
from hwtop.fleet.launchers.kubernetes import KubernetesLauncher
from hwtop.fleet.launchers.launcher import Agent, reason
from hwtop.fleet.launchers.slurm import SlurmLauncher
from hwtop.fleet.launchers.ssh import SshLauncher

ECHO = Agent(program="echo", name="train's {host}", interval_s=0.5, most_s=60.0)


def test_hosts_come_from_a_list_with_ranges_and_from_a_file(tmp_path: Path) -> None:
    assert hosts_of("a, b,n[08-10],gpu[1,3]-ib", None) == ("a", "b", "n08", "n09", "n10", "gpu1-ib", "gpu3-ib")
    file = tmp_path / "hosts"
    file.write_text("# nodes\na slots=8\nme@b\n\na\n")
    assert hosts_of(None, file) == ("a", "me@b")


@pytest.mark.parametrize("given", ["", ",", "-oProxyCommand=id", "a;id", "a,$(id)", "n[3-1]", "n[1-999999999]", "a b"])
def test_what_is_no_host_never_reaches_a_command_line(given: str) -> None:
    with pytest.raises(UsageError):
        hosts_of(given, None)


def test_the_command_is_one_word_whatever_is_in_it() -> None:
    (start,) = CommandLauncher(["n1"], "sh -c {command}").starts(ECHO)
    done = subprocess.run(start.command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "agent --interval 0.5s --for 60s --node n1 --name train's {host}"
    with pytest.raises(UsageError, match=r"needs \{command\}"):
        CommandLauncher(["n1"], "ssh {host}")
    with pytest.raises(UsageError, match="No closing quotation"):
        CommandLauncher(["n1"], "ssh '{command}")


def test_without_a_program_this_interpreter_is_tried_first_and_then_the_path() -> None:
    shell = Agent(pid="7").shell("n1")
    assert shell.index(f"exec {shlex.quote(sys.executable)} -m hwtop agent") < shell.index("exec hwtop agent")


def test_ssh_never_asks_never_forwards_and_leaves_host_keys_to_the_user() -> None:
    (start,) = SshLauncher(["n1"]).starts(ECHO)
    line = " ".join(start.command)
    assert "BatchMode=yes" in line
    assert "ForwardAgent=no" in line
    assert "StrictHostKeyChecking" not in line
    assert start.command[-3:-1] == ("--", "n1")


@pytest.mark.parametrize(
    ("launcher", "errors", "says"),
    [
        (SshLauncher([]), "Host key verification failed.", "run `ssh n1` once"),
        (
            SshLauncher([]),
            "@  WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.",
            "ssh-keygen -R n1",
        ),
        (SshLauncher([]), "me@n1: Permission denied (publickey).", "permission denied"),
        (SshLauncher([]), "ssh: connect to host n1 port 22: Connection refused", "no sshd"),
        (SshLauncher([]), "sh: 1: exec: hwtop: not found", "hwtop is not on this node"),
        (SshLauncher([]), "python3: No module named hwtop", "hwtop is not on this node"),
        (
            SlurmLauncher("1", {}),
            "srun: error: Unable to create step for job 1: Access/permission denied",
            "only the owner",
        ),
        (KubernetesLauncher("a=b"), 'Error from server (Forbidden): pods "x" is forbidden', "pods/exec"),
        (SshLauncher([]), "something new\n", "its agent has ended (exit code 255): something new"),
    ],
)
def test_errors_are_told_in_words_that_say_what_to_do(
    launcher: SshLauncher | SlurmLauncher | KubernetesLauncher, errors: str, says: str
) -> None:
    assert says in reason(launcher.says, "n1", 255, errors)


def stub(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_slurm_starts_one_step_with_an_agent_a_node_and_without_the_limits_of_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub(tmp_path, "squeue", "[ -z $SLURM_JOB_ID ] && echo 'RUNNING|n[1-2]|None'")
    stub(
        tmp_path,
        "scontrol",
        'case "$2" in hostnames) printf "n1\\nn2\\n";; *) echo "Nodes=n[1-2] GRES=gpu:h100:8(IDX:0-7)";; esac',
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "SLURM_CONF": "/etc/x",
        "SLURM_JOB_ID": "3",
        "SLURM_NTASKS": "1",
    }
    (start,) = SlurmLauncher("42_1", environment).starts(Agent(program="hwtop"))
    assert (start.nodes, start.carries) == (("n1", "n2"), "lines")
    assert {"--jobid=42_1", "--overlap", "--nodes=2", "--ntasks-per-node=1", "--gres=gpu:8"} <= set(start.command)
    assert "--pid slurm:42_1 --lines" in start.command[-1]
    assert start.env is not None
    assert [name for name in start.env if "SLURM" in name] == ["SLURM_CONF"]


@pytest.mark.parametrize(
    ("squeue", "error", "says"),
    [
        ("echo 'PENDING||Resources'", UsageError, r"does not run on any node: PENDING \(Resources\)"),
        ("true", UsageError, "has ended or never was"),
        ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", UsageError, "does not know job 42"),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", CannotError, "squeue: Unable to contact"),
    ],
)
def test_slurm_without_an_allocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, squeue: str, error: type[Exception], says: str
) -> None:
    stub(tmp_path, "squeue", squeue)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(error, match=says):
        SlurmLauncher("42", {"PATH": f"{tmp_path}:/usr/bin:/bin"}).starts(Agent())
    with pytest.raises(UsageError, match="is not a Slurm job"):
        SlurmLauncher("42; id", {})


def test_kubernetes_starts_an_agent_in_each_running_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pods = [
        {"metadata": {"name": f"gpt-{n}"}, "status": {"phase": phase}}
        for n, phase in enumerate(("Running", "Pending", "Running"))
    ]
    answer = tmp_path / "pods.json"
    answer.write_text(json.dumps({"items": pods}))
    run = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'
    stub(
        tmp_path,
        "kubectl",
        f'case "$1" in get) [ "$*" = "get pods -n ml -l job-name=gpt -o json" ] && cat {answer};; exec) {run};; esac',
    )
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    starts = KubernetesLauncher("job-name=gpt", "ml", "main").starts(ECHO)
    assert [start.nodes for start in starts] == [("gpt-0",), ("gpt-2",)]
    done = subprocess.run(starts[1].command, capture_output=True, text=True, check=True)
    assert "--node gpt-2" in done.stdout
    answer.write_text(json.dumps({"items": pods[1:2]}))
    with pytest.raises(UsageError, match="no pod with job-name=gpt runs: gpt-1 is Pending"):
        KubernetesLauncher("job-name=gpt", "ml").starts(ECHO)
    with pytest.raises(UsageError, match="is not a selector"):
        KubernetesLauncher("--all")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(CannotError, match="kubectl is not on this machine"):
        KubernetesLauncher("a=b").starts(ECHO)
