"""Rights of root: `sudo -n`, only if the user has allowed it (`--sudo`, the setting `stacks.sudo`, or a confirmed question on the screen)."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import threading
from collections.abc import Sequence

from hwtop.collectors.stacks.pyspy_errors import Explained, no_sudo

_ASK_S = 5.0
"""sudo may ask a directory server first."""
_ROOTS_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where sudo itself looks for programs (Debian's `secure_path`)."""
_is_allowed = threading.Event()


def allow() -> bool:
    """The user allows this process to use sudo; whether that is news."""
    is_news = not _is_allowed.is_set()
    _is_allowed.set()
    return is_news


class Sudo:
    """Whether sudo lets this user is asked once, and only when needed: a refusal is a line in the system's log."""

    def __init__(self, command: Sequence[str] | None = None, *, is_allowed: bool | None = None) -> None:
        """`command` replaces "sudo -n" and the check of the programs it runs; `is_allowed` replaces the user's consent."""
        self._command = ["sudo", "-n"] if command is None else list(command)
        self._is_replaced = command is not None
        self._is_allowed = is_allowed
        self._lock = threading.Lock()
        self._is_asked = False
        self._refusal: Explained | None = None

    @property
    def would_help(self) -> bool:
        """Root has nothing to gain."""
        return self._is_replaced or os.geteuid() != 0

    def refusal(self) -> Explained | None:
        """Why it gives nothing; None where it runs programs without asking for a password."""
        if not (_is_allowed.is_set() if self._is_allowed is None else self._is_allowed):
            return not_allowed()
        with self._lock:
            if not self._is_asked:
                self._refusal = self._ask()
                self._is_asked = True
            return self._refusal

    def refused(self, why: Explained) -> None:
        """It did not run the program after all (a rule for single commands): it is not asked again."""
        with self._lock:
            self._refusal = why

    def prefix(self, deadline_s: float) -> list[str]:
        """What stands before a command. An unprivileged program may not kill one of root's, coreutils' timeout does it."""
        return [*self._command, "timeout", "-s", "KILL", f"{deadline_s:g}"]

    def program(self, path: str) -> str | None:
        """`path`, or the program of that name that root has installed; None if anyone else could have changed both."""
        if self._is_replaced or is_roots(path):
            return path
        installed = shutil.which(os.path.basename(path), path=_ROOTS_PATH)
        return installed if installed is not None and is_roots(installed) else None

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


def is_roots(path: str) -> bool:
    """Whether only root can change this file or replace it: it and all folders above it are root's, and nobody else may write."""
    path = os.path.realpath(path)
    try:
        while True:
            found = os.stat(path)
            if found.st_uid != 0 or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return False
            if path == "/":
                return True
            path = os.path.dirname(path)
    except OSError:
        return False


def not_allowed() -> Explained:
    """The user has not allowed it."""
    return Explained(
        "not used without --sudo", "--sudo reads stacks as root, if sudo asks for no password", cause="no-consent"
    )


def not_roots(path: str) -> Explained:
    """The program is stored where others than root could replace it."""
    return Explained(
        f"{path} is not run as root: others than root can change it",
        f"sudo install {shlex.quote(path)} /usr/local/bin/",
        cause="no-sudo",
    )
