"""What a task in uninterruptible sleep waits for, by its wchan (the kernel function it waits in). Pure."""

from __future__ import annotations

VFORK = "a child that it started with vfork"

_WAITS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("nfs", "rpc_", "__rpc"), "an NFS server"),
    (("fuse", "request_wait_answer", "__fuse"), "the daemon of a FUSE file system"),
    (("ptlrpc", "cl_sync_io", "ldlm", "osc_", "ll_"), "a Lustre server"),
    (("ceph",), "a Ceph server"),
    (("cifs", "smb", "wait_for_response"), "an SMB server"),
    (("jbd2", "ext4", "xfs", "xlog", "btrfs"), "the local file system"),
    (("folio_wait", "wait_on_page", "io_schedule", "blk_", "bio_", "submit_bio", "rq_qos"), "a block device"),
    (("rwsem_down", "mutex_lock", "__mutex"), "a kernel lock that another task holds"),
    (("kernel_clone", "wait_for_vfork", "do_fork", "_do_fork"), VFORK),
    (("locks_lock", "flock_lock", "posix_lock", "fcntl_setlk"), "a file lock that another process holds (/proc/locks)"),
    (("wait_for_partner",), "another process to open the other end of a FIFO"),
    (("wait_woken", "sk_wait_data", "inet_wait_for_connect"), "the other end of a TCP connection"),
    (("nvidia", "uvm", "os_acquire", "_nv"), "the NVIDIA driver"),
)
"""Start of the function's name (fs/nfs, net/sunrpc, fs/fuse/dev.c, mm/filemap.c, kernel/fork.c, ... of Linux)."""


def waits_for(wchan: str | None) -> str | None:
    """In words; None where the function is not known."""
    if wchan is None:
        return None
    return next((meaning for prefixes, meaning in _WAITS if wchan.startswith(prefixes)), None)
