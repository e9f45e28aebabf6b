"""Start one trainer per line of the machine file: python tabular_launch.py tabular_fit.py"""
import os
import subprocess
import sys

MACHINES = """\
# name      cores
trainer-a   1
trainer-b   1

"""

with open("machines.txt", "w") as f:
    f.write(MACHINES)

lines = [l for l in open("machines.txt") if not l.startswith("#")]
procs = []
for i, line in enumerate(lines):
    if not line.split():
        continue
    env = dict(os.environ, RANK=str(i), WORLD_SIZE=str(len(lines)), MASTER_ADDR="127.0.0.1", MASTER_PORT="41030", NODE=line.split()[0])
    procs.append(subprocess.Popen([sys.executable, *sys.argv[1:]], env=env))
sys.exit(max(p.wait() for p in procs))
