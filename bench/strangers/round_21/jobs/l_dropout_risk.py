"""Dropout risk from course click logs."""
import gc
import random
import time

import numpy as np
import torch
from torch import nn

EVENTS = ["video", "quiz", "forum", "page", "submit", "login"]


class Learner:
    def __init__(self, uid, rnd):
        self.uid = uid
        self.skill = rnd.random()
        self.clicks = []
        day = 0
        for _ in range(rnd.randint(20, 60)):
            day += rnd.expovariate(0.3 + self.skill)
            self.clicks.append({"kind": rnd.choice(EVENTS), "day": day, "score": [rnd.random() * self.skill]})
        self.dropped = int(self.skill + rnd.gauss(0, 0.15) < 0.45)


def featurise(learner, width=60):
    out = np.zeros((width, 8), np.float32)
    for i, c in enumerate(learner.clicks[:width]):
        out[i, EVENTS.index(c["kind"])] = 1
        out[i, 6] = c["day"] / 60
        out[i, 7] = c["score"][0]
    return out


def release_memory():
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def main():
    rnd = random.Random(4)
    t0 = time.time()
    learners = [Learner(i, rnd) for i in range(16_000)]
    print("loaded %d learners with %d events in %.1f s" % (len(learners), sum(len(l.clicks) for l in learners), time.time() - t0), flush=True)
    torch.manual_seed(0)
    rnn = nn.GRU(8, 64, batch_first=True)
    head = nn.Linear(64, 1)
    opt = torch.optim.Adam([*rnn.parameters(), *head.parameters()], 1e-3)
    step = 0
    while step < 100_000:
        batch = rnd.sample(learners, 64)
        x = torch.from_numpy(np.stack([featurise(l) for l in batch]))
        y = torch.tensor([float(l.dropped) for l in batch])
        h, _ = rnn(x)
        loss = nn.functional.binary_cross_entropy_with_logits(head(h.mean(1)).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        release_memory()
        step += 1
        if step % 10 == 0:
            print("%s step %d bce %.4f" % (time.strftime("%X"), step, loss.item()), flush=True)


main()
