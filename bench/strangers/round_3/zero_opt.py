"""Sharded optimizer state (ZeRO stage 1), two processes."""
import os

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

SAVE_EVERY = int(os.environ.get("SAVE_EVERY", "80"))
CAREFUL = os.environ.get("CAREFUL", "1") == "1"


def save(step, model, opt):
    torch.save({"step": step, "model": model.state_dict(), "opt": opt.state_dict()}, "state.pt")


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.GELU(), torch.nn.Linear(400, 400), torch.nn.GELU(), torch.nn.Linear(400, 200)))
    opt = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, lr=3e-4)
    torch.manual_seed(rank)
    for step in range(1, 1_000_001):
        x = torch.randn(64, 200)
        loss = torch.nn.functional.smooth_l1_loss(model(x), x.cumsum(1) / 10)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and step % 10 == 0:
            print(f"[zero] step={step:>7d} loss={loss.item():.5f}", flush=True)
        if step % SAVE_EVERY == 0:
            if CAREFUL:
                opt.consolidate_state_dict(to=0)
                if rank == 0:
                    save(step, model, opt)
            elif rank == 0:
                print(f"[zero] saving at step {step}", flush=True)
                opt.consolidate_state_dict(to=0)
                save(step, model, opt)


main()
