"""Starts one process per "node" from hosts.txt style settings and streams their output with a prefix."""
import os
import subprocess
import sys
import threading

world = int(os.environ.get("NODES", "2"))
here = os.environ.get("START", ",".join(str(i) for i in range(world)))
port = os.environ.get("PORT", "29844")
job = """
import os, time, datetime, torch, torch.distributed as dist
torch.set_num_threads(1)
r = int(os.environ["RANK"]); print("starting node", r, "of", os.environ["WORLD_SIZE"], "on", os.uname().nodename, flush=True)
dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=40))
w = torch.zeros(1000)
for i in range(100000):
    g = torch.randn(1000) + w; dist.all_reduce(g); w -= 0.001 * g; time.sleep(0.05)
    if i % 20 == 0: print(f"round {i} |w|={w.norm():.4f}", flush=True)
"""
procs = []
for r in here.split(","):
    env = dict(os.environ, RANK=r, WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    p = subprocess.Popen([sys.executable, "-u", "-c", job], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def pump(p=p, r=r):
        for line in p.stdout:
            print(f"node{r}| {line}", end="", flush=True)

    threading.Thread(target=pump).start()
    procs.append(p)
sys.exit(max(abs(p.wait()) for p in procs))
