"""One rank of the demo job with the standard library only."""

from __future__ import annotations

import math
import os
import random
import sys
import time
from array import array
from pathlib import Path

from . import faults
from .collective import Communicator
from .lifetime import die_with_parent
from .loader import make_loader
from .settings import Place, Settings, parse, place_from_environment
from .training import Training

PARAMETERS = 512
EVAL_BATCHES = 8
LEARNING_RATE = 3e-4


class Trainer(Training):
    """The model, its data and its peers."""

    learning_rate = LEARNING_RATE

    def __init__(self, settings: Settings, place: Place) -> None:
        super().__init__(settings, place.rank)
        self.loader = make_loader(settings)
        self.communicator = Communicator(place, is_patient=settings.fault == "dead")
        self.weights = array("d", [0.0] * PARAMETERS)
        self.leak = faults.Leak()
        self.is_diverged = False

    def train_step(self, step: int) -> float:
        """One step; the loss."""
        batch = self.loader.next_batch()
        faults.strike(self.settings, self.rank, step)
        if self.settings.fault == "leak" and self.rank == 0:
            self.leak.grow()
        loss = self.forward(batch, step)
        gradients = self.backward(loss)
        gradients = self.communicator.all_reduce(gradients)
        self.optimizer_step(gradients)
        return loss

    def forward(self, batch: bytes, step: int) -> float:
        """The loss of a batch: a curve with some noise, at the CPU cost that was asked for."""
        is_slow = self.settings.fault == "straggler" and self.rank == self.settings.fault_rank
        until = time.thread_time() + self.settings.forward_ms / 1000 * (4 if is_slow else 1)
        activation = 0.0
        while time.thread_time() < until:
            for weight, pixel in zip(self.weights, batch, strict=False):
                activation += weight * pixel
        time.sleep(self.settings.device_ms / 1000)
        if self.settings.fault == "nan" and step >= self.settings.fault_step:
            return math.nan
        return 0.4 + 2.3 * math.exp(-step / 900) + random.gauss(0, 0.01)

    def backward(self, loss: float) -> array[float]:
        """Gradients of `loss`."""
        until = time.thread_time() + self.settings.backward_ms / 1000
        gradients = array("d", self.weights)
        while time.thread_time() < until:
            for index, weight in enumerate(self.weights):
                gradients[index] = 0.01 * loss - 0.001 * weight
        return gradients

    def optimizer_step(self, gradients: array[float]) -> None:
        """Move the weights."""
        for index, gradient in enumerate(gradients):
            self.weights[index] -= LEARNING_RATE * gradient

    def evaluate(self, step: int) -> None:
        """Loss over some batches without learning."""
        losses = [self.forward(self.loader.next_batch(), step) for _ in range(EVAL_BATCHES)]
        mean = self.communicator.all_reduce(array("d", [sum(losses) / len(losses)]))[0]
        print(f"eval at step {step}: val_loss {mean:.4f}", flush=True)

    def save_checkpoint(self, step: int) -> None:
        """Write the weights on rank 0 while the others wait."""
        self.communicator.barrier()
        if self.rank == 0:
            print(f"saving checkpoint at step {step}", flush=True)
            with Path("checkpoint.bin").open("wb") as file:
                for _ in range(50):
                    self.weights.tofile(file)
                    os.fsync(file.fileno())
        self.communicator.barrier()


def main() -> int:
    """Train as the command line and the environment say."""
    die_with_parent(int(os.environ["HWTOP_DEMO_LAUNCHER"]))
    settings, place = parse(), place_from_environment()
    trainer = Trainer(settings, place)
    print(f"rank {place.rank} of {place.world_size}: {settings.num_workers} loader workers", flush=True)
    if settings.fault == "oversubscribed":
        faults.start_compute_threads()
    trainer.train()
    return 0


if __name__ == "__main__":
    sys.exit(main())
