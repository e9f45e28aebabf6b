import json
import time

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

cfg = {"lr": 5e-4, "accum": 4, "batch": 16, "epochs": 300, "report_every": 5}
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=cfg["accum"])
torch.manual_seed(5)

tokens = torch.randint(1, 200, (6000, 24))
labels = ((tokens < 60).sum(1) > (tokens > 140).sum(1)).long()


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(200, 32)
        self.att = nn.MultiheadAttention(32, 4, batch_first=True)
        self.cls = nn.Linear(32, 2)

    def forward(self, ids):
        h = self.emb(ids)
        h = h + self.att(h, h, h, need_weights=False)[0]
        return self.cls(h.mean(1))


model = Bag()
optim = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
sched = torch.optim.lr_scheduler.LinearLR(optim, 1.0, 0.1, total_iters=20000)
data = DataLoader(TensorDataset(tokens, labels), batch_size=cfg["batch"], shuffle=True)
model, optim, data, sched = accelerator.prepare(model, optim, data, sched)
update, running = 0, []
for epoch in range(cfg["epochs"]):
    for ids, want in data:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(ids), want)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optim.step()
            sched.step()
            optim.zero_grad()
        running.append(loss.item())
        time.sleep(0.03)
        if accelerator.sync_gradients:
            update += 1
            if update % cfg["report_every"] == 0:
                mean = sum(running) / len(running)
                accelerator.print(
                    json.dumps({"epoch": epoch, "update": update, "loss": round(mean, 4), "lr": sched.get_last_lr()[0]})
                )
                running.clear()
