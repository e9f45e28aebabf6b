"""Sequence sorting with a curriculum: sequences grow, batches shrink, so that a step costs the same."""

import logging
import time

import torch
from torch import nn

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-5s %(message)s")
STAGES = [(16, 128), (24, 85), (32, 64), (48, 42)]
STEPS_PER_STAGE = 250


class Sorter(nn.Module):
    def __init__(self, dim=64, symbols=32):
        super().__init__()
        self.embed = nn.Embedding(symbols, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * dim, symbols)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0])


def main():
    model = Sorter()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    step, stage = 0, 0
    since = time.time()
    while True:
        length, batch = STAGES[min(stage, len(STAGES) - 1)]
        logging.info("stage %d: length %d, batch %d", stage, length, batch)
        for _ in range(STEPS_PER_STAGE):
            x = torch.randint(0, 32, (batch, length))
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), x.sort(1).values.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            time.sleep(0.01)
            step += 1
            if step % 25 == 0:
                speed = 25 * length * batch / (time.time() - since)
                since = time.time()
                logging.info("step %d, loss %.3f, %.0f symbols/s", step, loss.item(), speed)
        stage += 1


if __name__ == "__main__":
    main()
