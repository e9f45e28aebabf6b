"""Imputes gene expression of plates, half precision; ignite, one JSON object per line."""
import json
import sys
import time

import torch
from ignite.engine import Engine, Events
from torch import nn

GENES, FLOOR = 384, 2.0**-10


def plates(seed=7):
    """Wells of plates in the order of sequencing; later plates carry blank control wells."""
    g = torch.Generator().manual_seed(seed)
    mix = torch.randn(24, GENES, generator=g) / 5
    k = 0
    while True:
        x = torch.relu(torch.randn(192, 24, generator=g) @ mix + 0.2)
        if k > 260:
            x[::48] = 0.0
        keep = (torch.rand(192, GENES, generator=g) > 0.3).float()
        yield x, keep
        k += 1


def well_error(out, x, keep):
    hidden = 1 - keep
    hidden = hidden * (x > 0)
    return torch.sqrt((hidden * (out - x) ** 2).sum(1)).mean()


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(GENES, 768), nn.GELU(), nn.Linear(768, 768), nn.GELU(), nn.Linear(768, GENES))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=500)
    applied = [0]
    opt.register_step_post_hook(lambda *_: applied.__setitem__(0, applied[0] + 1))

    def update(engine, batch):
        x, keep = batch
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            out = net(x * keep)
        loss = well_error(out.float(), x, keep)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        if scaler.get_scale() < FLOOR:
            scaler.update(FLOOR)
        return loss.item()

    trainer = Engine(update)
    begun = time.time()

    @trainer.on(Events.ITERATION_COMPLETED(every=5))
    def tell(engine):
        it = engine.state.iteration
        json.dump({"t": round(time.time() - begun, 2), "it": it, "rmse": round(engine.state.output, 5),
                   "loss_scale": scaler.get_scale(), "updates": applied[0], "skipped": it - applied[0]}, sys.stdout)
        print(flush=True)

    trainer.run(plates(), max_epochs=1, epoch_length=60000)


if __name__ == "__main__":
    main()
