from __future__ import annotations

import faulthandler
import tempfile
import threading

import pytest

from hwtop.collectors.stacks.faulthandler_text import parse_faulthandler
from hwtop.job.stacks.short_names import ShortNames

TORCH_2_13 = """\
Current thread 0x00007fb129ffb6c0 (most recent call first):
  <no Python frame>

Thread 0x00007fb130b286c0 (most recent call first):
  File "/data/train.py", line 6 in inner
  File "/usr/lib/python3.11/threading.py", line 982 in run

Thread 0x00007fb153439b80 (most recent call first):
  File "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252 in all_reduce
  File "/data/tr\\xe4in.py", line 8 in train
  File "/data/train.py", line ??? in <module>
"""

PYTHON_3_14 = """\
Thread 0x00007f01c1fff6c0 [prefetch] (most recent call first):
  File "/data/train.py", line 6 in inner

Current thread 0x00007f01d7a3c740 [python] (most recent call first):
  Garbage-collecting
  File "/data/train.py", line 12 in <module>

Current thread's C stack trace (most recent call first):
  Binary file "/usr/lib/libpython3.14.so", at _Py_DumpStack+0x3e [0x7f01d7dfe0ce]
"""


def test_the_main_thread_is_the_last_one_and_comes_first() -> None:
    main, other = parse_faulthandler(TORCH_2_13, ShortNames())
    assert [frame.name for frame in main.frames] == ["all_reduce", "train", "<module>"]
    assert [frame.short_filename for frame in main.frames] == [
        "torch/distributed/distributed_c10d.py",
        "träin.py",
        "train.py",
    ]
    assert [frame.line for frame in main.frames] == [3252, 8, 0]
    assert [frame.short_filename for frame in other.frames] == ["train.py", "threading.py"]


def test_names_of_threads_and_c_stacks_of_python_3_14() -> None:
    main, other = parse_faulthandler(PYTHON_3_14, ShortNames())
    assert (main.name, [frame.line for frame in main.frames]) == ("python", [12])
    assert other.name == "prefetch"


@pytest.mark.parametrize("text", ["", "no stack\n", '  File "/data/train.py", line 6 in inner\n'])
def test_other_text_is_no_stack(text: str) -> None:
    assert parse_faulthandler(text, ShortNames()) == ()


def test_what_this_python_writes_is_read() -> None:
    begun, let_go = threading.Event(), threading.Event()

    def prefetch() -> None:
        begun.set()
        let_go.wait()

    thread = threading.Thread(target=prefetch)
    thread.start()
    begun.wait()
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        threads = parse_faulthandler(file.read(), ShortNames())
    let_go.set()
    thread.join()
    assert "test_what_this_python_writes_is_read" in [frame.name for frame in threads[0].frames]
    assert any(frame.name == "prefetch" for other in threads[1:] for frame in other.frames)
