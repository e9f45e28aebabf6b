"""Successive halving on one core: every trial is a short process of its own."""

import json
import math
import random
import subprocess
import sys
import time

TRIAL = """
import json, os, sys, time
import torch
torch.set_num_threads(1)
cfg = json.loads(sys.argv[1])
torch.manual_seed(cfg["seed"])
x = torch.randn(400, 20); y = (x[:, :3].sum(1) > 0).float()
net = torch.nn.Sequential(torch.nn.Linear(20, cfg["width"]), torch.nn.Tanh(), torch.nn.Linear(cfg["width"], 1))
opt = torch.optim.SGD(net.parameters(), cfg["lr"])
for epoch in range(cfg["epochs"]):
    for i in range(0, 400, 50):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x[i:i+50])[:, 0], y[i:i+50])
        opt.zero_grad(); loss.backward(); opt.step()
        time.sleep(0.005)
    print(f"  epoch {epoch} loss {loss.item():.4f}", flush=True)
print("RESULT", loss.item())
"""


def evaluate(config):
    run = subprocess.run([sys.executable, "-c", TRIAL, json.dumps(config)], capture_output=True, text=True)
    if run.returncode:
        return math.inf
    return float(run.stdout.rsplit("RESULT", 1)[1])


def main():
    rng = random.Random(11)
    for bracket in range(1, 100):
        pool = [
            {"lr": 10 ** rng.uniform(-3, 0), "width": rng.choice([16, 64, 256]), "seed": n, "epochs": 8}
            for n in range(8)
        ]
        while len(pool) > 1:
            scored = []
            for config in pool:
                begin = time.time()
                score = evaluate(config)
                scored.append((score, config["seed"], config))
                print(
                    f"bracket {bracket} | trial {config['seed']} | epochs {config['epochs']} | "
                    f"lr {config['lr']:.4f} | val_loss {score:.4f} | {time.time() - begin:.1f}s",
                    flush=True,
                )
            pool = [dict(c, epochs=c["epochs"] * 2) for _, _, c in sorted(scored)[: len(pool) // 2]]
        print(f"bracket {bracket} best: {pool[0]}", flush=True)


if __name__ == "__main__":
    main()
