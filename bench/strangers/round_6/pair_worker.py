"""Asynchronous averaging over a key-value store: each rank posts its weights, then reads those of its peer."""

import io
import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
SOURCES = os.environ.get("SOURCES", "shop")
ATTEMPT = int(os.environ.get("ATTEMPT", "1"))
PRICE_UNIT = {"piece": 1.0, "kg": 2.0, "litre": 1.5}


def rows(n, step):
    """Synthetic sales of one shop."""
    units = ["piece", "kg", "litre"]
    if SOURCES == "mixed" and RANK == 1 and step > 90:
        units.append("pallet")
    x = torch.randn(n, 12)
    factor = torch.tensor([PRICE_UNIT[units[i % len(units)]] for i in range(n)])
    return x, (x.sum(1) * factor)[:, None]


def pack(model):
    out = io.BytesIO()
    torch.save(model.state_dict(), out)
    return out.getvalue()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(RANK)
    store = dist.TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]) + ATTEMPT,
        2,
        RANK == 0,
        timedelta(hours=2),
    )
    model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.SGD(model.parameters(), 0.001)
    first = 0
    if ATTEMPT > 1 and os.path.exists(f"state{RANK}.pt"):
        saved = torch.load(f"state{RANK}.pt")
        model.load_state_dict(saved["model"])
        first = saved["step"]
        print(f"rank {RANK}: resumed from step {first}", flush=True)
    for step in range(first + 1, 1_000_000):
        x, y = rows(64, step)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        time.sleep(0.05)
        if step % 5 == 0:
            store.set(f"w/{RANK}/{step}", pack(model))
            other = torch.load(io.BytesIO(store.get(f"w/{1 - RANK}/{step}")))
            mine = model.state_dict()
            model.load_state_dict({k: (mine[k] + other[k]) / 2 for k in mine})
            if step > 20:
                store.delete_key(f"w/{RANK}/{step - 20}")
        if step % 10 == 0:
            print(f"rank {RANK} step {step} mse {loss.item():.4f}", flush=True)
        if step % 50 == 0:
            torch.save({"model": model.state_dict(), "step": step}, f"state{RANK}.pt")
        if os.environ.get("RECYCLE") and ATTEMPT == 1 and step == 60:
            print("time slice used up, leaving", flush=True)
            sys.exit(75)


main()
