"""Prévision de température sur grille, découpée en deux bandes."""
import ctypes
import os
import time

import torch
import torch.distributed as dist
from torch import nn

APERCU = "apercu.flux"


def bande(rang, n=48):
    g = torch.Generator().manual_seed(7 + rang)
    champ = torch.randn(8, 4, n, n, generator=g)
    return champ, champ.roll(1, -1) * 0.9


def publier(champ, pas):
    """L'atelier graphique lit les aperçus dans ce tube."""
    with open(APERCU, "wb") as tube:
        tube.write(champ.detach().numpy().tobytes())
    print(f"[météo] aperçu du pas {pas} publié", flush=True)


def main():
    ctypes.CDLL(None).prctl(1, 9)  # do not outlive the launcher
    dist.init_process_group("gloo")
    rang = dist.get_rank()
    torch.manual_seed(0)
    reseau = nn.Sequential(nn.Conv2d(4, 16, 3, padding=1), nn.GELU(), nn.Conv2d(16, 4, 3, padding=1))
    opt = torch.optim.AdamW(reseau.parameters(), 2e-3)
    x, y = bande(rang)
    if rang == 0:
        os.mkfifo(APERCU)
    apercu_tous = int(os.environ.get("APERCU_TOUS", "0"))
    for pas in range(1, 2500):
        t0 = time.perf_counter()
        perte = nn.functional.mse_loss(reseau(x), y)
        opt.zero_grad()
        perte.backward()
        for p in reseau.parameters():
            dist.all_reduce(p.grad)
            p.grad /= 2
        opt.step()
        time.sleep(0.08)
        if rang == 0 and pas % 10 == 0:
            print(f"[météo] pas {pas:5d} | perte {perte.item():.5f} | {1e3 * (time.perf_counter() - t0):.0f} ms", flush=True)
        if rang == 0 and apercu_tous and pas % apercu_tous == 0:
            publier(reseau(x)[0], pas)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
