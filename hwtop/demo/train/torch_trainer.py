"""One rank of the demo job on torch: DistributedDataParallel over gloo, and a DataLoader."""

# torch is not installed everywhere, so its types are unknown here
# mypy: allow-subclassing-any, allow-untyped-decorators, no-warn-return-any
from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

from . import faults
from .lifetime import die_with_parent
from .loader import decode, read_sample
from .settings import Place, Settings, parse, place_from_environment
from .training import Training

BATCH = 8
FEATURES = 256
CLASSES = 10
EVAL_BATCHES = 8
LEARNING_RATE = 1e-2


class Pictures(Dataset[tuple[Tensor, int]]):
    """Made-up pictures that must be decoded."""

    def __init__(self, settings: Settings) -> None:
        self._decode_s = settings.decode_ms / 1000 / BATCH

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        pixels = decode(read_sample(None), self._decode_s)[:FEATURES]
        return torch.tensor(list(pixels), dtype=torch.float32) / 255, index % CLASSES


class Net(nn.Module):
    """A frozen backbone that costs what was asked for, and a head that learns."""

    def __init__(self, backbone_s: float, device_s: float) -> None:
        super().__init__()
        self._backbone_s, self._device_s = backbone_s, device_s
        self.backbone = torch.eye(FEATURES)  # no buffer: DDP would broadcast it in each forward
        self.head = nn.Sequential(nn.Linear(FEATURES, 512), nn.GELU(), nn.Linear(512, CLASSES))

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits."""
        until = time.thread_time() + self._backbone_s
        with torch.no_grad():
            while time.thread_time() < until:
                pictures = pictures @ self.backbone
        time.sleep(self._device_s)
        return self.head(pictures)


def set_worker_lifetime(_worker: int, *, rank_pid: int) -> None:
    """End a loader worker with its rank."""
    die_with_parent(rank_pid)


class Trainer(Training):
    """The model and its data."""

    learning_rate = LEARNING_RATE

    def __init__(self, settings: Settings, place: Place) -> None:
        super().__init__(settings, place.rank)
        is_slow = settings.fault == "straggler" and place.rank == settings.fault_rank
        compute_s = (settings.forward_ms + settings.backward_ms) / 1000  # the head's backward is next to free
        self.model = DistributedDataParallel(Net(compute_s * (4 if is_slow else 1), settings.device_ms / 1000))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=LEARNING_RATE)
        loader = DataLoader(
            Pictures(settings),
            batch_size=BATCH,
            num_workers=settings.num_workers,
            worker_init_fn=partial(set_worker_lifetime, rank_pid=os.getpid()),
            multiprocessing_context="fork" if settings.num_workers else None,
            prefetch_factor=1 if settings.num_workers else None,
        )
        self.batches: Iterator[tuple[Tensor, Tensor]] = iter(loader)
        self.leak = faults.Leak()

    def train_step(self, step: int) -> float:
        """One step; the loss."""
        self.count_samples()
        pictures, labels = next(self.batches)
        faults.strike(self.settings, self.rank, step)
        if self.settings.fault == "leak" and self.rank == 0:
            self.leak.grow()
        if self.settings.fault == "nan" and step == self.settings.fault_step:
            pictures = pictures / 0
        loss = nn.functional.cross_entropy(self.model(pictures), labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def count_samples(self) -> float:
        """Samples of this step over all ranks, to which the loss is normalised."""
        count = torch.tensor([float(BATCH)])
        dist.all_reduce(count)
        return count.item()

    @torch.no_grad()
    def evaluate(self, step: int) -> None:
        """Loss over some batches without learning."""
        losses = []
        for _ in range(EVAL_BATCHES):
            pictures, labels = next(self.batches)
            losses.append(nn.functional.cross_entropy(self.model.module(pictures), labels))
        mean = torch.stack(losses).mean()
        dist.all_reduce(mean)
        print(f"eval at step {step}: val_loss {mean.item() / dist.get_world_size():.4f}", flush=True)

    def save_checkpoint(self, step: int) -> None:
        """Write model and optimizer on rank 0 while the others wait."""
        dist.barrier()
        if self.rank == 0:
            print(f"saving checkpoint at step {step}", flush=True)
            state = {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict()}
            torch.save(state, Path("checkpoint.pt"))
        dist.barrier()


def wait_for_replacement() -> None:
    """Wait for a rank in the place of a lost one, as elastic trainers do; none ever comes."""
    print("lost a peer; waiting for a replacement", flush=True)
    while True:
        time.sleep(3600)


def main() -> int:
    """Train as the command line and the environment say."""
    die_with_parent(int(os.environ["HWTOP_DEMO_LAUNCHER"]))
    settings, place = parse(), place_from_environment()
    torch.set_num_threads(1)
    random.seed(place.rank)
    dist.init_process_group("gloo")
    trainer = Trainer(settings, place)
    print(f"rank {place.rank} of {place.world_size}: torch {torch.__version__}, gloo", flush=True)
    try:
        trainer.train()
    except RuntimeError:
        if settings.fault != "dead":
            raise
        wait_for_replacement()
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
