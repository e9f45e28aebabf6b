"""Any command that runs a shell command on a host: `--hosts a,b --command 'ssh {host} {command}'`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from hwtop.errors import UsageError
from hwtop.fleet.launchers.launcher import Agent, Says, Start


class CommandLauncher:
    """One process a host. `{command}` is one word for the shell of the host, quoted for the shell here."""

    says: Says = ()

    def __init__(self, hosts: Sequence[str], template: str) -> None:
        """`template`: a command line with `{command}`, and `{host}` where it needs it; it runs without a shell.

        Raises:
            UsageError: it has no `{command}`, or a quote is not closed.
        """
        if "{command}" not in template:
            raise UsageError("--command needs {command}, which becomes the command on the host: 'ssh {host} {command}'")
        try:
            self._words = shlex.split(template)
        except ValueError as error:
            raise UsageError(f"--command {template!r}: {error}") from None
        self._hosts = tuple(hosts)

    def starts(self, agent: Agent) -> tuple[Start, ...]:
        """One for each host."""
        return tuple(Start(nodes=(host,), command=self._of(host, agent)) for host in self._hosts)

    def _of(self, host: str, agent: Agent) -> tuple[str, ...]:
        shell = agent.shell(host)
        return tuple(word.replace("{host}", host).replace("{command}", shell) for word in self._words)
