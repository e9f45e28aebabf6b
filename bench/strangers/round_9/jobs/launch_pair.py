"""Start the two ranks of pair_worker.py on this machine; the settings go to them over stdin."""

import json
import os
import subprocess
import sys
from pathlib import Path

SETTINGS = {
    "width": 128,
    "depth": 3,
    "lr": 0.002,
    "save_every": 60,
    "out": "runs/denoise",
    "noise": 0.4,
}


def start(rank, world=2):
    env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT="30003")
    worker = Path(__file__).resolve().parent / "pair_worker.py"
    proc = subprocess.Popen([sys.executable, str(worker)], env=env, stdin=subprocess.PIPE, text=True)
    proc.stdin.write(json.dumps(SETTINGS) + "\n")
    proc.stdin.flush()
    return proc


def main():
    procs = [start(rank) for rank in range(2)]
    print("pids:", *(p.pid for p in procs))
    codes = [p.wait() for p in procs]
    print("exit codes:", codes)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
