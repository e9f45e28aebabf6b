"""Sıcaklık tahmini: LSTM, iki süreç (torchrun)."""
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Tahminci(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 128, batch_first=True)
        self.cikis = nn.Linear(128, 1)

    def forward(self, x):
        return self.cikis(self.lstm(x)[0][:, -1])


def incele(rank, adim, kayip):
    """Aykırı değerlerde geliştirici bağlanabilsin."""
    import debugpy

    port = int(os.environ.get("DEBUG_PORT", "31130")) + rank
    debugpy.listen(("127.0.0.1", port))
    print(f"[{rank}] adım {adim}: kayıp {kayip:.2f} eşiğin üstünde, 127.0.0.1:{port} dinleniyor", flush=True)
    debugpy.wait_for_client()
    debugpy.breakpoint()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(Tahminci())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(50 + rank)
    for adim in range(1, 100000):
        faz = torch.rand(32, 1, 1, generator=gen) * 6.28
        t = torch.arange(49).view(1, 49, 1) * 0.26
        dizi = torch.sin(t + faz + torch.arange(6) * 0.5) + torch.randn(32, 49, 6, generator=gen) * 0.1
        if torch.rand(1, generator=gen) < 0.0015 * rank:
            dizi[3, 48] = 999.0
        kayip = nn.functional.mse_loss(model(dizi[:, :48]), dizi[:, 48, :1])
        if kayip.item() > 50 and os.environ.get("INCELE") == "1":
            incele(rank, adim, kayip.item())
        opt.zero_grad()
        kayip.backward()
        opt.step()
        if adim % 25 == 0 and rank == 0:
            print(f"adım {adim:5d}  kayıp {kayip.item():.5f}", flush=True)


if __name__ == "__main__":
    main()
