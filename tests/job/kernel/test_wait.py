from __future__ import annotations

import pytest

from hwtop.job.kernel.wait import VFORK, wait_kind, waits_for
from hwtop.model.process import SystemCall


@pytest.mark.parametrize(
    ("wchan", "meaning"),
    [
        ("nfs_wait_bit_killable", "an NFS server"),
        ("rpc_wait_bit_killable", "an NFS server"),
        ("request_wait_answer", "the daemon of a FUSE file system"),
        ("ptlrpc_set_wait", "a Lustre server"),
        ("folio_wait_bit_common", "a block device"),
        ("io_schedule", "a block device"),
        ("jbd2_log_wait_commit", "the local file system"),
        ("kernel_clone", VFORK),
        ("hrtimer_nanosleep", "a sleep to end"),
        ("wait_for_partner", "a process that opens the other end of the FIFO"),
        ("some_driver_wait", None),
        (None, None),
    ],
)
def test_what_a_kernel_function_waits_for(wchan: str | None, meaning: str | None) -> None:
    assert waits_for(wchan) == meaning


@pytest.mark.parametrize(
    ("state", "wchan", "call", "kind"),
    [
        ("R", None, None, None),
        ("D", None, None, "storage"),
        ("D", "kernel_clone", None, None),  # a child of its own, no disk
        ("S", "futex_do_wait", SystemCall(name="futex"), "lock"),
        ("S", "hrtimer_nanosleep", None, "sleep"),
        ("S", None, SystemCall(name="clock_nanosleep"), "sleep"),
        ("S", "wait_woken", SystemCall(name="read", fd=0, target="/dev/pts/3"), "terminal"),
        ("S", "wait_woken", SystemCall(name="recvfrom", fd=7, target="socket:[1]"), "network"),
        ("S", "unix_stream_data_wait", SystemCall(name="read", fd=7, target="socket:[1]"), "pipe"),
        ("S", "do_poll", SystemCall(name="poll"), "events"),
        ("S", "some_driver_wait", None, None),
    ],
)
def test_the_kernel_tells_what_a_process_waits_for(
    state: str, wchan: str | None, call: SystemCall | None, kind: str | None
) -> None:
    assert wait_kind(state, wchan, call) == kind


def test_a_full_pipe_is_named_with_its_descriptor() -> None:
    blocked = SystemCall(name="write", fd=1, target="pipe:[811]")
    assert (
        waits_for("anon_pipe_write", blocked) == "room in its standard output (pipe:[811]): whoever reads it does not"
    )
    answer = SystemCall(name="recvfrom", fd=7, target="socket:[1]", peer="10.0.0.3:5432")
    assert waits_for("wait_woken", answer) == "bytes from a socket (10.0.0.3:5432)"
    asks = SystemCall(name="read", fd=0, target="/dev/pts/3")
    assert waits_for("wait_woken", asks) == "bytes from its standard input (/dev/pts/3)"
