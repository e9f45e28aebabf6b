"""A GAN on rings of points."""
import math, time, torch
from torch import nn

torch.manual_seed(8)
G = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
og, od = (torch.optim.Adam(m.parameters(), 5e-3, betas=(0.5, 0.9)) for m in (G, D))
bce = nn.functional.binary_cross_entropy_with_logits
for i in range(1, 2600):
    phi = torch.rand(128) * 2 * math.pi
    real = torch.stack([phi.cos(), phi.sin()], 1) + 0.05 * torch.randn(128, 2)
    fake = G(torch.randn(128, 8))
    ld = bce(D(real), torch.ones(128, 1)) + bce(D(fake.detach()), torch.zeros(128, 1))
    od.zero_grad(); ld.backward(); od.step()
    lg = bce(D(fake), torch.ones(128, 1))
    og.zero_grad(); lg.backward(); og.step()
    time.sleep(0.1)
    if i % 5 == 0:
        print("[%4d/2600] Loss_D: %.4f Loss_G: %.4f D(x): %.3f" % (i, ld.item(), lg.item(), D(real).sigmoid().mean().item()), flush=True)
