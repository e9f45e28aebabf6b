from __future__ import annotations

import platform
import subprocess
import sys

import pytest

THREADS = """
import sys, threading
from hwtop.feed.heap import share_heap
if sys.argv[1] == "shared":
    share_heap()
kept, ready = [], threading.Barrier(5)
def work():
    kept.append(bytearray(100_000))
    ready.wait(30)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
ready.wait(30)
reserved = [line.split()[0].split("-") for line in open("/proc/self/maps") if "---p" in line]
print(sum(int(end, 16) - int(start, 16) > 32 << 20 for start, end in reserved))
"""


def reserved_heaps(mode: str) -> int:
    """Heaps of threads, for each of which glibc reserves 64 MB."""
    run = subprocess.run([sys.executable, "-c", THREADS, mode], capture_output=True, text=True, check=True, timeout=60)
    return int(run.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have one heap")
def test_threads_have_no_heaps_of_their_own() -> None:
    assert reserved_heaps("shared") < reserved_heaps("own")
