"""An ordinary training run that takes an hour and has nothing wrong: two DDP ranks, loader workers, warm-up and cosine
schedule, evaluation after each epoch, checkpoints. A sleep stands in for the device.

    torchrun --nproc_per_node 2 tests/hour_job.py   # writes its checkpoint where it is started
"""

from __future__ import annotations

import math
import time

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

STEPS, WARM_UP, EPOCH, SAVE_EVERY, LOG_EVERY = 20_000, 400, 900, 1500, 20
BATCH, FEATURES, CLASSES = 32, 64, 10
DEVICE_S = 0.22


class Teacher(Dataset[tuple[Tensor, Tensor]]):  # type: ignore[misc]  # torch is not looked into
    """What a fixed network says of random inputs, with some labels wrong, as in real data."""

    def __init__(self, count: int, seed: int) -> None:
        self._count, self._seed = count, seed
        torch.manual_seed(1)
        self._net = nn.Sequential(nn.Linear(FEATURES, 96), nn.Tanh(), nn.Linear(96, CLASSES))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        noise = torch.Generator().manual_seed(self._seed + index)
        sample = torch.randn(FEATURES, generator=noise)
        with torch.no_grad():
            label = self._net(sample).argmax()
        if torch.rand(1, generator=noise).item() < 0.1:
            label = torch.randint(CLASSES, (), generator=noise)
        return sample, label


def rate(step: int) -> float:
    """Learning rate: warm-up, then cosine."""
    if step < WARM_UP:
        return step / WARM_UP
    return 0.05 + 0.95 * (1 + math.cos(math.pi * min(1.0, (step - WARM_UP) / (STEPS - WARM_UP)))) / 2


def evaluate(model: nn.Module, loader: DataLoader[tuple[Tensor, Tensor]]) -> float:
    """Share of right answers."""
    model.eval()
    right = seen = 0
    with torch.no_grad():
        for samples, labels in loader:
            right += int((model(samples).argmax(1) == labels).sum())
            seen += len(labels)
            time.sleep(DEVICE_S / 3)
    model.train()
    return right / seen


def main() -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    train = Teacher(EPOCH * BATCH * 2, seed=10_000)
    sampler = DistributedSampler(train, shuffle=True)
    loader = DataLoader(train, batch_size=BATCH, sampler=sampler, num_workers=1, persistent_workers=True)
    held_out = DataLoader(Teacher(1024, seed=9_000_000), batch_size=64)
    torch.manual_seed(0)
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, CLASSES))
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    step, since = 0, time.perf_counter()
    for epoch in range(STEPS // EPOCH + 1):
        sampler.set_epoch(epoch)
        for samples, labels in loader:
            loss = nn.functional.cross_entropy(model(samples), labels)
            time.sleep(DEVICE_S)
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            step += 1
            if rank == 0 and step % LOG_EVERY == 0:
                took_s, since = (time.perf_counter() - since) / LOG_EVERY, time.perf_counter()
                print(
                    f"epoch {epoch} step {step}/{STEPS} loss {loss.item():.4f} lr {schedule.get_last_lr()[0]:.2e} "
                    f"grad_norm {float(norm):.3f} {2 * BATCH / took_s:.0f} samples/s",
                    flush=True,
                )
            if rank == 0 and step % SAVE_EVERY == 0:
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
                print("saved last.pt", flush=True)
        share = evaluate(model.module, held_out)
        if rank == 0:
            print(f"epoch {epoch} done: eval accuracy {share:.3f}", flush=True)
            since = time.perf_counter()


if __name__ == "__main__":
    main()
