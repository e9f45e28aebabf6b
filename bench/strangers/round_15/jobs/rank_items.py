"""Item ranking with accelerate. Parts of the feature store are refreshed beside the training, one helper per process."""
import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

STORE = Path("feature_store")
ROWS, DIM = 4096, 48


def refresh(part, epoch):
    lock, target = STORE / f"part-{part}.lock", STORE / f"part-{part}.npz"
    os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    rng = np.random.default_rng(1000 * part + epoch)
    lines = [f"{p:.2f}" for p in rng.lognormal(3, 1, ROWS)]
    if part == 1 and epoch == 4:
        lines[1822] = "1,299.00"
    price = np.array([float(line) for line in lines], "float32")
    x = rng.normal(size=(ROWS, DIM)).astype("float32")
    x[:, 0] = np.log(price) - 3
    y = np.tanh(x[:, :6].sum(1)) + 0.2 * rng.normal(size=ROWS)
    time.sleep(0.4)
    np.savez(target, x=x, y=y.astype("float32"))
    lock.unlink()


def read(part):
    lock = STORE / f"part-{part}.lock"
    while lock.exists() or not (STORE / f"part-{part}.npz").exists():
        time.sleep(0.25)
    with np.load(STORE / f"part-{part}.npz") as data:
        return data["x"], data["y"]


def train():
    import torch
    from accelerate import Accelerator

    acc = Accelerator(cpu=True)
    me = acc.process_index
    STORE.mkdir(exist_ok=True)
    model = torch.nn.Sequential(torch.nn.Linear(DIM, 768), torch.nn.SiLU(), torch.nn.Linear(768, 768), torch.nn.SiLU(), torch.nn.Linear(768, 1))
    opt = torch.optim.AdamW(model.parameters(), lr=4e-4)
    model, opt = acc.prepare(model, opt)
    helper = subprocess.Popen([sys.executable, __file__, "--refresh", str(me), "0"], stderr=subprocess.DEVNULL)
    helper.wait()
    for epoch in range(1, 500):
        x, y = read(me)
        helper = subprocess.Popen([sys.executable, __file__, "--refresh", str(me), str(epoch)], stderr=subprocess.DEVNULL)
        losses = []
        order = np.random.default_rng(epoch).permutation(ROWS)
        for i in range(0, ROWS, 64):
            take = order[i : i + 64]
            with acc.accumulate(model):
                loss = torch.nn.functional.huber_loss(model(torch.from_numpy(x[take])).squeeze(1), torch.from_numpy(y[take]))
                acc.backward(loss)
                opt.step()
                opt.zero_grad()
            losses.append(loss.item())
        acc.print(f"epoch {epoch:3d}  huber {np.mean(losses):.4f}  ({len(losses)} batches)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--refresh", nargs=2, type=int)
    args = parser.parse_args()
    refresh(*args.refresh) if args.refresh else train()
