from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from hwtop.errors import CannotError
from hwtop.fleet import wire
from hwtop.fleet.launchers.command import CommandLauncher
from hwtop.fleet.launchers.launcher import Agent, Start
from hwtop.fleet.live import LiveFleet
from hwtop.fleet.watch import watch
from tests.fleet.agents import PROGRAM, all_report, pids_of, until

pytestmark = [pytest.mark.real, pytest.mark.slow]


def fleet_of(*names: str, program: str = PROGRAM) -> LiveFleet:
    agent = Agent(program=program, pid=str(os.getpid()), interval_s=0.2)
    return LiveFleet(CommandLauncher(names, "sh -c {command}"), agent, interval_s=0.2)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_agents_report_answer_send_what_is_in_focus_and_end_with_their_reader() -> None:
    fleet = fleet_of("a", "b", "c")
    readings = iter(fleet)
    nodes = until(
        readings, lambda nodes: all_report(nodes) and all(each.clock_skew_s is not None for each in nodes.values())
    )
    pids = pids_of(fleet)
    for node in nodes.values():
        assert node.report is not None
        assert node.report.host == os.uname().nodename
        assert abs(node.clock_skew_s or 0.0) <= (node.clock_error_s or 0.0) + 0.05
    fleet.set_focus("b")
    reading = next(each for each in readings if each.snapshots)
    assert reading.focus == "b"
    os.kill(pids["a"], signal.SIGKILL)
    os.kill(pids["c"], signal.SIGSTOP)
    nodes = until(readings, lambda nodes: nodes["a"].status == "lost" and nodes["c"].status == "late")
    assert nodes["a"].reason == "its agent has ended (exit code -9)"
    assert nodes["b"].status == "reporting"
    os.kill(pids["c"], signal.SIGCONT)
    until(readings, lambda nodes: nodes["c"].status == "reporting")
    fleet.close()
    assert list(readings) == []
    assert not [pid for pid in pids.values() if is_running(pid)]


@pytest.fixture
def agent() -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "hwtop", "agent", "--node", "a", "--pid", str(os.getpid()), "--interval", "200ms"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def first_bytes(agent: subprocess.Popen[bytes]) -> None:
    assert agent.stdout is not None
    assert agent.stdout.read(len(wire.MAGIC)) == wire.MAGIC


@pytest.mark.parametrize("end", ["stdin", "stdout", "stop"])
def test_an_agent_ends_when_its_reader_closes_either_end_or_says_so(agent: subprocess.Popen[bytes], end: str) -> None:
    first_bytes(agent)
    assert agent.stdin is not None
    assert agent.stdout is not None
    if end == "stdin":
        threading.Thread(target=agent.stdout.read, daemon=True).start()
        agent.stdin.close()
    elif end == "stdout":
        agent.stdout.close()
    else:
        agent.stdin.write(b"no JSON\n" + wire.control_line(wire.Stop()))
        agent.stdin.flush()
    assert agent.wait(30) == 0


def test_nodes_without_hwtop_are_one_line_of_error() -> None:
    with pytest.raises(
        CannotError, match=r"none of 2 nodes can be watched: hwtop is not on this node: install it there"
    ):
        list(watch(fleet_of("a", "b", program="/nowhere/hwtop"), seconds=1.0))


class WithEnvironment(CommandLauncher):
    """Starts its programs with an environment of their own, as that for Slurm does."""

    def starts(self, agent: Agent) -> tuple[Start, ...]:
        return tuple(replace(start, env=dict(os.environ)) for start in super().starts(agent))


@pytest.mark.parametrize("launcher", [CommandLauncher, WithEnvironment])
def test_an_agent_that_finds_no_job_says_so_itself(launcher: type[CommandLauncher]) -> None:
    agent = Agent(program=PROGRAM, name="no-such-job-anywhere", interval_s=0.2)
    fleet = LiveFleet(launcher(["a"], "sh -c {command}"), agent, interval_s=0.2)
    with pytest.raises(CannotError, match=r"a: no job matches 'no-such-job-anywhere'"):
        list(watch(fleet, seconds=1.0))


def test_a_program_that_is_not_there_is_one_line_of_error() -> None:
    fleet = LiveFleet(CommandLauncher(["a"], "/nowhere/ssh {host} {command}"), Agent())
    with pytest.raises(CannotError, match="cannot run '/nowhere/ssh': No such file or directory"):
        list(watch(fleet, seconds=1.0))
