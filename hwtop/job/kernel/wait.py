"""What a task waits for in the kernel: by its wchan (the kernel function it waits in), its state and its system call. Pure."""

from __future__ import annotations

from typing import Literal

from hwtop.model.process import SystemCall

WaitKind = Literal["storage", "network", "pipe", "terminal", "lock", "file lock", "sleep", "child", "events"]
"""storage: a disk or a file server. lock: another thread, or another process with which it shares memory. sleep: a time that it asked
for. events: whichever of several descriptors is ready first."""

VFORK = "a child that it started with vfork"

_WAITS: tuple[tuple[tuple[str, ...], WaitKind | None, str], ...] = (
    (("nfs", "rpc_", "__rpc"), "storage", "an NFS server"),
    (("fuse", "request_wait_answer", "__fuse"), "storage", "the daemon of a FUSE file system"),
    (("ptlrpc", "cl_sync_io", "ldlm", "osc_", "ll_"), "storage", "a Lustre server"),
    (("ceph",), "storage", "a Ceph server"),
    (("cifs", "smb", "wait_for_response"), "storage", "an SMB server"),
    (("jbd2", "ext4", "xfs", "xlog", "btrfs"), "storage", "the local file system"),
    (
        ("folio_wait", "wait_on_page", "io_schedule", "blk", "bio_", "submit_bio", "rq_qos"),
        "storage",
        "a block device",
    ),
    (("rwsem_down", "mutex_lock", "__mutex"), None, "a kernel lock that another task holds"),
    (("kernel_clone", "wait_for_vfork", "do_fork", "_do_fork"), None, VFORK),
    (
        ("locks_lock", "flock_lock", "posix_lock", "fcntl_setlk"),
        "file lock",
        "a file lock that another process holds (/proc/locks)",
    ),
    (("nvidia", "uvm", "os_acquire", "_nv"), None, "the NVIDIA driver"),
    (("wait_for_partner", "fifo_open"), "pipe", "a process that opens the other end of the FIFO"),
    (("pipe_write", "anon_pipe_write"), "pipe", "room in a pipe: whoever reads it does not"),
    (("pipe_read", "anon_pipe_read"), "pipe", "bytes from a pipe"),
    (("n_tty_read",), "terminal", "input at a terminal"),
    (("sock_alloc_send", "sock_wait_for_wmem"), "pipe", "room in a socket: whoever reads it does not"),
    (("sk_stream_wait_memory",), "network", "room in a socket: the other side does not read"),
    (("unix_stream",), "pipe", "a socket of another process of this machine"),
    (("sk_wait_data", "wait_woken", "skb_wait", "__skb_wait", "inet_csk"), "network", "a socket"),
    (("hrtimer_nanosleep", "do_nanosleep", "common_nsleep"), "sleep", "a sleep to end"),
    (("futex",), "lock", "another thread, or a lock (futex)"),
    (("do_wait",), "child", "the end of a child process"),
    (
        ("do_poll", "poll_schedule", "do_sys_poll", "ep_poll", "do_epoll", "do_select"),
        "events",
        "its descriptors (poll)",
    ),
)
"""Start of the function's name (fs/nfs, net/sunrpc, fs/fuse/dev.c, mm/filemap.c, kernel/fork.c, fs/pipe.c, ... of Linux)."""

_CALLS: dict[str, tuple[WaitKind, str]] = {
    **dict.fromkeys(("recvfrom", "recvmsg"), ("network", "bytes from a socket")),
    **dict.fromkeys(("sendto", "sendmsg"), ("network", "room in a socket: the other side does not read")),
    "connect": ("network", "an answer to connect()"),
    **dict.fromkeys(("accept", "accept4"), ("network", "somebody to connect")),
    **dict.fromkeys(("nanosleep", "clock_nanosleep"), ("sleep", "a sleep to end")),
    **dict.fromkeys(("wait4", "waitid"), ("child", "the end of a child process")),
    **dict.fromkeys(("flock", "fcntl"), ("file lock", "a file lock that another process holds (/proc/locks)")),
    **dict.fromkeys(
        ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait"), ("events", "its descriptors (poll)")
    ),
    "futex": ("lock", "another thread, or a lock (futex)"),
    **dict.fromkeys(("semop", "semtimedop", "msgrcv"), ("lock", "another process (System V semaphore or queue)")),
}
_POLLS = frozenset(["poll", "ppoll"])
_READS = frozenset(["read", "readv", "pread64"]) | _POLLS
_WRITES = frozenset(["write", "writev", "pwrite64"])
_STREAMS: tuple[tuple[tuple[str, ...], WaitKind, str], ...] = (
    (("pipe:",), "pipe", "pipe"),
    (("socket:",), "network", "socket"),
    (("/dev/pts/", "/dev/tty", "/dev/console"), "terminal", "terminal"),
)
_STANDARD = {0: "its standard input", 1: "its standard output", 2: "its standard error"}


def waits_for(wchan: str | None, call: SystemCall | None = None) -> str | None:
    """In words; None where nothing tells it."""
    by_call = _by_call(call)
    if by_call is not None:
        return by_call[1]
    by_wchan = _by_wchan(wchan)
    return None if by_wchan is None else by_wchan[1]


def wait_kind(state: str, wchan: str | None, call: SystemCall | None = None) -> WaitKind | None:
    """Of a process in that state; None while it runs, and where nothing tells it."""
    if state not in ("S", "D"):
        return None
    by_wchan = _by_wchan(wchan)
    if state == "D":
        return "storage" if by_wchan is None else by_wchan[0]
    by_call = _by_call(call)
    if by_call is not None and (
        by_call[0] != "network" or by_wchan is None
    ):  # the call does not tell a local socket from TCP
        return by_call[0]
    return None if by_wchan is None else by_wchan[0]


def _by_wchan(wchan: str | None) -> tuple[WaitKind | None, str] | None:
    if wchan is None:
        return None
    return next(((kind, words) for prefixes, kind, words in _WAITS if wchan.startswith(prefixes)), None)


def _by_call(call: SystemCall | None) -> tuple[WaitKind, str] | None:
    if call is None:
        return None
    known = _CALLS.get(call.name)
    if call.name not in _READS | _WRITES:
        return known if known is None or call.peer is None else (known[0], _with_peer(known, call))
    target = call.target or ""
    found = next(((kind, what) for starts, kind, what in _STREAMS if target.startswith(starts)), None)
    if found is None:
        return known
    kind, what = found
    if known is not None:  # a poll: what may come is awaited, not the bytes of a file
        kind = known[0]
    what = f"{what} to {call.peer}" if call.peer else what
    whose = f"{_STANDARD[call.fd]} ({target})" if call.fd in _STANDARD else f"a {what} (descriptor {call.fd})"
    return kind, f"bytes from {whose}" if call.name in _READS else f"room in {whose}: whoever reads it does not"


def _with_peer(known: tuple[WaitKind, str], call: SystemCall) -> str:
    if known[0] != "file lock":
        return f"{known[1]} ({call.peer})"
    return f"the file lock{f' on {call.target}' if call.target else ''} that {call.peer} holds"
