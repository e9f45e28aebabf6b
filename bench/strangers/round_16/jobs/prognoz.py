"""Прогноз нагрузки сети: TCN, два процесса (torchrun)."""
import math
import time
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class TCN(nn.Module):
    def __init__(self, c=48):
        super().__init__()
        слои = [nn.Conv1d(1, c, 3, padding=1)]
        for d in (1, 2, 4, 8):
            слои += [nn.ReLU(), nn.Conv1d(c, c, 3, padding=d, dilation=d), nn.Dropout(0.1)]
        self.тело = nn.Sequential(*слои)
        self.выход = nn.Linear(c, 24)

    def forward(self, x):
        return self.выход(self.тело(x.unsqueeze(1))[..., -1])


def пакет(g, n=32):
    фаза = torch.rand(n, 1, generator=g) * 6.28
    частота = 0.2 + 0.1 * torch.rand(n, 1, generator=g)
    t = torch.arange(192).float()
    ряд = torch.sin(частота * t + фаза) + 0.3 * torch.sin(t * math.pi / 12) + 0.25 * torch.randn(n, 192, generator=g)
    return ряд[:, :168], ряд[:, 168:]


def main():
    dist.init_process_group("gloo")
    ранг = dist.get_rank()
    torch.manual_seed(0)
    модель = DDP(TCN())
    опт = torch.optim.AdamW(модель.parameters(), lr=3e-4)
    разогрев = torch.optim.lr_scheduler.LinearLR(опт, 0.05, 1.0, 150)
    g, gv = torch.Generator().manual_seed(ранг), torch.Generator().manual_seed(50 + ранг)
    проверка = [пакет(gv) for _ in range(12)]
    t0 = time.time()
    for шаг in range(1, 60000):
        x, y = пакет(g)
        ошибка = nn.functional.smooth_l1_loss(модель(x), y)
        опт.zero_grad()
        ошибка.backward()
        норма = nn.utils.clip_grad_norm_(модель.parameters(), 1.0)
        опт.step()
        разогрев.step()
        if шаг % 25 == 0 and ранг == 0:
            print(f"шаг {шаг:6d}  ошибка {ошибка.item():.4f}  норма градиента {норма.item():.3f}  {25 / (time.time() - t0):.1f} шаг/с", flush=True)
            t0 = time.time()
        if шаг % 120 == 0:
            модель.eval()
            with torch.no_grad():
                сумма = sum(nn.functional.l1_loss(модель.module(a), b) for a, b in проверка) / len(проверка)
            dist.all_reduce(сумма)
            модель.train()
            if ранг == 0:
                torch.save({"модель": модель.module.state_dict(), "шаг": шаг}, "последний.pt")
                print(f"проверка: MAE {сумма.item() / dist.get_world_size():.4f}, сохранено", flush=True)
            dist.barrier()
            t0 = time.time()
    dist.destroy_process_group()


if __name__ == "__main__":
    warnings.filterwarnings("default")
    main()
