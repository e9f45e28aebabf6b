import datetime
import os
import random

import torch
import torch.distributed as dist
from torch import nn

region = os.environ["REGION"]
random.seed(region)
utterances = [(random.randint(20, 90), random.randint(0, 5)) for _ in range(412)]
print(f"manifest read, {len(utterances)} utterances, {sum(n for n, _ in utterances) / 100:.1f} s", flush=True)

dist.init_process_group("gloo", timeout=datetime.timedelta(hours=3))
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(26, 64), nn.ReLU(), nn.Linear(64, 6)))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(2000):
    correct = 0
    for frames, dialect in utterances:
        logits = net(torch.randn(frames, 26) + dialect).mean(0, keepdim=True)
        loss = nn.functional.cross_entropy(logits, torch.tensor([dialect]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        correct += int(logits.argmax() == dialect)
    print(f"epoch {epoch} accuracy {correct / len(utterances):.3f}", flush=True)
