"""What a bundle hides: secrets always, hosts, users and paths where the user wants it."""

from __future__ import annotations

import os
from collections import deque

import pytest
from msgspec.structs import replace

from hwtop.bundle.mask import Mask
from hwtop.feed.feed import frames
from hwtop.job.secrets import HIDDEN
from hwtop.model.stack import StackDump, StackFrame, StackReading, ThreadStack
from tests.job.test_secret_kinds import KINDS
from tests.recording import replay
from tests.store.sessions import flooded, hang

SECRET = KINDS["GitHub"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_of_secret_is_left_in_a_snapshot(kind: str) -> None:
    secret = KINDS[kind]
    line = StackFrame(name="f", filename="t.py", short_filename="t.py", line=1, code=f"login('{secret}')")
    thread = ThreadStack(name=f"for {secret}", os_thread_id=1, is_active=False, owns_gil=False, frames=(line,))
    snapshot = replace(
        flooded(hang()[0], [f"login with {secret}"]),
        process=None,
        gpu=None,
        stacks=StackReading(at_s=1.0, dumps=(StackDump(pid=1, at_s=1.0, threads=(thread,)),)),
    )
    mask = Mask()
    shown = str(mask.snapshot(snapshot, "recording"))
    assert secret[-10:] not in shown
    assert secret[4:14] not in shown
    assert sum(mask.counts["recording"].values()) == 3
    assert secret not in str(mask.counts)


def test_a_snapshot_without_secrets_stays_as_it_was() -> None:
    for snapshot in hang()[:3]:
        assert Mask().snapshot(snapshot, "recording") == snapshot


def test_what_is_hidden_changes_no_finding() -> None:
    mask = Mask(HIDDEN)
    masked = deque(frames(mask.snapshot(snapshot, "recording") for snapshot in hang()), maxlen=1)[0]
    assert [finding.symptom for finding in masked.findings] == [
        finding.symptom for finding in replay("hang")[-1].findings
    ]


def test_what_was_masked_before_is_counted_too() -> None:
    mask = Mask()
    mask.text("--token **** --x", "started.json")
    assert mask.counts == {"started.json": {"masked when it was read": 1}}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/alice/gpt/train.py:12", "/dir1/train.py:12"),
        ("cwd=/home/alice/gpt", "cwd=/dir1"),
        ("/opt/venv/lib/python3.11/site-packages/torch/nn.py", "/dir1/lib/python3.11/site-packages/torch/nn.py"),
        ("/usr/bin/python3 /proc/1/maps", "/usr/bin/python3 /proc/1/maps"),
        ("https://pytorch.org/docs/stable/x.html", "https://pytorch.org/docs/stable/x.html"),
        ("12 tokens/s, ranks 1/2", "12 tokens/s, ranks 1/2"),
        ("at:10.1.2.3:29500 and fe80::1, or 10.0.0.9.", "at:ADDRESS:29500 and ADDRESS, or ADDRESS."),
        (
            "127.0.0.1 at 12:34:56, 0000:18:00.0, cudnn v9.1.0.70",
            "127.0.0.1 at 12:34:56, 0000:18:00.0, cudnn v9.1.0.70",
        ),
        (f"on {os.uname().nodename}: x", "on HOST: x"),
    ],
)
def test_hosts_and_paths(text: str, shown: str) -> None:
    assert Mask(HIDDEN).text(text, "log") == shown
    assert Mask().text(text, "log") == text


def test_the_same_folder_has_the_same_stand_in() -> None:
    mask = Mask(["paths"])
    shown = [mask.text(text, "log") for text in ("/a/b/x.py", "/c/d/x.py", "/a/b/y.py", "/a/b")]
    assert shown == ["/dir1/x.py", "/dir2/x.py", "/dir1/y.py", "/dir1"]


def test_names_of_users_and_hosts_come_from_the_job() -> None:
    snapshot = hang()[0]
    assert snapshot.process is not None
    first = replace(snapshot.process.processes[0], user="alice", env={"MASTER_ADDR": "node7.cluster"})
    masked = Mask(["hosts", "users"])
    masked.learn(replace(snapshot, process=replace(snapshot.process, processes=(first,))))
    text = f"alice@node7: {snapshot.host} node77 malice"
    assert masked.text(text, "log") == "USER@HOST: HOST node77 malice"
