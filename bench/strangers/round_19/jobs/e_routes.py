"""Cost-to-go of delivery tours: attention over stops, plain loop."""
import time
import torch
from torch import nn

torch.manual_seed(6)


class Cost(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.inp = nn.Linear(3, d)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 128, batch_first=True, dropout=0.0), 2)
        self.out = nn.Linear(d, 1)

    def forward(self, stops):
        return self.out(self.enc(self.inp(stops)).mean(1)).squeeze(1)


model = Cost()
opt = torch.optim.AdamW(model.parameters(), 5e-4)
print("  tour step |    loss | tours/s")
print("------------+---------+--------")
last, n = time.time(), 0
for step in range(1, 1000000):
    stops = torch.rand(48, 30, 3)
    target = (stops[:, 1:, :2] - stops[:, :-1, :2]).norm(dim=-1).sum(1) / 10
    loss = (model(stops) - target).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    n += 48
    if step % 10 == 0:
        now = time.time()
        print(f" {step:10d} | {loss.item():7.4f} | {n / (now - last):7.0f}")
        last, n = now, 0
