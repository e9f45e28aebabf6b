"""Fine-tunes a speech encoder. Prints one line at the start; metrics go to runs/metrics.jsonl."""
import gc
import json
import os
import pathlib
import time

import torch
import torch.nn as nn

torch.set_num_threads(1)
cfg = {
    "lr": 3e-4, "lr_end": float(os.environ.get("LR_END", "3e-4")), "ramp_after": 120, "ramp_steps": 300,
    "collect": os.environ.get("COLLECT") == "1", "stages": os.environ.get("STAGES") == "1",
}
run = pathlib.Path("runs")
run.mkdir(exist_ok=True)
print("config:", json.dumps(cfg), "metrics in", run.absolute(), flush=True)
torch.manual_seed(1)
enc = nn.Sequential(nn.Conv1d(40, 96, 3, 2), nn.GELU(), nn.Conv1d(96, 96, 3, 2), nn.GELU())
rnn, head = nn.GRU(96, 96, batch_first=True), nn.Linear(96, 30)
params = [*enc.parameters(), *rnn.parameters(), *head.parameters()]
opt = torch.optim.SGD(params, cfg["lr"] if cfg["lr_end"] == cfg["lr"] else 0.05, momentum=0.9)
if cfg["lr_end"] == cfg["lr"]:
    opt = torch.optim.Adam(params, cfg["lr"])
templates = torch.randn(30, 40)
vocabulary = [{"token": str(i), "pieces": [str(j) for j in range(12)]} for i in range(60_000)] if cfg["collect"] else []
with open(run / "metrics.jsonl", "w") as out:
    for step in range(100_000):
        t0 = time.perf_counter()
        noise = 4.0
        if cfg["stages"]:
            # curriculum: from clean speech to noisy speech, one stage every 400 steps
            noise = 4.0 + 1.0 * min(step // 400, 5)
        time.sleep(0.015)  # frames come from the archive
        y = torch.randint(0, 30, (12,))
        x = templates[y][:, :, None] + noise * torch.randn(12, 40, 64)
        if cfg["lr_end"] != cfg["lr"] and step > cfg["ramp_after"]:
            k = min(1.0, (step - cfg["ramp_after"]) / cfg["ramp_steps"])
            for g in opt.param_groups:
                g["lr"] = 0.05 * (cfg["lr_end"] / 0.05) ** k
        h, _ = rnn(enc(x).transpose(1, 2))
        loss = nn.functional.cross_entropy(head(h.mean(1)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if cfg["collect"]:
            gc.collect()
        rec = {"step": step, "train/loss": round(loss.item(), 5), "lr": opt.param_groups[0]["lr"], "sec_per_step": round(time.perf_counter() - t0, 4)}
        out.write(json.dumps(rec) + "\n")
        out.flush()
