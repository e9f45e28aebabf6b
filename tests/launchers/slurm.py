"""A private Slurm of one or more nodes on this machine, for as long as a test needs it. Runs as root or as one plain user."""

from __future__ import annotations

import getpass
import os
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path

_START_S = 60.0
_CONF = """
ClusterName=hwtoptest
SlurmctldHost=localhost
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=1
{nodes}
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_NODE = "NodeName=n{number} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=16 Boards=1 SocketsPerBoard=1 CoresPerSocket=16 ThreadsPerCore=1 State=UNKNOWN"


class Slurm:
    """munged, slurmctld and slurmd with all their files below `folder`."""

    def __init__(self, folder: Path, nodes: int = 1) -> None:
        (folder / "state").mkdir(parents=True)
        for number in range(1, nodes + 1):
            (folder / f"spool-n{number}").mkdir()
        folder.chmod(0o755)
        self.folder = folder
        port, *node_ports = _free_ports(1 + nodes)
        listed = "\n".join(_NODE.format(number=number, port=each) for number, each in enumerate(node_ports, 1))
        conf = folder / "slurm.conf"
        conf.write_text(_CONF.format(folder=folder, user=getpass.getuser(), port=port, nodes=listed))
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        self.env = {**os.environ, "SLURM_CONF": str(conf), "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        munge = {"key-file": "key", "socket": "sock", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        files = [f"--{option}={folder}/munge.{suffix}" for option, suffix in munge.items()]
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._start(["munged", "--foreground", "--force", "--num-threads=2", *files])
        self._wait_for(lambda: (folder / "munge.sock").exists(), "munged")
        self._start(["slurmctld", "-D"])
        for number in range(1, nodes + 1):
            self._start(["slurmd", "-D", "-N", f"n{number}"])
        self._wait_for(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == str(nodes), "idle nodes")

    def run(self, *command: str) -> str:
        """Output of a command that may fail."""
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=60, cwd=self.folder)
        return done.stdout + done.stderr

    def submit(self, script: str, *options: str) -> str:
        """Number of a batch job that runs these lines."""
        file = self.folder / f"job-{secrets.token_hex(4)}.sh"
        file.write_text(f"#!/bin/bash\n{script}\n")
        return self.run("sbatch", "--parsable", *options, str(file)).strip()

    def stop(self) -> None:
        """End jobs and daemons."""
        self.run("scancel", "--user", getpass.getuser())
        self._wait_for(lambda: not self.run("squeue", "-h").strip(), "the end of the jobs")
        for daemon in reversed(self._daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _start(self, command: list[str]) -> None:
        with (self.folder / f"{command[0]}-{len(self._daemons)}.out").open("wb") as output:
            self._daemons.append(subprocess.Popen(command, env=self.env, stdout=output, stderr=output))

    def _wait_for(self, condition: object, what: str) -> None:
        assert callable(condition)
        end_s = time.monotonic() + _START_S
        while not condition():
            if time.monotonic() > end_s:
                reported = "\n".join(f"{log.name}: {log.read_text()[-800:]}" for log in self.folder.glob("*.log"))
                raise TimeoutError(f"no {what}\n{reported}")
            time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
