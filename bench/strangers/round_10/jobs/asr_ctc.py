import logging
import os
import random

import torch
import torch.distributed as dist
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)s | %(message)s")
log = logging.getLogger("asr")

VOCAB = 32


class Encoder(nn.Module):
    def __init__(self, mel=40, dim=96):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(mel, dim, 5, stride=2, padding=2), nn.ReLU(), nn.Conv1d(dim, dim, 5, stride=2, padding=2), nn.ReLU()
        )
        self.rnn = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, VOCAB)

    def forward(self, x):
        h = self.conv(x).transpose(1, 2)
        h, _ = self.rnn(h)
        return self.out(h).log_softmax(-1)


def manifest(n=4000):
    """Utterances as the corpus tool writes them: (id, frames), by duration."""
    rnd = random.Random(11)
    return sorted((int(rnd.lognormvariate(5.3, 0.75)) + 40, f"utt{i:05d}") for i in range(n))


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    utts = manifest()
    per = len(utts) // world
    mine = utts[rank * per : (rank + 1) * per]
    log.info("worker %d/%d: %d utterances", rank, world, len(mine))

    model = nn.parallel.DistributedDataParallel(Encoder())
    opt = torch.optim.Adam(model.parameters(), lr=5e-4)
    ctc = nn.CTCLoss(zero_infinity=True)
    gen = torch.Generator().manual_seed(rank)
    step = 0
    for epoch in range(1000):
        random.Random(epoch).shuffle(mine)
        for i in range(0, len(mine) - 8, 8):
            batch = mine[i : i + 8]
            T = max(f for f, _ in batch)
            feats = torch.randn(8, 40, T, generator=gen)
            lens = torch.tensor([f // 4 for f, _ in batch])
            tl = torch.clamp(lens // 6, min=1)
            target = torch.randint(1, VOCAB, (8, int(tl.max())), generator=gen)
            lp = model(feats).transpose(0, 1)
            loss = ctc(lp, target, torch.clamp(lens, max=lp.size(0)), tl)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            step += 1
            if step % 20 == 0 and rank == 0:
                log.info("epoch %d step %d ctc %.3f", epoch, step, loss.item())
                if step % 400 == 0:
                    torch.save(model.module.state_dict(), "asr_last.pt")


if __name__ == "__main__":
    main()
