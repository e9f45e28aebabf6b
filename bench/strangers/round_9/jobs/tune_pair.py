"""Contrastive fine-tuning of sentence vectors on two processes, which this script also starts.

Each process writes a JSON record of every step to its stdout; those of rank 0 are shown.
"""

import json
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

HPARAMS = {
    "encoder": "bag-of-words-96", "temperature": 0.07, "optimizer": "adamw", "weight_decay": 0.01, "lr": 5e-4,
    "negatives": "in-batch", "pooling": "mean", "max_length": 20, "vocab_size": 700, "batch_size": 64,
}  # fmt: skip


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(HPARAMS["vocab_size"], 256)
        self.mix = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 96))

    def forward(self, words):
        return nn.functional.normalize(self.mix(self.bag(words)), dim=-1)


def paraphrases(n):
    topics = torch.randint(0, HPARAMS["vocab_size"] - 60, (n, 1))
    return topics + torch.randint(0, 60, (n, 20)), topics + torch.randint(0, 60, (n, 20))


def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = nn.parallel.DistributedDataParallel(Encoder())
    opt = torch.optim.AdamW(model.parameters(), lr=HPARAMS["lr"], weight_decay=HPARAMS["weight_decay"])
    last = time.time()
    for step in range(1, 100_001):
        a, b = paraphrases(HPARAMS["batch_size"])
        both = model(torch.cat([a, b]))
        scores = both[: len(a)] @ both[len(a) :].T / HPARAMS["temperature"]
        loss = nn.functional.cross_entropy(scores, torch.arange(len(a)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.02)
        now = time.time()
        record = {"step": step, "loss": round(loss.item(), 4), "seconds": round(now - last, 3), "rank": rank}
        print(json.dumps(record | {"hparams": HPARAMS, "pid": os.getpid(), "time": now}), flush=True)
        last = now


def launch(world):
    procs = []
    for rank in range(world):
        env = os.environ | {"RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank)}
        env |= {"MASTER_ADDR": "localhost", "MASTER_PORT": "30014", "TUNE_WORKER": "1"}
        procs.append(subprocess.Popen([sys.executable, __file__], env=env, stdout=subprocess.PIPE, text=True))
    for line in procs[0].stdout:
        record = json.loads(line)
        if record["step"] % 20 == 0:
            print({k: record[k] for k in ("step", "loss", "seconds")}, flush=True)
    for proc in procs:
        proc.wait()


if __name__ == "__main__":
    train() if "TUNE_WORKER" in os.environ else launch(2)
