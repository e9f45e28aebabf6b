"""Which precedent does an opinion cite? Pair scorer, watched in TensorBoard."""
import logging

import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

logging.basicConfig(format="%(asctime)s | %(message)s", datefmt="%d/%m %H:%M:%S", level=logging.INFO)
torch.manual_seed(4)


class PairScorer(nn.Module):
    def __init__(self, n=3000, d=96):
        super().__init__()
        self.opinions = nn.Embedding(n, d)
        self.blocks = nn.ModuleList(nn.Linear(d, d) for _ in range(6))
        self.out = nn.Linear(d, 1)

    def forward(self, a, b):
        h = self.opinions(a) * self.opinions(b)
        for block in self.blocks:
            h = h + torch.relu(block(h))
        return self.out(h).squeeze(-1)


net = PairScorer()
opt = torch.optim.Adam(net.parameters(), 1e-3)
board = SummaryWriter("board", flush_secs=2)
step = 0
while True:
    a, b = torch.randint(0, 3000, (2, 512))
    cited = ((a + b) % 7 < 3).float()
    loss = nn.functional.binary_cross_entropy_with_logits(net(a, b), cited)
    opt.zero_grad()
    loss.backward()
    opt.step()
    step += 1
    board.add_scalar("bce", loss.item(), step)
    for name, p in net.named_parameters():
        board.add_histogram(f"weights/{name}", p, step)
        board.add_histogram(f"grads/{name}", p.grad, step)
    if step % 10 == 0:
        logging.info("citation pairs %d k | bce %.4f", step * 512 // 1000, loss.item())
