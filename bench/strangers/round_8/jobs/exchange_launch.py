"""Starts the workers of the file-exchange trainer and waits for them; each writes its own log."""

import os
import pathlib
import subprocess
import sys

WORLD = 3
pathlib.Path("logs").mkdir(exist_ok=True)
pathlib.Path("exchange").mkdir(exist_ok=True)
program = pathlib.Path(__file__).with_name("exchange_worker.py")
crew = []
for rank in range(WORLD):
    env = {**os.environ, "RANK": str(rank), "WORLD_SIZE": str(WORLD)}
    log = open(f"logs/worker_{rank}.log", "w")  # noqa: SIM115
    crew.append(subprocess.Popen([sys.executable, str(program)], env=env, stdout=log, stderr=subprocess.STDOUT))
print("started", [p.pid for p in crew], flush=True)
sys.exit(max(p.wait() for p in crew))
