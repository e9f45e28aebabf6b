"""Fault: every tenth step the weights are squeezed through gzip, which takes longer than the ten steps.

Symptom: checkpoint-stall. Start: python.
"""

import gzip
import io
import pathlib
import signal
import tempfile

import torch

signal.alarm(300)
torch.set_num_threads(1)


def keep_best(model, path):
    blob = io.BytesIO()
    torch.save(model.state_dict(), blob)
    with gzip.open(path + ".new", "wb", compresslevel=6) as f:
        f.write(blob.getbuffer())
    pathlib.Path(path + ".new").replace(path)


def main():
    model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    with tempfile.TemporaryDirectory() as folder:
        print("|  it  |  mse    |")
        for it in range(1, 100_000):
            x = torch.randn(256, 512)
            loss = (model(x) - x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if it % 10 == 0:
                print(f"| {it:4d} | {loss.item():.5f} |", flush=True)
                keep_best(model, f"{folder}/best.pt.gz")


main()
