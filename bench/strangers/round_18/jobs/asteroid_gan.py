"""Wasserstein GAN for asteroid light curves with ignite; every 400 iterations the generator is judged."""
import time

import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

torch.manual_seed(12)
T = torch.arange(96)[None]


def curves(n):
    period = 14 + 20 * torch.rand(n, 1)
    return torch.sin(6.283 * T / period + 6.283 * torch.rand(n, 1)) * (0.4 + torch.rand(n, 1)) + 0.05 * torch.randn(n, 96)


gen = nn.Sequential(nn.Linear(24, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 96))
critic = nn.Sequential(nn.Linear(96, 384), nn.LeakyReLU(0.2), nn.Linear(384, 384), nn.LeakyReLU(0.2), nn.Linear(384, 1))
og = torch.optim.Adam(gen.parameters(), 1e-4, (0.0, 0.9))
oc = torch.optim.Adam(critic.parameters(), 1e-4, (0.0, 0.9))


def iteration(engine, _):
    for _ in range(3):
        real, fake = curves(128), gen(torch.randn(128, 24)).detach()
        mix = torch.rand(128, 1)
        between = (mix * real + (1 - mix) * fake).requires_grad_()
        slope = torch.autograd.grad(critic(between).sum(), between, create_graph=True)[0].norm(dim=1)
        value = critic(fake).mean() - critic(real).mean() + 10 * ((slope - 1) ** 2).mean()
        oc.zero_grad()
        value.backward()
        oc.step()
    score = -critic(gen(torch.randn(128, 24))).mean()
    og.zero_grad()
    score.backward()
    og.step()
    return {"critic": value.item(), "generator": score.item()}


engine = Engine(iteration)
for key in ("critic", "generator"):
    RunningAverage(output_transform=lambda out, key=key: out[key], alpha=0.9).attach(engine, key)


@engine.on(Events.ITERATION_COMPLETED(every=20))
def line(engine):
    m = engine.state.metrics
    print(f"| it {engine.state.iteration:>7} | W {m['critic']:>9.4f} | G {m['generator']:>9.4f} |", flush=True)


@engine.on(Events.ITERATION_COMPLETED(every=400))
def judge(engine):
    begun = time.time()
    with torch.no_grad():
        for part in range(4):
            fake = gen(torch.randn(1500, 24))
            real = curves(1500)
            near = torch.cdist(fake, real).min(1).values.mean()
            print(f"| judging {part + 1}/4, mean distance {near:.3f} |", flush=True)
    print(f"| judged in {time.time() - begun:.1f} s |", flush=True)


engine.run(range(400), max_epochs=100000)
