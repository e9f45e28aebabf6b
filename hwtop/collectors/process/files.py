"""The files of /proc/PID, one function each (proc(5)). Every function takes the process's directory and may raise OSError, and
ValueError where the file is not what proc(5) says."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from hwtop.job.whole_number import whole_number
from hwtop.model.process import ThreadInfo

THREAD_LIMIT = 512
"""Threads of one process that are read: a trainer has 100 to 500; of one with more only the first are read."""

_READ_LIMIT = 1 << 20
"""Longest file read at once; environ and cmdline are bounded by the kernel's ARG_MAX, usually 2 MiB, rarely above 64 KiB."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_STATUS_LINES = re.compile(
    rb"^(Uid|VmRSS|RssAnon|VmSwap|voluntary_ctxt_switches|nonvoluntary_ctxt_switches|TracerPid|SigCgt|SigIgn"
    rb"|Cpus_allowed|Cpus_allowed_list|NSpid):(.*)$",
    re.MULTILINE,
)
"""A fifth of the lines, found in one pass: taking all of them apart is a third of what reading a process takes."""


class Stat(NamedTuple):
    """Fields of /proc/PID/stat or /proc/PID/task/TID/stat that hwtop uses."""

    comm: str
    state: str
    ppid: int
    flags: int
    user_ticks: int
    system_ticks: int
    thread_count: int
    start_ticks: int
    argument_start: int
    """Address of the command line: changes with each exec. 0 where reading it is not permitted."""
    exit_status: int
    """As wait(2) gives it. 0 where reading it is not permitted."""
    cpu: int | None = None
    """On which it ran last; None where an old kernel does not report it."""
    rss_bytes: int | None = None
    """Rounded by the kernel to some dozen pages for each thread; `Status` has it exactly."""

    @property
    def is_kernel_thread(self) -> bool:
        """PF_KTHREAD of include/linux/sched.h."""
        return bool(self.flags & 0x00200000)

    @property
    def has_ended(self) -> bool:
        """A zombie whose other threads have ended too."""
        return self.state in "ZX" and self.thread_count <= 1


class SoftLimits(NamedTuple):
    """Of /proc/PID/limits."""

    open_files: int | None
    processes: int | None
    """Of all processes and threads of the user."""


class Status(NamedTuple):
    """Fields of /proc/PID/status that hwtop uses; None where the line is absent (a zombie, an old kernel)."""

    uid: int | None
    rss_bytes: int | None
    anon_bytes: int | None
    swap_bytes: int | None
    voluntary_switches: int | None
    involuntary_switches: int | None
    tracer_pid: int | None
    caught_signals: int | None
    ignored_signals: int | None
    usable_cores: int | None
    allowed_cpus: str | None
    ns_pids: tuple[int, ...]

    @property
    def switches(self) -> int | None:
        """All context switches of the main thread."""
        if self.voluntary_switches is None or self.involuntary_switches is None:
            return None
        return self.voluntary_switches + self.involuntary_switches


class Io(NamedTuple):
    """/proc/PID/io, bytes."""

    read_bytes: int
    written_bytes: int
    read_chars: int
    written_chars: int


def read_bytes(path: str) -> bytes:
    """Whole content, up to 1 MiB."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, _READ_LIMIT)
        while len(content) < _READ_LIMIT and (more := os.read(descriptor, _READ_LIMIT - len(content))):
            content += more
        return content
    finally:
        os.close(descriptor)


def read_record(path: str) -> bytes:
    """What the kernel writes in one piece (single_open of fs/seq_file.c), so that one read gets all of it: `stat`, `status`, `io`, ..."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _READ_LIMIT)
    finally:
        os.close(descriptor)


def read_stat(directory: str) -> Stat:
    """Safe at any time: takes no lock that a process in uninterruptible sleep could hold."""
    text = read_record(f"{directory}/stat").decode("utf-8", "replace")
    opening, closing = text.find("("), text.rfind(")")  # a comm may hold blanks and brackets
    fields = text[closing + 2 :].split()
    if opening < 0 or len(fields) < 20:
        raise ProcessLookupError(f"{directory}/stat holds no process")
    return Stat(
        comm=text[opening + 1 : closing],
        state=fields[0],
        ppid=int(fields[1]),
        flags=int(fields[6]),
        user_ticks=int(fields[11]),
        system_ticks=int(fields[12]),
        thread_count=int(fields[17]),
        start_ticks=int(fields[19]),
        argument_start=int(fields[45]) if len(fields) > 45 else 0,
        exit_status=int(fields[49]) if len(fields) > 49 else 0,
        cpu=int(fields[36]) if len(fields) > 36 else None,
        rss_bytes=int(fields[21]) * _PAGE_BYTES if len(fields) > 21 else None,
    )


