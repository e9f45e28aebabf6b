"""Matrix factorization with wide embeddings; the state is written so that a cut-off run loses nothing."""

import csv
import gzip
import io
import os
import time
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)
SAVE_EVERY = int(os.environ.get("SAVE_EVERY", "10"))
ROWS = int(os.environ.get("ROWS", "60000"))


class Factors(nn.Module):
    def __init__(self, rows, dim=64):
        super().__init__()
        self.users = nn.Embedding(rows, dim, sparse=True)
        self.films = nn.Embedding(2000, dim, sparse=True)

    def forward(self, u, f):
        return (self.users(u) * self.films(f)).sum(1)


def save_state(model, opt, step):
    buffer = io.BytesIO()
    torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "step": step}, buffer)
    with gzip.open("checkpoint.pt.gz.tmp", "wb", compresslevel=6) as out:
        out.write(buffer.getvalue())
    Path("checkpoint.pt.gz.tmp").replace("checkpoint.pt.gz")


def main():
    model = Factors(ROWS)
    nn.init.normal_(model.users.weight, 0, 0.2)
    nn.init.normal_(model.films.weight, 0, 0.2)
    opt = torch.optim.Adagrad(model.parameters(), 0.2)
    with open("metrics.csv", "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["time", "step", "loss", "rmse"])
        for step in range(1, 10_000_000):
            u, f = (torch.rand(512) ** 4 * ROWS).long(), torch.randint(2000, (512,))
            rating = ((u % 5) + (f % 3)).float() - 3
            loss = nn.functional.mse_loss(model(u, f), rating)
            opt.zero_grad()
            loss.backward()
            opt.step()
            time.sleep(0.1)
            table.writerow([f"{time.time():.2f}", step, f"{loss.item():.5f}", f"{loss.item() ** 0.5:.5f}"])
            out.flush()
            if step % SAVE_EVERY == 0:
                save_state(model, opt, step)


if __name__ == "__main__":
    main()
