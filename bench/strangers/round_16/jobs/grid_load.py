"""Day-ahead load forecast for 40 substations."""
import torch
from torch import nn
from tqdm import tqdm


def readings(stations=40, hours=24 * 900):
    gen = torch.Generator().manual_seed(21)
    t = torch.arange(hours).float()
    base = 1 + 0.4 * torch.sin(2 * torch.pi * t / 24) + 0.2 * torch.sin(2 * torch.pi * t / 168)
    load = base[None] * (0.5 + torch.rand(stations, 1, generator=gen)) + 0.08 * torch.randn(stations, hours, generator=gen)
    load[17, 15000:15003] = float("nan")  # meter exchange
    return load


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(1, 64, batch_first=True)
        self.head = nn.Linear(64, 24)

    def forward(self, x):
        h, _ = self.rnn(x[..., None])
        return self.head(h[:, -1])


def main():
    load = readings()
    gen = torch.Generator().manual_seed(1)
    model = Forecaster()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    bar = tqdm(range(30000), desc="train", mininterval=1.0)
    for i in bar:
        # walk through the calendar, all stations
        start = (i * 40) % (load.shape[1] - 96)
        window = load[:, start : start + 96]
        rows = torch.randperm(40, generator=gen)[:32]
        x, y = window[rows, :72], window[rows, 72:]
        loss = nn.functional.smooth_l1_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        bar.set_postfix(loss=f"{loss.item():.4f}", gnorm=f"{norm.item():.3f}")


main()
