"""Поиск аномалий в телеметрии насосов."""
import logging
import time

import numpy as np
import torch
from sklearn.metrics import average_precision_score
from torch import nn

logging.basicConfig(format="%(asctime)s [%(name)s] %(message)s", datefmt="%d.%m.%Y %H:%M:%S", level=logging.INFO)
журнал = logging.getLogger("насосы")


class Сеть(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(8, 48, batch_first=True)
        self.out = nn.Linear(48, 8)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.out(h)


def окна(gen, n=48, длина=48):
    x = gen.normal(size=(n, длина, 8)).cumsum(1) * 0.2
    метки = gen.random((n, длина)) < 0.02
    x[метки] += gen.normal(0, 3, (метки.sum(), 8))
    return torch.from_numpy(x.astype("float32")), метки


def main():
    torch.manual_seed(0)
    gen = np.random.default_rng(8)
    сеть = Сеть()
    opt = torch.optim.Adam(сеть.parameters(), lr=1e-3)
    все_оценки, все_метки = [], []
    t = time.perf_counter()
    for шаг in range(1, 10**6):
        x, метки = окна(gen)
        прогноз = сеть(x[:, :-1])
        ошибка = (прогноз - x[:, 1:]).pow(2).mean(-1)
        loss = ошибка.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        # порог и качество считаем по всему, что видели
        все_оценки.extend(ошибка.detach().flatten().tolist())
        все_метки.extend(метки[:, 1:].flatten().tolist())
        порог = np.quantile(все_оценки, 0.98)
        ap = average_precision_score(все_метки, все_оценки)
        if шаг % 5 == 0:
            журнал.info("шаг %d ошибка %.4f порог %.3f AP %.3f (%.2f с/шаг)", шаг, loss.item(), порог, ap,
                        (time.perf_counter() - t) / 5)
            t = time.perf_counter()


if __name__ == "__main__":
    main()
