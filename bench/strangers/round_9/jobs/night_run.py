"""Starts both ranks of the nightly retraining and waits for its status file to say that it has finished."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
STATUS = Path("status.json")


def start(rank):
    env = os.environ.copy()
    env.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="30015")
    log = open(f"retrain.{rank}.log", "wb")
    return subprocess.Popen([sys.executable, HERE / "night_train.py", STATUS], env=env, stdout=log, stderr=log)


def main():
    workers = [start(rank) for rank in (0, 1)]
    print(time.strftime("%F %T"), "started", len(workers), "workers", flush=True)
    while True:
        if STATUS.exists():
            status = json.loads(STATUS.read_text())
            if status["state"] == "finished":
                break
        time.sleep(3)
    print("retraining finished:", status)


if __name__ == "__main__":
    main()
