from __future__ import annotations

import pytest

from hwtop.job.kernel.wait import VFORK, waits_for


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
        ("hrtimer_nanosleep", None),
        (None, None),
    ],
)
def test_what_a_kernel_function_waits_for(wchan: str | None, meaning: str | None) -> None:
    assert waits_for(wchan) == meaning
