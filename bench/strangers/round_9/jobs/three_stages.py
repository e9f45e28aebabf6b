"""One stage of the bird migration model; see three_stages.sh."""

import argparse
import csv
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import torch
from torch import nn


def prepare(path, seed):
    rng = np.random.default_rng(seed)
    files = []
    for part in range(12):
        track = rng.normal(size=(2500, 32)).astype("float32").cumsum(1) * 0.2
        for _ in range(10):
            track = 0.7 * track + 0.3 * np.tanh(track @ rng.normal(size=(32, 32)).astype("float32") / 4)
        np.save(path / f"part_{part}.npy", track)
        files.append((f"part_{part}.npy", len(track)))
        print(f"prepare: part {part + 1}/12, {len(track)} tracks", flush=True)
    with open(path / "index.csv", "w", newline="") as out:
        csv.writer(out).writerows(files)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(28, 768), nn.GELU(), nn.Linear(768, 768), nn.GELU(), nn.Linear(768, 128))
        self.predict = nn.Linear(128, 4)
        self.arrive = nn.Linear(128, 1)


def load(path):
    with open(path / "index.csv", newline="") as index:
        return torch.from_numpy(np.concatenate([np.load(path / name) for name, _ in csv.reader(index)]))


def fit(name, path, model, loss_of, steps, lr):
    data = load(path)
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    t0 = time.time()
    for step in range(1, steps + 1):
        loss = loss_of(model, data[torch.randint(0, len(data), (256,))])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 0:
            print(f"{name}: step {step}/{steps} loss {loss.item():.4f} ({(time.time() - t0) / step * 1000:.0f} ms)", flush=True)
    torch.save(model.state_dict(), path / f"{name}.pt")


def ahead(model, x):
    return nn.functional.mse_loss(model.predict(model.body(x[:, :28])), x[:, 28:])


def arrival(model, x):
    return nn.functional.smooth_l1_loss(model.arrive(model.body(x[:, :28])).squeeze(1), x[:, 20:].abs().amax(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("stage", choices=["prepare", "pretrain", "finetune"])
    ap.add_argument("--season", required=True)
    args = ap.parse_args()
    path = Path("data") / args.season
    path.mkdir(parents=True, exist_ok=True)
    seed = zlib.crc32(args.season.encode())
    torch.manual_seed(seed)
    if args.stage == "prepare":
        prepare(path, seed)
    elif args.stage == "pretrain":
        fit("pretrain", path, Model(), ahead, 900, 2e-4)
    else:
        model = Model()
        model.load_state_dict(torch.load(path / "pretrain.pt"))
        fit("finetune", path, model, arrival, 400, 5e-5)
    print(f"{args.stage} of {args.season} done", file=sys.stderr)


if __name__ == "__main__":
    main()
