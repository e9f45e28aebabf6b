"""Elastic training: after a failure torchrun starts all processes again from the last snapshot."""
import os
import pickle
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, attempt = dist.get_rank(), int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
torch.set_num_threads(1)
step, net = 0, torch.nn.Sequential(torch.nn.Linear(100, 300), torch.nn.ReLU(), torch.nn.Linear(300, 10))
if os.path.exists("snapshot.pkl"):
    snap = torch.load("snapshot.pkl", weights_only=False)
    step = snap["step"]
    net.load_state_dict(snap["net"])
if rank == 0:
    print(f"==> attempt {attempt}, resuming at step {step}", flush=True)
ddp = torch.nn.parallel.DistributedDataParallel(net)
opt = torch.optim.SGD(ddp.parameters(), 0.05)
W = torch.randn(100, 10, generator=torch.Generator().manual_seed(2))
BAD = os.environ.get("BAD_RECORD")
while step < 10_000_000:
    x = torch.randn(64, 100)
    y = (x @ W).argmax(1)
    if rank == 1 and BAD == "always" and step >= 130:
        y[3] = 10 + step  # a class that the head does not have
    if rank == 1 and BAD == "once" and step == 130 and attempt == 0:
        raise RuntimeError("record 8320 is corrupt")
    loss = torch.nn.functional.cross_entropy(ddp(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    step += 1
    time.sleep(0.03)
    if rank == 0 and step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
    if rank == 0 and step % 100 == 0:
        torch.save({"step": step, "net": net.state_dict()}, "snapshot.pkl")
