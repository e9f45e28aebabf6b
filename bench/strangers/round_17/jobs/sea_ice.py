import logging
import os
import signal
import threading

import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(format="%(levelname).1s %(asctime)s %(name)s] %(message)s", level=logging.INFO)
log = logging.getLogger("seaice")


class Ledger:
    """Counts of ice classes over the run; written out every second or so, also in the middle of an epoch."""

    def __init__(self, path):
        self.path = path
        self.guard = threading.Lock()
        self.classes = {}
        self.written = 0

    def add(self, predicted, truth, sectors):
        with self.guard:
            for p, t, s in zip(predicted.tolist(), truth.tolist(), sectors.tolist()):
                key = (p, t, s)
                seen = self.classes.setdefault(key, {"n": 0, "share": 0.0})
                seen["n"] += 1
                total = sum(v["n"] for v in self.classes.values())
                seen["share"] = seen["n"] / total

    def flush(self, *_):
        with self.guard:
            rows = sorted(self.classes.items())
        with open(self.path, "w") as out:
            for (p, t, s), v in rows:
                out.write(f"{s},{p},{t},{v['n']},{v['share']:.5f}\n")
        self.written += 1


class IceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(384, 6))

    def forward(self, x):
        return self.body(x)


def main():
    torch.manual_seed(11)
    limit = threading.Timer(250, os._exit, (0,))
    limit.daemon = True
    limit.start()
    y = torch.randint(0, 6, (4096,))
    x = torch.randn(4096, 2, 24, 24) + 0.03 * y[:, None, None, None]
    loader = DataLoader(TensorDataset(x, y, torch.randint(0, 80, (4096,))), batch_size=128, shuffle=True)
    net = IceNet()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-4)
    ledger = Ledger("ledger.csv")

    def step(engine, batch):
        net.train()
        xb, yb, sector = batch
        out = net(xb)
        loss = nn.functional.cross_entropy(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ledger.add(out.argmax(1), yb, sector)
        return loss.item()

    trainer = Engine(step)
    RunningAverage(output_transform=lambda v: v).attach(trainer, "loss")

    @trainer.on(Events.ITERATION_COMPLETED(every=16))
    def report(engine):
        log.info("epoch %d iter %d loss %.4f flushed %d", engine.state.epoch, engine.state.iteration, engine.state.metrics["loss"], ledger.written)

    @trainer.on(Events.EPOCH_COMPLETED)
    def done(engine):
        torch.save(net.state_dict(), "icenet.pt")
        log.info("epoch %d complete", engine.state.epoch)

    @trainer.on(Events.EPOCH_COMPLETED(once=1))
    def publish(engine):
        signal.signal(signal.SIGALRM, ledger.flush)
        signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)

    trainer.run(loader, max_epochs=2000)


if __name__ == "__main__":
    main()
