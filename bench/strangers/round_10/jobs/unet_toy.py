"""Segment synthetic cells with accelerate."""
import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.logging import get_logger
from accelerate.utils import set_seed
import logging

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = get_logger(__name__)
acc = Accelerator(cpu=True)
set_seed(42)


class Cells(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        yy, xx = torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")
        m = torch.zeros(32, 32)
        for _ in range(3):
            cy, cx, r = (torch.rand(3, generator=g) * torch.tensor([32.0, 32.0, 5.0])).tolist()
            m = torch.maximum(m, ((yy - cy) ** 2 + (xx - cx) ** 2 < (r + 2) ** 2).float())
        return (m + 0.8 * torch.randn(32, 32, generator=g))[None], m[None]


net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 3, padding=1))
opt = torch.optim.AdamW(net.parameters(), 1e-3)
loader = torch.utils.data.DataLoader(Cells(), batch_size=16, shuffle=True)
net, opt, loader = acc.prepare(net, opt, loader)
n = 0
for epoch in range(60):
    for x, m in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(net(x), m)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
        n += 1
        if n % 20 == 0:
            logger.info(f"epoch {epoch} step {n} loss {acc.gather(loss.detach()).mean().item():.5f}")
