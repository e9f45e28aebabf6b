"""ssh, as the user has configured it: keys, agent, jump hosts, ControlMaster and host keys are those of the user's own ssh_config."""

from __future__ import annotations

from collections.abc import Sequence

from hwtop.fleet.launchers.launcher import Agent, Says, Start

OPTIONS = (
    "BatchMode=yes",  # never ask
    "ConnectTimeout=15",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
)
"""What hwtop sets. Host keys are checked as the user has it, and a ControlMaster that is there is used: replacing its path would ask
for a second factor again."""
SAYS = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key is not the one that is known: find out why, then `ssh-keygen -R {node}`",
    ),
    (
        "Host key verification failed",
        "its host key is not known: run `ssh {node}` once, check the key and accept it",
    ),
    (
        "Permission denied",
        "ssh: permission denied: needs a key that works without a password: try `ssh -o BatchMode=yes {node}`",
    ),
    ("Too many authentication failures", "ssh: too many keys were tried: name one for this host in ~/.ssh/config"),
    ("Could not resolve hostname", "there is no host of this name"),
    ("Connection refused", "no sshd answers there: connection refused"),
    ("No route to host", "it cannot be reached: no route to host"),
    ("timed out", "it does not answer: connection timed out"),
    ("not responding", "it has stopped to answer for 15 s"),
)
"""What OpenSSH prints -> the reason."""


class SshLauncher:
    """One ssh a host."""

    says: Says = SAYS

    def __init__(self, hosts: Sequence[str], ssh: Sequence[str] = ("ssh",)) -> None:
        """`hosts`: as given to ssh, so aliases of ssh_config work."""
        self._hosts, self._ssh = tuple(hosts), tuple(ssh)

    def starts(self, agent: Agent) -> tuple[Start, ...]:
        """One for each host."""
        options = [word for option in OPTIONS for word in ("-o", option)]
        return tuple(
            Start(
                nodes=(host,),
                command=(*self._ssh, "-T", *options, "--", host, agent.shell(host)),
            )
            for host in self._hosts
        )
