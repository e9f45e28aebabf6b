"""GAN for 2-D rings."""
import json
import time
import warnings

import torch
import torch.nn as nn

G = nn.Sequential(nn.Linear(8, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 2))
D = nn.Sequential(nn.Linear(2, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
og = torch.optim.Adam(G.parameters(), 2e-4, betas=(0.5, 0.9))
od = torch.optim.Adam(D.parameters(), 2e-4, betas=(0.5, 0.9))
bce = nn.functional.binary_cross_entropy_with_logits
warnings.warn("no config given, using the defaults")


def real(n):
    a = torch.rand(n) * 6.2832
    r = torch.where(torch.rand(n) < 0.5, 1.0, 2.0) + 0.05 * torch.randn(n)
    return torch.stack([r * a.cos(), r * a.sin()], 1)


with open("history.jsonl", "w", buffering=1) as log:
    start = time.time()
    for it in range(1, 400001):
        x, z = real(256), torch.randn(256, 8)
        fake = G(z)
        ld = bce(D(x), torch.full((256, 1), 0.9)) + bce(D(fake.detach()), torch.zeros(256, 1))
        od.zero_grad()
        ld.backward()
        od.step()
        lg = bce(D(fake), torch.ones(256, 1))
        og.zero_grad()
        lg.backward()
        og.step()
        if it % 100 == 0:
            log.write(json.dumps({"iter": it, "d_loss": ld.item(), "g_loss": lg.item(), "elapsed": time.time() - start}) + "\n")
        if it % 2500 == 0:
            with torch.no_grad():
                s = G(torch.randn(5000, 8)).norm(dim=1)
            print(f"[{it}] radius deciles: " + " ".join(f"{q:.2f}" for q in s.quantile(torch.arange(0.1, 1.0, 0.2)).tolist()), flush=True)
            torch.save({"G": G.state_dict(), "D": D.state_dict()}, "gan.pt")
