"""Small causal LM finetuning, gradient accumulation, metrics in runs/metrics.jsonl."""
import argparse
import json
import time
from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel, get_linear_schedule_with_warmup

ap = argparse.ArgumentParser()
ap.add_argument("--lr", type=float, default=6e-4)
ap.add_argument("--updates", type=int, default=4000)
ap.add_argument("--accum", type=int, default=8)
ap.add_argument("--micro-batch", type=int, default=4)
args = ap.parse_args()

torch.manual_seed(11)
model = GPT2LMHeadModel(GPT2Config(vocab_size=300, n_positions=64, n_embd=96, n_layer=2, n_head=4))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
scheduler = get_linear_schedule_with_warmup(optimizer, 20, args.updates)

table = torch.randint(0, 300, (300, 6))
probs = torch.tensor([0.5, 0.2, 0.1, 0.1, 0.05, 0.05])


def micro_batch():
    seq = [torch.randint(0, 300, (args.micro_batch,))]
    for _ in range(63):
        pick = torch.multinomial(probs, args.micro_batch, replacement=True)
        seq.append(table[seq[-1], pick])
    return torch.stack(seq, 1)


out = Path("runs")
out.mkdir(exist_ok=True)
with (out / "metrics.jsonl").open("w", buffering=1) as metrics:
    for update in range(1, args.updates + 1):
        start, total = time.perf_counter(), 0.0
        for _ in range(args.accum):
            ids = micro_batch()
            loss = model(input_ids=ids, labels=ids).loss / args.accum
            loss.backward()
            total += loss.item()
            scheduler.step()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if update % 5 == 0:
            record = {"update": update, "loss": round(total, 4), "grad_norm": round(norm.item(), 4),
                      "lr": scheduler.get_last_lr()[0], "sec": round(time.perf_counter() - start, 4)}
            metrics.write(json.dumps(record) + "\n")
