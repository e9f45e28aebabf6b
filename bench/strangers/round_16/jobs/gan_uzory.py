"""Генератор узоров 16x16 (GAN), журнал в CSV."""
import csv
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Uzory(Dataset):
    def __len__(self):
        return 3200

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        f = torch.rand(2, generator=g) * 4 + 1
        ax = torch.linspace(0, 3.14, 16)
        return (torch.sin(f[0] * ax)[:, None] * torch.cos(f[1] * ax)[None]).reshape(-1)


def mlp(a, b, konec):
    return nn.Sequential(nn.Linear(a, 384), nn.LeakyReLU(0.2), nn.Linear(384, 384), nn.LeakyReLU(0.2), nn.Linear(384, b), konec)


def shum(x):
    return x + 0.4 * torch.randn_like(x)


def main():
    torch.manual_seed(0)
    gen, dis = mlp(32, 256, nn.Tanh()), mlp(256, 1, nn.Identity())
    og = torch.optim.Adam(gen.parameters(), 2e-4, betas=(0.5, 0.999))
    od = torch.optim.Adam(dis.parameters(), 5e-5, betas=(0.5, 0.999))
    bce = nn.BCEWithLogitsLoss()
    zagruzchik = DataLoader(Uzory(), 64, shuffle=True, num_workers=1, persistent_workers=True, prefetch_factor=4)
    fiks = torch.randn(16, 32)
    with open("zhurnal.csv", "w", newline="") as f:
        tabl = csv.writer(f)
        tabl.writerow(["epoha", "shag", "loss_d", "loss_g"])
        shag = 0
        for epoha in range(1, 3000):
            t = time.time()
            for x in zagruzchik:
                for _ in range(2):
                    z = torch.randn(len(x), 32)
                    fake = gen(z)
                    ld = bce(dis(shum(x)), torch.full((len(x), 1), 0.9)) + bce(dis(shum(fake.detach())), torch.zeros(len(x), 1))
                    od.zero_grad()
                    ld.backward()
                    od.step()
                    lg = bce(dis(shum(gen(z))), torch.ones(len(x), 1))
                    og.zero_grad()
                    lg.backward()
                    og.step()
                shag += 1
                if shag % 10 == 0:
                    tabl.writerow([epoha, shag, f"{ld.item():.4f}", f"{lg.item():.4f}"])
                    f.flush()
            print(f"эпоха {epoha}: D {ld.item():.3f} G {lg.item():.3f}, {time.time() - t:.1f} с", flush=True)
            if epoha % 5 == 0:
                with torch.no_grad():
                    torch.save(gen(fiks).reshape(16, 16, 16), "obrazcy.pt")
                torch.save(gen.state_dict(), "gen.pt")


if __name__ == "__main__":
    main()
