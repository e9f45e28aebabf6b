"""Rights of root without a question: `sudo -n`, where the machine is set up so."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence

from hwtop.collectors.stacks.pyspy_errors import Explained, no_sudo

_ASK_S = 5.0
"""sudo may ask a directory server first."""


class Sudo:
    """Whether sudo lets this user is asked once a session, and only when needed: a refusal is a line in the system's log."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        """`command` replaces "sudo -n"."""
        self._command = ["sudo", "-n"] if command is None else list(command)
        self._is_replaced = command is not None
        self._lock = threading.Lock()
        self._is_asked = False
        self._refusal: Explained | None = None

    @property
    def would_help(self) -> bool:
        """Root has nothing to gain."""
        return self._is_replaced or os.geteuid() != 0

    def refusal(self) -> Explained | None:
        """Why it gives nothing; None where it runs programs without asking for a password."""
        with self._lock:
            if not self._is_asked:
                self._refusal = self._ask()
                self._is_asked = True
            return self._refusal

    def prefix(self, deadline_s: float) -> list[str]:
        """What stands before a command. An unprivileged program may not kill one of root's, coreutils' timeout does it."""
        return [*self._command, "timeout", "-s", "KILL", f"{deadline_s:g}"]

    def _ask(self) -> Explained | None:
        try:
            asked = subprocess.run(
                [*self._command, "true"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=_ASK_S,
                start_new_session=True,
                check=False,
            )
        except FileNotFoundError:
            return no_sudo("not installed")
        except (OSError, subprocess.TimeoutExpired) as error:
            return no_sudo(str(error))
        return no_sudo(asked.stderr.decode(errors="replace")) if asked.returncode else None
