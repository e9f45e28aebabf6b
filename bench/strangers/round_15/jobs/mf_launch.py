"""Starts the matrix factorisation workers: mf_launch.py [n]"""
import os
import subprocess
import sys
from pathlib import Path

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2
script = Path(__file__).with_name("mf_worker.py")
workers = []
for r in range(n):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(n), LOCAL_RANK=str(r), MASTER_ADDR="127.0.0.1", MASTER_PORT="31004")
    workers.append(subprocess.Popen([sys.executable, str(script)], env=env))
codes = [w.wait() for w in workers]
sys.exit(max(codes))
