"""Surface defect classifier with hard example mining."""
import heapq
import logging

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(format="%(asctime)s %(name)s %(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("defects")


class Plates(Dataset):
    def __len__(self):
        return 40000

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        img = torch.randn(1, 32, 32, generator=g) * 0.6
        y = i % 4
        r = int(torch.randint(4, 24, (1,), generator=g))
        if y == 1:
            img[0, r, :] += 1.5
        elif y == 2:
            img[0, :, r] += 1.5
        elif y == 3:
            img[0, r:r + 6, r:r + 6] += 1.5
        return img, y, i


class HardSet:
    """The batches with the largest losses, for the review of labels after each epoch."""

    def __init__(self, keep):
        self.keep, self.heap, self.n = keep, [], 0

    def add(self, loss, ids):
        self.n += 1
        item = (loss, self.n, ids)
        if len(self.heap) < self.keep:
            heapq.heappush(self.heap, item)
        else:
            heapq.heappushpop(self.heap, item)


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 32, 3, 2, padding=1), nn.ReLU(),
                        nn.Conv2d(32, 48, 3, 2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(48 * 64, 4))
    opt = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9)
    loader = DataLoader(Plates(), batch_size=96, shuffle=True, num_workers=1, persistent_workers=True)
    hard = HardSet(20000)
    step = 0
    for epoch in range(50):
        for img, y, ids in loader:
            out = net(img)
            loss = nn.functional.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            hard.add(loss.item(), ids)
            step += 1
            if step % 20 == 0:
                acc = (out.argmax(1) == y).float().mean()
                log.info("epoch %d step %d loss %.4f acc %.3f hardest %.3f", epoch, step, loss.item(), acc, max(hard.heap)[0])


main()
