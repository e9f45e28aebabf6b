"""Start both trainers on this box: python run_pair.py SCRIPT PORT N"""
import os
import subprocess
import sys

script, port, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
procs = []
for r in range(n):
    env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    procs.append(subprocess.Popen([sys.executable, script], env=env))
sys.exit(max(p.wait() for p in procs))
