"""What an open file is, by its name and mode."""

from __future__ import annotations

import pytest

from hwtop.job.launch.variables import is_training_variable
from hwtop.job.open_file import is_deleted, kind
from hwtop.model.process import OpenFile


@pytest.mark.parametrize(
    ("target", "is_writable", "expected"),
    [
        ("/runs/rank_0.log", True, "log"),
        ("/runs/rank_0.log", False, "data"),
        ("/runs/followed", True, "log"),
        ("/runs/events.out.tfevents.1.host", True, "log"),
        ("/data/train.bin", False, "data"),
        ("/ckpt/model.pt", True, "output"),
        ("/tmp/x (deleted)", True, "output"),
        ("socket:[1]", True, "socket"),
        ("pipe:[1]", False, "pipe"),
        ("anon_inode:[eventpoll]", False, "event"),
        ("/dev/nvidia0", True, "device"),
        ("/dev/null", True, "device"),
        ("/dev/shm/torch_1 (deleted)", True, "memory"),
        ("/memfd:x (deleted)", True, "memory"),
        ("/dev/pts/3", True, "terminal"),
    ],
)
def test_kind(target: str, is_writable: bool, expected: str) -> None:
    file = OpenFile(fd=3, target=target, is_writable=is_writable)
    assert kind(file, {"/runs/followed"}) == expected
    assert is_deleted(file) == ("deleted" in target)


@pytest.mark.parametrize(
    "name", ["RANK", "LOCAL_RANK", "WORLD_SIZE", "NCCL_DEBUG", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"]
)
def test_training_variables(name: str) -> None:
    assert is_training_variable(name)


@pytest.mark.parametrize("name", ["HOME", "PATH", "LANG", "FRANKFURT", "MY_NCCL", "CUDAS"])
def test_other_variables(name: str) -> None:
    assert not is_training_variable(name)
