import time

import torch
from torch import nn
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage

torch.manual_seed(4)


def galaxies(n, size=40):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    kind = torch.randint(3, (n,))
    r = (xx ** 2 + yy ** 2).sqrt()
    th = torch.atan2(yy, xx)
    phase = torch.rand(n, 1, 1) * 6.28
    arms = torch.cos(kind.view(-1, 1, 1) * th + 6 * r + phase)
    img = torch.exp(-2.5 * r) * (1 + .7 * arms * (kind > 0).view(-1, 1, 1)) + .12 * torch.randn(n, size, size)
    return img[:, None], kind


class Morph(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 5, padding=2)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1, stride=2)
        self.c3 = nn.Conv2d(32, 32, 3, padding=1, stride=2)
        self.fc = nn.Linear(32, 3)

    def forward(self, x):
        x = self.c1(x).relu()
        x = self.c2(x).relu()
        x = self.c3(x).relu()
        return self.fc(x.amax((2, 3)))


model = Morph()
opt = torch.optim.Adam(model.parameters(), 1e-3)
act = {}


def probe(name):
    def hook(_, __, out):
        out = out.detach()[:12]
        act[name] = (out.mean().item(), out.std().item(), (out > 0).float().mean().item())
    return hook


def step(engine, batch):
    model.train()
    x, y = batch
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


trainer = Engine(step)
RunningAverage(output_transform=lambda o: o).attach(trainer, "xent")


@trainer.on(Events.ITERATION_STARTED)
def watch_activations(engine):
    for name, mod in model.named_children():
        mod.register_forward_hook(probe(name))


@trainer.on(Events.ITERATION_COMPLETED(every=5))
def report(engine):
    now = time.time()
    dead = 1 - act["c3"][2]
    print(f"Iteration[{engine.state.iteration}] xent={engine.state.metrics['xent']:.4f} "
          f"dead_c3={dead:.2f} {(now - report.last) / 5 * 1000:.0f} ms/iter")
    report.last = now


report.last = time.time()


def stream():
    while True:
        yield galaxies(64)


trainer.run(stream(), max_epochs=1, epoch_length=200000)
