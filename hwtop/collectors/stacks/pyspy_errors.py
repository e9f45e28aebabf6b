"""What py-spy's errors mean on this machine, and the command that would help. Pure, except `circumstance`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct


class Circumstance(Struct, frozen=True, kw_only=True):
    """What decides which advice is right. None = not known."""

    pid: int | Literal["PID"]
    """"PID": any process of this user."""
    own_uid: int
    target_uid: int | None = None
    """None when the process is gone."""
    ptrace_scope: int | None = None
    """/proc/sys/kernel/yama/ptrace_scope; None where the kernel has no Yama."""
    in_container: bool = False
    exe: str | None = None
    pyspy: str = "py-spy"
    """Path of the binary."""

    @property
    def is_gone(self) -> bool:
        """No such process any more."""
        return self.target_uid is None


class Explained(Struct, frozen=True):
    """An error of py-spy in words."""

    error: str
    advice: str
    is_lasting: bool = True
    """The next attempt will fail the same way, so there is no point in an early one."""
    cause: Literal["denied", "no-consent", "no-sudo", "no-target", "other"] = "other"
    """"denied": rights would help. "no-consent": the user has not allowed sudo. "no-sudo": sudo does not give them. "no-target": nothing else would find Python there."""


_CONTAINER_FILES = (".dockerenv", "run/.containerenv")
_CONTAINER_WORDS = ("/docker", "/kubepods", "/containerd", "/libpod", "/lxc")
_SCOPES = {1: "only a parent may attach", 2: "only root may attach", 3: "nobody may attach until the next boot"}
_ADD_CAPABILITY = (
    "start the container with --cap-add SYS_PTRACE (Kubernetes: securityContext.capabilities.add: [SYS_PTRACE]), "
    "or run hwtop on the host"
)


def circumstance(pid: int, pyspy: str, proc: str = "/proc", root: str = "/") -> Circumstance:
    """Read what `explain` needs. Only files that never block (status, not cmdline)."""
    return Circumstance(
        pid=pid,
        own_uid=os.geteuid(),
        target_uid=_uid(f"{proc}/{pid}/status"),
        ptrace_scope=_number(f"{proc}/sys/kernel/yama/ptrace_scope"),
        in_container=_in_container(proc, root),
        exe=_link(f"{proc}/{pid}/exe"),
        pyspy=pyspy,
    )


def explain(stderr: str, case: Circumstance) -> Explained:
    """Turn what py-spy printed into (error, advice). An error it does not know is quoted as it stands."""
    for text, meaning in _MEANINGS:
        if text.lower() in stderr.lower():
            return meaning(stderr, case)
    first = next((line.strip() for line in stderr.splitlines() if line.strip()), "py-spy failed without a word")
    return Explained(f"py-spy: {first.removeprefix('Error: ')}", "hwtop tries again", is_lasting=False)


def no_binary() -> Explained:
    """py-spy is not installed."""
    return Explained("py-spy is not installed, so there are no Python stacks", "pip install 'py-spy>=0.4.2'")


def _denied(_: str, case: Circumstance) -> Explained:
    """EPERM: another user's process, Yama, or a container without the capability."""
    error = f"no permission to read the memory of pid {case.pid}"
    sudo = 'sudo "$(command -v hwtop)"'
    if case.is_gone:
        return _gone(case)
    if case.own_uid == 0:
        advice = _ADD_CAPABILITY if case.in_container else f"root lacks CAP_SYS_PTRACE here: {_ADD_CAPABILITY}"
        return _refused(f"{error}: root without CAP_SYS_PTRACE", advice)
    if case.target_uid != case.own_uid:
        return _refused(
            f"{error}: it belongs to uid {case.target_uid}", f"run hwtop as that user or as root: {sudo} {case.pid}"
        )
    if case.ptrace_scope:
        meaning = _SCOPES.get(case.ptrace_scope, "restricted")
        advice = f"{sudo} {case.pid}, or once: sudo setcap cap_sys_ptrace+ep {case.pyspy}"
        if case.ptrace_scope < 3:
            advice += ", or for all: sudo sysctl kernel.yama.ptrace_scope=0"
        if case.in_container:
            advice = f"{_ADD_CAPABILITY}; or on the host: sudo sysctl kernel.yama.ptrace_scope=0"
        return _refused(f"{error}: kernel.yama.ptrace_scope is {case.ptrace_scope} ({meaning})", advice)
    if case.in_container:
        return _refused(f"{error}: this container lacks SYS_PTRACE", _ADD_CAPABILITY)
    return _refused(error, f"{sudo} {case.pid}")


def _refused(error: str, advice: str) -> Explained:
    return Explained(error, advice, cause="denied")


def _no_executable(stderr: str, case: Circumstance) -> Explained:
    if "permission denied" in stderr.lower():
        return _denied(stderr, case)
    if case.is_gone:
        return _gone(case)
    if case.exe is None:
        return Explained(
            f"pid {case.pid} is a kernel thread or is ending", "watch a process of the job", cause="no-target"
        )
    return Explained(
        f"pid {case.pid}: its executable cannot be found from here",
        "run hwtop in the same container or PID namespace as the job, or on the host with the host's pid",
    )


def _gone(case: Circumstance) -> Explained:
    return Explained(
        f"no process {case.pid}: it has ended, or the number belongs to another PID namespace",
        f"inside a container use the pid that ps shows there; from the host, compare: grep NSpid /proc/{case.pid}/status",
        cause="no-target",
    )


