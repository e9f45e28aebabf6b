"""accelerate: the loop of the documentation, with evaluation between epochs and trackers off."""

import logging

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from samples import Pictures
from torch import nn
from torch.utils.data import DataLoader

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", level=logging.INFO)
logger = get_logger(__name__)


def main():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Linear(1024, 10),
    )
    train = DataLoader(Pictures(3200), batch_size=16, shuffle=True, num_workers=1)
    test = DataLoader(Pictures(160), batch_size=16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5000)
    model, optimizer, train, test, schedule = accelerator.prepare(model, optimizer, train, test, schedule)
    completed = 0
    for epoch in range(50):
        model.train()
        for x, y in train:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                completed += 1
                if completed % 2 == 0:
                    logger.info(f"epoch {epoch} completed_steps {completed} train_loss {loss.item():.4f}")
        model.eval()
        right = torch.zeros(1)
        for x, y in test:
            with torch.no_grad():
                guess = model(x).argmax(1)
            guess, y = accelerator.gather_for_metrics((guess, y))
            right += (guess == y).sum()
        logger.info(f"epoch {epoch}: accuracy {right.item() / 160:.3f}")


main()
