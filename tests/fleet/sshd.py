"""A private sshd on loopback, for as long as a test needs it. Runs as root or as one plain user."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from tests.fleet.jobs import free_port

_START_S = 20.0
_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile {folder}/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
"""
_CLIENT = """
Host *
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
  GlobalKnownHostsFile /dev/null
  KexAlgorithms curve25519-sha256
"""


class Sshd:
    """sshd, a key that it takes, and a configuration of ssh by which every name is this machine."""

    def __init__(self, folder: Path, known: tuple[str, ...], unknown: str) -> None:
        """`known`: names whose host key the client knows; `unknown`: one whose key it does not."""
        folder.mkdir(parents=True)
        self.config = folder / "config"
        self._port = free_port()
        for name in ("host", "key", "other"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        shutil.copy(folder / "key.pub", folder / "authorized")
        key = (folder / "host.pub").read_text()
        (folder / "known").write_text("".join(f"{name} {key}" for name in known))
        (folder / "sshd_config").write_text(_CONFIG.format(port=self._port, folder=folder))
        aliases = "".join(f"Host {name}\n  HostKeyAlias {name}\n" for name in (*known, unknown))
        self.config.write_text(aliases + _CLIENT.format(port=self._port, folder=folder, user=getpass.getuser()))
        self.folder = folder
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or "/usr/sbin/sshd"
        with (folder / "sshd.log").open("wb") as log:
            command = [program, "-D", "-e", "-f", str(folder / "sshd_config")]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        end_s = time.monotonic() + _START_S
        while not self._answers():
            assert time.monotonic() < end_s, (folder / "sshd.log").read_text()
            time.sleep(0.05)

    @property
    def ssh(self) -> tuple[str, ...]:
        """The command that reaches it."""
        return ("ssh", "-F", str(self.config))

    def forget_key_of(self, name: str) -> None:
        """The client takes another key for that of this name."""
        other = (self.folder / "other.pub").read_text()
        known = self.folder / "known"
        known.write_text(
            "".join([*(line for line in known.open() if not line.startswith(f"{name} ")), f"{name} {other}"])
        )

    def stop(self) -> None:
        """End it; the connections end with their clients."""
        self._process.terminate()
        self._process.wait(10)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0
