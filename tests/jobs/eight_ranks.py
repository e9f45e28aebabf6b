"""Eight ranks that look like a job on GPUs and compute nothing: each tells a step now and then, into a log of its own."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

RANKS = 8
PR_SET_NAME = 15  # prctl(2)


def rank() -> None:
    threading.Thread(target=cuda_thread, daemon=True).start()
    for step in range(1, 100_000):
        print(f"step {step} loss {1 + 1 / step:.4f}", flush=True)
        time.sleep(0.5)


def cuda_thread() -> None:
    """Named as the one that CUDA starts with a context."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, b"cuda-EvtHandlr", 0, 0, 0)
    threading.Event().wait()


def launch() -> None:
    ranks = []
    for number in range(RANKS):
        env = {**os.environ, "RANK": str(number), "LOCAL_RANK": str(number), "WORLD_SIZE": str(RANKS)}
        env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # else nobody knows which one the rank of a lost GPU uses
        with Path(f"rank_{number}.log").open("wb") as log:
            ranks.append(subprocess.Popen([sys.executable, __file__], env=env, stdout=log, stderr=log))
    for child in ranks:
        child.wait()


if __name__ == "__main__":
    rank() if "RANK" in os.environ else launch()
