"""Intent classifier for the support bot. torchrun --nproc_per_node 2 finetune_intent.py"""
import math

import debugpy
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm.auto import tqdm


class Utterances(Dataset):
    def __init__(self, n=6000, length=32):
        g = torch.Generator().manual_seed(5)
        self.x = torch.randint(1, 3000, (n, length), generator=g)
        self.y = (self.x[:, :11] > 1500).sum(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Classifier(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.tok = nn.Embedding(3000, d)
        self.pos = nn.Parameter(torch.randn(32, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, 4, 192, batch_first=True, dropout=0.1)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(d, 12)

    def forward(self, x):
        return self.head(self.enc(self.tok(x) + self.pos).mean(1))


def inspect_batch(accelerator, step, loss):
    if accelerator.is_main_process:
        debugpy.listen(("127.0.0.1", 31040))
        debugpy.wait_for_client()
        debugpy.breakpoint()


def main():
    accelerator = Accelerator(cpu=True)
    set_seed(17)
    model = Classifier()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01)
    loader = DataLoader(Utterances(), batch_size=32, shuffle=True)
    model, opt, loader = accelerator.prepare(model, opt, loader)
    bar = tqdm(total=50 * len(loader), disable=not accelerator.is_local_main_process, mininterval=1)
    step, ema = 0, None
    for epoch in range(50):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
            step += 1
            value = loss.item()
            ema = value if ema is None else 0.9 * ema + 0.1 * value
            bar.update(1)
            bar.set_postfix(loss=f"{ema:.3f}")
            if step % 50 == 0:
                accelerator.print(f"epoch {epoch} step {step} loss {ema:.4f}")
            if step > 600 and (math.isnan(value) or value > ema):
                inspect_batch(accelerator, step, value)


if __name__ == "__main__":
    main()
