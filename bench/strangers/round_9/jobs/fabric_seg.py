"""Road segmentation with Lightning Fabric under torchrun."""

import argparse

import torch
from lightning.fabric import Fabric
from torch import nn
from torch.utils.data import DataLoader, IterableDataset
from torchmetrics.functional.classification import binary_jaccard_index


class Roads(IterableDataset):
    """Tiles with one to three straight roads, endless."""

    def __init__(self, seed: int, size: int = 48):
        self.gen = torch.Generator().manual_seed(seed)
        self.size = size

    def __iter__(self):
        axis = torch.arange(self.size, dtype=torch.float32)
        y, x = torch.meshgrid(axis, axis, indexing="ij")
        while True:
            mask = torch.zeros(self.size, self.size)
            for _ in range(int(torch.randint(1, 4, (1,), generator=self.gen))):
                angle, offset, width = torch.rand(3, generator=self.gen).tolist()
                distance = (x - self.size / 2) * torch.cos(torch.tensor(6.28 * angle))
                distance = distance + (y - self.size / 2) * torch.sin(torch.tensor(6.28 * angle))
                mask[(distance - 20 * (offset - 0.5)).abs() < 1.5 + 2 * width] = 1
            yield 0.7 * mask.unsqueeze(0) + 0.5 * torch.randn(1, self.size, self.size, generator=self.gen), mask


def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.deep = block(1, 16), nn.Sequential(nn.MaxPool2d(2), block(16, 48), block(48, 32))
        self.up = nn.Upsample(scale_factor=2)
        self.leave = nn.Sequential(block(48, 16), nn.Conv2d(16, 1, 1))

    def forward(self, x):
        near = self.enter(x)
        return self.leave(torch.cat([near, self.up(self.deep(near))], 1)).squeeze(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--max-steps", type=int, default=30000)
    ap.add_argument("--lr", type=float, default=2e-4)
    args = ap.parse_args()
    fabric = Fabric(accelerator="cpu", devices=2, strategy="ddp")
    fabric.launch()
    fabric.seed_everything(40)
    model = SmallUNet()
    model, opt = fabric.setup(model, torch.optim.AdamW(model.parameters(), lr=args.lr))
    loader = DataLoader(Roads(fabric.global_rank), batch_size=12)
    for step, (tiles, masks) in enumerate(loader, 1):
        logits = model(tiles)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, masks)
        fabric.backward(loss)
        opt.step()
        opt.zero_grad()
        if step % 10 == 0:
            iou = fabric.all_reduce(binary_jaccard_index(logits.detach().sigmoid(), masks.int()))
            fabric.print(f"Step {step}/{args.max_steps} | BCE: {loss.item():.4f} | IoU: {iou.item():.3f}", flush=True)
        if step == args.max_steps:
            break


if __name__ == "__main__":
    main()
