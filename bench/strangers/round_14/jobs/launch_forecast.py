"""Start one forecast worker per region group: launch_forecast.py N"""
import os
import subprocess
import sys

n = int(sys.argv[1])
here = os.path.dirname(os.path.abspath(__file__))
procs = []
for r in range(n):
    env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT="31004")
    out = open(f"worker_{r}.log", "w")
    procs.append(subprocess.Popen([sys.executable, os.path.join(here, "forecast_worker.py")], env=env, stdout=out, stderr=subprocess.STDOUT))
print("started", [p.pid for p in procs])
sys.exit(max(p.wait() for p in procs))
