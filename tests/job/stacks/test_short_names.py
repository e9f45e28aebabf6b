from __future__ import annotations

import pytest

from hwtop.collectors.stacks.pyspy import parse
from hwtop.job.stacks.short_names import ShortNames
from hwtop.model.stack import StackDump, StackFrame, ThreadStack
from tests.stack_jobs import FOLDER


def dump(*pairs: tuple[str, str]) -> StackDump:
    frames = tuple(StackFrame(name="f", filename=full, short_filename=short, line=1) for full, short in pairs)
    thread = ThreadStack(name=None, os_thread_id=1, is_active=True, owns_gil=False, frames=frames)
    return StackDump(pid=1, at_s=1.0, threads=(thread,))


@pytest.mark.parametrize(
    ("filename", "short"),
    [
        ("/v/lib/python3.11/site-packages/torch/utils/data/dataloader.py", "torch/utils/data/dataloader.py"),
        ("/usr/lib/python3/dist-packages/numpy/core/x.py", "numpy/core/x.py"),
        ("/usr/lib/python3.12/multiprocessing/queues.py", "multiprocessing/queues.py"),
        ("/opt/conda/lib/python3.13t/threading.py", "threading.py"),
        ("/usr/lib64/python3.9/json/__init__.py", "json/__init__.py"),
        ("/v/lib/python3.11/site-packages/p/lib/python3.11/x.py", "p/lib/python3.11/x.py"),
        ("/home/ana/train.py", "train.py"),
        ("train.py", "train.py"),
        ("<string>", "<string>"),
        ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>"),
        ("", ""),
    ],
)
def test_what_can_be_known_without_any_dump(filename: str, short: str) -> None:
    assert ShortNames().of(filename) == short


def test_packages_of_the_user_are_learnt_from_dumps() -> None:
    names = ShortNames()
    assert names.of("/src/mega/core/step.py") == "step.py"
    names.learn([dump(("/src/mega/core/model.py", "mega/core/model.py"), ("/src/train.py", "train.py"))])
    assert names.of("/src/mega/core/other.py") == "mega/core/other.py"
    assert names.of("/src/tools/x.py") == "x.py"
    names.learn([dump(("/src/mega/core/step.py", "mega/core/step.py"))])
    assert names.of("/src/mega/core/step.py") == "mega/core/step.py"


def test_recorded_dumps_have_the_names_that_would_be_derived() -> None:
    for path in FOLDER.glob("*.json"):
        for thread in parse(path.read_bytes(), 0):
            for frame in thread.frames:
                assert ShortNames().of(frame.filename) == frame.short_filename
