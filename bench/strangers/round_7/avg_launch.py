"""Starts the replicas of avg_worker.py, which exchange weights by files."""
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.makedirs("exchange", exist_ok=True)
children = []
for rank in range(2):
    env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
    log = open(f"replica_{rank}.log", "w")
    children.append(subprocess.Popen([sys.executable, "-u", os.path.join(here, "avg_worker.py"), *sys.argv[1:]], env=env, stdout=log, stderr=subprocess.STDOUT))
print("replicas:", [c.pid for c in children], flush=True)
for c in children:
    c.wait()
