"""The training loop that both trainers share: steps, log lines, evaluations, checkpoints."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from .settings import Settings


class Training(ABC):
    """What every trainer does step by step."""

    learning_rate: float

    def __init__(self, settings: Settings, rank: int) -> None:
        self.settings, self.rank = settings, rank

    @abstractmethod
    def train_step(self, step: int) -> float:
        """One step; the loss."""

    @abstractmethod
    def evaluate(self, step: int) -> None:
        """Look how good the model is by now."""

    @abstractmethod
    def save_checkpoint(self, step: int) -> None:
        """Write the model to a file, all ranks together."""

    def train(self) -> None:
        """All steps."""
        for step in range(1, self.settings.steps + 1):
            started = time.perf_counter()
            loss = self.train_step(step)
            if step % self.settings.log_every == 0:
                took = time.perf_counter() - started
                print(
                    f"step {step}/{self.settings.steps} loss {loss:.4f} lr {self.learning_rate:.1e} {took:.2f}s/step",
                    flush=True,
                )
            if self.settings.eval_every and step % self.settings.eval_every == 0:
                self.evaluate(step)
            if self.settings.save_every and step % self.settings.save_every == 0:
                self.save_checkpoint(step)
            if self.settings.fault == "mismatch" and step == self.settings.fault_step and self.rank != 0:
                self.save_checkpoint(step)
