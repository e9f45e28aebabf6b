import csv
import time

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

torch.manual_seed(0)
DIM = 24
truth = torch.randn(DIM)
model = torch.nn.Sequential(torch.nn.Linear(DIM, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optim = torch.optim.Adagrad(model.parameters(), lr=0.01)
seen_y, seen_p = np.zeros(0, np.int8), np.zeros(0, np.float32)

with open("clicks.csv", "w", newline="", buffering=1) as f:
    out = csv.writer(f)
    out.writerow(["batch", "logloss", "auc_so_far", "seconds"])
    for batch in range(1_000_000):
        start = time.perf_counter()
        x = torch.randn(1024, DIM)
        y = (torch.sigmoid(x @ truth * 0.6 - 1) > torch.rand(1024)).float()
        p = model(x).squeeze(1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(p, y)
        optim.zero_grad()
        loss.backward()
        optim.step()
        seen_y = np.concatenate([seen_y, y.numpy().astype(np.int8)])
        seen_p = np.concatenate([seen_p, torch.sigmoid(p).detach().numpy()])
        auc = roc_auc_score(seen_y, seen_p) if batch else 0.5
        out.writerow([batch, f"{loss.item():.5f}", f"{auc:.5f}", f"{time.perf_counter() - start:.4f}"])
        if batch % 10 == 0:
            print(f"batch {batch}: logloss {loss.item():.4f} auc {auc:.4f}")
