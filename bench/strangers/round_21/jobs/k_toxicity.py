import logging
import os

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

TASKS = ["NR-AR", "NR-AR-LBD", "NR-AhR", "NR-Aromatase", "NR-ER", "NR-ER-LBD", "NR-PPAR-gamma", "SR-ARE", "SR-ATAD5",
         "SR-HSE", "SR-MMP", "SR-p53", "hERG-block", "Ames-mutagen", "DILI-liver", "BBB-pass", "CYP3A4-inh",
         "CYP2D6-inh"]
logging.basicConfig(level=logging.INFO, format="%(levelname).1s%(asctime)s %(module)s] %(message)s",
                    datefmt="%m%d %H:%M:%S")
log = logging.getLogger()


class Fingerprints:
    def __init__(self, n=6000, bits=1024):
        rng = np.random.default_rng(11)
        self.x = (rng.random((n, bits)) < 0.06).astype("f4")
        hidden = np.tanh(self.x @ rng.normal(0, 0.25, (bits, 80)))
        z = hidden @ rng.normal(0, 0.5, (80, len(TASKS)))
        self.y = (z + rng.logistic(0, 0.3, z.shape) > 1.0).astype("f4")


def save(model, epoch, scores, folder="models"):
    os.makedirs(folder, exist_ok=True)
    tag = "_".join(f"{t}={s:.3f}" for t, s in zip(TASKS, scores))
    path = os.path.join(folder, f"tox_e{epoch:03d}_{tag}.pt")
    try:
        with open(path, "wb") as file:
            torch.save(model.state_dict(), file)
    except OSError as e:
        log.warning("could not save the model: %s", e)


def main():
    torch.manual_seed(0)
    data = Fingerprints()
    x, y = torch.from_numpy(data.x), torch.from_numpy(data.y)
    model = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Dropout(0.3), nn.Linear(512, 256), nn.ReLU(),
                          nn.Linear(256, len(TASKS)))
    opt = torch.optim.AdamW(model.parameters(), 1e-4, weight_decay=0.1)
    for epoch in range(1, 400):
        model.train()
        total = 0.0
        for k, idx in enumerate(torch.randperm(5000).split(20), 1):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            if k % 50 == 0:
                log.info("epoch %d [%d/250] bce %.4f", epoch, k, total / k)
        model.eval()
        with torch.no_grad():
            p = model(x[5000:]).sigmoid().numpy()
        scores = [roc_auc_score(data.y[5000:, t], p[:, t]) for t in range(len(TASKS))]
        log.info("epoch %d mean AUC %.4f", epoch, np.mean(scores))
        save(model, epoch, scores)


main()
