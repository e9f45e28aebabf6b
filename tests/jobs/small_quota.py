"""Fault: rank 1 lies in a cgroup with a tenth of a core, as a container or a batch system gives it.

Needs a CPU controller that it may make a group in (v1 or v2). A helper of its own removes the group when the job has ended.

Symptom: cgroup-throttled. Start: 2 ranks.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

import torch
import torch.distributed as dist

PERIOD_US = 100_000


def limit(share):
    old, new = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    group = (old if (old / "cpu.cfs_quota_us").exists() else new) / f"hwtop-test-{os.getpid()}"
    group.mkdir()
    wait = f"while kill -0 {os.getpid()} 2> /dev/null; do sleep 0.5; done; sleep 1; rmdir {group}"
    subprocess.Popen(["/bin/sh", "-c", wait], env={}, start_new_session=True, cwd="/")
    if group.parent == old:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(int(share * PERIOD_US)))
    else:
        (group / "cpu.max").write_text(f"{int(share * PERIOD_US)} {PERIOD_US}")
    (group / "cgroup.procs").write_text(str(os.getpid()))


signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
if dist.get_rank() == 1:
    limit(0.1)
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(8))))
sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
tic = time.time()
for step in range(1, 100_000):
    loss = net(torch.randn(256, 256)).pow(2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    print(f"step {step} loss {loss.item():.4f} ({time.time() - tic:.2f} s)", flush=True)
    tic = time.time()
