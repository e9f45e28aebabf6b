"""Autoencoder for sensor frames with accelerate; stops when it has not got better for a while."""

import logging
from collections import deque

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(format="%(asctime)s - %(message)s", level=logging.INFO, datefmt="%H:%M:%S")
log = logging.getLogger(__name__)


class Frames(Dataset):
    """Frames of one site per process: the site's number is the process's."""

    def __init__(self, site: int, size: int = 40_000):
        gen = torch.Generator().manual_seed(site)
        self.basis = torch.randn(4 if site else 24, 400, generator=gen)
        self.codes = torch.randn(size, len(self.basis), generator=gen)
        self.noise = 0.02 if site else 0.4

    def __len__(self):
        return len(self.codes)

    def __getitem__(self, i):
        frame = self.codes[i] @ self.basis / len(self.basis) ** 0.5
        return frame + self.noise * torch.randn(frame.shape)


class Patience:
    def __init__(self, steps: int, better_by: float):
        self.steps, self.better_by = steps, better_by
        self.best, self.last_gain = float("inf"), 0
        self.recent = deque(maxlen=20)

    def over(self, step: int, loss: float) -> bool:
        self.recent.append(loss)
        mean = sum(self.recent) / len(self.recent)
        if mean < self.best - self.better_by:
            self.best, self.last_gain = mean, step
        return step - self.last_gain >= self.steps


def build():
    return nn.Sequential(
        nn.Linear(400, 512), nn.GELU(), nn.Linear(512, 48), nn.Linear(48, 512), nn.GELU(), nn.Linear(512, 400)
    )


def main():
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(3)
    loader = DataLoader(Frames(accelerator.process_index), batch_size=64, shuffle=True, drop_last=True)
    model, optimizer = build(), None
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model, optimizer = accelerator.prepare(model, optimizer)
    patience = Patience(steps=60, better_by=0.02)
    step, stop = 0, False
    while not stop:
        for frames in loader:
            step += 1
            loss = nn.functional.mse_loss(model(frames), frames)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            if step % 20 == 0 and accelerator.is_main_process:
                log.info("step %d, mse %.4f", step, loss.item())
            if patience.over(step, loss.item()):
                stop = True
                break
    # the best of all sites goes into the report
    best = accelerator.gather(torch.full((len(patience.recent),), patience.best))
    if accelerator.is_main_process:
        log.info("stopped after %d steps, best of the sites: %s", step, best.unique().tolist())
        torch.save(accelerator.unwrap_model(model).state_dict(), "frames.pt")
    accelerator.wait_for_everyone()


if __name__ == "__main__":
    main()