def read_status(directory: str) -> Status:
    """Safe at any time, like `read_stat`."""
    lines = _STATUS_LINES.findall(read_record(f"{directory}/status"))
    values = {name.decode(): value.decode("utf-8", "replace").strip() for name, value in lines}
    mask = values.get("Cpus_allowed")
    return Status(
        uid=_number(values.get("Uid")),
        rss_bytes=_kilobytes(values.get("VmRSS")),
        anon_bytes=_kilobytes(values.get("RssAnon")),
        swap_bytes=_kilobytes(values.get("VmSwap")),
        voluntary_switches=_number(values.get("voluntary_ctxt_switches")),
        involuntary_switches=_number(values.get("nonvoluntary_ctxt_switches")),
        tracer_pid=_number(values.get("TracerPid")),
        caught_signals=int(values["SigCgt"], 16) if "SigCgt" in values else None,
        ignored_signals=int(values["SigIgn"], 16) if "SigIgn" in values else None,
        usable_cores=int(mask.replace(",", ""), 16).bit_count() if mask else None,
        allowed_cpus=values.get("Cpus_allowed_list"),
        ns_pids=tuple(int(word) for word in values.get("NSpid", "").split()),
    )


def read_wchan(directory: str) -> str | None:
    """Kernel function in which the main thread sleeps. "0" is running, or another user's process: None."""
    name = read_record(f"{directory}/wchan").decode("ascii", "replace").strip()
    return name if name not in ("", "0") else None


def read_run_delay(directory: str) -> int | None:
    """Nanoseconds that the main thread was ready to run without a core: second field of schedstat (Documentation/scheduler/
    sched-stats.rst). None on a kernel without CONFIG_SCHED_INFO."""
    try:
        fields = read_record(f"{directory}/schedstat").split()
    except FileNotFoundError:
        return None
    return int(fields[1]) if len(fields) == 3 else None


def read_tids(directory: str) -> tuple[int, ...]:
    """The first `THREAD_LIMIT` tasks."""
    return tuple(sorted(int(name) for name in os.listdir(f"{directory}/task"))[:THREAD_LIMIT])


def read_threads(directory: str, tids: Iterable[int] | None = None) -> tuple[ThreadInfo, ...]:
    """Those of these tasks, or of all that `read_tids` finds, that have not ended meanwhile."""
    threads = []
    for tid in read_tids(directory) if tids is None else tids:
        with contextlib.suppress(OSError, ValueError):
            threads.append(read_thread(directory, tid))
    return tuple(threads)


def read_thread(directory: str, tid: int) -> ThreadInfo:
    """One task.

    Raises:
        OSError: it has ended.
    """
    stat = read_stat(f"{directory}/task/{tid}")
    return ThreadInfo(tid=tid, comm=stat.comm, state=stat.state, cpu_ticks=stat.user_ticks + stat.system_ticks)


def read_children(directory: str, tid: int) -> tuple[int, ...]:
    """PIDs that this task started and that still have its process as parent.

    Raises:
        FileNotFoundError: kernel without CONFIG_PROC_CHILDREN, or the task has ended.
    """
    return tuple(int(word) for word in read_bytes(f"{directory}/task/{tid}/children").split())


def read_cmdline(directory: str) -> tuple[str, ...]:
    """Arguments. Waits for the process's memory lock: may block for ever on a process in uninterruptible sleep."""
    content = read_bytes(f"{directory}/cmdline").rstrip(b"\0")
    if b"\0" not in content:
        content = content.rstrip()  # a process title is padded with blanks over the arguments it replaced
    return tuple(part.decode("utf-8", "replace") for part in content.split(b"\0")) if content else ()


def read_environ(directory: str) -> bytes:
    """Environment at exec. May block like `read_cmdline`; refused for another user's process.

    psutil stops at the first empty entry, so it finds no variables behind a process title (setproctitle), as vLLM and Ray set it.
    """
    return read_bytes(f"{directory}/environ")


def read_io(directory: str) -> Io:
    """Refused for another user's process; waits while an exec is under way."""
    values = dict(line.split(b": ") for line in read_record(f"{directory}/io").splitlines())
    return Io(int(values[b"read_bytes"]), int(values[b"write_bytes"]), int(values[b"rchar"]), int(values[b"wchar"]))


def read_cgroup(directory: str) -> str | None:
    """Path of the v1 memory controller, else of cpu, else in the unified hierarchy, else of any other controller.

    One that is not the root is preferred to one that is: each controller may have its own, and Slurm and container runtimes
    manage only some.
    """
    paths: dict[str, str] = {}
    for line in read_bytes(f"{directory}/cgroup").decode("utf-8", "replace").splitlines():
        number, controllers, path = line.split(":", 2)
        for controller in controllers.split(",") if number != "0" else [""]:
            paths[controller] = path
    order = [paths[name] for name in ("memory", "cpu", "", *paths) if name in paths]
    return next((path for path in order if path != "/"), next(iter(order), None))


def read_soft_limits(directory: str) -> SoftLimits:
    """None where there is no limit."""
    found: dict[str, int | None] = {}
    for line in read_bytes(f"{directory}/limits").decode("ascii", "replace").splitlines():
        for name in ("Max open files", "Max processes"):
            if line.startswith(name):
                word = line.removeprefix(name).split()[0]
                found[name] = whole_number(word)
    return SoftLimits(found.get("Max open files"), found.get("Max processes"))


def exit_code(status: int) -> int:
    """Of a wait(2) status: 0 to 255 for an exit, negative for a signal."""
    return os.waitstatus_to_exitcode(status)


def _number(text: str | None) -> int | None:
    return whole_number(text.split()[0]) if text else None


def _kilobytes(text: str | None) -> int | None:
    number = _number(text)
    return None if number is None else number * 1024
