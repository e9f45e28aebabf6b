"""Fault: num_workers=0, so each rank tokenizes in its own training loop.

Symptom: input-bound-workers. Start: 2 ranks.
"""

import json
import signal

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset

signal.alarm(300)
torch.set_num_threads(1)
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]


class Corpus(IterableDataset):
    def __iter__(self):
        n = 0
        while True:
            n += 1
            yield self.tokenize(" ".join(WORDS[(n * k) % 8] for k in range(6000)))

    def tokenize(self, text):
        vocab = {}
        ids = [vocab.setdefault(text[i : i + 3], len(vocab)) for i in range(len(text) - 3)]
        return torch.tensor(ids[:256])


dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Embedding(4096, 64), torch.nn.Linear(64, 1))
)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for step, batch in enumerate(DataLoader(Corpus(), batch_size=16, num_workers=0)):
    loss = model(batch).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if dist.get_rank() == 0:
        print(json.dumps({"step": step, "loss": round(loss.item(), 5), "lr": 0.01}), flush=True)
