"""Online learning on card transactions: an event file arrives every few seconds, the model is updated with it.

The producer is a second process here (on the server it is the export job of the payment system).
"""
import logging
import multiprocessing as mp
import time
from pathlib import Path

import numpy as np
import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(levelname)-5s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("fraud")
INBOX = Path("inbox")
EVERY = 6.0


def producer():
    n = 0
    while True:
        rng = np.random.default_rng(n)
        x = rng.normal(size=(24000, 30)).astype("float32")
        y = (x[:, :5].sum(1) + rng.normal(0, 1, 24000) > 3.5).astype("float32")
        np.savez(INBOX / f".{n:05d}.npz", x=x, y=y)
        (INBOX / f".{n:05d}.npz").rename(INBOX / f"events_{n:05d}.npz")
        n += 1
        time.sleep(EVERY)


def main():
    INBOX.mkdir(exist_ok=True)
    mp.Process(target=producer, daemon=True).start()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
    opt = torch.optim.Adam(net.parameters(), 5e-4)
    crit = nn.BCEWithLogitsLoss()

    def update(engine, batch):
        x, y = batch
        loss = crit(net(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()

    trainer = Engine(update)
    RunningAverage(output_transform=lambda v: v, alpha=0.98).attach(trainer, "bce")

    @trainer.on(Events.ITERATION_COMPLETED(every=200))
    def _(e):
        log.info("iteration %d bce %.4f", e.state.iteration, e.state.metrics["bce"])

    def stream():
        while True:
            files = sorted(INBOX.glob("events_*.npz"))
            if not files:
                time.sleep(0.2)
                continue
            for f in files:
                d = np.load(f)
                x, y = torch.from_numpy(d["x"]), torch.from_numpy(d["y"])
                f.unlink()
                log.info("%s: %d events, %.1f%% positive", f.name, len(y), 100 * y.mean())
                for _ in range(4):
                    for i in torch.randperm(len(y)).split(64):
                        yield x[i], y[i]
                log.info("%s done, waiting for the next file", f.name)

    trainer.run(stream(), max_epochs=1, epoch_length=10_000_000)


if __name__ == "__main__":
    main()
