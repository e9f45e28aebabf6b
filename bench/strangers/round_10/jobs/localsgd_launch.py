import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
jobs = []
for r in range(3):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE="3")
    jobs.append(subprocess.Popen([sys.executable, os.path.join(here, "localsgd_worker.py")], env=env, stdout=open(f"worker{r}.log", "w"), stderr=subprocess.STDOUT))
print("started", [j.pid for j in jobs])
for r, j in enumerate(jobs):
    print(f"worker {r} done rc={j.wait()}")
