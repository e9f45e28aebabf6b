"""The child process of a test: hwtop's GPU source against whatever NVML LD_LIBRARY_PATH leads to, one command a line.

    probe        {"reason": ...}
    read         {"reading": GpuReading} or {"reason": why there is none}
    advance S    {}; the source's clock is S seconds further on
    shutdown     {}; the library is shut down under the source
    quit         {}; leaves as a program does that reached its end

Every answer also has `took_s`. Arguments: the deadline of a read in seconds, then the GPUs to read (none: all).
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from typing import Any

import msgspec

from hwtop.collectors.gpu.nvidia.vendor import GpuNvidiaSource
from hwtop.errors import CannotError

skipped_s = 0.0


def now() -> float:
    return time.monotonic() + skipped_s


def answer(source: GpuNvidiaSource, words: list[str]) -> dict[str, Any]:
    global skipped_s
    match words:
        case ["probe"]:
            return {"reason": source.probe()}
        case ["read"]:
            try:
                return {"reading": source.read()}
            except CannotError as error:
                return {"reason": str(error)}
        case ["advance", seconds]:
            skipped_s += float(seconds)
        case ["shutdown"]:
            importlib.import_module("pynvml").nvmlShutdown()
        case ["quit"]:
            source.close()
    return {}


def main() -> None:
    only = tuple(int(index) for index in sys.argv[2:]) or None
    source = GpuNvidiaSource(
        only=only, now=now, deadline_s=float(sys.argv[1]), sys_root=os.environ.get("FAKE_SYS", "/sys")
    )
    for line in sys.stdin:
        started_s = time.monotonic()
        reply = answer(source, line.split())
        reply["took_s"] = time.monotonic() - started_s
        sys.stdout.write(msgspec.json.encode(reply).decode() + "\n")
        sys.stdout.flush()
        if line.split() == ["quit"]:
            return


if __name__ == "__main__":
    main()
