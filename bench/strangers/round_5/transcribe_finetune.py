"""Fine-tune the CTC head of a small speech model. Clips are cut by an external segmenter."""

import itertools
import json
import logging
import subprocess
import sys
from pathlib import Path

import torch
from torch import nn

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("ctc")


class Segmenter:
    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("segmenter.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def cut(self, clip, frames):
        self.process.stdin.write(json.dumps({"clip": clip, "frames": frames, "seed": clip}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["start"], answer["end"]


class Head(nn.Module):
    def __init__(self, mels=80, hidden=192, vocab=32):
        super().__init__()
        self.conv = nn.Conv1d(mels, hidden, 5, stride=2, padding=2)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x):
        x = torch.relu(self.conv(x)).transpose(1, 2)
        return self.out(self.rnn(x)[0]).log_softmax(-1)


def batches(segmenter, size=8, frames=320):
    clip = 0
    while True:
        mels = torch.randn(size, 80, frames)
        for i in range(size):
            start, end = segmenter.cut(clip, frames)
            mels[i, :, :start] = 0
            mels[i, :, end:] = 0
            clip += 1
        yield mels, torch.randint(1, 32, (size, 20))


def main():
    model, ctc = Head(), nn.CTCLoss(zero_infinity=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    source = batches(Segmenter())
    for step in itertools.count(1):
        mels, targets = next(source)
        logp = model(mels).transpose(0, 1)
        loss = ctc(logp, targets, torch.full((8,), logp.size(0)), torch.full((8,), 20))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        if step % 2 == 0:
            log.info("step %d ctc_loss %.3f", step, loss.item())


if __name__ == "__main__":
    main()