def _not_python(_: str, case: Circumstance) -> Explained:
    if case.is_gone:
        return _gone(case)
    if case.exe and re.search(r"python3\.\d+t$", case.exe):
        return _free_threaded(case)
    name = case.exe.rsplit("/", 1)[-1] if case.exe else "it"
    if name.startswith(("python", "pypy")):
        return Explained(
            f"pid {case.pid} ({name}): py-spy does not know this Python, or it is only starting",
            "py-spy 0.4.2 and newer read CPython up to 3.14: pip install -U py-spy",
        )
    return Explained(
        f"pid {case.pid} ({name}) is not a Python process",
        "a training in another language is checked by log, CPU and kernel waits; `hwtop` alone lists jobs in Python",
        cause="no-target",
    )


def _free_threaded(case: Circumstance) -> Explained:
    return Explained(
        f"pid {case.pid} runs a free-threaded Python, which py-spy cannot read",
        f"pip install pystack && pystack remote {case.pid}",
    )


def _unsupported(stderr: str, case: Circumstance) -> Explained:
    found = re.search(r"Unsupported version of Python: (\S+)", stderr)
    version = found.group(1) if found else "?"
    same = ".".join(version.split(".")[:2])
    advice = f"pip install -U py-spy; until it knows {same}: pip install pystack && pystack remote {case.pid}"
    if _minor(version) >= 15:  # the standard library's own profiler, profiling.sampling, can dump from 3.15 on
        advice = f"pip install -U py-spy; or: python{same} -m profiling.sampling dump {case.pid}"
    return Explained(f"pid {case.pid} runs Python {version}, which this py-spy does not know", advice)


def _no_interpreter(_: str, case: Circumstance) -> Explained:
    if case.exe and re.search(r"python3\.\d+t$", case.exe):
        return _free_threaded(case)
    return Explained(
        f"pid {case.pid}: no Python interpreter found in its memory: stripped, statically linked, or only starting",
        f"hwtop tries again; if it stays: pip install pystack && pystack remote {case.pid}",
    )


def _too_old(stderr: str, case: Circumstance) -> Explained:
    """What clap, py-spy's parser of arguments, prints (versions 2 and 4)."""
    found = re.search(r"'(-[^' ]+)[^']*'", stderr)
    return Explained(
        f"{case.pyspy} does not know {found.group(1) if found else 'an option that hwtop uses'}: it is too old",
        "pip install -U 'py-spy>=0.4.2'",
    )


def _no_sudo(stderr: str, _: Circumstance) -> Explained:
    return no_sudo(stderr)


def no_sudo(stderr: str) -> Explained:
    """sudo asks for a password, or allows nothing at all."""
    first = next((line.strip() for line in stderr.splitlines() if line.strip()), "no answer")
    return Explained(
        first.removeprefix("sudo: "), 'sudo "$(command -v hwtop)" asks for the password once', cause="no-sudo"
    )


def _suspend(_: str, case: Circumstance) -> Explained:
    return Explained(
        f"pid {case.pid} could not be suspended", "hwtop asks without suspending next time", is_lasting=False
    )


def _lost_library(_: str, case: Circumstance) -> Explained:
    if case.is_gone:
        return _gone(case)
    return Explained(
        f"pid {case.pid}: a file that it runs from is not there any more (deleted, or in a private mount)",
        "run hwtop in the same container as the job; after an upgrade of Python the job must be restarted",
    )


def _race(stderr: str, case: Circumstance) -> Explained:
    if case.is_gone:
        return _gone(case)
    first = next((line.strip() for line in stderr.splitlines() if line.strip()), "")
    return Explained(
        f"pid {case.pid} moved while its stack was read ({first.removeprefix('Error: ')})",
        "hwtop tries again",
        is_lasting=False,
    )


_MEANINGS: tuple[tuple[str, Callable[[str, Circumstance], Explained]], ...] = (
    ("sudo: ", _no_sudo),
    ("Failed to get process executable name", _no_executable),
    ("Permission Denied: Try running again with elevated permissions", _denied),
    ("started your container with the SYS_PTRACE capability", _denied),
    ("Operation not permitted (os error 1)", _denied),
    ("Permission denied (os error 13)", _denied),
    ("which wasn't expected", _too_old),
    ("unexpected argument", _too_old),
    ("Unsupported version of Python", _unsupported),
    ("Failed to find python version from target process", _not_python),
    ("Failed to find a python interpreter", _no_interpreter),
    ("No python processes found in process", _not_python),
    ("Failed to suspend process", _suspend),
    (
        "This program requires root on OSX",
        lambda _, case: Explained(
            "macOS lets only root read another process", f'sudo "$(command -v hwtop)" {case.pid}'
        ),
    ),
    ("No such process (os error 3)", _race),
    ("Failed to get stack trace", _race),
    ("Failed to copy", _race),
    ("Bad address (os error 14)", _race),
    ("No such file or directory (os error 2)", _lost_library),
)
"""(what stderr contains, what it means), in the order in which they are tried. Texts are those of py-spy 0.4."""


def _minor(version: str) -> int:
    parts = version.split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0


def _uid(path: str) -> int | None:
    try:
        with open(path) as file:
            for line in file:
                if line.startswith("Uid:"):
                    return int(line.split()[2])
    except OSError:
        pass
    return None


def _number(path: str) -> int | None:
    try:
        with open(path) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None


def _in_container(proc: str, root: str) -> bool:
    if any(os.path.exists(os.path.join(root, name)) for name in _CONTAINER_FILES):
        return True
    try:
        with open(f"{proc}/self/cgroup") as file:
            text = file.read()
    except OSError:
        return False
    return any(word in text for word in _CONTAINER_WORDS)
