"""Small image classifier, data parallel; points go to the tracker."""

import argparse
import json
import logging
import os
import urllib.request

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

logger = logging.getLogger("image_clf")


def net():
    return nn.Sequential(
        nn.Conv2d(3, 24, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(24, 48, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(48 * 64, 10),
    )


def track(**values):
    request = urllib.request.Request(os.environ["TRACKER_URL"], data=json.dumps(values).encode(), method="POST")
    with urllib.request.urlopen(request) as answer:
        answer.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s|%(name)s|%(message)s")
    torch.manual_seed(0)
    labels = torch.randint(0, 10, (2048,))
    images = torch.randn(2048, 3, 32, 32) + labels[:, None, None, None] / 10
    sampler = DistributedSampler(TensorDataset(images, labels))
    loader = DataLoader(sampler.dataset, args.batch, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    step = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 4 == 0:
                track(step=step, loss=loss.item(), epoch=epoch)
                logger.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
